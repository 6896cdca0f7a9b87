//! The default mix, beside fio with the same requests: as many reads and writes, of the same sizes,
//! with as many outstanding, the log stream included.

use super::Bench;
use crate::fio;
use crate::ratio::{Goal, Pairs};
use measure::result::{IoFigures, RunResult};

/// One row: device I/O per second over the databases that are there.
///
/// # Errors
/// A sentence when a side cannot run.
pub fn rows(bench: &Bench) -> Result<Vec<String>, String> {
    let what = match bench.databases {
        1 => "default mix, 32 sessions: device I/O",
        2 => "default mix, 32 sessions over two databases: device I/O",
        more => return Err(format!("no row is there for {more} databases")),
    };
    let mut requests = Pairs::new(what, "/s", Goal::AtLeast(0.9));
    let arguments = bench.load_arguments(&[]);
    fio::run(&preparation(bench), &bench.scratch)?;
    for round in 0..bench.rounds {
        fio::settle(&bench.scratch)?;
        let name = format!("mixed-{}-{round}", bench.databases);
        let result = bench.product.run(&name, &arguments)?;
        fio::settle(&bench.scratch)?;
        let peer = fio::run(&job(&result, bench), &bench.scratch)?;
        let totals = &result.totals;
        let [reads, writes, log] = [&totals.reads, &totals.writes, &totals.log_writes];
        let ours = outstanding(reads) + outstanding(writes) + outstanding(log);
        eprintln!(
            "{name}: on average {ours:.1} requests outstanding here, {:.1} with fio",
            peer.outstanding
        );
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

/// What both streams of the peer work on.
fn files(bench: &Bench) -> String {
    format!(
        "[global]\ndirect=1\nioengine=io_uring\ndirectory={}\n",
        bench.scratch.display()
    )
}

/// Writes the peer's files once, as the database and its log have been written when the load
/// begins: a write into space that was only reserved costs a file system more than one over data.
fn preparation(bench: &Bench) -> String {
    format!(
        "{}rw=write\nbs=512k\niodepth=4\nend_fsync=1\n\
         [database]\nfilename=fio-database\nsize={}g\n{}",
        files(bench),
        bench.size_gib,
        logs(bench, "size=64m\n"),
    )
}

/// A job for each log: log writes follow each other, so each has never more than one under way.
fn logs(bench: &Bench, settings: &str) -> String {
    let job = |log| format!("[log-{log}]\nfilename=fio-log-{log}\n{settings}");
    (1..=bench.databases).map(job).collect()
}

/// The same load as fio jobs: one random stream for the databases, one sequential for each log.
fn job(result: &RunResult, bench: &Bench) -> String {
    let totals = &result.totals;
    let (reads, writes, log) = (&totals.reads, &totals.writes, &totals.log_writes);
    let read_percent = (100.0 * reads.per_second / (reads.per_second + writes.per_second)).round();
    let depth = (outstanding(reads) + outstanding(writes)).round().max(1.0);
    let mut text = format!(
        "{}time_based\nruntime={}\nsync=dsync\nnorandommap\n",
        files(bench),
        bench.seconds
    );
    for part in fio::exact_depths(depth as u32) {
        text += &format!(
            "[database-{part}]\nfilename=fio-database\nsize={size}g\nrw=randrw\n\
             rwmixread={read_percent}\nbs={read_kib}k,{write_kib}k\nba=32k\niodepth={part}\n\
             randseed={part}\n",
            size = bench.size_gib,
            read_kib = blocks_kib(reads.average_bytes),
            write_kib = blocks_kib(writes.average_bytes),
        );
    }
    let log_kib = blocks_kib(log.average_bytes);
    text + &logs(
        bench,
        &format!("size=64m\nrw=write\nbs={log_kib}k\niodepth=1\n"),
    )
}
