//! The options of `run`.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use config::{ByteSize, TimeSpan};
use proofload::jetstress::legacy::{self, LegacyRun};
use proofload::resume::resumed;
use proofload::{Error, Key, Scenario, Setting, Value};
use workload::controller::Together;

use super::load::LoadOptions;
use super::output::OutputOptions;
use super::search::SearchArgs;
use super::watch::WatchOptions;
use super::witness::WitnessArgs;
use crate::print::notify;

/// The test that is a long performance test.
const STRESS: &str = "stress";
/// How long it lasts in Jetstress.
const LENGTH_OF_STRESS_TEST: &str = "24h";
/// How long a rank of a run on several hosts may be silent unless it is set.
const RANK_TIMEOUT: Duration = Duration::from_secs(10);

/// What a run that goes on has from its begin.
const NOT_WITH_RESUME: [&str; 32] = [
    "workload",
    "database",
    "erase_device",
    "keep",
    "reuse",
    "array_cache",
    "allow_cached",
    "continue_on_errors",
    "build_only",
    "restore",
    "copy_to",
    "test",
    "rank_timeout",
    "legacy",
    "witness",
    "secret_file",
    "duration",
    "threads",
    "users",
    "rate",
    "rate_transactions",
    "databases",
    "mailboxes",
    "target_size",
    "seed",
    "set",
    "find",
    "curve",
    "scenario",
    "throughput_percent",
    "capacity_percent",
    "out",
];

/// Options of `run`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:
  Four databases over two volumes, their logs on a third:
    proofload run exchange-2013 --on /mnt/a,/mnt/b --log-on /mnt/log --duration 2h
  A short run on a small disk:
    proofload run exchange-2013 --on /mnt/a --target-size 20GB --duration 10m
  The highest rate that this storage carries, and the response time at parts of it:
    proofload run exchange-2013 --on /mnt/a --find max-iops --curve 10..100:10
  Build once, then run twice on the same databases:
    proofload run exchange-2013 --on /mnt/a --build-only
    proofload run exchange-2013 --on /mnt/a --reuse --threads 16
    proofload run exchange-2013 --on /mnt/a --reuse --rate 1200
  Performance, backup and soft recovery on the same databases:
    proofload run exchange-2013 --on /mnt/a --test all --backup-to /mnt/backup
  Twice from the same state: copies first, and before each run the databases are restored from them:
    proofload run exchange-2013 --on /mnt/a --test backup --backup-to /mnt/copies --keep
    proofload run exchange-2013 --on /mnt/a --restore /mnt/copies --threads 16
  Go on with a run of 24 hours that a reboot has interrupted:
    proofload run --resume proofload-runs/exchange-2013-20250301T120000Z
  A brokerage on a database server of its own, with 30 users:
    proofload run brokerage --on /mnt/a --users 30 --target-size 20GB --duration 1h
  The same on an existing PostgreSQL server, its password in PGPASSWORD:
    proofload run brokerage --database postgres://me@localhost/postgres --target-size 20GB
  Four hosts at once, with a program that was built for MPI; {rank} and {host} in paths differ:
    mpirun -n 4 --hostfile hosts proofload run exchange-2013 --on '/mnt/{host}' --out result
  The command line of Jetstress.exe 2003/2004, on a database in the current directory:
    proofload run legacy2003 -- -l /mnt/log -n 0 -b 64 -t 18 -i 15 -r 35 -d 5 -z 93 -a -q 7200
  A raw block device, whose contents are lost:
    proofload run exchange-2013 --on /dev/disk/by-id/nvme-X --databases 1 --erase-device")]
pub struct RunOptions {
    /// A bundled profile (see `proofload list`), the path of a profile file, or legacy2003 with the
    /// switches of Jetstress 2003/2004.
    #[arg(value_name = "WORKLOAD", default_value = "exchange-2013")]
    pub workload: String,

    /// Directories or block devices for the databases, distributed in turn.
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    #[arg(required_unless_present_any = ["database", "legacy", "resume"], help_heading = "Where")]
    pub on: Vec<PathBuf>,
    /// Directories or block devices for the logs [default: beside the databases].
    #[arg(
        long,
        value_name = "DIR",
        value_delimiter = ',',
        help_heading = "Where"
    )]
    pub log_on: Vec<PathBuf>,
    /// The database of a brokerage: "auto", "sqlite", or an existing server as
    /// postgres://user@host:port/database or mariadb://user@host:port/database [default: auto, a
    /// PostgreSQL server of its own on --on, or SQLite where none is installed]. Passwords are taken
    /// from PGPASSWORD, ~/.pgpass or MYSQL_PWD: one given here shows for an instant in the list of
    /// processes. ?sslmode=verify-full behind it requires encryption and a certificate [default:
    /// prefer].
    #[arg(long, value_name = "DATABASE", help_heading = "Where")]
    pub database: Option<String>,
    /// Overwrite block devices that hold data. Never touches one that is in use.
    #[arg(long, help_heading = "Where")]
    pub erase_device: bool,
    /// Keep the databases after the run.
    #[arg(long, help_heading = "Where")]
    pub keep: bool,
    /// Run on the databases that an earlier run kept, and keep them again. A build that was interrupted
    /// goes on where it was; the same command goes on with it without this option, too.
    #[arg(long, help_heading = "Where")]
    pub reuse: bool,
    /// Size of the array's cache, such as 8GiB: a run whose data fits it does not pass.
    #[arg(long, value_name = "SIZE", value_parser = ByteSize::parse, help_heading = "Where")]
    pub array_cache: Option<ByteSize>,
    /// Let a run pass although its data fits a cache, of the engine, the host or the array.
    #[arg(long, help_heading = "Verdict")]
    pub allow_cached: bool,
    /// Go on whatever the number of errors; the verdict is still a failure if there are more than
    /// service_levels.allowed_errors.
    #[arg(long, help_heading = "Verdict")]
    pub continue_on_errors: bool,
    /// Check the settings, the targets and their free space, and print what would be built; write nothing.
    #[arg(long, conflicts_with = "json", help_heading = "Where")]
    pub dry_run: bool,
    /// Build the databases and keep them, without a run. Given again, it goes on with a build that was
    /// interrupted.
    #[arg(long, conflicts_with = "reuse", help_heading = "Where")]
    pub build_only: bool,
    /// Copy the databases of a backup to this directory, check the copies and restore them. It must be there
    /// and empty; the copies are removed at the end unless --keep is given.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "build_only",
        help_heading = "Where"
    )]
    pub backup_to: Option<PathBuf>,
    /// Put the copies that --backup-to has left in this directory (with --keep) in the places of the
    /// databases first, so that every run begins with the same data; then run on them as --reuse does.
    /// Every page is verified on the way.
    #[arg(
        long,
        value_name = "DIR",
        conflicts_with = "build_only",
        help_heading = "Where"
    )]
    pub restore: Option<PathBuf>,
    /// Keep a passive copy of each database in these directories, which get the copies in turn: seeded
    /// before the load, then kept up to date by shipping and replaying full log files, and compared at the
    /// end. They must be there and empty; the copies are removed at the end unless --keep is given.
    #[arg(
        long,
        value_name = "DIR",
        value_delimiter = ',',
        conflicts_with = "build_only",
        help_heading = "Where"
    )]
    pub copy_to: Vec<PathBuf>,

    /// Go on with a run that was interrupted, such as by a reboot, in its directory and with all its settings:
    /// its databases are recovered and warmed up, the rest of its measured phase follows, and the report shows
    /// the interruption. Give --on and --log-on where they are elsewhere now. Its databases stay then, whether or
    /// not it had --keep; one that is stopped and has not gone on removes them unless it has --keep.
    #[arg(long, value_name = "RUN_DIR", conflicts_with_all = NOT_WITH_RESUME, help_heading = "Where")]
    pub resume: Option<PathBuf>,

    /// Which tests of the storage to make: performance, stress, backup, recovery or all [default:
    /// performance]. "stress" is a performance test of 24 h unless --duration says otherwise, judged by
    /// the lenient limits; "all" is performance, backup and recovery.
    #[arg(long, value_name = "TEST", help_heading = "Load")]
    pub test: Option<String>,

    /// Several hosts: a rank that is not heard for so long is given up, and the run of all ends
    /// [default: 10s].
    #[arg(long, value_name = "TIME", value_parser = TimeSpan::parse, help_heading = "Where")]
    pub rank_timeout: Option<TimeSpan>,

    /// Also write the result into its directory in the layout of Jetstress's reports (HTML and XML, for
    /// scripts that read those).
    #[arg(long, help_heading = "Output")]
    pub jetstress_report: bool,
    /// With legacy2003: the switches of Jetstress.exe 2003/2004. Databases lie in the current directory,
    /// or in that of --on.
    #[arg(last = true, value_name = "SWITCHES", allow_hyphen_values = true)]
    pub legacy: Vec<String>,

    #[command(flatten)]
    pub witness: WitnessArgs,
    #[command(flatten)]
    pub load: LoadOptions,
    #[command(flatten)]
    pub search: SearchArgs,
    #[command(flatten)]
    pub watch: WatchOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

impl RunOptions {
    /// The storage under test as it was named, by the options or by the run that goes on.
    pub fn storage_name(&self, storage: &proofload::RunOptions) -> String {
        let named = if self.resume.is_some() {
            &storage.on
        } else {
            &self.on
        };
        let places = named.iter().map(|place| place.display().to_string());
        let places: Vec<String> = places.collect();
        match (places.is_empty(), &self.database) {
            (true, Some(_)) => "the database server that was named".to_owned(),
            (true, None) => "the current directory".to_owned(),
            (false, _) => places.join(", "),
        }
    }

    /// The command line of Jetstress 2003/2004, if that is what is to be run.
    ///
    /// # Errors
    /// Switches that it does not have, or that come with another workload.
    pub fn legacy(&self) -> Result<Option<LegacyRun>, Error> {
        if self.workload == legacy::NAME {
            return legacy::translate(&self.legacy).map(Some);
        }
        if self.legacy.is_empty() {
            return Ok(None);
        }
        Err(Error::usage(
            format!(
                "{} takes no switches of Jetstress behind --.",
                self.workload
            ),
            format!(
                "Give the options of 'proofload run --help', or run {}.",
                legacy::NAME
            ),
        ))
    }

    /// The workload with its settings.
    ///
    /// # Errors
    /// A `--set` without a value.
    fn scenario(&self, legacy: Option<&LegacyRun>) -> Result<Scenario, Error> {
        let workload = legacy.map_or(self.workload.as_str(), |_| legacy::PROFILE);
        let mut scenario = self.load.scenario(workload, &self.output)?;
        if let Some(legacy) = legacy {
            legacy.apply(&mut scenario, &self.on)?;
        }
        if let Some(test) = &self.test {
            if test == STRESS && self.load.duration.is_none() {
                let setting = Setting::at("run.duration", LENGTH_OF_STRESS_TEST);
                scenario.settings.insert(0, setting);
            }
            scenario.set(&Key::Test, &Value::from(test.as_str()));
        }
        if self.continue_on_errors {
            let limit = Key::Path("run.stop_after_errors".to_owned());
            scenario.set(&limit, &Value::from("never"));
        }
        self.search.options().apply(&mut scenario)?;
        Ok(scenario)
    }

    /// What is run, on which storage.
    ///
    /// # Errors
    /// Options that contradict each other, or a run that cannot go on.
    pub fn scenario_and_storage(
        &self,
        legacy: Option<&LegacyRun>,
    ) -> Result<(Scenario, proofload::RunOptions), Error> {
        let scenario = self.scenario(legacy)?;
        let storage = self.storage(&scenario, legacy)?;
        match &self.resume {
            Some(directory) => resumed(directory, scenario.registry, storage),
            None => Ok((scenario, storage)),
        }
    }

    /// How long a rank may be silent.
    pub fn rank_timeout(&self) -> Duration {
        self.rank_timeout.map_or(RANK_TIMEOUT, TimeSpan::duration)
    }

    /// The storage under test.
    ///
    /// # Errors
    /// The secret of the witness cannot be read.
    fn storage(
        &self,
        scenario: &Scenario,
        legacy: Option<&LegacyRun>,
    ) -> Result<proofload::RunOptions, Error> {
        let mut options = proofload::RunOptions {
            on: self.on.clone(),
            log_on: self.log_on.clone(),
            database: self.database.clone(),
            erase_device: self.erase_device,
            keep: self.keep,
            reuse: self.reuse,
            array_cache_bytes: self.array_cache.map(ByteSize::bytes),
            allow_cached: self.allow_cached,
            build_only: self.build_only,
            backup_to: self.backup_to.clone(),
            restore: self.restore.clone(),
            copy_to: self.copy_to.clone(),
            together: Together::default(),
            resume: None,
            capacity_percent: self.search.options().capacity_percent(scenario),
            notify: (!self.output.quiet).then_some(notify),
            witness: self.witness.read()?,
        };
        if let Some(legacy) = legacy {
            legacy.apply_to_storage(&mut options)?;
        }
        Ok(options)
    }
}
