//! The mail workload behind the interface of all workloads.

use crate::edb_host::{DatabaseDirectories, database_file, is_beside_database, is_database_file};
use crate::plan::{MailPlan, OPEN_LOOP_SESSIONS_PER_DATABASE, database_name};
use crate::profile::{BUNDLED, KIND, MailProfile};
use crate::report;
use crate::simulation::SimulatedHost;
use crate::space::{log_bytes, log_bytes_of_run};
use crate::state_file::STATE_FILE;
use config::{ByteSize, ConfigError, Layers};
use edb::database::LOG_PREFIX;
use measure::display::Contribution;
use measure::display::number::bounded;
use measure::display::number::counted;
use measure::display::number::limit;
use measure::metric::Unit;
use measure::result::RunResult;
use measure::service_level::{OperationLevels, ServiceLevels};
use measure::units;
use std::sync::Arc;
use workload::controller::plan::{SteadyBy, Tests};
use workload::controller::run_on_virtual_clock;
use workload::profile::{FindLoad, Run};
use workload::{
    Bundled, Profile, SetupAnswers, SetupDefault, SetupKind, SetupQuestion, SetupSetting,
};
use workload::{
    DatabaseNeeds, LoadAxis, LoadOption, LoadOptions, Refusal, Simulation, SimulationFuture,
    StorageNeeds, VolumeDemand, Workload,
};

/// The mail workload, as the registry of workloads has it.
pub static WORKLOAD: MailWorkload = MailWorkload;

/// A mail server: databases full of mails, and sessions that work on them.
#[derive(Clone, Copy, Debug)]
pub struct MailWorkload;

const SIZE_HELP: &str = "Write a size such as --target-size 20GB.";

/// The smallest database worth a run: a few hundred pages of any size.
const LEAST_DATABASE: ByteSize = ByteSize::mib(8);

const DATABASES: &str = "mail.databases";

/// Mailboxes over all databases, which is no setting.
const MAILBOXES: &str = "mailboxes";

const SETUP: [SetupQuestion; 4] = [
    SetupQuestion {
        key: DATABASES,
        text: "How many databases?",
        comment: "Databases, distributed over the directories in turn.",
        kind: SetupKind::Count,
        default: SetupDefault::Targets,
    },
    SetupQuestion {
        key: MAILBOXES,
        text: "How many mailboxes over all databases?",
        comment: "",
        kind: SetupKind::Count,
        default: SetupDefault::Count(1000),
    },
    SetupQuestion {
        key: "mail.iops_per_mailbox",
        text: "How many database reads and writes per second does a mailbox ask for?",
        comment: "Database reads and writes per second that each mailbox asks for.",
        kind: SetupKind::Number,
        default: SetupDefault::OfProfile,
    },
    SetupQuestion {
        key: "mail.mailbox_size",
        text: "How much mail is in a mailbox? (quota)",
        comment: "Mail in each mailbox.",
        kind: SetupKind::DataSize,
        default: SetupDefault::OfProfile,
    },
];

impl Workload for MailWorkload {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn bundled(&self) -> &'static [Bundled] {
        BUNDLED
    }

    fn read(&self, layers: Layers, kinds: &[&str]) -> Result<Box<dyn Profile>, ConfigError> {
        Ok(Box::new(MailProfile::read(layers, kinds)?))
    }

    fn reference(&self) -> String {
        config::reference_of(&MailProfile::default())
    }

    fn setting_of(&self, option: LoadOption) -> Option<&'static str> {
        match option {
            LoadOption::Threads => Some("mail.threads"),
            LoadOption::Databases => Some("mail.databases"),
            LoadOption::Test => Some("test.kind"),
            LoadOption::Find => Some("tuning.find"),
            LoadOption::RateOfTransactions => Some("mail.held_transactions_per_second"),
            LoadOption::Users | LoadOption::TargetSize => None,
        }
    }

    fn check_options(&self, options: &LoadOptions<'_>) -> Result<(), Refusal> {
        if !options.has_users && !options.has_server {
            return Ok(());
        }
        Err(Refusal::usage(
            format!(
                "--users and --database are a brokerage's, and {} is none.",
                options.workload
            ),
            "Give --threads for the sessions of mail, which has an engine of its own.",
        ))
    }

    fn load_axis(&self) -> LoadAxis {
        LoadAxis::Rate
    }

    fn without_target_rate(&self) -> Option<(&'static str, u32)> {
        Some(("mail.iops_per_mailbox", 0))
    }

    fn built_with(&self) -> &'static [&'static str] {
        &[
            "engine.log_file_size",
            "engine.page_size",
            "mail.databases",
            "mail.item.compressible_percent",
            "mail.item.indexed",
            "mail.item.long_bytes",
            "mail.item.page_fill_percent",
            "mail.item.short_bytes",
            "mail.mailbox_size",
            "mail.mailboxes_per_database",
        ]
    }

    /// The number of sessions that the run has found; I/O per transaction is that of the same engine.
    fn measured_settings(&self, result: &RunResult) -> Vec<(&'static str, String)> {
        let threads = result.throughput.threads;
        let was_tuned = result.tuning.is_some() && result.throughput.rate_iops.is_none();
        let threads = threads.filter(|_| was_tuned);
        let threads = threads.map(|threads| ("mail.threads", threads.to_string()));
        threads.into_iter().collect()
    }

    fn setup_questions(&self) -> &'static [SetupQuestion] {
        &SETUP
    }

    /// The mailboxes are distributed over the databases, as many in each.
    fn setup_settings(&self, answers: &SetupAnswers) -> Vec<SetupSetting> {
        let number = |key| answers.get(key).and_then(|text: &String| text.parse().ok());
        let (databases, all) = (number(DATABASES).unwrap_or(1_u64), number(MAILBOXES));
        let each = all.unwrap_or(1).div_ceil(databases.max(1));
        let questions = SETUP.iter().filter_map(|one| one.setting(answers));
        let of_each = |setting: SetupSetting| match setting.path {
            MAILBOXES => SetupSetting {
                path: "mail.mailboxes_per_database",
                value: each.to_string(),
                why: format!(
                    "{} over all databases.",
                    counted(each * databases, "mailbox")
                ),
                ..setting
            },
            _ => setting,
        };
        questions.map(of_each).collect()
    }

    fn database_file(&self, name: &str) -> Option<String> {
        Some(database_file(name))
    }

    fn makes_file(&self, name: &str) -> bool {
        is_database_file(name)
            || is_beside_database(name)
            || name.starts_with(LOG_PREFIX)
            || name.starts_with(STATE_FILE)
    }

    fn contribution(&self, result: &RunResult) -> Contribution {
        report::contribution(result)
    }
}

impl Profile for MailProfile {
    fn workload(&self) -> &'static dyn Workload {
        &WORKLOAD
    }

    fn description(&self) -> &str {
        &self.description
    }

    fn target_iops(&self) -> Option<f64> {
        Some(self.mail.target_iops())
    }

    fn run(&self) -> &Run {
        &self.run
    }

    fn run_mut(&mut self) -> &mut Run {
        &mut self.run
    }

    fn service_levels(&self) -> ServiceLevels {
        self.service_levels.with(OperationLevels::default())
    }

    fn apply(&mut self, options: &LoadOptions<'_>) -> Result<(), Refusal> {
        self.refuse_load_without_effect(options)?;
        if let Some(text) = options.mailboxes {
            self.mail.mailboxes_per_database = dealt_out(text, self.mail.databases)?;
        }
        if let Some(text) = options.target_size {
            let size = ByteSize::parse(text).map_err(|problem| {
                Refusal::usage(format!("--target-size: {problem}."), SIZE_HELP)
            })?;
            let databases = self.mail.databases;
            let least = u64::from(databases) * LEAST_DATABASE.bytes();
            if size.bytes() < least {
                return Err(Refusal::usage(
                    format!(
                        "--target-size {size} is too small for {} of {LEAST_DATABASE} or more each.",
                        units::count(databases.into(), "database")
                    ),
                    format!("Give --target-size {} or more.", ByteSize(least)),
                ));
            }
            self.mail.scale_to(size);
        }
        // What options lead to must be what a profile may say: kept databases and 'config.toml' say
        // it again.
        self.check_bounds()
    }

    fn storage_needs(&self) -> StorageNeeds {
        let mail = &self.mail;
        StorageNeeds::Databases(DatabaseNeeds {
            count: mail.databases,
            prefix: "mail",
            data_bytes: mail.database_bytes(),
            reserved_bytes: mail.reserved_database_bytes(),
            growth_percent: mail.growth_reserve_percent,
            log_bytes: log_bytes_of_run(self),
            log_reuse_off: (!self.engine.circular_logging).then_some("engine.circular_logging"),
            to_shrink: "Put less mail into the mailboxes",
        })
    }

    fn describe_data(&self) -> String {
        let databases = u64::from(self.mail.databases);
        units::count_of_size(databases, "database", self.mail.database_bytes())
    }

    fn describe_load(&self) -> String {
        let of_each = self.mail.threads_per_database;
        match (self.run.held_rate, self.mail.sessions()) {
            _ if self.tuning.find == FindLoad::MaxIops => {
                let held = match self.tuning.held_percent {
                    percent if percent < 100.0 => format!("{} % of ", limit(percent)),
                    _ => String::new(),
                };
                format!("{held}the highest rate with every service level met")
            }
            (Some(rate), _) => format!(
                "{} IOPS held {}",
                limit(rate),
                held_by(self.mail.sessions())
            ),
            _ if self.mail.held_transactions_per_second.is_some() => {
                let held = self.mail.held_transactions_per_second.unwrap_or_default();
                format!(
                    "{} transactions/s held {}",
                    limit(held),
                    held_by(self.mail.sessions())
                )
            }
            (None, Some(_)) if of_each.is_some() => {
                let of_each = u64::from(of_each.unwrap_or_default());
                format!("{} for each database", units::count(of_each, "thread"))
            }
            (None, Some(threads)) => units::count(u64::from(threads), "thread"),
            (None, None) => format!(
                "as many threads as reach {} IOPS",
                units::figure(self.mail.target_iops())
            ),
        }
    }

    fn describe_question(&self) -> String {
        let mail = &self.mail;
        let mailboxes = mail.mailboxes();
        let load = match (self.run.held_rate, mail.sessions()) {
            _ if self.tuning.find == FindLoad::MaxIops => {
                "at the highest rate found that keeps every service level".to_owned()
            }
            (Some(rate_iops), _) => format!(
                "at a held rate of {} ({} IOPS each)",
                bounded(rate_iops, Unit::Iops),
                units::figure(rate_iops / mailboxes as f64)
            ),
            _ if mail.held_transactions_per_second.is_some() => format!(
                "at a held rate of {} transactions/s",
                limit(mail.held_transactions_per_second.unwrap_or_default())
            ),
            (None, Some(threads)) if mail.iops_per_mailbox <= 0.0 => {
                format!("with {}", units::count(u64::from(threads), "thread"))
            }
            (None, _) => format!("at {} IOPS each", mail.iops_per_mailbox),
        };
        format!(
            "{} mailboxes of {} {load}",
            units::count_of(mailboxes),
            units::size(mail.mailbox_size.bytes()),
        )
    }

    fn engine_cache_bytes(&self) -> Option<u64> {
        let of_one = self.engine.cache_size_per_database.bytes();
        Some(of_one * u64::from(self.mail.databases))
    }

    fn least_engine_cache_bytes(&self) -> Option<u64> {
        let of_one = self.engine.cache_minimum_per_database;
        let of_one = of_one.unwrap_or(self.engine.cache_size_per_database);
        Some(of_one.bytes() * u64::from(self.mail.databases))
    }

    fn volume_demands(&self) -> Vec<VolumeDemand> {
        let demand = |name| VolumeDemand {
            name,
            data_bytes: self.mail.database_bytes(),
            reserved_bytes: self.mail.reserved_database_bytes(),
            log_bytes: log_bytes(self),
        };
        self.database_names().into_iter().map(demand).collect()
    }

    fn database_names(&self) -> Vec<String> {
        (1..=self.mail.databases as usize)
            .map(database_name)
            .collect()
    }

    fn has_hot_data(&self) -> bool {
        !self.mail.access.is_uniform()
    }

    fn read_share_at_disks(&self) -> f64 {
        0.6
    }

    fn simulate(&self, simulation: Simulation) -> SimulationFuture {
        let Simulation {
            handle,
            places,
            base,
            stop,
            listener,
        } = simulation;
        let mut plan = MailPlan::new(self, 1);
        plan.run.tests = Tests::default();
        if self.holds_rate() {
            plan.run.steady_by = SteadyBy::ReadLatency;
        }
        let (clock, run) = (handle.clone(), plan.run.clone());
        let plan = Arc::new(plan);
        let host = move |_| {
            let places = places.iter().cloned().enumerate().map(|(number, place)| {
                let (data, log) = (place.data, place.log);
                (number, DatabaseDirectories { data, log })
            });
            SimulatedHost::new(clock.clone(), Arc::clone(&plan), places.collect())
        };
        Box::pin(run_on_virtual_clock(
            handle, run, base, stop, listener, host,
        ))
    }
}

/// Mailboxes per database when `text` mailboxes are dealt out, rounded up.
fn dealt_out(text: &str, databases: u32) -> Result<u32, Refusal> {
    let mailboxes: u32 = text.parse().ok().filter(|n| *n > 0).ok_or_else(|| {
        Refusal::usage(
            format!("--mailboxes {text} is not a number of mailboxes."),
            "Write a whole number, 1 or more.",
        )
    })?;
    Ok(mailboxes.div_ceil(databases))
}

/// Who holds a rate: this many sessions over all databases, or as many as are taken for it. Nothing tunes them.
fn held_by(sessions: Option<u32>) -> String {
    match sessions {
        Some(sessions) => format!("by {}", units::count(u64::from(sessions), "thread")),
        None => format!("by up to {OPEN_LOOP_SESSIONS_PER_DATABASE} threads for each database"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_held_rate_takes_the_place_of_that_of_the_mailboxes() {
        let mut profile = MailProfile::default();
        profile.mail.databases = 4;
        profile.mail.mailboxes_per_database = 250;
        profile.mail.mailbox_size = ByteSize::mib(2);
        profile.mail.iops_per_mailbox = 0.1;
        let question = profile.describe_question();
        assert_eq!(question, "1,000 mailboxes of 2 MiB at 0.1 IOPS each");
        profile.run.held_rate = Some(400.0);
        assert_eq!(
            profile.describe_question(),
            "1,000 mailboxes of 2 MiB at a held rate of 400 IOPS (0.400 IOPS each)"
        );
        let each = "for each database";
        assert_eq!(
            profile.describe_load(),
            format!("400 IOPS held by up to 64 threads {each}")
        );
        profile.mail.threads = Some(12);
        assert_eq!(profile.describe_load(), "400 IOPS held by 12 threads");
        profile.run.held_rate = None;
        profile.mail.iops_per_mailbox = 0.0;
        let question = profile.describe_question();
        assert_eq!(question, "1,000 mailboxes of 2 MiB with 12 threads");
        profile.mail.held_transactions_per_second = Some(50.0);
        let question = profile.describe_question();
        assert_eq!(
            question,
            "1,000 mailboxes of 2 MiB at a held rate of 50 transactions/s"
        );
    }
}
