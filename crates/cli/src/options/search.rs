//! The options by which a run finds its load.

use clap::Args;
use proofload::{FindLoad, LoadScenario, LoadSearch};

use super::choice::choice;

/// How the load is found.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Search")]
pub struct SearchArgs {
    /// Find the highest rate that is carried with every service level met, and hold it in the measured
    /// phase. With --rate, say whether that rate is reached.
    #[arg(long, value_name = "LOAD", value_parser = choice::<FindLoad>())]
    pub find: Option<FindLoad>,
    /// Before the measured phase hold these parts of the highest rate, or of --rate, in percent: response
    /// time against load. A range FROM..UNTIL:STEP or a list.
    #[arg(long, value_name = "PERCENTS")]
    pub curve: Option<String>,
    /// What the storage is asked for: "mailboxes" with their I/O and size, or "throughput": databases that
    /// fill the volumes, and a part of the highest rate, which is found first [default: mailboxes].
    #[arg(long, value_name = "SCENARIO", value_parser = choice::<LoadScenario>(), hide_possible_values = true)]
    pub scenario: Option<LoadScenario>,
    /// Part of the highest rate that the measured phase holds [default: 100].
    #[arg(long, value_name = "PERCENT")]
    pub throughput_percent: Option<String>,
    /// Part of the free room of each volume that databases, their room to grow and their logs take
    /// [default: 100 with --scenario throughput].
    #[arg(long, value_name = "PERCENT", conflicts_with = "target_size")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=100))]
    pub capacity_percent: Option<u32>,
}

impl SearchArgs {
    /// The options as the library takes them.
    pub fn options(&self) -> LoadSearch {
        LoadSearch {
            scenario: self.scenario,
            find: self.find,
            curve: self.curve.clone(),
            throughput_percent: self.throughput_percent.clone(),
            capacity_percent: self.capacity_percent.map(f64::from),
        }
    }
}
