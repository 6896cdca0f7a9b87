//! The default mix with every check of the storage, in turn with the same build without those that cause
//! I/O of their own. What the versions of pages cost, which are compared at every read, shows beside an
//! earlier build that had none ([`super::earlier`]).

use super::Bench;
use crate::ratio::{Goal, Pairs};
use measure::result::RunResult;

/// Background maintenance as a run has it.
const MAINTAINED: &str = "maintenance.enabled=true";
/// Without reading back log files, headers and checkpoints.
pub(super) const UNCHECKED: [&str; 2] = [
    "maintenance.log_read_back_rate=none",
    "maintenance.header_read_back_interval=none",
];

/// One row: I/O of database and log per second.
///
/// # Errors
/// A sentence when a run does not take place.
pub fn rows(bench: &Bench) -> Result<Vec<String>, String> {
    let what = "default mix, 32 sessions, with log and headers read back, beside without";
    let mut rates = Pairs::new(what, "/s", Goal::AtLeast(0.97));
    let with = bench.load_arguments(&[MAINTAINED]);
    let without = bench.load_arguments(&[&[MAINTAINED], &UNCHECKED[..]].concat());
    for round in 0..bench.rounds {
        let rate = |name: &str, arguments: &[String]| {
            let result = bench.product.run(&format!("{name}-{round}"), arguments)?;
            Ok::<f64, String>(io_per_second(&result))
        };
        // Each goes first in half of the rounds.
        let (checked, unchecked) = if round % 2 == 0 {
            let checked = rate("checked", &with)?;
            (checked, rate("unchecked", &without)?)
        } else {
            let unchecked = rate("unchecked", &without)?;
            (rate("checked", &with)?, unchecked)
        };
        eprintln!("{what}: {checked:.0} and {unchecked:.0}");
        rates.add(checked, unchecked);
    }
    Ok(vec![rates.row()])
}

fn io_per_second(result: &RunResult) -> f64 {
    let totals = &result.totals;
    let streams = [&totals.reads, &totals.writes, &totals.log_writes];
    streams.iter().map(|stream| stream.per_second).sum()
}
