//! Every setting of a profile has an effect: each is changed, and the plan or the figures of a short
//! prediction must change with it.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod elsewhere;

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use brokerage::profile::BrokerageProfile;
use elsewhere::{BROKERAGE_ELSEWHERE, MAIL_ELSEWHERE};
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use measure::result::{HostResult, RunResult, Verdict};
use proofload::workloads::Purpose;
use proofload::{Event, Scenario, Setting, StopRequest, predict, workloads};
use test_support::{Alternatives, alternatives};
use workload::Profile;
use workload::controller::RunListener;
use workload::progress::Phase;

/// A small mail server with all operations, of which some settings need one of the loads below.
const MAIL: &str = r#"
kind = "mail"
[mail]
databases = 2
mailboxes_per_database = 20
mailbox_size = "2MiB"
iops_per_mailbox = 5.0
growth_reserve_percent = 200
threads = 4
mix = { insert_percent = 30, delete_percent = 20, replace_percent = 20, scan_percent = 5, lazy_commit_window = "1s" }
item = { indexed = true }
[engine]
cache_size_per_database = "8MiB"
log_file_size = "256KiB"
log_buffer = "64KiB"
checkpoint_depth = "4MiB"
[run]
duration = "3s"
sample_interval = "500ms"
warm_up = { minimum = "500ms", maximum = "2s" }
"#;

const TUNING: &[&str] = &[
    "mail.threads=auto",
    "tuning.sample_interval=50ms",
    "mail.iops_per_mailbox=20",
    "tuning.transient_samples=2",
    "tuning.stable_samples=5",
    "tuning.settle_limit=1s",
    "tuning.total_limit=5s",
];

/// The same with a search for the highest rate.
const FIND: &[&str] = &[
    "tuning.find=max-iops",
    "tuning.sample_interval=50ms",
    "tuning.transient_samples=2",
    "tuning.stable_samples=5",
    "tuning.settle_limit=1s",
    "tuning.total_limit=5s",
];

const LENIENT: &[&str] = &["service_levels.lenient_above=1s"];
const WRITES: &[&str] = &["brokerage.measured_io.writes_per_transaction=2"];

/// Settings of mail that show under a load of their own only, by the start of their paths.
const MAIL_LOADS: [(&str, &[&str]); 10] = [
    ("mail.threads_per_database", TUNING),
    (
        "mail.mix.read_ahead",
        &["mail.mix.operations_per_transaction=8"],
    ),
    (
        "mail.access.hot_access_percent",
        &["mail.access.hot_data_percent=10"],
    ),
    ("run.arrivals", &["run.held_rate=60"]),
    (
        "run.warm_up.maximum",
        &[
            "engine.cache_size_per_database=64MiB",
            "mail.session_pause=20ms",
        ],
    ),
    ("service_levels.maximum_database_read_lenient", LENIENT),
    ("service_levels.maximum_log_write_lenient", LENIENT),
    ("tuning.curve_percent", FIND),
    ("tuning.held_percent", FIND),
    ("tuning.", TUNING),
];

/// A brokerage small enough to be predicted quickly.
const BROKERAGE: &str = r#"
kind = "brokerage"
[brokerage]
users = 8
data_size = "200MB"
trade_days = 20
data_files = 2
[brokerage.database]
memory = "8MiB"
log_file_size = "256KiB"
checkpoint_depth = "1MiB"
[brokerage.market]
data_maintenance_interval = "1s"
[run]
duration = "3s"
sample_interval = "500ms"
warm_up = { minimum = "500ms", maximum = "2s" }
"#;

/// The same for the brokerage.
const BROKERAGE_LOADS: [(&str, &[&str]); 4] = [
    ("brokerage.measured_io.write_size", WRITES),
    ("run.warm_up.maximum", &["brokerage.database.memory=1GiB"]),
    ("service_levels.maximum_database_read_lenient", LENIENT),
    ("service_levels.maximum_log_write_lenient", LENIENT),
];

/// A prediction that takes longer, such as one of a year, shows nothing.
const LONGEST: Duration = Duration::from_secs(20);

fn scenario(toml: &str, settings: &[&str]) -> Scenario {
    let mut scenario = Scenario::new("small.toml")
        .with_file("small.toml", toml)
        .on_array("msa2050");
    let settings = settings.iter().map(|text| Setting::parse(text).unwrap());
    scenario.settings.extend(settings);
    scenario
}

/// Everything that a prediction says, but for its settings and the times of this machine; `None` when
/// the settings are refused, or take too long to predict.
fn observed(scenario: &Scenario) -> Option<String> {
    let prepared = predict::Prepared::new(scenario).ok()?;
    let plan = prepared.describe();
    let (stop, began) = (StopRequest::new(), Instant::now());
    let asks = stop.clone();
    let observer = move |_: Event<'_>| {
        if began.elapsed() > LONGEST {
            asks.stop();
        }
    };
    let result = prepared.run(Box::new(observer), &stop).ok()?.result;
    (result.verdict != Verdict::Interrupted).then(|| format!("{plan}\n{}", figures(result)))
}

fn figures(mut result: RunResult) -> String {
    result.workload.settings.clear();
    result.started.clear();
    let phases = result.phases.iter_mut();
    phases.for_each(|phase| phase.started.clear());
    result.wall_seconds = None;
    result.host = HostResult::default();
    serde_json::to_string(&result).unwrap()
}

/// Whether one of the other values of a setting changes what is observed.
fn has_effect(scenario: &Scenario, before: &str, setting: &Alternatives) -> bool {
    setting.assignments().any(|assignment| {
        let mut changed = scenario.clone();
        changed.settings.push(Setting::parse(&assignment).unwrap());
        observed(&changed).is_some_and(|after| after != before)
    })
}

/// The settings that change nothing, each under the load that it needs.
fn without_effect(
    toml: &str,
    loads: &[(&str, &[&str])],
    settings_of: impl Fn(&Scenario) -> Vec<Alternatives>,
) -> Vec<String> {
    let needs = |path: &str| loads.iter().find(|(begin, _)| path.starts_with(begin));
    let all = loads.iter().map(|(begin, load)| (Some(*begin), *load));
    let all = std::iter::once((None, [].as_slice())).chain(all);
    let mut left = Vec::new();
    for (begin, load) in all {
        let scenario = scenario(toml, load);
        let before = observed(&scenario).unwrap();
        assert!(
            !before.contains("\"verdict\":\"error\""),
            "{load:?}: {before}"
        );
        let settings = settings_of(&scenario).into_iter();
        let settings = settings.filter(|one| needs(&one.path).map(|(begin, _)| *begin) == begin);
        let settings = settings.filter(|one| !has_effect(&scenario, &before, one));
        left.extend(settings.map(|one| one.path));
    }
    left
}

fn resolved(scenario: &Scenario) -> Box<dyn Profile> {
    workloads::resolve(scenario, Purpose::Prediction).unwrap()
}

#[test]
fn every_setting_of_mail_has_an_effect() {
    let settings_of =
        |scenario: &Scenario| alternatives(resolved(scenario).downcast::<MailProfile>().unwrap());
    let left = without_effect(MAIL, &MAIL_LOADS, settings_of);
    assert_eq!(left, MAIL_ELSEWHERE.map(|one| one.path));
}

#[test]
fn every_setting_of_the_brokerage_has_an_effect() {
    let settings_of = |scenario: &Scenario| {
        alternatives(resolved(scenario).downcast::<BrokerageProfile>().unwrap())
    };
    let left = without_effect(BROKERAGE, &BROKERAGE_LOADS, settings_of);
    assert_eq!(left, BROKERAGE_ELSEWHERE.map(|one| one.path));
}

#[test]
fn settings_that_no_prediction_shows_have_a_test() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for one in MAIL_ELSEWHERE.iter().chain(&BROKERAGE_ELSEWHERE) {
        let (file, function) = one.test;
        let text = fs::read_to_string(crates.join(file)).unwrap();
        let head = format!("#[test]\n    fn {function}()").replace(' ', "");
        let has_test = text.replace(' ', "").contains(&head);
        assert!(
            has_test,
            "{} ({}): {file} has no {function}",
            one.path, one.why
        );
    }
}

#[test]
fn kinds_are_distinguished() {
    let other = MAIL.replace("\"mail\"", "\"brokerage\"");
    let error = scenario(&other, &[]).predict().unwrap_err();
    assert!(error.to_string().contains("mail"), "{error}");
}

#[test]
fn what_only_servers_have_is_refused() {
    for (setting, word) in [
        ("run.held_rate=5", "held rate"),
        ("run.verify_after_run=true", "verified"),
        ("run.stop_after_errors=never", "first error"),
        ("run.hung_request_after=5s", "hangs"),
        ("run.io_driver=threads", "driver"),
    ] {
        let error = scenario(BROKERAGE, &[setting]).predict().unwrap_err();
        assert!(error.to_string().contains(word), "{error}");
    }
}

#[test]
fn contents_are_compressible() {
    let contents = |percent: f64| {
        let mut profile = MailProfile::default();
        profile.mail.item.compressible_percent = percent;
        let item = MailPlan::new(&profile, 1).item_maker(0, 100).first(7);
        item.long
            .unwrap()
            .into_iter()
            .filter(|&byte| byte == 0)
            .count()
    };
    assert!(contents(50.0) > contents(0.0) + 500);
}

struct Verifies(bool);

impl RunListener for Verifies {
    fn phase(&mut self, phase: Phase, _: Option<Duration>) {
        self.0 |= phase == Phase::Verifying;
    }
}

#[test]
fn pages_are_verified_after_a_run() {
    for verifies in [true, false] {
        let mut plan = predict::Plan::check(&scenario(MAIL, &[])).unwrap();
        plan.profile.run_mut().verify_after_run = verifies;
        let (started, stop) = (jiff::Timestamp::UNIX_EPOCH, StopRequest::new());
        let (_, heard) = predict::run(&plan, started, &stop, Verifies(false), 1).unwrap();
        assert_eq!(heard.0, verifies);
    }
}
