//! The two I/O drivers in turn on the same database: what a run on threads reaches beside io_uring.

use super::Bench;
use super::read_only::READS_ONLY;
use crate::ratio::{Goal, Pairs};

/// Rows for the read-only and the default mix, with 32 requests outstanding.
///
/// # Errors
/// A sentence when a run fails.
pub fn rows(bench: &Bench) -> Result<Vec<String>, String> {
    let mut rows = Vec::new();
    for (what, settings) in [
        ("read-only mix on threads, beside io_uring", READS_ONLY),
        ("default mix on threads, beside io_uring", &[]),
    ] {
        let mut rates = Pairs::new(what, "/s", Goal::AtLeast(0.8));
        for round in 0..bench.rounds {
            // Each goes first in half of the rounds.
            let pair = if round % 2 == 0 {
                let threads = io_per_second(bench, settings, "threads")?;
                (threads, io_per_second(bench, settings, "io-uring")?)
            } else {
                let io_uring = io_per_second(bench, settings, "io-uring")?;
                (io_per_second(bench, settings, "threads")?, io_uring)
            };
            eprintln!("{what}: {:.0} and {:.0}", pair.0, pair.1);
            rates.add(pair.0, pair.1);
        }
        rows.push(rates.row());
    }
    Ok(rows)
}

fn io_per_second(bench: &Bench, settings: &[&str], driver: &str) -> Result<f64, String> {
    let chosen = format!("run.io_driver={driver}");
    let mut settings = settings.to_vec();
    settings.push(&chosen);
    let arguments = bench.load_arguments(&settings);
    let result = bench.product.run(driver, &arguments)?;
    if result.host.io_driver != driver {
        return Err(format!(
            "the run used the driver '{}'",
            result.host.io_driver
        ));
    }
    let totals = &result.totals;
    let streams = [&totals.reads, &totals.writes, &totals.log_writes];
    Ok(streams.iter().map(|stream| stream.per_second).sum())
}
