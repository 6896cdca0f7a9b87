//! The options of `predict`.

use std::path::PathBuf;

use clap::{Args, builder::ArgPredicate};
use proofload::{Axis, Error, Find, Scenario};

use super::choice::choice;
use super::load::LoadOptions;
use super::output::OutputOptions;
use super::watch::EventOptions;

/// Options of `predict`.
#[derive(Args, Clone, Debug, Default)]
#[command(after_help = "Examples:
  The mail server's load on a bundled array, as many threads as reach the rate:
    proofload predict exchange-2013 --array msa2050-tier --duration 2h
  The same with four SSDs per pool:
    proofload predict exchange-2013 --array msa2050-tier --set array.pool.ssd_count=4
  The same as it will be when days have filled the tier:
    proofload predict exchange-2013 --array msa2050-tier --settled --duration 10m
  What if: two SSDs, or four, under 8, 16, 24 threads:
    proofload predict exchange-2013 --array msa2050-tier --sweep array.pool.ssd_count=2,4 \\
        --sweep threads=8..24:8
  The same until mean and p99 latency are known to 1 %:
    proofload predict exchange-2013 --array msa2050-tier --until 1%
  How much does it carry? How much flash does this load need?
    proofload predict exchange-2013 --array msa2050 --find max-iops
    proofload predict exchange-2013 --array msa2050-tier --rate 3000 --find min-flash
  The same with a disk that fails after an hour, or is slow for ten minutes (--event '1h disk-slow 5 x20 for 10m'):
    proofload predict exchange-2013 --array msa2050 --event '1h disk-fail 3'
  A brokerage's database instead of a mail server, and as a run on a real one has measured it:
    proofload predict brokerage --array msa2042 --duration 30m
    proofload predict --like runs/brokerage-1 --array msa2042
  An array of your own, starting from a bundled one:
    proofload show msa2040 > mine.toml
    proofload predict exchange-2013 --array mine.toml --threads 40 --dry-run
  A block trace on a single disk, compared with the measured response times:
    proofload predict disk.blkparse --array sas-10k-900gb --responses out.csv")]
pub struct PredictOptions {
    /// A bundled profile (see `proofload list`), or the path of a profile file or a block trace.
    #[arg(value_name = "WORKLOAD|TRACE", required = false)]
    #[arg(required_unless_present = "like")]
    #[arg(default_value_if("like", ArgPredicate::IsPresent, ""))]
    pub workload: String,
    /// A bundled array (see `proofload list arrays`), or the path of a description; for a trace
    /// also a disk (see `proofload list disks`) or the path of a disk's description, alone and with
    /// nothing before it. It may be left out where the profile has an [array] table.
    #[arg(
        long,
        value_name = "ARRAY",
        default_value = "",
        hide_default_value = true
    )]
    pub array: String,

    #[command(flatten)]
    pub load: LoadOptions,

    /// Begin as after days of this load: tiers full, read caches warm. --find
    /// always does.
    #[arg(long, help_heading = "Load")]
    pub settled: bool,

    /// The workload of a run on real storage, by its directory: its settings, and of a brokerage what the run has
    /// measured of reads, writes, log writes and log bytes per transaction, in place of those of the model.
    #[arg(long, value_name = "DIR", conflicts_with = "workload")]
    #[arg(help_heading = "Load")]
    pub like: Option<PathBuf>,

    /// End the measured phase when mean and p99 of database read and log write latencies are known to this
    /// precision, such as 1%: the half-width of their 95 % confidence intervals, over at least 20
    /// samples, in a steady state where that is required. It lasts no longer than --duration.
    #[arg(long, value_name = "PERCENT", value_parser = percent, help_heading = "Load")]
    pub until: Option<f64>,

    /// Predict every combination of these values: a list or a range FROM..UNTIL:STEP for a setting
    /// as in --set, or for threads, rate, databases, mailboxes, target-size, duration, seed, array;
    /// may be given several times.
    #[arg(long, value_name = "KEY=VALUES", help_heading = "What if")]
    pub sweep: Vec<String>,
    /// Search for the most load that passes (over --sweep rate=.., threads=.. or brokerage.users=.., else any rate), or
    /// for the least flash that lets this load pass (over --sweep array.KEY=.., else the SSDs of
    /// the pools).
    #[arg(long, value_parser = choice::<Find>(), help_heading = "What if")]
    pub find: Option<Find>,
    /// Let something break or be repaired, TIME EVENT [NUMBER] [of GROUP] [xNUMBER] [for TIME] from the
    /// beginning of the measured phase on, such as "10m disk-fail 3", "20m disk-slow 5 x20 for 2m" or
    /// "1h controller-failover 0"; may be given several times.
    #[arg(long, value_name = "EVENT", help_heading = "What if")]
    pub event: Vec<String>,
    /// Predictions computed at once [default: one for each CPU].
    #[arg(long, value_name = "N", help_heading = "What if")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1024))]
    pub jobs: Option<u32>,

    /// Check the settings and print what would be modelled; run and write nothing.
    #[arg(long, conflicts_with = "json", help_heading = "What if")]
    pub dry_run: bool,
    /// Of a trace: write one row of each request with its response time; '-' is standard output.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub responses: Option<PathBuf>,
    #[command(flatten)]
    pub events: EventOptions,
    #[command(flatten)]
    pub output: OutputOptions,
}

/// A share in percent, with or without its sign.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.strip_suffix('%').unwrap_or(text).trim().parse().ok();
    let number = number.filter(|percent| (0.1..=50.0).contains(percent));
    number.ok_or_else(|| "a share from 0.1% to 50% is meant".to_owned())
}

impl PredictOptions {
    /// The workload, or the trace, on the array.
    ///
    /// # Errors
    /// A `--set` without a value, an `--event` that is none.
    pub fn scenario(&self) -> Result<Scenario, Error> {
        let mut scenario = Scenario {
            array: self.array.clone(),
            settled: self.settled,
            ..self.load.scenario(&self.workload, &self.output)?
        };
        if let Some(run) = &self.like {
            scenario = scenario.like(run)?;
        }
        if let Some(percent) = self.until {
            scenario = scenario.with("run.until_percent", percent);
        }
        let mut events = self.event.iter();
        events.try_fold(scenario, |scenario, line| scenario.with_event(line))
    }

    /// What is varied.
    ///
    /// # Errors
    /// A `--sweep` that is none.
    pub fn axes(&self) -> Result<Vec<Axis>, Error> {
        self.sweep.iter().map(|text| Axis::parse(text)).collect()
    }
}
