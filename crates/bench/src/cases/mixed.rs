//! The default mix, beside fio with the same requests: as many reads and writes, of the same sizes,
//! with as many outstanding, the log stream included.

use super::Bench;
use crate::fio;
use crate::ratio::{Goal, Pairs};
use measure::result::{IoFigures, RunResult};

/// One row: device I/O per second.
///
/// # Errors
/// A sentence when a side cannot run.
pub fn rows(bench: &Bench) -> Result<Vec<String>, String> {
    let mut requests = Pairs::new(
        "default mix, 32 sessions: device I/O",
        "/s",
        Goal::AtLeast(0.9),
    );
    let arguments = bench.load_arguments(&[]);
    for round in 0..bench.rounds {
        let result = bench.product.run(&format!("mixed-{round}"), &arguments)?;
        let peer = fio::run(&job(&result, bench), &bench.scratch)?;
        let totals = &result.totals;
        requests.add(
            totals.reads.per_second + totals.writes.per_second + totals.log_writes.per_second,
            peer.reads_per_second + peer.writes_per_second,
        );
    }
    Ok(vec![requests.row()])
}

/// Requests outstanding on average, by Little's law.
fn outstanding(figures: &IoFigures) -> f64 {
    figures
        .latency
        .map_or(0.0, |latency| figures.per_second * latency.average_ms / 1e3)
}

/// A size fio accepts for unbuffered I/O: the nearest whole 4 KiB blocks in KiB, at least one.
fn blocks_kib(bytes: f64) -> u64 {
    ((bytes / 4096.0).round() as u64).max(1) * 4
}

/// The same load as a fio job: one random stream for the database, one sequential for the log.
fn job(result: &RunResult, bench: &Bench) -> String {
    let totals = &result.totals;
    let (reads, writes, log) = (&totals.reads, &totals.writes, &totals.log_writes);
    let read_percent = (100.0 * reads.per_second / (reads.per_second + writes.per_second)).round();
    let depth = (outstanding(reads) + outstanding(writes)).round().max(1.0);
    format!(
        "[global]\ndirect=1\nioengine=io_uring\ntime_based\nruntime={seconds}\nsync=dsync\n\
         norandommap\ndirectory={scratch}\n\
         [database]\nfilename=fio-database\nsize={size}g\nrw=randrw\nrwmixread={read_percent}\n\
         bs={read_kib}k,{write_kib}k\nba=32k\niodepth={depth}\n\
         [log]\nfilename=fio-log\nsize=64m\nrw=write\nbs={log_kib}k\niodepth={log_depth}\n",
        seconds = bench.seconds,
        scratch = bench.scratch.display(),
        size = bench.size_gib,
        read_kib = blocks_kib(reads.average_bytes),
        write_kib = blocks_kib(writes.average_bytes),
        log_kib = blocks_kib(log.average_bytes),
        log_depth = outstanding(log).round().max(1.0),
    )
}
