//! Measures what it costs to count one request and one operation.
//!
//! Run with `cargo run --release -p measure --example record_cost`.

use std::hint::black_box;
use std::sync::Arc;
use std::time::Instant;

use measure::metric::Stream;
use measure::sample::{Layout, Phase, Recorder};
use rand::{RngExt, SeedableRng};

const RECORDS: usize = 20_000_000;

fn main() {
    let layout = Arc::new(Layout::new(["db1", "db2"], ["insert", "read"]));
    let mut recorder = Recorder::new(layout, 0, Phase::Measured, 0);
    // Latencies are drawn before the clock starts: 50 us to 50 ms.
    let mut random = rand_xoshiro::Xoshiro256PlusPlus::seed_from_u64(1);
    let latencies: Vec<u64> = (0..1 << 16)
        .map(|_| random.random_range(50_000..50_000_000))
        .collect();
    let cost_ns = |record: &mut dyn FnMut(usize, u64)| {
        let begun = Instant::now();
        for index in 0..RECORDS {
            record(index, latencies[index % latencies.len()]);
        }
        begun.elapsed().as_nanos() as f64 / RECORDS as f64
    };
    let io = cost_ns(&mut |index, latency_ns| {
        recorder.io(index % 2, Stream::ALL[index % 4], 32_768, latency_ns);
    });
    let operation = cost_ns(&mut |index, latency_ns| {
        recorder.operation(index % 2, index / 2 % 2, latency_ns, Some(latency_ns));
    });
    black_box(recorder.take(1));
    println!("one request: {io:.1} ns; one operation with two latencies: {operation:.1} ns");
}
