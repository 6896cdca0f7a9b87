//! The latency of idle storage: single reads past the page cache, one after the other.

use std::fs::File;
use std::io;
use std::time::{Duration, Instant};

use runtime::Buffer;
use rustix::fs::{SeekFrom, seek};
use rustix::io::{pread, pwrite};
use serde::Serialize;
use storage::{Examination, Obstacle, ObstacleKind, open_for_trial};
use workload::Refusal;
use workload::random::SeededRng;

use super::PlaceReport;

/// Size of the file that is written and read. It has no name and is gone when it is closed.
const FILE_BYTES: u64 = 16 << 20;
/// What one write of it takes.
const WRITE_BYTES: usize = 1 << 20;
/// The sizes of reads: a page of the smallest and one of the largest size.
const BLOCKS: [usize; 2] = [4 << 10, 32 << 10];
/// Reads of each size, at most.
const READS: u64 = 300;
/// Reads end after this time, however few there were.
const TIME_MAX: Duration = Duration::from_secs(3);

/// Seed of the bytes and the places of reads.
const SEED: u64 = 1;

/// Latencies of reads of one size.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReadLatency {
    /// Size of each read.
    pub block_bytes: u64,
    /// Number of reads that were timed.
    pub reads: u64,
    /// Latency that half of them do not exceed.
    pub p50_ms: f64,
    /// Latency that 99 % of them do not exceed.
    pub p99_ms: f64,
    /// Largest latency of a read.
    pub max_ms: f64,
}

/// Times reads at a place and notes what came of it.
pub(super) fn time_reads(place: &mut PlaceReport, examination: &mut Examination) {
    let Some(target) = &examination.target else {
        return;
    };
    match open_for_trial(target).and_then(|file| read_all(&file)) {
        Ok(latencies) => place.idle_reads = latencies,
        Err(error) => {
            let refusal = Refusal::environment(
                format!("Trial reads at {} failed: {error}.", place.given),
                "Check the storage ('dmesg' shows I/O errors), and that 16 MiB are free.",
            );
            examination.obstacles.push(Obstacle {
                kind: ObstacleKind::TrialFailed,
                refusal,
            });
        }
    }
}

fn read_all(file: &File) -> io::Result<Vec<ReadLatency>> {
    let mut size_bytes = seek(file, SeekFrom::End(0))?;
    if size_bytes == 0 {
        fill(file)?;
        size_bytes = FILE_BYTES;
    }
    let latencies = BLOCKS.into_iter();
    let latencies = latencies.filter(|block| *block as u64 <= size_bytes);
    latencies
        .map(|block| read(file, block, size_bytes))
        .collect()
}

/// Writes bytes that no storage compresses or takes for one another.
fn fill(file: &File) -> io::Result<()> {
    let mut buffer = Buffer::zeroed(WRITE_BYTES);
    let mut random = SeededRng::new(SEED, 0);
    for offset in (0..FILE_BYTES).step_by(WRITE_BYTES) {
        for word in buffer.as_chunks_mut::<8>().0 {
            *word = random.bits().to_le_bytes();
        }
        let mut done = 0;
        while done < buffer.len() {
            match pwrite(file, &buffer[done..], offset + done as u64)? {
                0 => return Err(io::ErrorKind::WriteZero.into()),
                written => done += written,
            }
        }
    }
    rustix::fs::fdatasync(file)?;
    Ok(())
}

fn read(file: &File, block_bytes: usize, size_bytes: u64) -> io::Result<ReadLatency> {
    let mut buffer = Buffer::zeroed(block_bytes);
    let blocks = size_bytes / block_bytes as u64;
    let mut random = SeededRng::new(SEED, block_bytes as u64);
    let mut latencies = Vec::new();
    let begun = Instant::now();
    for _ in 0..READS {
        if begun.elapsed() > TIME_MAX && !latencies.is_empty() {
            break;
        }
        let offset = random.below(blocks) * block_bytes as u64;
        let asked = Instant::now();
        if pread(file, &mut buffer[..], offset)? != block_bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        latencies.push(asked.elapsed().as_secs_f64() * 1e3);
    }
    latencies.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let rank = (latencies.len() as f64 * share).ceil() as usize;
        latencies[rank.clamp(1, latencies.len()) - 1]
    };
    Ok(ReadLatency {
        block_bytes: block_bytes as u64,
        reads: latencies.len() as u64,
        p50_ms: at(0.5),
        p99_ms: at(0.99),
        max_ms: at(1.0),
    })
}
