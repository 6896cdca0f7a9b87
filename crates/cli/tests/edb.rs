//! Database files examined, printed and recovered as a person does it.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::process::Command;

use common::{PAGE_BYTES, Running, SMALL, Scratch, WIDE};
use serde_json::Value;

const DATABASE: &str = "target/mail-001/mail-001.edb";

/// A built database of a profile with pages of this size.
fn built(page_size: &str) -> Scratch {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} --build-only --set engine.page_size={page_size}");
    here.proofload(&line.replace("48MiB", "8MiB")).exits(0);
    here
}

fn json_lines(text: &str) -> Vec<Value> {
    let parsed = text.lines().map(|line| serde_json::from_str(line).unwrap());
    parsed.collect()
}

/// Runs a Python script with the independent readers; `None` if they are not there.
fn python(script: &str, arguments: &[&str]) -> Option<String> {
    let Some(python) = std::env::var_os("PROOFLOAD_ESEDB_PYTHON") else {
        test_support::skip("PROOFLOAD_ESEDB_PYTHON names no Python with the module dissect.esedb");
        return None;
    };
    let output = Command::new(python)
        .args(["-c", script])
        .args(arguments)
        .output()
        .unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(String::from_utf8(output.stdout).unwrap())
}

/// Prints the rows of a table as the dump does, by another reader.
const DISSECT: &str = r#"
import json, sys
from dissect.esedb import EseDB
table = EseDB(open(sys.argv[1], "rb")).table(sys.argv[2])
def plain(value, column):
    if isinstance(value, list):
        return [plain(one, column) for one in value]
    if isinstance(value, (bytes, memoryview)):
        return bytes(value).hex()
    if column.type.name == "DateTime" and value is not None:
        return value % 2**64
    return value
for record in table.records():
    print(json.dumps({c.name: plain(record.get(c.name), c) for c in table.columns}))
"#;

/// Whether two readers read the same: one cuts zero bytes off the end of text, takes the first half
/// of a character of UTF-16 for the whole where a column ends within it, and prints floats of four
/// bytes as if they had eight.
fn same(ours: &Value, theirs: &Value) -> bool {
    match (ours, theirs) {
        (Value::String(ours), Value::String(theirs))
            if ours.ends_with(char::REPLACEMENT_CHARACTER) =>
        {
            let complete = ours.trim_end_matches(char::REPLACEMENT_CHARACTER);
            theirs.starts_with(complete) && theirs.chars().count() == ours.chars().count()
        }
        (Value::String(ours), Value::String(theirs)) => ours.trim_end_matches('\0') == theirs,
        (Value::Array(ours), Value::Array(theirs)) => {
            ours.len() == theirs.len() && ours.iter().zip(theirs).all(|(a, b)| same(a, b))
        }
        (Value::Number(ours), Value::Number(theirs)) => {
            ours == theirs || ours.as_f64().map(|x| x as f32) == theirs.as_f64().map(|x| x as f32)
        }
        (ours, theirs) => ours == theirs,
    }
}

fn compare_with_dissect(here: &Scratch, file: &str, table: &str) -> Option<usize> {
    let theirs = json_lines(&python(
        DISSECT,
        &[here.path(file).to_str().unwrap(), table],
    )?);
    let line = format!("edb dump {file} {table} --format json-lines");
    let ours = json_lines(&here.proofload(&line).exits(0).stdout);
    assert_eq!(ours.len(), theirs.len(), "{file}, {table}");
    for (row, (ours, theirs)) in ours.iter().zip(&theirs).enumerate() {
        let (ours, theirs) = (ours.as_object().unwrap(), theirs.as_object().unwrap());
        assert_eq!(ours.len(), theirs.len());
        for (name, value) in ours {
            let other = &theirs[name];
            assert!(
                same(value, other),
                "{file}, {table}, row {row}, {name}: {value} {other}"
            );
        }
    }
    Some(ours.len())
}

#[test]
fn rows_come_out_as_other_readers_read_them() {
    for page_size in ["4KiB", "8KiB", "32KiB"] {
        let here = built(page_size);
        let info = here.proofload(&format!("edb info {DATABASE} --count --json"));
        let info: Value = serde_json::from_str(&info.exits(0).stdout).unwrap();
        let table = &info["tables"][0];
        let (name, rows) = (
            table["name"].as_str().unwrap(),
            table["rows"].as_u64().unwrap(),
        );
        assert!(rows > 100, "{info}");
        let csv = here
            .proofload(&format!("edb dump {DATABASE}"))
            .exits(0)
            .stdout;
        let columns = table["columns"].as_array().unwrap().iter();
        let names: Vec<&str> = columns
            .map(|column| column["name"].as_str().unwrap())
            .collect();
        assert_eq!(csv.lines().next().unwrap(), names.join(","));
        assert_eq!(csv.lines().count() as u64, rows + 1);
        if let Some(compared) = compare_with_dissect(&here, DATABASE, name) {
            assert_eq!(compared as u64, rows);
        }
        let check = here
            .proofload(&format!("edb check {DATABASE} --json"))
            .exits(0);
        let check: Value = serde_json::from_str(&check.stdout).unwrap();
        assert_eq!(
            (&check["sound"], &check["rows"]),
            (&true.into(), &rows.into())
        );
    }
}

#[test]
fn files_by_windows_are_checked_and_printed() {
    let Some(directory) = std::env::var_os("PROOFLOAD_WINDOWS_FILES") else {
        test_support::skip("PROOFLOAD_WINDOWS_FILES names no directory of files by Windows");
        return;
    };
    let here = Scratch::new();
    let files = [
        ("basic.edb", "basic"),
        ("binary.edb", "binary"),
        ("default.edb", "default"),
        ("index.edb", "index"),
        ("multi.edb", "multi"),
        ("text.edb", "text"),
        ("SRUDB.dat", "SruDbIdMapTable"),
        ("Current.mdb", "CLIENTS"),
    ];
    for (file, table) in files {
        let from = std::path::Path::new(&directory).join(file);
        fs::copy(from, here.path(file)).unwrap();
        here.proofload(&format!("edb check {file}"))
            .exits(0)
            .prints("sound");
        here.proofload(&format!("edb info {file}"))
            .exits(0)
            .prints("another program")
            .prints(&format!("table {table}"));
        compare_with_dissect(&here, file, table);
        here.proofload(&format!("edb recover {file}"))
            .exits(2)
            .says("another program");
    }
}

#[test]
fn what_cannot_be_printed_is_said() {
    let here = built("4KiB");
    here.proofload(&format!("edb dump {DATABASE} nothing"))
        .exits(2)
        .says("There is no table nothing")
        .says("MSysObjects");
    here.proofload(&format!("edb dump {DATABASE} MSysObjects"))
        .exits(0)
        .prints("MSysObjectsShadow");
    here.proofload("edb dump missing.edb")
        .exits(2)
        .says("does not exist");
    // A reader that goes away is no error.
    let line = format!(
        "set -o pipefail; {} edb dump {DATABASE} MSysObjects | head -1",
        env!("CARGO_BIN_EXE_proofload")
    );
    let piped = Command::new("bash")
        .args(["-c", &line])
        .current_dir(here.path(""))
        .output();
    let piped = piped.unwrap();
    assert!(piped.status.success(), "{piped:?}");
    assert_eq!(
        piped.stdout.iter().filter(|&&byte| byte == b'\n').count(),
        1
    );
    // A wrong byte in a leaf: the rows before it, then an error that names the page.
    let path = here.path(DATABASE);
    let mut bytes = fs::read(&path).unwrap();
    let middle = bytes.len() / 2 / 4096 * 4096 + 2000;
    for place in (middle..bytes.len()).step_by(4096) {
        bytes[place] ^= 1;
    }
    fs::write(&path, bytes).unwrap();
    let ended = here
        .proofload(&format!("edb dump {DATABASE}"))
        .exits(4)
        .says("of table Messages cannot be read");
    assert!(ended.stdout.lines().count() > 1);
    here.proofload(&format!("edb check {DATABASE} --json"))
        .exits(4)
        .prints("\"kind\":\"checksum\"");
}

#[test]
fn a_killed_database_is_recovered() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} --keep").replace("--duration 2s", "--duration 10m");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:0");
    here.proofload(&format!("edb recover {DATABASE}"))
        .exits(3)
        .says("is in use by proofload (process");
    running.signal("KILL");
    drop(running.end());
    here.proofload(&format!("edb info {DATABASE}"))
        .exits(0)
        .prints("log needed")
        .prints("log files");
    here.proofload(&format!("edb dump {DATABASE}"))
        .exits(3)
        .says("edb recover");
    // Whether every page is there depends on the moment of the kill.
    let as_is = here.proofload(&format!("edb dump {DATABASE} --as-is"));
    assert!(!as_is.stderr.contains("is missing"), "{}", as_is.stderr);
    assert!(as_is.stdout.lines().count() > 1);
    let empty = here.directory("empty");
    here.proofload(&format!("edb recover {DATABASE} --log {}", empty.display()))
        .exits(3)
        .says("log is missing");
    here.proofload(&format!("edb recover {DATABASE}"))
        .exits(0)
        .prints("recovered in")
        .prints("page changes repeated");
    here.proofload(&format!("edb check {DATABASE}"))
        .exits(0)
        .prints("sound");
    here.proofload(&format!("edb recover {DATABASE}"))
        .exits(0)
        .prints("nothing to recover");
    here.proofload(&format!("{SMALL} {WIDE} --reuse").replace("--out out", "--out second"))
        .exits(0)
        .prints("PASS");
}

#[test]
fn the_log_of_another_database_is_refused() {
    let here = Scratch::new();
    for place in ["one", "two"] {
        here.directory(place);
        let line = format!("{SMALL} {WIDE} --keep");
        let line = line.replace("--on target", &format!("--on {place}"));
        let line = line.replace("--out out", &format!("--out out-{place}"));
        let mut running = Running::start(&here, &line.replace("--duration 2s", "--duration 10m"));
        running.wait_until_it_says("measuring 0:0");
        running.signal("KILL");
        drop(running.end());
    }
    here.proofload("edb recover one/mail-001/mail-001.edb --log two/log-001")
        .exits(3)
        .says("belongs to another database");
    here.proofload("edb recover one/mail-001/mail-001.edb")
        .exits(0)
        .prints("recovered");
}

/// A built database that has been run on and closed.
fn closed() -> Scratch {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} --keep").replace("--duration 2s", "--duration 1s");
    here.proofload(&line).exits(0);
    here.proofload(&format!("edb check {DATABASE}")).exits(0);
    here
}

#[test]
fn a_file_that_contradicts_those_beside_it_is_damaged() {
    let (here, other) = (closed(), closed());
    let mut options = fs::File::options();
    let options = options.read(true).write(true);
    let file = options.open(here.path(DATABASE)).unwrap();
    let size = file.metadata().unwrap().len();
    let mut end = vec![0; PAGE_BYTES as usize];
    file.read_exact_at(&mut end, size - PAGE_BYTES).unwrap();
    file.set_len(size - PAGE_BYTES).unwrap();
    here.proofload(&format!("edb check {DATABASE}"))
        .exits(4)
        .prints("the database file is cut short");
    file.write_all_at(&end, size - PAGE_BYTES).unwrap();
    here.proofload(&format!("edb check {DATABASE}")).exits(0);
    // Both headers of another database, which has come as far or further.
    let mut own = vec![0; 2 * PAGE_BYTES as usize];
    file.read_exact_at(&mut own, 0).unwrap();
    let foreign = fs::read(other.path(DATABASE)).unwrap();
    file.write_all_at(&foreign[..own.len()], 0).unwrap();
    let ended = here.proofload(&format!("edb check {DATABASE} --json"));
    let report: Value = serde_json::from_str(&ended.exits(4).stdout).unwrap();
    let findings = report["findings"].to_string();
    assert!(
        findings.contains("the headers are those of another database"),
        "{findings}"
    );
    let beside = report["findings_beside"].to_string();
    assert!(
        beside.contains("page versions is that of another database"),
        "{beside}"
    );
    // One of them: the other is taken.
    file.write_all_at(&own[..PAGE_BYTES as usize], 0).unwrap();
    here.proofload(&format!("edb check {DATABASE}"))
        .exits(4)
        .prints("the second header is that of another database");
    fs::rename(here.path("out"), here.path("first")).unwrap();
    let line = format!("{SMALL} {WIDE} --reuse");
    here.proofload(&line)
        .exits(4)
        .prints("1 error")
        .says("the second header is that of another database");
    here.proofload(&format!("edb check {DATABASE}")).exits(0);
}

#[test]
fn a_recovery_without_a_checkpoint_says_so() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} --keep").replace("--duration 2s", "--duration 10m");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:01");
    running.signal("KILL");
    drop(running.end());
    let path = here.path("target/log-001/E00.chk");
    let mut copies = fs::read(&path).unwrap();
    copies[200] ^= 8;
    copies[4296] ^= 8;
    fs::write(&path, &copies).unwrap();
    here.proofload(&format!("edb recover {DATABASE}"))
        .exits(0)
        .prints("the first copy of the checkpoint has a wrong checksum")
        .prints("recovery read the log from the oldest file on");
    here.proofload(&format!("edb check {DATABASE}")).exits(0);
}
