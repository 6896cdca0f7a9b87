//! A program this project did not write reads what transactions have written.

use super::common::*;
use edb::Commit;
use runtime::simulated::{SimulatedDisk, SimulatedOptions};
use runtime::{Buffer, Directory, File, Runtime};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::process::Command;

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// The bytes of a database after inserts, updates, deletes and rollbacks, and the lines that an
/// export must have.
fn database(page_size: usize) -> (Vec<u8>, BTreeMap<i64, String>) {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        let settings = small_settings(page_size);
        let db = create(&handle, &disk, &settings).await;
        let table = db.create_table(&messages()).await.unwrap();
        let mut lines = BTreeMap::new();
        for number in 0..1500_u64 {
            let token = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
            let body = vec![(number % 200) as u8 + 1; (number % 900) as usize + 1];
            let mut tx = db.begin();
            let key = tx
                .insert(&table, &row(&token, number as i32, body.clone()))
                .await
                .unwrap();
            if number % 7 == 0 {
                tx.rollback().await.unwrap();
                continue;
            }
            let line = format!("{key}\t{number}\t{}\t{}", hex(&token), hex(&body));
            lines.insert(key, line);
            tx.commit(Commit::Lazy { within_ms: 100 }).await.unwrap();
            if number % 5 == 0 && key > 20 && lines.contains_key(&(key - 19)) {
                let mut tx = db.begin();
                assert!(tx.delete(&table, key - 19).await.unwrap());
                tx.commit(Commit::Durable).await.unwrap();
                lines.remove(&(key - 19));
            }
        }
        db.close().await.unwrap();
        let file = disk.directory("database").open("mail.edb").await.unwrap();
        let bytes = file.size_bytes().await.unwrap() as usize;
        let (buffer, result) = file.read(0, Buffer::zeroed(bytes)).await;
        result.unwrap();
        (buffer.to_vec(), lines)
    })
}

#[test]
fn esedbexport_reads_what_transactions_wrote() {
    for page_size in [4096, 8192, 32_768] {
        compare_export(page_size);
    }
}

fn compare_export(page_size: usize) {
    let (bytes, lines) = database(page_size);
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("mail.edb");
    std::fs::write(&path, bytes).unwrap();
    let target = directory.path().join("out");
    let mut command = Command::new("esedbexport");
    command
        .args(["-T", "messages", "-t"])
        .arg(&target)
        .arg(&path);
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
            test_support::skip("esedbexport is not installed (Debian package libesedb-utils)");
            return;
        }
        output => output.unwrap(),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    let export = directory.path().join("out.export");
    let table = std::fs::read_dir(&export)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = std::fs::read_to_string(table).unwrap();
    let mut found = text.lines();
    assert_eq!(found.next(), Some("Id\tSize\tToken\tBody"));
    let found: Vec<&str> = found.map(str::trim_end).collect();
    let expected: Vec<&str> = lines.values().map(String::as_str).collect();
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
}
