//! What a workload is to everything that does not care which one it is.
//!
//! A workload is a [`Workload`]: its name in profiles, its bundled profiles, how it reads them. Each
//! of its profiles is a [`Profile`], which knows what storage a run takes
//! and runs the page-level simulation of a prediction.

use crate::controller::SharedListener;
use crate::profile::{Run, TimeSpan, WarmUpLength};
use crate::progress::StopRequest;
use crate::refusal::Refusal;
use crate::setup::{SetupAnswers, SetupQuestion, SetupSetting};
use array::Array;
use array::bridge::VolumeFiles;
use config::{ConfigError, Layers, Settings};
use measure::display::Contribution;
use measure::result::RunResult;
use measure::service_level::ServiceLevels;
use runtime::Handle;
use std::any::Any;
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::future::Future;
use std::pin::Pin;

/// A kind of workload.
pub trait Workload: Debug + Sync {
    /// Its name in profiles: `kind = "..."`.
    fn kind(&self) -> &'static str;

    /// Its bundled profiles, the default first.
    fn bundled(&self) -> &'static [Bundled];

    /// Reads a profile of this workload; `kinds` are all kinds that there are, for messages.
    ///
    /// # Errors
    /// Everything that is wrong, each fault with its place.
    fn read(&self, layers: Layers, kinds: &[&str]) -> Result<Box<dyn Profile>, ConfigError>;

    /// The reference of all settings, as Markdown.
    fn reference(&self) -> String;

    /// The setting that an option stands for; `None` when it stands for no single one.
    fn setting_of(&self, option: LoadOption) -> Option<&'static str>;

    /// Whether the options go with this workload.
    ///
    /// # Errors
    /// An option that does not.
    fn check_options(&self, options: &LoadOptions<'_>) -> Result<(), Refusal>;

    /// What a search for the most load varies.
    fn load_axis(&self) -> LoadAxis;

    /// A setting with a value, without which a fixed number of sessions is to reach a rate.
    fn without_target_rate(&self) -> Option<(&'static str, u32)>;

    /// Settings that cannot change between the build of a database and a run on it.
    fn built_with(&self) -> &'static [&'static str];

    /// Settings by which a prediction has what a run on real storage has measured, by their paths.
    fn measured_settings(&self, _result: &RunResult) -> Vec<(&'static str, String)> {
        Vec::new()
    }

    /// What people are asked who make a profile, in this order.
    fn setup_questions(&self) -> &'static [SetupQuestion] {
        &[]
    }

    /// What the answers become.
    fn setup_settings(&self, answers: &SetupAnswers) -> Vec<SetupSetting> {
        let questions = self.setup_questions().iter();
        questions.filter_map(|one| one.setting(answers)).collect()
    }

    /// Size of a database that has room wherever a run can be made.
    fn small_database_bytes(&self) -> u64 {
        8 << 20
    }

    /// Name of the file of the database `name`; `None` when a server keeps its files itself.
    fn database_file(&self, _name: &str) -> Option<String> {
        None
    }

    /// Whether runs make files of this name in the directories of databases and logs, so that they
    /// may be removed.
    fn makes_file(&self, _name: &str) -> bool {
        false
    }

    /// What it adds to the report of a result of its own.
    fn contribution(&self, _result: &RunResult) -> Contribution {
        Contribution::default()
    }
}

/// A profile that needs no file.
#[derive(Clone, Copy, Debug)]
pub struct Bundled {
    /// The name to run it by.
    pub name: &'static str,
    /// The profile as TOML, with a comment beside each number.
    pub toml: &'static str,
}

/// What every profile has by the declaration of its settings.
pub trait DeclaredProfile {
    /// The profile of the workload itself, for code that knows which one it is.
    fn as_any(&self) -> &dyn Any;

    /// A copy of the profile.
    fn boxed(&self) -> Box<dyn Profile>;

    /// All settings in force by their dotted paths, as they stand in the TOML.
    fn settings(&self) -> BTreeMap<String, serde_json::Value>;

    /// All settings in force as commented TOML, which reads back to the same profile.
    fn to_toml(&self) -> String;

    /// The settings as they are declared.
    fn declared_settings(&self) -> config::Table;

    /// The JSON Schema of profiles of this workload; `extends` are the profiles to extend.
    fn json_schema(&self, extends: &[&str]) -> serde_json::Value;
}

impl<T: Profile + Settings + Clone + 'static> DeclaredProfile for T {
    fn as_any(&self) -> &dyn Any {
        self
    }

    fn boxed(&self) -> Box<dyn Profile> {
        Box::new(self.clone())
    }

    fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        config::settings_by_path(self)
    }

    fn to_toml(&self) -> String {
        config::to_toml(self)
    }

    fn declared_settings(&self) -> config::Table {
        T::declaration()
    }

    fn json_schema(&self, extends: &[&str]) -> serde_json::Value {
        let mut schema = config::json_schema::<T>("Workload profile", extends);
        schema["properties"]["kind"]["const"] = self.workload().kind().into();
        schema["required"] = ["kind"].as_slice().into();
        schema
    }
}

/// A profile of any workload: its settings, and what follows from them.
pub trait Profile: DeclaredProfile + Debug + Send + Sync {
    /// The workload that it is a profile of.
    fn workload(&self) -> &'static dyn Workload;

    /// One line for lists and reports.
    fn description(&self) -> &str;

    /// How long a run lasts and what it samples.
    fn run(&self) -> &Run;

    /// The same, to be changed.
    fn run_mut(&mut self) -> &mut Run;

    /// How long the warm-up of a prediction lasts.
    fn warm_up_in_prediction(&self) -> WarmUpLength {
        self.run().warm_up.in_prediction(TimeSpan(0))
    }

    /// The limits that decide the verdict, those of single operations included.
    fn service_levels(&self) -> ServiceLevels;

    /// The limits of a run on real storage. Nobody sees whether a page had to wait for room in the cache
    /// of a database server, so there is no limit of that.
    fn service_levels_on_storage(&self) -> ServiceLevels {
        let mut levels = self.service_levels();
        if let StorageNeeds::Server { .. } = self.storage_needs() {
            levels.page_fault_stalls_per_second = f64::INFINITY;
        }
        levels
    }

    /// Applies the options that no single setting stands for.
    ///
    /// # Errors
    /// An option that makes no sense for this profile.
    fn apply(&mut self, options: &LoadOptions<'_>) -> Result<(), Refusal>;

    /// What a run on real storage takes.
    fn storage_needs(&self) -> StorageNeeds;

    /// The data of a run in words, such as `4 databases of 500 GB`.
    fn describe_data(&self) -> String;

    /// The load of a run in words, such as `8 threads`.
    fn describe_load(&self) -> String;

    /// What is asked of the storage, data and load in short, such as `4,000 mailboxes of 2 GiB at
    /// 0.12 IOPS each`.
    fn describe_question(&self) -> String {
        format!("{}, {}", self.describe_data(), self.describe_load())
    }

    /// The rate of database reads and writes that the load is to reach where no rate is held; `None` where it is to reach
    /// none.
    fn target_iops(&self) -> Option<f64> {
        None
    }

    /// The cache of our own storage engine, of all databases together; `None` when a server has its own.
    fn engine_cache_bytes(&self) -> Option<u64> {
        None
    }

    /// The same of caches that give memory back, at their smallest.
    fn least_engine_cache_bytes(&self) -> Option<u64> {
        self.engine_cache_bytes()
    }

    /// Whether it can be predicted.
    ///
    /// # Errors
    /// What a prediction does not have.
    fn check_prediction(&self) -> Result<(), Refusal> {
        Ok(())
    }

    /// The volumes that a modelled array makes for it, in the order of their numbers.
    fn volume_demands(&self) -> Vec<VolumeDemand>;

    /// Names of its databases in results. Each has a volume of its own, unless there is one
    /// database for several volumes, which is then spread over all of them.
    fn database_names(&self) -> Vec<String>;

    /// Whether some of the data are accessed more than others.
    fn has_hot_data(&self) -> bool;

    /// Share of reads among the requests that reach the disks once a read cache is warm, 0 to 1.
    fn read_share_at_disks(&self) -> f64;

    /// Runs the page-level simulation of the workload on simulated storage. One seed is one run.
    fn simulate(&self, simulation: Simulation) -> SimulationFuture;
}

impl Clone for Box<dyn Profile> {
    fn clone(&self) -> Self {
        self.boxed()
    }
}

impl dyn Profile + '_ {
    /// The profile as one of a certain workload; `None` when it is of another.
    #[must_use]
    pub fn downcast<T: 'static>(&self) -> Option<&T> {
        self.as_any().downcast_ref()
    }
}

/// An option that says how large the load is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LoadOption {
    /// Number of sessions over all databases.
    Threads,
    /// Users of a database server.
    Users,
    /// A rate of transactions to hold instead of a rate of I/O.
    RateOfTransactions,
    /// Number of databases over which the load is spread.
    Databases,
    /// Data over all databases.
    TargetSize,
    /// Which tests a run makes.
    Test,
    /// Which load is looked for.
    Find,
}

/// Options of a run or a prediction, each as it was given.
#[derive(Clone, Copy, Debug, Default)]
pub struct LoadOptions<'a> {
    /// The workload as it was named, for messages.
    pub workload: &'a str,
    /// Whether users of a database server are given.
    pub has_users: bool,
    /// Whether a rate to hold is given.
    pub has_rate: bool,
    /// Whether a number of sessions is given.
    pub has_threads: bool,
    /// Whether the length of the measured phase is given.
    pub has_duration: bool,
    /// Whether the number of databases is given.
    pub has_databases: bool,
    /// Number of mailboxes over all databases.
    pub mailboxes: Option<&'a str>,
    /// Data over all databases.
    pub target_size: Option<&'a str>,
    /// Whether a database server to run on is named.
    pub has_server: bool,
    /// Whether the load is predicted, so that no storage is named.
    pub is_predicted: bool,
}

/// What a search for the most load varies.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum LoadAxis {
    /// The held rate of database reads and writes.
    Rate,
    /// A setting with the number of clients.
    Clients {
        /// Dotted path of the setting.
        setting: &'static str,
        /// The most clients that are tried unless another range is given.
        most: f64,
    },
}

/// What a run on real storage takes.
#[derive(Clone, Debug, PartialEq)]
pub enum StorageNeeds {
    /// Databases, each with a log, on directories or block devices.
    Databases(DatabaseNeeds),
    /// A database server on a file system.
    Server {
        /// Directory of its data.
        data: &'static str,
        /// Directory of its log when that has a target of its own.
        log: &'static str,
    },
}

/// Databases of the same size, each with a log.
#[derive(Clone, Debug, PartialEq)]
pub struct DatabaseNeeds {
    /// How many there are.
    pub count: u32,
    /// First part of the names of their directories.
    pub prefix: &'static str,
    /// Size of each when it has been built.
    pub data_bytes: u64,
    /// The same with the room that it needs to grow.
    pub reserved_bytes: u64,
    /// That room in percent of the data.
    pub growth_percent: f64,
    /// Space for the log of each.
    pub log_bytes: u64,
    /// The setting that is off, so that log files are never used again; `None`: they are.
    pub log_reuse_off: Option<&'static str>,
    /// How the data can be made less, to stand before an option for their size.
    pub to_shrink: &'static str,
}

/// What is to lie on one volume of a modelled array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VolumeDemand {
    /// What the volume is for.
    pub name: String,
    /// Size of the data before the run.
    pub data_bytes: u64,
    /// The same with the room that it needs to grow.
    pub reserved_bytes: u64,
    /// Space for a log with this volume; 0: none.
    pub log_bytes: u64,
}

/// A directory on a volume of a modelled array, without contents.
pub type SimulatedFiles = VolumeFiles<(), Array<()>>;

/// Where a volume demand has been placed.
#[derive(Clone)]
pub struct SimulatedPlace {
    /// The directory of the data.
    pub data: SimulatedFiles,
    /// The directory of the log.
    pub log: SimulatedFiles,
}

/// A page-level simulation to be run.
pub struct Simulation {
    /// The runtime with the virtual clock.
    pub handle: Handle,
    /// Where the demands of [`Profile::volume_demands`] lie, in their order.
    pub places: Vec<SimulatedPlace>,
    /// What the caller knows already (workload, target, seed, time of start).
    pub base: RunResult,
    /// How it is asked to stop.
    pub stop: StopRequest,
    /// Who is notified of what happens.
    pub listener: SharedListener,
}

/// A simulation under way: the result is `base` with everything that the run found out.
pub type SimulationFuture = Pin<Box<dyn Future<Output = RunResult>>>;
