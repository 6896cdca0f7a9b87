//! Programs that this project did not write read what it builds.
//!
//! `esedbinfo` and `esedbexport` come with the Debian package libesedb-utils. Long values, which
//! that version cannot export, are read through libesedb's and dissect's Python modules if the
//! variable PROOFLOAD_ESEDB_PYTHON names a Python that has them. Without a tool its test says so
//! and ends.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use runtime::{Buffer, Directory, File, Runtime, SimulatedDisk, SimulatedOptions};

use super::build;
use super::tests::{TestRows, plan};

const ROWS: u64 = 2000;

fn rows() -> TestRows {
    TestRows::new(ROWS, 30_000)
}

/// Page sizes of Exchange 2003, 2007 and 2010: two layouts of pages.
const PAGE_SIZES: [usize; 3] = [4096, 8192, 32_768];

/// Builds a database with pages of this size in a real file.
fn built_file(directory: &Path, page_size: usize) -> PathBuf {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let bytes = runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(1));
        let file = disk.directory("d").create("a.edb").await.unwrap();
        let report = build(&handle, &file, &plan(page_size), &mut rows(), |_| ())
            .await
            .unwrap();
        let buffer = Buffer::zeroed(report.file_size_bytes as usize);
        let (bytes, read) = file.read(0, buffer).await;
        read.unwrap();
        bytes.to_vec()
    });
    let path = directory.join("mail.edb");
    std::fs::write(&path, bytes).unwrap();
    path
}

/// Runs a program; `None` if it is not installed.
fn output_of(command: &mut Command) -> Option<String> {
    let output = match command.output() {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return None,
        output => output.unwrap(),
    };
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?} failed:\n{text}\n{errors}"
    );
    Some(text)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn esedbinfo_lists_the_tables() {
    PAGE_SIZES.into_iter().for_each(list_tables);
}

fn list_tables(page_size: usize) {
    let directory = tempfile::tempdir().unwrap();
    let path = built_file(directory.path(), page_size);
    let Some(text) = output_of(Command::new("esedbinfo").arg(&path)) else {
        test_support::skip("esedbinfo is not installed (Debian package libesedb-utils)");
        return;
    };
    for expected in [
        "MSysObjects",
        "MSysObjectsShadow",
        "messages",
        "Subject",
        "ByToken",
    ] {
        assert!(text.contains(expected), "{expected} is missing in:\n{text}");
    }
}

#[test]
fn esedbexport_returns_every_row() {
    PAGE_SIZES.into_iter().for_each(export_rows);
}

fn export_rows(page_size: usize) {
    let directory = tempfile::tempdir().unwrap();
    let path = built_file(directory.path(), page_size);
    let target = directory.path().join("out");
    let mut command = Command::new("esedbexport");
    command
        .arg("-T")
        .arg("messages")
        .arg("-t")
        .arg(&target)
        .arg(&path);
    if output_of(&mut command).is_none() {
        test_support::skip("esedbexport is not installed (Debian package libesedb-utils)");
        return;
    }
    let export = directory.path().join("out.export");
    let table = std::fs::read_dir(&export)
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let text = std::fs::read_to_string(table).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("Id\tNumber\tToken\tSubject\tBody"));
    let source = rows();
    let mut found = 0;
    for (row, line) in (0..ROWS).zip(lines) {
        let fields: Vec<&str> = line.split('\t').collect();
        let body = source.body(row).unwrap_or_default();
        // That version cannot fetch separated long values and leaves them empty.
        let body = if body.len() > 1023 { Vec::new() } else { body };
        let expected = [
            (row + 1).to_string(),
            (row * 3).to_string(),
            hex(&TestRows::token(row)),
            TestRows::subject(row),
            hex(&body),
        ];
        assert_eq!(fields, expected, "row {row}");
        found += 1;
    }
    assert_eq!(found, ROWS);
}

/// Prints each row's values; the body as its length and SHA-256.
const LIBESEDB_SCRIPT: &str = r#"
import sys, hashlib, pyesedb
file = pyesedb.file(); file.open(sys.argv[1])
table = file.get_table_by_name("messages")
for i in range(table.get_number_of_records()):
    record = table.get_record(i)
    lv = record.get_value_data_as_long_value(4) if record.is_long_value(4) else None
    body = lv.get_data() if lv else record.get_value_data(4)
    body = body or b""
    print(record.get_value_data_as_integer(0), record.get_value_data(2).hex(),
          len(body), hashlib.sha256(body).hexdigest())
"#;

const DISSECT_SCRIPT: &str = r#"
import sys, hashlib
from dissect.esedb import EseDB
db = EseDB(open(sys.argv[1], "rb"))
for record in db.table("messages").records():
    body = record.get("Body") or b""
    print(record.get("Id"), record.get("Token").hex(), len(body), hashlib.sha256(body).hexdigest())
"#;

fn compare_bodies(module: &str, script: &str) {
    for page_size in PAGE_SIZES {
        compare_bodies_on(page_size, module, script);
    }
}

fn compare_bodies_on(page_size: usize, module: &str, script: &str) {
    let Some(python) = std::env::var_os("PROOFLOAD_ESEDB_PYTHON") else {
        test_support::skip(format_args!(
            "PROOFLOAD_ESEDB_PYTHON names no Python with the module {module}"
        ));
        return;
    };
    let directory = tempfile::tempdir().unwrap();
    let path = built_file(directory.path(), page_size);
    let text = output_of(Command::new(&python).arg("-c").arg(script).arg(&path));
    let text = text.unwrap_or_else(|| panic!("{} cannot be run", python.display()));
    // The same digests by the same Python, from the bodies themselves.
    let bodies = directory.path().join("bodies");
    let source = rows();
    let list: String = (0..ROWS)
        .map(|row| hex(&source.body(row).unwrap_or_default()) + "\n")
        .collect();
    std::fs::write(&bodies, list).unwrap();
    let digest = "import sys, hashlib\nfor line in open(sys.argv[1]):\n  \
                  body = bytes.fromhex(line)\n  \
                  print(len(body), hashlib.sha256(body).hexdigest())";
    let digests = output_of(Command::new(&python).arg("-c").arg(digest).arg(&bodies)).unwrap();
    let expected: String = (0..ROWS)
        .zip(digests.lines())
        .map(|(row, digest)| format!("{} {} {digest}\n", row + 1, hex(&TestRows::token(row))))
        .collect();
    for (row, (found, expected)) in text.lines().zip(expected.lines()).enumerate() {
        assert_eq!(found, expected, "{module}, row {row}");
    }
    assert_eq!(text.lines().count() as u64, ROWS);
}

#[test]
fn libesedb_returns_every_long_value() {
    compare_bodies("pyesedb (PyPI libesedb-python)", LIBESEDB_SCRIPT);
}

#[test]
fn dissect_returns_every_long_value() {
    compare_bodies("dissect.esedb", DISSECT_SCRIPT);
}
