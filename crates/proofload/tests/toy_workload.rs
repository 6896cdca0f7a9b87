//! A third workload, in this file alone: random reads of one file by a few clients. Its profile is
//! read, its load is predicted on a bundled array, and its reports show a metric, a table and a
//! recommendation of its own, without a word about it anywhere else.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use config::{ByteSize, ConfigError, Format, Layers, settings, within};
use measure::display::number::in_column;
use measure::display::{
    Advice, AdviceId, Better, Cell, Column, Contribution, LoadWords, Medium, Part, ResultMetric,
    Section, Table, Tile,
};
use measure::metric::Unit;
use measure::result::{RunResult, Verdict};
use measure::sample::{Layout, Recorder};
use measure::service_level::{OperationLevels, ServiceLevels};
use proofload::registry::Registered;
use proofload::{Registry, Scenario};
use report::{Run as ReportedRun, Style};
use runtime::{Directory, File, Handle, IoCause, IoDirection, IoEvent, IoObserver};
use workload::controller::host::{
    BuiltDatabase, DatabaseHost, DatabaseStatistics, Doing, LoadedDatabase, OpenedDatabase,
    Progress, VerifyReport,
};
use workload::controller::load::{Loop, Pause};
use workload::controller::plan::SteadyBy;
use workload::controller::{RunPlan, run_on_virtual_clock};
use workload::failure::Failure;
use workload::profile::{Levels, Run, Tuning, common_rules, read};
use workload::progress::Clients;
use workload::random::SeededRng;
use workload::{Bundled, Profile};
use workload::{
    LoadAxis, LoadOption, LoadOptions, Refusal, SimulatedFiles, SimulatedPlace, Simulation,
    SimulationFuture, StorageNeeds, VolumeDemand, Workload,
};

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
    workloads: &[Registered {
        workload: &WORKLOAD,
        #[cfg(feature = "host")]
        prepare: |_, _, _| {
            Err(proofload::Error::usage(
                "The toy runs on no real storage.",
                "Predict it.",
            ))
        },
    }],
    format: &Format {
        noun: "profile",
        bundled: |name| REGISTRY.bundled(name).map(|one| one.toml),
        names: || REGISTRY.bundled_profiles().map(|one| one.name).collect(),
        ignored: &["event"],
        required: None,
    },
};

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
        StorageNeeds::Server {
            data: "toy",
            log: "toy-log",
        }
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
        let plan = RunPlan {
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
            fixed_sessions: Some(self.toy.clients),
            target_iops: 0.0,
            database_bytes: self.toy.size.bytes(),
            page_bytes: BLOCK_BYTES,
            reuse: false,
            build_only: false,
            steady_by: SteadyBy::Rate,
        };
        let (handle, seed, size) = (simulation.handle, self.run.seed, self.toy.size.bytes());
        let (clock, places) = (handle.clone(), simulation.places);
        let host = move |_| ToyHost {
            handle: clock.clone(),
            place: places[0].clone(),
            size,
            seed,
        };
        let (base, stop, listener) = (simulation.base, simulation.stop, simulation.listener);
        Box::pin(run_on_virtual_clock(
            handle, plan, base, stop, listener, host,
        ))
    }
}

struct ToyHost {
    handle: Handle,
    place: SimulatedPlace,
    size: u64,
    seed: u64,
}

#[derive(Clone)]
struct ToyDatabase {
    handle: Handle,
    file: <SimulatedFiles as Directory>::File,
    size: u64,
    rng: Rc<RefCell<SeededRng>>,
    observer: Rc<dyn IoObserver>,
    recorder: Rc<RefCell<Recorder>>,
}

impl LoadedDatabase for ToyDatabase {
    async fn transact(&self, _: Option<u64>) -> Result<u32, Failure> {
        let block = self.rng.borrow_mut().below(self.size / BLOCK_BYTES);
        let issued_ns = self.handle.now_ns();
        let read = self.file.read_by_size(block * BLOCK_BYTES, BLOCK_BYTES);
        read.await
            .map_err(|error| Failure::of_io(&error, "reading a block"))?;
        let completed_ns = self.handle.now_ns();
        self.observer.completed(&IoEvent {
            cause: IoCause::Database,
            direction: IoDirection::Read,
            offset_bytes: block * BLOCK_BYTES,
            length_bytes: BLOCK_BYTES,
            issued_ns,
            completed_ns,
            succeeded: true,
        });
        let mut recorder = self.recorder.borrow_mut();
        recorder.operation(0, 0, completed_ns - issued_ns, None);
        Ok(1)
    }

    fn statistics(&self) -> DatabaseStatistics {
        DatabaseStatistics {
            cached_pages: 1,
            cache_capacity_pages: 1,
            database_pages: 1,
            size_bytes: self.size,
            ..DatabaseStatistics::default()
        }
    }

    fn take_damage(&self) -> Vec<Failure> {
        Vec::new()
    }
}

impl DatabaseHost for ToyHost {
    type Database = ToyDatabase;

    async fn build(
        &self,
        _: usize,
        _: Rc<dyn IoObserver>,
        progress: Progress,
    ) -> Result<BuiltDatabase, Failure> {
        let laid = self.place.data.lay_out(FILE, self.size).await;
        laid.map_err(|error| Failure::of_io(&error, "laying out the file"))?;
        progress(self.size);
        Ok(BuiltDatabase {
            size_bytes: self.size,
            note: String::new(),
        })
    }

    async fn open(
        &self,
        _: usize,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        _: Doing,
    ) -> Result<OpenedDatabase<ToyDatabase>, Failure> {
        let file = self.place.data.open(FILE).await;
        Ok(OpenedDatabase {
            database: ToyDatabase {
                handle: self.handle.clone(),
                file: file.map_err(|error| Failure::of_io(&error, "opening the file"))?,
                size: self.size,
                rng: Rc::new(RefCell::new(SeededRng::new(self.seed, 0))),
                observer,
                recorder,
            },
            note: String::new(),
        })
    }

    async fn close(&self, _: usize, _: ToyDatabase, _: bool) -> Result<(), Failure> {
        Ok(())
    }

    async fn verify(&self, _: usize, _: Progress) -> Result<VerifyReport, Failure> {
        Ok(VerifyReport::default())
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
