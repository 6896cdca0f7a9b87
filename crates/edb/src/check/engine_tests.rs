//! The engine and this room agree on the file: what the one writes is sound for the other.

use std::rc::Rc;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::trace::NoObserver;
use runtime::{
    Buffer, Directory, File, Handle, Runtime, SimulatedDirectory, SimulatedDisk, SimulatedOptions,
};

use super::check;
use crate::bulk::tests::{TestRows, messages, plan};
use crate::bulk::{BuildPlan, build};
use crate::settings::{Engine, Maintenance};
use crate::{Commit, Database, EngineSettings, LongValues, Table, Value};
use config::ByteSize;

const NAME: &str = "mail.edb";

fn settings(page_size_bytes: usize) -> EngineSettings {
    EngineSettings {
        engine: Engine {
            page_size: ByteSize(page_size_bytes as u64),
            cache_size_per_database: ByteSize(64 * page_size_bytes as u64),
            log_file_size: ByteSize::kib(256),
            log_buffer: ByteSize::kib(64),
            checkpoint_depth: ByteSize::kib(512),
            extension_pages: 16,
            version_store: ByteSize::mib(4),
            ..Engine::default()
        },
        maintenance: Maintenance {
            enabled: false,
            ..Maintenance::default()
        },
        ..EngineSettings::default()
    }
}

async fn assert_sound(disk: &SimulatedDisk, rows: usize, when: &str) {
    let file = disk.directory("database").open(NAME).await.unwrap();
    let report = check(&file, |_, _| ()).await.unwrap();
    let text: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
    assert!(text.is_empty(), "{when}: {text:#?}");
    assert_eq!(report.rows, rows as u64, "{when}");
}

async fn open(handle: &Handle, disk: &SimulatedDisk, size: usize) -> Database<SimulatedDirectory> {
    let (files, logs) = (disk.directory("database"), disk.directory("log"));
    let observer = Rc::new(NoObserver);
    Database::open(handle, &files, NAME, &logs, settings(size), observer)
        .await
        .unwrap()
        .0
}

fn random_row(random: &mut Xoshiro256PlusPlus) -> Vec<Value> {
    let body = match random.random_range(0..4) {
        0 => Value::Null,
        1 => Value::Bytes(vec![5; random.random_range(0..900)]),
        _ => {
            let mut body = vec![0; random.random_range(1024..20_000)];
            random.fill_bytes(&mut body);
            Value::Bytes(body)
        }
    };
    let mut token = [0; 16];
    random.fill_bytes(&mut token);
    vec![
        Value::Null,
        Value::Long(random.random()),
        Value::Bytes(token.to_vec()),
        Value::Bytes(b"subject".to_vec()),
        body,
    ]
}

/// Random transactions; `keys` follows what is in the table.
async fn work(
    database: &Database<SimulatedDirectory>,
    table: &Table,
    keys: &mut Vec<i64>,
    random: &mut Xoshiro256PlusPlus,
    transactions: usize,
) {
    for _ in 0..transactions {
        let before = keys.clone();
        let mut transaction = database.begin();
        for _ in 0..random.random_range(1..4) {
            let any = if keys.is_empty() {
                0
            } else {
                random.random_range(0..keys.len())
            };
            match random.random_range(0..10) {
                0..=2 if !keys.is_empty() => {
                    let key = keys.swap_remove(any);
                    assert!(transaction.delete(table, key).await.unwrap());
                }
                3..=4 if !keys.is_empty() => {
                    let mut values = random_row(random);
                    values[0] = Value::LongLong(keys[any]);
                    transaction
                        .replace(table, keys[any], &values)
                        .await
                        .unwrap();
                }
                _ => keys.push(
                    transaction
                        .insert(table, &random_row(random))
                        .await
                        .unwrap(),
                ),
            }
        }
        if random.random_range(0..5) == 0 {
            transaction.rollback().await.unwrap();
            *keys = before;
        } else {
            transaction
                .commit(Commit::Lazy { within_ms: 10 })
                .await
                .unwrap();
        }
    }
}

#[test]
fn what_the_engine_leaves_is_sound() {
    for (seed, page_size) in [(1, 4096), (2, 8192), (3, 32_768)] {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move {
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
            let (files, logs) = (disk.directory("database"), disk.directory("log"));
            let (options, observer) = (settings(page_size), Rc::new(NoObserver));
            let created = Database::create(&handle, &files, NAME, &logs, options, observer).await;
            let mut database = created.unwrap();
            let mut table = database.create_table(&messages()).await.unwrap();
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut keys = Vec::new();
            for round in 0..4 {
                work(&database, &table, &mut keys, &mut random, 120).await;
                database.close().await.unwrap();
                drop(database);
                let when = format!("page size {page_size}, seed {seed}, round {round}");
                assert_sound(&disk, keys.len(), &when).await;
                database = open(&handle, &disk, page_size).await;
                table = database.table("messages").unwrap();
            }
        });
    }
}

#[test]
fn the_engine_goes_on_with_a_built_database() {
    for (seed, page_size) in [(4, 4096), (5, 8192), (6, 32_768)] {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move {
            const ROWS: u64 = 500;
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
            let file = disk.directory("database").create(NAME).await.unwrap();
            let plan = BuildPlan {
                extension_pages: 16,
                ..plan(page_size)
            };
            let mut source = TestRows::new(ROWS, 20_000);
            build(&handle, &file, &plan, &mut source, |_| ())
                .await
                .unwrap();
            drop(file);
            let database = open(&handle, &disk, page_size).await;
            let table = database.table("messages").unwrap();
            let transaction = database.begin();
            for row in 0..ROWS {
                let key = row as i64 + 1;
                let by_key = transaction
                    .get(&table, key, LongValues::Fetch)
                    .await
                    .unwrap();
                let token = TestRows::token(row);
                let found = transaction.seek_index(&table, "ByToken", &token, LongValues::Fetch);
                let by_token = found.await.unwrap();
                assert_eq!(by_key, by_token, "row {row}");
                let values = by_key.unwrap().values;
                let body = source.body(row).map_or(Value::Null, Value::Bytes);
                assert_eq!(values[4], body, "row {row}");
                assert_eq!(values[3], Value::Bytes(TestRows::subject(row).into_bytes()));
            }
            transaction.rollback().await.unwrap();
            let mut keys: Vec<i64> = (1..=ROWS as i64).collect();
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            work(&database, &table, &mut keys, &mut random, 300).await;
            database.close().await.unwrap();
            drop(database);
            let when = format!("page size {page_size}, seed {seed}");
            assert_sound(&disk, keys.len(), &when).await;
        });
    }
}

#[test]
fn independent_readers_read_what_the_engine_wrote() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let bytes = runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        let (files, logs) = (disk.directory("database"), disk.directory("log"));
        let (options, observer) = (settings(32_768), Rc::new(NoObserver));
        let created = Database::create(&handle, &files, NAME, &logs, options, observer).await;
        let database = created.unwrap();
        let table = database.create_table(&messages()).await.unwrap();
        for row in 0..800 {
            let mut transaction = database.begin();
            let values = [
                Value::Null,
                Value::Long(row * 3),
                Value::Bytes(TestRows::token(row as u64).to_vec()),
                Value::Bytes(TestRows::subject(row as u64).into_bytes()),
                Value::Bytes(vec![b'x'; 100 + row as usize % 500]),
            ];
            transaction.insert(&table, &values).await.unwrap();
            transaction
                .commit(Commit::Lazy { within_ms: 5 })
                .await
                .unwrap();
        }
        let mut transaction = database.begin();
        for key in (2..=800).step_by(2) {
            assert!(transaction.delete(&table, key).await.unwrap());
        }
        transaction.commit(Commit::Durable).await.unwrap();
        database.close().await.unwrap();
        let file = disk.directory("database").open(NAME).await.unwrap();
        let buffer = Buffer::zeroed(file.size_bytes().await.unwrap() as usize);
        let (bytes, read) = file.read(0, buffer).await;
        read.unwrap();
        bytes.to_vec()
    });
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(NAME);
    std::fs::write(&path, bytes).unwrap();
    let mut command = std::process::Command::new("esedbexport");
    command
        .args(["-T", "messages", "-t"])
        .arg(directory.path().join("out"))
        .arg(&path);
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            test_support::skip("esedbexport is not installed (Debian package libesedb-utils)");
            return;
        }
        output => output.unwrap(),
    };
    assert!(output.status.success(), "{output:?}");
    let export = std::fs::read_dir(directory.path().join("out.export"))
        .unwrap()
        .next();
    let text = std::fs::read_to_string(export.unwrap().unwrap().path()).unwrap();
    let rows: Vec<&str> = text.lines().skip(1).collect();
    assert_eq!(rows.len(), 400);
    for (number, line) in rows.into_iter().enumerate() {
        let row = 2 * number as u64;
        let fields: Vec<&str> = line.split('\t').collect();
        let expected = [(row + 1).to_string(), (row * 3).to_string()];
        assert_eq!(fields[..2], expected);
        assert_eq!(fields[3], TestRows::subject(row));
        assert_eq!(fields[4], "78".repeat(100 + row as usize % 500));
    }
}
