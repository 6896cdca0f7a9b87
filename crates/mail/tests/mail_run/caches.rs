//! Caches that follow the memory of the host.

use super::support::{Outcome, carry_out_with_memory, profile, slow_disk};
use config::{ByteSize, TimeSpan};
use mail::plan::MailPlan;
use measure::result::RunResult;
use runtime::time::SECOND_NS;
use runtime::{Runtime, SimulatedDisk};
use std::rc::Rc;

/// A run with caches of 2 to 4 MiB, with this memory to spare after so many seconds of the whole run.
fn run_with_memory(spare_after_s: fn(u64) -> i64) -> RunResult {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let disk = SimulatedDisk::new(&handle, slow_disk());
    let mut profile = profile();
    profile.run.steady_state.required = false;
    profile.run.duration = TimeSpan::seconds(20);
    profile.mail.databases = 1;
    profile.engine.cache_minimum_per_database = Some(ByteSize::mib(2));
    assert_eq!(profile.engine.cache_size_per_database, ByteSize::mib(4));
    let spare = Rc::new(move || spare_after_s(handle.now_ns() / SECOND_NS));
    let Outcome { result, .. } =
        carry_out_with_memory(&runtime, &disk, MailPlan::new(&profile, 2), spare);
    assert_eq!(result.errors, [], "{:#?}", result.errors);
    result
}

fn says_that_memory_was_short(result: &RunResult) -> bool {
    let warnings = &mut result.warnings.iter();
    warnings.any(|warning| warning.starts_with("Memory was short"))
}

#[test]
fn a_cache_shrinks_while_memory_is_short() {
    let ample = run_with_memory(|_| 1 << 30);
    assert_eq!(ample.throughput.cache_size_fraction, Some(1.0));
    assert!(!says_that_memory_was_short(&ample), "{:?}", ample.warnings);

    // Eight seconds in the middle of the measured phase, then there is as much as before.
    let short = run_with_memory(|seconds| match seconds {
        6..14 => -(1 << 20),
        _ => 1 << 30,
    });
    assert_eq!(short.throughput.cache_size_fraction, Some(0.5));
    assert!(says_that_memory_was_short(&short), "{:?}", short.warnings);
    let stalls: f64 = short
        .databases
        .iter()
        .map(|one| one.figures.page_fault_stalls_per_second)
        .sum();
    assert_eq!(
        stalls, 0.0,
        "nobody waits for a page because a cache shrinks"
    );
    let reads =
        |run: &RunResult| run.totals.reads.per_second / run.throughput.operations_per_second;
    let (with_all, with_less) = (reads(&ample), reads(&short));
    assert!(
        with_less > with_all,
        "{with_less} reads each with less cache, {with_all} with all"
    );
}

#[test]
fn a_cache_without_memory_to_spare_keeps_its_smallest_size() {
    let result = run_with_memory(|_| 0);
    assert_eq!(result.throughput.cache_size_fraction, Some(0.5));
}
