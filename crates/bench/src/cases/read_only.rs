//! Reads only: 32 sessions that look messages up by key, beside fio reading the same file.

use super::Bench;
use crate::fio;
use measure::metric::Metric;

use crate::product::host_counter;
use crate::ratio::{Goal, Pairs};

/// Settings of a mix that changes nothing.
pub const READS_ONLY: &[&str] = &[
    "mail.mix.insert_percent=0",
    "mail.mix.delete_percent=0",
    "mail.mix.replace_percent=0",
];

/// Rows for device reads, CPU per read, and memory beyond the cache.
///
/// # Errors
/// A sentence when a side cannot run.
pub fn rows(bench: &Bench) -> Result<Vec<String>, String> {
    let mut reads = Pairs::new(
        "read-only mix, 32 sessions: device reads",
        "/s",
        Goal::AtLeast(0.9),
    );
    let mut cpu = Pairs::new("the same: CPU per device read", "us", Goal::AtMost(1.5));
    let mut memory = Pairs::new(
        "the same: peak memory, beside cache + 64 MiB",
        "MiB",
        Goal::AtMost(1.0),
    );
    let arguments = bench.load_arguments(READS_ONLY);
    for round in 0..bench.rounds {
        let result = bench
            .product
            .run(&format!("read-only-{round}"), &arguments)?;
        let ours_per_second = result.totals.reads.per_second;
        let cpu_percent = host_counter(&result, Metric::ProcessCpu)?.average;
        let peak_bytes = host_counter(&result, Metric::ProcessMemory)?.maximum;
        let database = &result
            .databases
            .first()
            .ok_or("the result names no database")?
            .path;
        let peer = fio::run(
            &format!(
                "[reads]\nfilename={database}\nrw=randread\nbs=32k\ndirect=1\n\
                 ioengine=io_uring\niodepth=32\ntime_based\nruntime={}\nnorandommap\n",
                bench.seconds
            ),
            &bench.scratch,
        )?;
        reads.add(ours_per_second, peer.reads_per_second);
        // Percent of one core, so 1 % is 10,000 us of CPU a second.
        cpu.add(cpu_percent * 1e4 / ours_per_second, peer.cpu_per_request_us);
        memory.add(peak_bytes / 1_048_576.0, 256.0 + 64.0);
    }
    Ok(vec![reads.row(), cpu.row(), memory.row()])
}
