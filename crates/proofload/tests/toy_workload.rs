//! A third workload, in this test alone: random reads of one file by a few clients. Its profile is
//! read, its load is predicted on a bundled array and runs on real storage, and its reports show a
//! metric, a table and a recommendation of its own, without a word about it anywhere else.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod host;

use std::sync::Arc;

use config::{ByteSize, ConfigError, Format, Layers, settings, within};
#[cfg(feature = "host")]
use execution::RunnableWorkload;
#[cfg(feature = "host")]
use execution::storage_run::{
    Afterwards, PlannedWork, RunRequest, StorageRun, TargetRun, own, wall_clock,
};
use measure::display::number::in_column;
use measure::display::{
    Advice, AdviceId, Better, Cell, Column, Contribution, LoadWords, Medium, Part, ResultMetric,
    Section, Table, Tile,
};
use measure::metric::Unit;
use measure::result::{RunResult, Verdict};
use measure::sample::Layout;
use measure::service_level::{OperationLevels, ServiceLevels};
#[cfg(feature = "host")]
use proofload::{Error, Observer, Outcome, RunOptions, StopRequest};
use proofload::{Registry, Scenario};
use report::{Run as ReportedRun, Style};
use workload::controller::load::{Loop, Pause};
use workload::controller::plan::{SteadyBy, Tests};
#[cfg(feature = "host")]
use workload::controller::run_on_threads;
use workload::controller::{RunPlan, Together, run_on_virtual_clock};
use workload::pacing::turns::Division;
use workload::profile::{Levels, Run, Tuning, common_rules, read};
use workload::progress::Clients;
use workload::{Bundled, Profile};
use workload::{
    DatabaseNeeds, LoadAxis, LoadOption, LoadOptions, Refusal, Simulation, SimulationFuture,
    StorageNeeds, VolumeDemand, Workload,
};

use host::ToyHost;

const BLOCK_BYTES: u64 = 8192;
const FILE: &str = "toy.data";

settings! {
    /// What kind of workload this is.
    struct ToyProfile {
        /// The kind of workload.
        kind: String = "toy".to_owned();
        /// One line for lists.
        description: String = String::new();
        /// How large the load is.
        toy: Toy = Toy::default();
        /// The limits that decide the verdict.
        service_levels: Levels = Levels::default();
        /// How long a run lasts.
        run: Run = Run::default();
    }
}

settings! {
    /// Clients that read blocks of one file at random.
    struct Toy {
        /// How many clients there are.
        clients: u32 = 4, as within(1..=1_000);
        /// Size of the file.
        size: ByteSize = ByteSize::gib(1), as within(ByteSize::mib(1)..=ByteSize::gib(1024));
    }
}

#[derive(Debug)]
struct ToyWorkload;

static WORKLOAD: ToyWorkload = ToyWorkload;

/// One registry line, and how profiles extend each other.
static REGISTRY: Registry = Registry {
    workloads: &[&WORKLOAD],
    format: &Format {
        noun: "profile",
        bundled: |name| REGISTRY.bundled(name).map(|one| one.toml),
        names: || REGISTRY.bundled_profiles().map(|one| one.name).collect(),
        ignored: &["event"],
        required: None,
    },
};

#[cfg(feature = "host")]
impl RunnableWorkload for ToyWorkload {
    fn prepare_run(
        &self,
        request: &RunRequest,
        options: &RunOptions,
        profile: &dyn Profile,
    ) -> Result<Box<dyn StorageRun>, Error> {
        Ok(Box::new(ToyRun {
            targets: TargetRun::prepare(request, options, profile)?,
            profile: own::<ToyProfile>(profile)?.clone(),
        }))
    }
}

/// A run on a real directory.
#[cfg(feature = "host")]
struct ToyRun {
    targets: TargetRun,
    profile: ToyProfile,
}

#[cfg(feature = "host")]
impl StorageRun for ToyRun {
    fn describe(&self) -> Result<String, Error> {
        Ok(self.profile.describe_data())
    }

    fn work(&self) -> Result<PlannedWork, Error> {
        let bytes = self.profile.toy.size.bytes();
        Ok(PlannedWork {
            build_bytes: bytes,
            ..PlannedWork::default()
        })
    }

    fn run(
        self: Box<Self>,
        observer: Box<dyn Observer>,
        stop: StopRequest,
    ) -> Result<Outcome, Error> {
        let Self { targets, profile } = *self;
        let (plan, size) = (profile.plan(), profile.toy.size.bytes());
        let driver = plan.run.io_driver;
        let afterwards = Afterwards {
            examined_by: "'od' shows them",
            can_resume: false,
            unfinished: &|| None,
            hindrance: &|| None,
        };
        targets.run(&profile, observer, &stop, &afterwards, |begun| {
            let (places, monitor) = (begun.places, Some(begun.monitor));
            let make = move |shard| {
                let runtime = wall_clock(driver)?;
                let host = ToyHost {
                    handle: runtime.handle(),
                    directory: places.open(&runtime, shard)?.data,
                    size,
                    seed: 1,
                };
                Ok((runtime, host))
            };
            run_on_threads(plan, begun.base, monitor, begun.stop, begun.listener, make)
        })
    }
}

impl Workload for ToyWorkload {
    fn kind(&self) -> &'static str {
        "toy"
    }

    fn bundled(&self) -> &'static [Bundled] {
        &[Bundled {
            name: "toy",
            toml: "kind = 'toy'\ndescription = 'Random reads.'\n[run.steady_state]\nrequired = false",
        }]
    }

    fn read(&self, layers: Layers, kinds: &[&str]) -> Result<Box<dyn Profile>, ConfigError> {
        let rules = |one: &ToyProfile| common_rules(&one.service_levels, &one.run);
        Ok(Box::new(read(
            layers,
            kinds,
            &ToyProfile::default(),
            rules,
        )?))
    }

    fn reference(&self) -> String {
        config::reference::<ToyProfile>()
    }

    fn setting_of(&self, option: LoadOption) -> Option<&'static str> {
        (option == LoadOption::Threads).then_some("toy.clients")
    }

    fn check_options(&self, _: &LoadOptions<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn load_axis(&self) -> LoadAxis {
        LoadAxis::Clients {
            setting: "toy.clients",
            most: 64.0,
        }
    }

    fn without_target_rate(&self) -> Option<(&'static str, u32)> {
        None
    }

    fn built_with(&self) -> &'static [&'static str] {
        &["toy.size"]
    }

    fn database_file(&self, _: &str) -> Option<String> {
        Some(FILE.to_owned())
    }

    fn makes_file(&self, name: &str) -> bool {
        name == FILE
    }

    fn contribution(&self, result: &RunResult) -> Contribution {
        let per_client = per_client(result);
        let mut table = Table::new(vec![Column::text("file"), Column::number("reads", "")]);
        for one in &result.operations {
            table.push(vec![Cell::new(FILE), Cell::count(one.count)]);
        }
        Contribution {
            words: LoadWords {
                client: "toy client",
                ..LoadWords::default()
            },
            tiles: vec![Tile {
                name: "Reads of a client",
                value: per_client.unwrap_or(0.0),
                unit: Unit::Iops,
                short_unit: "IOPS",
                beside: String::new(),
            }],
            metrics: &METRICS,
            sections: vec![Section {
                id: "toy",
                title: "Toy file",
                sentences: vec!["Every block is as likely as any other.".to_owned()],
                parts: vec![Part {
                    title: "Reads of the toy file",
                    table,
                    medium: Medium::Both,
                }],
                folded: None,
            }],
            advice: per_client
                .filter(|rate| *rate > 1.0)
                .map(|_| {
                    Advice::new(
                        AdviceId("toy-more-clients"),
                        "More clients could play",
                        "Give toy.clients a higher number.".to_owned(),
                    )
                })
                .into_iter()
                .collect(),
            ..Contribution::default()
        }
    }
}

/// What its runs are compared by.
static METRICS: [ResultMetric; 1] = [ResultMetric {
    id: "reads_per_client_per_second",
    label: "reads of a client",
    meaning: "Reads per second of one client.",
    unit: Unit::Iops,
    better: Better::Higher,
    value: per_client,
}];

fn per_client(result: &RunResult) -> Option<f64> {
    let clients = result.throughput.threads.filter(|clients| *clients > 0)?;
    Some(result.operations.first()?.per_second / clients as f64)
}

impl ToyProfile {
    fn plan(&self) -> RunPlan {
        RunPlan {
            run: self.run.clone(),
            tuning: Tuning::default(),
            service_levels: self.service_levels(),
            layout: Arc::new(Layout::new(self.database_names(), ["read"])),
            shards: vec![vec![0]],
            clients: Clients::THREADS,
            how: Loop::Closed(Pause {
                fixed_ns: 0,
                factor: 0.0,
            }),
            operations_per_transaction: 1,
            division: Division::default(),
            held_transactions_per_second: None,
            fixed_sessions: Some(self.toy.clients),
            target_iops: 0.0,
            database_bytes: self.toy.size.bytes(),
            page_bytes: BLOCK_BYTES,
            reuse: false,
            restored_from: None,
            build_only: false,
            warm_up: self.warm_up_in_prediction(),
            steady_by: SteadyBy::Rate,
            tests: Tests::default(),
            together: Together::default(),
            interrupted: None,
        }
    }
}

impl Profile for ToyProfile {
    fn workload(&self) -> &'static dyn Workload {
        &WORKLOAD
    }

    fn description(&self) -> &str {
        &self.description
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

    fn apply(&mut self, _: &LoadOptions<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn storage_needs(&self) -> StorageNeeds {
        StorageNeeds::Databases(DatabaseNeeds {
            count: 1,
            prefix: "toy",
            data_bytes: self.toy.size.bytes(),
            reserved_bytes: self.toy.size.bytes(),
            growth_percent: 0.0,
            log_bytes: 0,
            log_reuse_off: None,
            to_shrink: "Make the file smaller",
        })
    }

    fn describe_data(&self) -> String {
        format!("a file of {}", self.toy.size)
    }

    fn describe_load(&self) -> String {
        format!("{} clients", self.toy.clients)
    }

    fn volume_demands(&self) -> Vec<VolumeDemand> {
        vec![VolumeDemand {
            name: "toy".to_owned(),
            data_bytes: self.toy.size.bytes(),
            reserved_bytes: self.toy.size.bytes(),
            log_bytes: 1 << 20,
        }]
    }

    fn database_names(&self) -> Vec<String> {
        vec!["toy".to_owned()]
    }

    fn has_hot_data(&self) -> bool {
        false
    }

    fn read_share_at_disks(&self) -> f64 {
        1.0
    }

    fn simulate(&self, simulation: Simulation) -> SimulationFuture {
        let plan = self.plan();
        let (handle, seed, size) = (simulation.handle, self.run.seed, self.toy.size.bytes());
        let (clock, places) = (handle.clone(), simulation.places);
        let host = move |_| ToyHost {
            handle: clock.clone(),
            directory: places[0].data.clone(),
            size,
            seed,
        };
        let (base, stop, listener) = (simulation.base, simulation.stop, simulation.listener);
        Box::pin(run_on_virtual_clock(
            handle, plan, base, stop, listener, host,
        ))
    }
}

fn scenario(setting: &str, value: &str) -> Scenario {
    let scenario = Scenario {
        registry: &REGISTRY,
        ..Scenario::new("toy")
    };
    let scenario = scenario.on_array("nvme-raid10").with("run.duration", "20s");
    scenario.with(setting, value)
}

#[test]
fn a_third_workload_is_predicted() {
    let result = scenario("run.sample_interval", "2s")
        .predict()
        .unwrap()
        .result;
    assert_eq!(result.errors, []);
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
    assert_eq!(result.workload.settings["toy.clients"], 4);
    // Four clients without a pause: as many reads are always under way.
    let reads = &result.totals.reads;
    let latency_ms = reads.latency.as_ref().unwrap().average_ms;
    let outstanding = reads.per_second * latency_ms / 1e3;
    assert!((outstanding - 4.0).abs() < 0.05, "{outstanding}");
    assert!(
        result.operations[0].count > 10_000,
        "{:?}",
        result.operations
    );
}

#[cfg(feature = "host")]
#[test]
fn a_third_workload_runs_on_real_storage() {
    let room = tempfile::tempdir().unwrap();
    let scenario = Scenario {
        registry: &REGISTRY,
        ..Scenario::new("toy")
    };
    let scenario = [
        ("run.duration", "2s"),
        ("run.sample_interval", "250ms"),
        ("run.warm_up.maximum", "500ms"),
        ("toy.size", "16MiB"),
    ]
    .into_iter()
    .fold(scenario, |all, (key, value)| all.with(key, value));
    let on = room.path().join("target");
    std::fs::create_dir(&on).unwrap();
    let options = RunOptions {
        on: vec![on.clone()],
        ..RunOptions::default()
    };
    let outcome = scenario.run(&options).unwrap();
    let result = outcome.result;
    assert_eq!(result.errors, []);
    assert!(result.operations[0].count > 0, "{:?}", result.operations);
    assert_eq!(std::fs::read_dir(on).unwrap().count(), 0, "it clears up");
}

#[test]
fn its_metric_table_and_recommendation_are_in_its_reports() {
    let run = |clients| {
        let result = scenario("toy.clients", clients).predict().unwrap().result;
        ReportedRun {
            contribution: REGISTRY.contribution(&result),
            ..ReportedRun::from_result(clients, result)
        }
    };
    let runs = [run("2"), run("4")];
    let page = report::html(&runs[1]);
    let rate = (METRICS[0].value)(&runs[1].result).unwrap();
    for part in [
        "Reads of a client",
        &in_column(rate, Unit::Iops),
        "<h2 id=\"toy\">Toy file</h2>",
        "Reads of the toy file",
        "Every block is as likely as any other.",
        "id=\"finding-toy-more-clients\"",
        "Give toy.clients a higher number.",
        "4 toy clients",
    ] {
        assert!(page.contains(part), "{part}");
    }
    let text = report::terminal(&runs[1], &Style::plain());
    for part in ["Reads of the toy file", "More clients could play"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let comparison = report::terminal_comparison(&runs, &Style::plain());
    assert!(comparison.contains("reads of a client"), "{comparison}");
    assert!(report::html_comparison(&runs).contains("reads of a client"));
}

#[test]
fn a_result_of_an_unknown_workload_has_a_general_report() {
    let mut result = scenario("toy.clients", "2").predict().unwrap().result;
    let kind = "gone".into();
    result.workload.settings.insert("kind".to_owned(), kind);
    assert!(REGISTRY.contribution(&result).sections.is_empty());
}

#[test]
fn the_faults_of_its_profile_are_shown_like_those_of_any_other() {
    let error = scenario("toy.cleints", "5").predict().err().unwrap();
    let said = error.to_string();
    assert!(said.contains("did you mean 'toy.clients'"), "{said}");
}
