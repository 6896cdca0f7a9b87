//! What it costs rank 0 to make one result of many ranks: bytes, time, memory. The figures of docs/scale.md.
//!
//!     cargo run --release -p measure --example merge_ranks -- 1000
//!
//! Writes the run directory of one synthetic rank, 2 h in samples of 15 s over four databases, and combines
//! it as often as there are ranks.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use jiff::Timestamp;
use measure::metric::Stream;
use measure::ranks::{Part, combine};
use measure::recompute::load_part;
use measure::result::{RankResult, RunResult, Verdict};
use measure::run_directory::RunDirectory;
use measure::sample::{DatabaseMeters, Layout, Phase, RunTotals, Sample};

const DATABASES: u64 = 4;
const SAMPLES: u64 = 480;
const SAMPLE_S: f64 = 15.0;

/// Requests of each stream in a sample of a database.
const REQUESTS: [(Stream, u64); 4] = [
    (Stream::DatabaseRead, 1_500),
    (Stream::DatabaseWrite, 1_000),
    (Stream::LogWrite, 700),
    (Stream::MaintenanceRead, 300),
];
const OPERATIONS: [&str; 6] = [
    "insert",
    "delete",
    "replace",
    "read",
    "commit",
    "commit-lazy",
];

fn main() -> Result<(), Box<dyn Error>> {
    let ranks: u64 = std::env::args()
        .nth(1)
        .map_or(Ok(1_000), |text| text.parse())?;
    let scratch = tempfile::tempdir()?;
    let directory = scratch.path().join("rank");
    write_rank(&directory)?;
    let mut bytes = 0;
    for entry in fs::read_dir(&directory)? {
        let entry = entry?;
        let length = entry.metadata()?.len();
        bytes += length;
        println!(
            "{:>12} bytes  {}",
            length,
            entry.file_name().to_string_lossy()
        );
    }
    println!(
        "{bytes:>12} bytes of one rank, {} MB of {ranks}",
        bytes * ranks / 1_000_000
    );
    let began = Instant::now();
    let part = load_part(RankResult::default(), &directory)?;
    let read_s = began.elapsed().as_secs_f64();
    println!(
        "{read_s:.3} s to add up the samples of one rank, {:.0} s of {ranks}",
        read_s * ranks as f64
    );
    let began = Instant::now();
    let parts = (0..ranks).map(|rank| Part {
        rank: RankResult {
            rank,
            host: format!("host-{rank}"),
            ..RankResult::default()
        },
        ..part.clone()
    });
    let whole = combine(parts);
    println!(
        "{:.3} s to combine {ranks} ranks",
        began.elapsed().as_secs_f64()
    );
    let text = serde_json::to_vec_pretty(&whole)?;
    println!("{} bytes of result.json of the whole", text.len());
    let own = part.result.map_or(0, |own| own.totals.reads.count);
    assert_eq!(whole.totals.reads.count, own * ranks, "no request is lost");
    Ok(())
}

/// Writes the run directory of a rank.
fn write_rank(path: &Path) -> Result<(), Box<dyn Error>> {
    let names = (1..=DATABASES).map(|number| format!("mail-{number:03}"));
    let layout = Arc::new(Layout::new(names, OPERATIONS));
    let mut directory = RunDirectory::create(Some(path), "synthetic", Timestamp::UNIX_EPOCH, "")?;
    let mut totals = RunTotals::new(Arc::clone(&layout), SAMPLE_S);
    let mut state = 1_u64;
    for number in 0..SAMPLES {
        let sample = sample(&layout, number, &mut state);
        totals.add(&sample);
        directory.append(&sample)?;
    }
    let mut result = RunResult::new();
    totals.fill(&mut result);
    result.complete = true;
    result.set_verdict(Verdict::Pass, "All checks passed.");
    Ok(directory.write_final_result(&mut result)?)
}

fn sample(layout: &Arc<Layout>, number: u64, state: &mut u64) -> Sample {
    let mut databases = DatabaseMeters::for_layout(layout);
    for meters in &mut databases {
        for (stream, requests) in REQUESTS {
            let meter = meters.stream_mut(stream);
            for _ in 0..requests {
                meter.latency.record(latency_ns(state));
                meter.bytes += 32_768;
            }
        }
        for operation in 0..OPERATIONS.len() {
            let meter = meters.operation_mut(operation);
            (0..400).for_each(|_| meter.service.record(latency_ns(state)));
        }
        meters.size_bytes = Some(100 << 30);
    }
    Sample {
        layout: Arc::clone(layout),
        number,
        phase: Phase::Measured,
        phase_number: 1,
        begins_s: number as f64 * SAMPLE_S,
        length_s: SAMPLE_S,
        databases,
        host: None,
        array: None,
    }
}

/// Some milliseconds, seldom many: the product of three random numbers.
fn latency_ns(state: &mut u64) -> u64 {
    let mut random = || {
        *state ^= *state << 13;
        *state ^= *state >> 7;
        *state ^= *state << 17;
        (*state >> 11) as f64 / (1_u64 << 53) as f64
    };
    (100_000.0 + 60e6 * random() * random() * random()) as u64
}
