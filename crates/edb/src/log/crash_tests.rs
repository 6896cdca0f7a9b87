//! Whatever was reported durable is read back after a power cut at any instant, in order, and
//! nothing that was not written.

use super::{Log, LogEnd, LogError, LogReader, LogSettings};
use crate::format::database_header::{LogTime, Signature};
use crate::position::{LogPosition, LogSpan};
use crate::settings::{Engine, EngineSettings, Internals};
use config::ByteSize;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::AfterPowerLoss;
use runtime::trace::NoObserver;
use runtime::{Directory, Handle, IoFailure, Runtime};
use runtime::{SimulatedDirectory, SimulatedDisk, SimulatedOptions};
use std::cell::RefCell;
use std::rc::Rc;

const PREFIX: &str = "E00";

fn settings(random: &mut Xoshiro256PlusPlus) -> LogSettings {
    let engine = Engine {
        log_file_size: ByteSize::kib(64),
        log_buffer: ByteSize::kib([16, 64, 200][random.random_range(0..3)]),
        ..Engine::default()
    };
    let internals = Internals {
        zero_fill_write_bytes: [16, 32, 512][random.random_range(0..3)] * 1024,
        ..Internals::default()
    };
    let engine = Engine {
        circular_logging: random.random_bool(0.7),
        // Decides how many released files wait to be used again.
        checkpoint_depth: ByteSize::kib(random.random_range(1..6) * 64),
        ..engine
    };
    let settings = EngineSettings {
        engine,
        internals,
        ..EngineSettings::default()
    };
    let signature = Signature {
        random: random.random(),
        created: LogTime {
            unix_ms: 1_385_000_000_000,
        },
    };
    LogSettings::new(&settings, PREFIX, signature)
}

/// What was done with the log so far.
#[derive(Default)]
struct History {
    records: Vec<(LogSpan, Vec<u8>)>,
    /// So many records were reported durable.
    durable: usize,
    /// Files before this position may be gone.
    released: LogPosition,
    /// Released files used again since the log was opened last.
    reused: u64,
}

fn random_record(random: &mut Xoshiro256PlusPlus, number: usize) -> Vec<u8> {
    let length = match random.random_range(0..10) {
        0 => 0,
        1..=6 => random.random_range(1..400),
        7 | 8 => random.random_range(400..6000),
        _ => random.random_range(6000..40_000),
    };
    (0..length).map(|byte| (number * 31 + byte) as u8).collect()
}

/// Uses the log until power is lost.
async fn session(handle: Handle, log: Log, history: Rc<RefCell<History>>, seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let file_bytes = log.file_size_bytes();
    loop {
        match random.random_range(0..10) {
            0..=5 => {
                if log.admit().await.is_err() {
                    return;
                }
                let number = history.borrow().records.len();
                let record = random_record(&mut random, number);
                let span = log.append(&record);
                history.borrow_mut().records.push((span, record));
            }
            6 | 7 => {
                let count = history.borrow().records.len();
                if log.make_durable(log.end()).await.is_err() {
                    return;
                }
                let durable = history.borrow().durable.max(count);
                history.borrow_mut().durable = durable;
            }
            8 => log.request(log.end(), random.random_range(1..3_000_000)),
            _ => handle.sleep_ns(random.random_range(0..1_000_000)).await,
        }
        if random.random_bool(0.05) {
            let mut history = history.borrow_mut();
            if history.durable > 0 {
                let begin = history.records[history.durable - 1].0.begin;
                history.released = history.released.max(begin);
                log.release_before(begin.generation(file_bytes));
            }
            history.reused = log.statistics().files_reused;
        }
    }
}

/// Reads the log and compares it with the history. An error of the storage is one only while power
/// may go.
async fn read_and_compare(
    handle: &Handle,
    directory: &SimulatedDirectory,
    history: &Rc<RefCell<History>>,
) -> Result<Option<LogEnd>, LogError> {
    let from = history.borrow().released;
    let observer = Rc::new(NoObserver);
    let Some(mut reader) = LogReader::open(handle, directory, PREFIX, from, observer).await? else {
        assert!(
            history.borrow().records.is_empty(),
            "a log that took records is there"
        );
        return Ok(None);
    };
    let mut found = Vec::new();
    while let Some(next) = reader.next().await? {
        found.push(next);
    }
    let mut history = history.borrow_mut();
    let first = history
        .records
        .partition_point(|(span, _)| span.begin < from);
    let count = first + found.len();
    assert!(
        count <= history.records.len(),
        "nothing is read that was never written"
    );
    assert!(
        count >= history.durable,
        "{count} of {} durable records",
        history.durable
    );
    for (index, next) in (first..).zip(found) {
        assert!(
            next == history.records[index],
            "record {index} is what was written"
        );
    }
    history.records.truncate(count);
    history.durable = count;
    Ok(reader.end().cloned())
}

/// Says how many released files were used again at least.
fn survives(seed: u64) -> u64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let settings = settings(&mut random);
    let history = Rc::new(RefCell::new(History::default()));
    let mut runtime = Runtime::virtual_clock();
    let options = SimulatedOptions {
        after_power_loss: AfterPowerLoss::Fail,
        ..SimulatedOptions::seeded(seed)
    };
    let mut disk = SimulatedDisk::new(&runtime.handle(), options);
    let rounds = random.random_range(2..5);
    let mut reused = 0;
    for _ in 0..rounds {
        let handle = runtime.handle();
        let directory = disk.directory("log");
        let (session_seed, crash_seed) = (random.random(), random.random());
        let crash_after_ns = random.random_range(0..60_000_000);
        let (kept, settings, cut) = (Rc::clone(&history), settings.clone(), disk.clone());
        runtime.block_on(async move {
            let clock = handle.clone();
            let cutter = handle.spawn(async move {
                clock.sleep_ns(crash_after_ns).await;
                cut.crash(crash_seed);
            });
            match open_or_create(&handle, &directory, &settings, &kept).await {
                Ok(log) => session(handle.clone(), log, kept, session_seed).await,
                Err(LogError::Io(error)) if error.failure == IoFailure::PowerLost => {}
                Err(error) => panic!("seed {seed}: {error}"),
            }
            cutter.await;
        });
        reused += std::mem::take(&mut history.borrow_mut().reused);
        let next = Runtime::virtual_clock();
        disk = disk.reopen(&next.handle());
        runtime = next;
    }
    let handle = runtime.handle();
    let directory = disk.directory("log");
    runtime.block_on(async move {
        let outcome = read_and_compare(&handle, &directory, &history).await;
        assert!(outcome.is_ok(), "seed {seed}: {outcome:?}");
    });
    reused
}

async fn open_or_create(
    handle: &Handle,
    directory: &SimulatedDirectory,
    settings: &LogSettings,
    history: &Rc<RefCell<History>>,
) -> Result<Log, LogError> {
    match read_and_compare(handle, directory, history).await? {
        Some(end) => Log::open(handle, directory, settings, &end, Rc::new(NoObserver)).await,
        None => {
            for name in directory.list().await? {
                directory.remove(&name).await?;
            }
            Log::create(handle, directory, settings, Rc::new(NoObserver)).await
        }
    }
}

#[test]
fn durable_records_survive_power_cuts() {
    let seeds = std::env::var("PROOFLOAD_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok());
    let seeds = seeds.unwrap_or(500);
    let reused: u64 = (0..seeds).map(survives).sum();
    assert!(reused > seeds, "{reused} files used again in {seeds} runs");
}
