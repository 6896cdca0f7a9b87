//! The options of `run`.

use std::path::PathBuf;

use clap::Args;
use config::ByteSize;
use proofload::{Error, Key, Scenario, Value};

use super::load::LoadOptions;
use super::output::OutputOptions;
use super::watch::WatchOptions;
use super::witness::WitnessArgs;
use crate::print::notify;

/// Options of `run`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:
  Four databases over two volumes, their logs on a third:
    proofload run exchange-2013 --on /mnt/a,/mnt/b --log-on /mnt/log --duration 2h
  A short run on a small disk:
    proofload run exchange-2013 --on /mnt/a --target-size 20GB --duration 10m
  Build once, then run twice on the same databases:
    proofload run exchange-2013 --on /mnt/a --build-only
    proofload run exchange-2013 --on /mnt/a --reuse --threads 16
    proofload run exchange-2013 --on /mnt/a --reuse --rate 1200
  A brokerage on a database server of its own, with 30 users:
    proofload run brokerage --on /mnt/a --users 30 --target-size 20GB --duration 1h
  The same on an existing PostgreSQL server, its password in PGPASSWORD:
    proofload run brokerage --database postgres://me@localhost/postgres --target-size 20GB
  A raw block device, whose contents are lost:
    proofload run exchange-2013 --on /dev/disk/by-id/nvme-X --databases 1 --erase-device")]
pub struct RunOptions {
    /// A bundled profile (see `proofload list`), or the path of a profile file.
    #[arg(value_name = "WORKLOAD", default_value = "exchange-2013")]
    pub workload: String,

    /// Directories or block devices for the databases, distributed in turn.
    #[arg(long, value_name = "DIR", value_delimiter = ',')]
    #[arg(required_unless_present = "database", help_heading = "Where")]
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
    /// Run on the databases that an earlier run kept, and keep them again.
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
    /// Check everything and print what would be built; write nothing.
    #[arg(long, conflicts_with = "json", help_heading = "Where")]
    pub dry_run: bool,
    /// Build the databases and keep them, without a run.
    #[arg(long, conflicts_with = "reuse", help_heading = "Where")]
    pub build_only: bool,

    #[command(flatten)]
    pub witness: WitnessArgs,
    #[command(flatten)]
    pub load: LoadOptions,
    #[command(flatten)]
    pub watch: WatchOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

impl RunOptions {
    /// The storage under test as it was named.
    pub fn storage_name(&self) -> String {
        let places = self.on.iter().map(|place| place.display().to_string());
        let places: Vec<String> = places.collect();
        match places.is_empty() {
            true => "the database server that was named".to_owned(),
            false => places.join(", "),
        }
    }

    /// The workload with its settings.
    ///
    /// # Errors
    /// A `--set` without a value.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let mut scenario = self.load.scenario(&self.workload, &self.output)?;
        if self.continue_on_errors {
            let limit = Key::Path("run.stop_after_errors".to_owned());
            scenario.set(&limit, &Value::from("never"));
        }
        Ok(scenario)
    }

    /// The storage under test.
    ///
    /// # Errors
    /// The secret of the witness cannot be read.
    pub fn storage(&self) -> Result<proofload::RunOptions, Error> {
        Ok(proofload::RunOptions {
            on: self.on.clone(),
            log_on: self.log_on.clone(),
            database: self.database.clone(),
            erase_device: self.erase_device,
            keep: self.keep,
            reuse: self.reuse,
            array_cache_bytes: self.array_cache.map(ByteSize::bytes),
            allow_cached: self.allow_cached,
            build_only: self.build_only,
            notify: (!self.output.quiet).then_some(notify),
            witness: self.witness.read()?,
        })
    }
}
