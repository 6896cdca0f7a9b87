//! Rows looked up at random through an index of a database, 32 at a time, from real storage:
//! `random_lookups DIRECTORY FILE TABLE INDEX COLUMN SECONDS`. The column is that of the index. The
//! database must have been closed; its log goes to a directory of its own beside it, which must be
//! empty.
//!
//! Prints device reads per second, lookups for each of them, and CPU time for each.

use config::ByteSize;
use edb::settings::Engine;
use edb::{Commit, Database, EngineSettings, LongValues, ScanOptions, Value};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};
use runtime::{
    HostDirectory, IoCause, IoDirection, IoEvent, IoObserver, Runtime, WallClockOptions,
};
use std::cell::Cell;
use std::path::Path;
use std::rc::Rc;

const SESSIONS: u64 = 32;
const CACHE_BYTES: u64 = 256 << 20;
const WARM_UP_READS: u64 = 3 * CACHE_BYTES / 32_768;

#[derive(Default)]
struct Reads(Cell<u64>);

impl IoObserver for Reads {
    fn completed(&self, event: &IoEvent) {
        if (event.cause, event.direction) == (IoCause::Database, IoDirection::Read) {
            self.0.set(self.0.get() + 1);
        }
    }
}

fn processor_ns() -> u64 {
    let schedstat = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    schedstat
        .split(' ')
        .next()
        .and_then(|ns| ns.parse().ok())
        .unwrap_or(0)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [directory, file, table, index, column, seconds] = arguments.as_slice() else {
        return Err("usage: random_lookups DIRECTORY FILE TABLE INDEX COLUMN SECONDS".into());
    };
    let runtime = Runtime::wall_clock(&WallClockOptions::default())?;
    let handle = runtime.handle();
    let data = HostDirectory::open(&handle, Path::new(directory))?;
    let log = HostDirectory::open(&handle, &Path::new(directory).join("lookup-log"))?;
    let settings = EngineSettings {
        engine: Engine {
            cache_size_per_database: ByteSize(CACHE_BYTES),
            ..Engine::default()
        },
        ..EngineSettings::default()
    };
    let seconds: u64 = seconds.parse()?;
    let (file, table) = (file.clone(), table.clone());
    let (index, column) = (index.clone(), column.clone());
    let reads = Rc::new(Reads::default());
    let outcome: Result<(), edb::EngineError> = runtime.block_on(async move {
        let observer: Rc<dyn IoObserver> = Rc::<Reads>::clone(&reads);
        let (database, _) = Database::open(&handle, &data, &file, &log, settings, observer).await?;
        let table = database.table(&table)?;
        let columns = &table.definition().columns;
        let position = columns
            .iter()
            .position(|one| one.name == column)
            .unwrap_or(0);
        let mut keys: Vec<Vec<u8>> = Vec::new();
        let mut from = 0;
        loop {
            let reader = database.begin();
            let options = ScanOptions {
                limit: 10_000,
                long_values: LongValues::Leave,
                read_ahead: true,
                ..ScanOptions::default()
            };
            let rows = reader.scan(&table, from.., options).await?;
            let Some(last) = rows.last() else { break };
            from = last.key + 1;
            keys.extend(rows.iter().filter_map(|row| match &row.values[position] {
                Value::Bytes(bytes) => Some(bytes.clone()),
                _ => None,
            }));
        }
        eprintln!("{} rows", keys.len());
        let keys = Rc::new(keys);
        let (lookups, ends_ns) = (Rc::new(Cell::new(0_u64)), Rc::new(Cell::new(u64::MAX)));
        let sessions: Vec<_> = (0..SESSIONS)
            .map(|number| {
                let (database, table, keys) = (database.clone(), table.clone(), Rc::clone(&keys));
                let (handle, index) = (handle.clone(), index.clone());
                let (lookups, ends_ns) = (Rc::clone(&lookups), Rc::clone(&ends_ns));
                handle.clone().spawn(async move {
                    let mut rng = Xoshiro256PlusPlus::seed_from_u64(number);
                    while handle.now_ns() < ends_ns.get() {
                        let turns = handle.turns();
                        let key = &keys[rng.next_u64() as usize % keys.len()];
                        let reader = database.begin();
                        let found = reader.seek_index(&table, &index, key, LongValues::Leave);
                        assert!(found.await?.is_some(), "a row was there");
                        reader.commit(Commit::Durable).await?;
                        lookups.set(lookups.get() + 1);
                        if handle.turns() == turns {
                            handle.yield_now().await;
                        }
                    }
                    Ok::<(), edb::EngineError>(())
                })
            })
            .collect();
        let scanned = reads.0.get();
        while reads.0.get() < scanned + WARM_UP_READS {
            handle.sleep_ns(1_000_000).await;
        }
        let before = (
            reads.0.get(),
            lookups.get(),
            processor_ns(),
            handle.now_ns(),
        );
        handle.sleep_ns(seconds * 1_000_000_000).await;
        let after = (
            reads.0.get(),
            lookups.get(),
            processor_ns(),
            handle.now_ns(),
        );
        ends_ns.set(0);
        for session in sessions {
            session.await?;
        }
        let count = (after.0 - before.0) as f64;
        println!(
            "{:.0} reads/s, {:.2} lookups and {:.2} us of processor time for each",
            count * 1e9 / (after.3 - before.3) as f64,
            (after.1 - before.1) as f64 / count,
            (after.2 - before.2) as f64 / count / 1000.0,
        );
        database.close().await
    });
    Ok(outcome?)
}
