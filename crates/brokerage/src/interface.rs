//! The brokerage workload behind the interface of all workloads.

use crate::operation::{DATABASE, business_transactions_per_second, levels};
use crate::profile::{BUNDLED, BrokerageProfile, KIND};
use crate::report;
use crate::run_plan::run_plan;
use crate::simulation::trees::{self, Trees};
use crate::simulation::{self, Places};
use config::{ConfigError, Layers};
use measure::display::Contribution;
use measure::result::RunResult;
use measure::service_level::ServiceLevels;
use measure::units;
use workload::profile::{Run, TimeSpan, WarmUpLength};
use workload::{Bundled, Profile, SetupDefault, SetupKind, SetupQuestion};
use workload::{
    LoadAxis, LoadOption, LoadOptions, Refusal, Simulation, SimulationFuture, StorageNeeds,
    VolumeDemand, Workload,
};

/// The brokerage workload, as the registry of workloads has it.
pub static WORKLOAD: BrokerageWorkload = BrokerageWorkload;

/// A brokerage on a database server: users that trade, and an exchange that answers.
#[derive(Clone, Copy, Debug)]
pub struct BrokerageWorkload;

/// The setting with the number of users.
const USERS: &str = "brokerage.users";

/// Without a range of its own at most so many users are tried.
const MOST_USERS: f64 = 2_000.0;

/// Log files beyond the checkpoint depth, as for mail.
const SPARE_LOG_FILES: u64 = 16;

const READS: &str = "brokerage.measured_io.reads_per_transaction";
const WRITES: &str = "brokerage.measured_io.writes_per_transaction";
const WRITE_SIZE: &str = "brokerage.measured_io.write_size";
const LOG_WRITES: &str = "brokerage.measured_io.log_writes_per_transaction";
const LOG_BYTES: &str = "brokerage.measured_io.log_bytes_per_transaction";

const DATA_SIZE: &str = "brokerage.data_size";

const SETUP: [SetupQuestion; 2] = [
    SetupQuestion {
        key: USERS,
        text: "How many users?",
        comment: "Users at the same time.",
        kind: SetupKind::Count,
        default: SetupDefault::OfProfile,
    },
    SetupQuestion {
        key: DATA_SIZE,
        text: "How much data?",
        comment: "Data in the database.",
        kind: SetupKind::DataSize,
        default: SetupDefault::OfProfile,
    },
];

impl Workload for BrokerageWorkload {
    fn kind(&self) -> &'static str {
        KIND
    }

    fn bundled(&self) -> &'static [Bundled] {
        BUNDLED
    }

    fn read(&self, layers: Layers, kinds: &[&str]) -> Result<Box<dyn Profile>, ConfigError> {
        Ok(Box::new(BrokerageProfile::read(layers, kinds)?))
    }

    fn reference(&self) -> String {
        config::reference_of(&BrokerageProfile::default())
    }

    fn setting_of(&self, option: LoadOption) -> Option<&'static str> {
        match option {
            LoadOption::Threads | LoadOption::Users => Some(USERS),
            LoadOption::TargetSize => Some(DATA_SIZE),
            LoadOption::Databases
            | LoadOption::Test
            | LoadOption::Find
            | LoadOption::RateOfTransactions => None,
        }
    }

    fn check_options(&self, options: &LoadOptions<'_>) -> Result<(), Refusal> {
        for (option, is_given) in [
            ("--mailboxes", options.mailboxes.is_some()),
            ("--databases", options.has_databases),
        ] {
            if is_given {
                return Err(Refusal::usage(
                    format!(
                        "{option} does not go with a brokerage, which has one database and users."
                    ),
                    "Give --users for the users, and --target-size for the data.",
                ));
            }
        }
        if options.is_predicted && options.has_rate {
            return Err(Refusal::usage(
                "--rate does not go with a brokerage on a modelled array: its users begin the \
                 next transaction when the last is done.",
                "Give --users for the load; 'proofload run' holds rates of transactions.",
            ));
        }
        Ok(())
    }

    fn load_axis(&self) -> LoadAxis {
        LoadAxis::Clients {
            setting: USERS,
            most: MOST_USERS,
        }
    }

    fn without_target_rate(&self) -> Option<(&'static str, u32)> {
        None
    }

    fn built_with(&self) -> &'static [&'static str] {
        &[
            "brokerage.customers",
            "brokerage.data_size",
            "brokerage.trade_days",
        ]
    }

    fn measured_settings(&self, result: &RunResult) -> Vec<(&'static str, String)> {
        measured_io(result)
    }

    fn setup_questions(&self) -> &'static [SetupQuestion] {
        &SETUP
    }

    fn small_database_bytes(&self) -> u64 {
        200 << 20
    }

    fn contribution(&self, result: &RunResult) -> Contribution {
        report::contribution(result)
    }
}

/// The I/O of a run for each transaction that its users began; none when they began none.
fn measured_io(result: &RunResult) -> Vec<(&'static str, String)> {
    let transactions = business_transactions_per_second(result) * result.duration_s;
    if transactions <= 0.0 {
        return Vec::new();
    }
    let (reads, writes) = (&result.totals.reads, &result.totals.writes);
    let log = &result.totals.log_writes;
    let per_transaction = |amount: u64| (amount as f64 / transactions).to_string();
    let mut measured = vec![
        (READS, per_transaction(reads.count)),
        (WRITES, per_transaction(writes.count)),
        (LOG_WRITES, per_transaction(log.count)),
        (LOG_BYTES, per_transaction(log.bytes)),
    ];
    if let Some(bytes) = writes.bytes.checked_div(writes.count) {
        measured.push((WRITE_SIZE, format!("{}B", bytes.clamp(4 << 10, 16 << 20))));
    }
    measured
}

impl Profile for BrokerageProfile {
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

    /// So long until orders that wait for a price are as many as they stay.
    fn warm_up_in_prediction(&self) -> WarmUpLength {
        self.run.warm_up.in_prediction(TimeSpan::seconds(900))
    }

    fn service_levels(&self) -> ServiceLevels {
        self.service_levels.with(levels(&self.brokerage))
    }

    fn apply(&mut self, _: &LoadOptions<'_>) -> Result<(), Refusal> {
        Ok(())
    }

    fn storage_needs(&self) -> StorageNeeds {
        StorageNeeds::Server {
            data: DATABASE,
            log: "brokerage-log",
        }
    }

    fn describe_data(&self) -> String {
        let brokerage = &self.brokerage;
        let scale = trees::scale(brokerage);
        format!(
            "{} of data for {} customers with {} of trading in {}",
            units::size(trees::bytes_of(brokerage, scale)),
            units::count_of(scale.customers),
            units::count(u64::from(scale.trade_days), "day"),
            units::count(u64::from(brokerage.data_files), "file"),
        )
    }

    fn describe_question(&self) -> String {
        self.describe_data()
    }

    fn describe_load(&self) -> String {
        units::count(u64::from(self.brokerage.users), "user")
    }

    fn check_prediction(&self) -> Result<(), Refusal> {
        if self.run.held_rate.is_none() {
            return Ok(());
        }
        Err(Refusal::usage(
            "A predicted brokerage has no held rate: its users make the load.",
            "Leave run.held_rate at \"none\" and give brokerage.users a number.",
        ))
    }

    /// Room for every data file with its growth. The log, which is one, asks for room with the first.
    fn volume_demands(&self) -> Vec<VolumeDemand> {
        let brokerage = &self.brokerage;
        let database = &brokerage.database;
        let files = u64::from(brokerage.data_files);
        let pages = Trees::build(brokerage).all_pages();
        let data_bytes = simulation::file_bytes(pages, files, database.page_size.bytes());
        let log_bytes = database.checkpoint_depth.bytes().saturating_mul(2)
            + SPARE_LOG_FILES * database.log_file_size.bytes();
        let demand = |number| VolumeDemand {
            name: format!("brokerage-data-{number}"),
            data_bytes,
            reserved_bytes: data_bytes,
            log_bytes: if number == 1 { log_bytes } else { 0 },
        };
        (1..=files).map(demand).collect()
    }

    fn database_names(&self) -> Vec<String> {
        vec![DATABASE.to_owned()]
    }

    fn has_hot_data(&self) -> bool {
        true
    }

    fn read_share_at_disks(&self) -> f64 {
        0.95
    }

    fn simulate(&self, simulation: Simulation) -> SimulationFuture {
        // The log is one; it lies beside the first data file.
        let log = simulation.places[0].log.clone();
        let data = simulation.places.into_iter().map(|place| place.data);
        let places = Places {
            data: data.collect(),
            log,
        };
        Box::pin(simulation::run_on_virtual_clock(
            simulation.handle,
            self.clone(),
            run_plan(self),
            simulation.base,
            simulation.stop,
            simulation.listener,
            places,
        ))
    }
}
