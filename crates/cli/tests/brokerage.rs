//! A brokerage on real databases, as a user runs it, with every exit status it can end in.
//!
//! No test here depends on how fast the machine is: limits are set so wide that the verdict is
//! certain. PostgreSQL is used where it is installed; SQLite is built in.

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, chown, symlink};
use std::path::Path;
use std::process::{Child, Command};
use std::time::Duration;

use common::brokerage::smallest;
use common::mariadb::MariaDb;
use common::{Running, Scratch, WIDE};
use serde_json::Value;

/// The smallest data set there is on a server, some seconds of load, and prices that move fast enough for it.
const SMALL: &str = "run brokerage --on target --out out --users 4 --target-size 180MB \
    --duration 3s --allow-cached --set run.sample_interval=500ms --set run.warm_up.minimum=2s \
    --set run.steady_state.required=false --set brokerage.think_time=1ms \
    --set brokerage.market.price_period=2s --set brokerage.market.data_maintenance_interval=1s \
    --set brokerage.service_levels.other_io_percent=100 \
    --set brokerage.service_levels.mix_tolerance_points=100 \
    --set brokerage.service_levels.rollback_tolerance_points=100 \
    --set brokerage.service_levels.trade_status_p90=10m \
    --set brokerage.service_levels.market_watch_p90=10m \
    --set brokerage.service_levels.security_detail_p90=10m \
    --set brokerage.service_levels.customer_position_p90=10m \
    --set brokerage.service_levels.trade_order_p90=10m \
    --set brokerage.service_levels.trade_lookup_p90=10m \
    --set brokerage.service_levels.broker_volume_p90=10m \
    --set brokerage.service_levels.trade_update_p90=10m \
    --set brokerage.service_levels.trade_result_p90=10m \
    --set brokerage.service_levels.market_feed_p90=10m";

/// The same on SQLite.
fn small_on_sqlite() -> String {
    let small = SMALL.replace(smallest("auto"), smallest("sqlite"));
    format!("{small} {WIDE} --database sqlite")
}

fn result(here: &Scratch, out: &str) -> Value {
    let text = fs::read(here.path(out).join("result.json")).expect("a result");
    serde_json::from_slice(&text).expect("one document")
}

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a directory").count()
}

fn has_postgresql() -> bool {
    let in_path = Command::new("initdb").arg("--version").output().is_ok();
    let found = || Path::new("/usr/lib/postgresql").exists();
    let has = in_path || found();
    if !has {
        test_support::skip("PostgreSQL is not installed");
    }
    has
}

/// What every result of a brokerage must say, whatever the database.
fn check(result: &Value) {
    let server = &result["server"];
    let checks = server["consistency_checks"].as_array().expect("checks");
    assert!(!checks.is_empty(), "{server}");
    assert!(
        checks.iter().all(|check| check["passed"] == true),
        "{checks:?}"
    );
    assert!(server["transactions"]["committed"].as_u64() > Some(0));
    assert_eq!(server["downtime_s"], 0.0);
    assert_eq!(server["customers"], 1_000);
    let data = format!("1,000 customers, {} trading days, ", server["trade_days"]);
    let headline = result["headline"].as_str().unwrap_or_default();
    assert!(headline.contains(&data), "{headline}");
    let operations = result["operations"].as_array().expect("operations");
    for name in [
        "trade-order",
        "trade-result",
        "feed-entry",
        "data-maintenance",
    ] {
        let found = operations.iter().find(|one| one["name"] == name);
        let count = found.and_then(|one| one["count"].as_u64());
        assert!(count > Some(0), "{name}: {found:?}");
    }
}

/// I/O of a kind for each transaction that users began.
fn per_transaction(result: &Value, figure: &str) -> f64 {
    let by_exchange = [
        "trade-result",
        "market-feed",
        "feed-entry",
        "ticker",
        "data-maintenance",
    ];
    let operations = result["operations"].as_array().expect("operations");
    let by_users = operations.iter().filter(|one| {
        let name = one["name"].as_str().expect("a name");
        !by_exchange.contains(&name)
    });
    let transactions: u64 = by_users.filter_map(|one| one["count"].as_u64()).sum();
    let io = result["totals"].pointer(figure).and_then(Value::as_u64);
    io.expect("a figure") as f64 / transactions as f64
}

#[test]
fn a_prediction_takes_over_what_a_run_has_measured() {
    let here = Scratch::new();
    here.directory("target");
    let ended = here.proofload(&small_on_sqlite());
    assert!(matches!(ended.status, Some(0 | 5)), "{}", ended.stdout);
    let options = "--like out --array msa2042 --duration 20s --set run.warm_up.minimum=10s \
                   --set brokerage.growth_reserve_percent=50";
    here.proofload(&format!("predict {options} --out predicted"))
        .says("brokerage.measured_io.reads_per_transaction=")
        .prints("like-out on msa2042");
    let (run, predicted) = (result(&here, "out"), result(&here, "predicted"));
    for figure in ["/reads/count", "/writes/count"] {
        let (measured, made) = (
            per_transaction(&run, figure),
            per_transaction(&predicted, figure),
        );
        let is_near = (made - measured).abs() <= 0.05 * measured + 0.01;
        assert!(is_near, "{figure}: {made} instead of {measured}");
    }
    let note = predicted["notes"][0].as_str().expect("a note");
    assert!(
        note.contains("the run in out, and measured there"),
        "{note}"
    );
    here.proofload("verify predicted").exits(0);
    here.proofload("predict --like predicted --array msa2042")
        .exits(2)
        .says("predicted is a prediction");
    here.proofload("predict brokerage --like out --array msa2042")
        .exits(2);
    here.proofload("predict --like target --array msa2042")
        .exits(2)
        .says("is not a run directory");
}

/// Drops the page cache of a file until the program has ended: otherwise the kernel may have all that it reads.
fn read_from_the_device(file: &Path, running: &mut Running) {
    let file = fs::File::open(file).expect("a database");
    while running.is_alive() {
        rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed).expect("advice");
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_file_of_the_built_in_database_passes_and_leaves_nothing() {
    let here = Scratch::new();
    let target = here.directory("target");
    let mut running = Running::start(&here, &small_on_sqlite());
    running.wait_until_it_says("warming up");
    read_from_the_device(
        &target.join("brokerage/proofload_brokerage.sqlite"),
        &mut running,
    );
    let ended = running.end();
    ended
        .exits(0)
        .prints("PASS")
        .prints("Consistency checks: ")
        .prints("not comparable")
        .prints("The database was removed from target");
    assert_eq!(entries(&target), 0);
    let result = result(&here, "out");
    check(&result);
    assert_eq!(result["server"]["name"], "SQLite");
    let origin = result["server"]["origin"].as_str().unwrap_or_default();
    assert!(
        origin.contains("one transaction write at a time"),
        "{origin}"
    );
    let page = fs::read_to_string(here.path("out/report.html")).expect("a report");
    assert!(page.contains("Database server") && page.contains("trade-result"));
    // Each commit writes to the log and syncs it.
    let files = result["server"]["file_io"].as_array().expect("its files");
    let log = files.iter().find(|io| io["name"] == "write-ahead log");
    let log = log.expect("the log");
    assert!(log["writes"].as_u64() > Some(0), "{log}");
    assert!(log["syncs"].as_u64() > Some(0), "{log}");
    for average in ["average_write_ms", "average_sync_ms"] {
        assert!(log[average].as_f64() > Some(0.0), "{log}");
    }
    assert!(page.contains("by the server: write-ahead log"));
}

#[test]
fn a_server_of_our_own_is_kept_and_used_again() {
    if !has_postgresql() {
        return;
    }
    let here = Scratch::new();
    let target = here.directory("target");
    let build = SMALL.replace("--out out", "--out build");
    here.proofload(&format!("{build} --build-only"))
        .exits(0)
        .prints("The database is kept in target");
    here.proofload(&format!("{SMALL} {WIDE}"))
        .exits(3)
        .says("--reuse");
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(0)
        .prints("PASS")
        .prints("trade-result");
    let first = result(&here, "out");
    check(&first);
    assert_eq!(first["server"]["name"], "PostgreSQL");
    assert!(first["server"]["log"]["bytes"].as_u64() > Some(0));
    // A held rate: latency counts from when a transaction was due.
    let held = SMALL.replace("--out out", "--out held");
    // At this rate some kinds never happen in three seconds, so no verdict is asked for.
    here.proofload(&format!("{held} {WIDE} --reuse --rate 20"));
    let held = result(&here, "held");
    let intended = |operation: &Value| !operation["response_time"].is_null();
    assert!(
        held["operations"]
            .as_array()
            .expect("operations")
            .iter()
            .any(intended)
    );
    here.proofload("report out held --out both.html")
        .exits(0)
        .prints("trade results");
    assert!(entries(&target) > 0, "it is kept");
    // A server that is killed is started again, the run goes on, and what was kept stays.
    let killed = SMALL.replace("--out out", "--out killed");
    let killed = killed.replace("--duration 3s", "--duration 8s");
    let mut running = Running::start(&here, &format!("{killed} {WIDE} --reuse"));
    running.wait_until_it_says("measuring");
    let process = fs::read_to_string(target.join("brokerage/cluster/data/postmaster.pid"));
    let process = process.expect("a server").lines().next().map(str::to_owned);
    let sent = Command::new("kill")
        .arg("-KILL")
        .arg(process.expect("its number"))
        .status();
    assert!(sent.expect("kill").success());
    running.end().exits(1).prints("Consistency checks: ");
    let killed = result(&here, "killed");
    let server = &killed["server"];
    assert!(server["downtime_s"].as_f64() > Some(0.0));
    // No command ended it, so the storage may be the reason.
    assert_eq!(server["outages"][0]["cause"], "other", "{server}");
    assert!(entries(&target) > 0, "it is kept");
    let again = SMALL.replace("--out out", "--out again");
    here.proofload(&format!("{again} {WIDE} --reuse")).exits(0);
}

#[test]
fn a_log_on_another_storage_than_the_one_tested_does_not_pass() {
    let here = Scratch::new();
    let target = here.directory("target");
    let other = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir());
    let other = other.expect("a directory");
    let device = |path: &Path| fs::metadata(path).expect("a directory").dev();
    if !has_postgresql() || device(other.path()) == device(&target) {
        test_support::skip("PostgreSQL and two file systems are needed");
        return;
    }
    let build = SMALL.replace("--out out", "--out build");
    here.proofload(&format!("{build} --build-only")).exits(0);
    // The WAL goes to the other one, as administrators do it.
    let data = target.join("brokerage/cluster/data");
    let owner = fs::metadata(&data).expect("a data directory");
    let (uid, gid) = (Some(owner.uid()), Some(owner.gid()));
    chown(other.path(), uid, gid).expect("its owner");
    let (log, moved) = (data.join("pg_wal"), other.path().join("pg_wal"));
    let move_it = Command::new("mv").args([&log, &moved]).status();
    assert!(move_it.expect("mv").success());
    symlink(&moved, &log).expect("a link");
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(5)
        .prints("the WAL in")
        .prints("Files of the server lie on another storage");
    let result = result(&here, "out");
    assert_eq!(result["causes"][0]["id"], "files-elsewhere");
    let path = moved.to_str().expect("a path");
    assert_eq!(result["server"]["files_elsewhere"][0]["path"], path);
    here.proofload("verify out").exits(0);
}

#[test]
fn what_cannot_be_is_refused_in_a_sentence() {
    let here = Scratch::new();
    here.directory("target");
    here.directory("other");
    for (command, status, said) in [
        ("run brokerage", 2, "--on"),
        ("run exchange-2013 --on target --users 3", 2, "--threads"),
        ("run brokerage --on target,other", 2, "several directories"),
        (
            "run brokerage --on target --target-size 1MB",
            2,
            "out of range",
        ),
        (
            "run brokerage --on target --target-size 20MB",
            2,
            "too small",
        ),
        ("run brokerage --on target --target-size 16TB", 3, "free"),
        ("run brokerage --on target --erase-device", 2, "file system"),
        (
            "run brokerage --database oracle://me@host/x",
            2,
            "names no database",
        ),
        (
            "run brokerage --database postgres://me@host/x?sslmode=required",
            2,
            "prefer, require, verify-ca",
        ),
        (
            "run brokerage --target-size 180MB --database postgres://me:hidden@127.0.0.1:1/x",
            3,
            "is not available",
        ),
        (
            "run brokerage --target-size 180MB --database mariadb://me:hidden@127.0.0.1:1/x",
            3,
            "is not available",
        ),
        (
            "run brokerage --on nowhere --database postgres://me@127.0.0.1:1/x",
            2,
            "does not exist",
        ),
        (
            "run brokerage --log-on other --database postgres://me@127.0.0.1:1/x",
            2,
            "--on, for its data",
        ),
        (
            "run brokerage --on target --log-on other --database sqlite",
            2,
            "does not go with",
        ),
        (
            "predict brokerage --array msa2042 --rate 100",
            2,
            "modelled array",
        ),
        (
            "run brokerage --on target --reuse --target-size 180MB",
            2,
            "--reuse",
        ),
    ] {
        let refused = here.proofload(command).exits(status);
        let words: Vec<&str> = refused.stderr.split([' ', '\n', '\u{2502}']).collect();
        let text = words.into_iter().filter(|word| !word.is_empty());
        let text = text.collect::<Vec<_>>().join(" ");
        assert!(
            text.contains(said),
            "{command}: '{said}' is not in:\n{text}"
        );
        assert!(!refused.stderr.contains("hidden"), "{}", refused.stderr);
        assert_eq!(entries(&here.path("target")), 0, "{command}");
    }
    here.proofload("run brokerage --on target --target-size 180MB --dry-run")
        .exits(0)
        .prints("1,000 customers");
    assert_eq!(entries(&here.path("target")), 0);
}

/// A program that writes to the volume until it is dropped.
struct OtherProgram(Child);

impl OtherProgram {
    fn start(file: &Path) -> Self {
        // Over the same 64 MiB again and again, as long as the file is there.
        let write = "dd if=/dev/zero of=\"$0\" bs=64k count=1000 oflag=direct conv=notrunc,nocreat status=none";
        let again = format!("while {write}; do :; done");
        let started = Command::new("sh").args(["-c", &again]).arg(file).spawn();
        Self(started.expect("sh"))
    }
}

impl Drop for OtherProgram {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn the_io_of_others_on_the_volume_is_named_and_leaves_it_open() {
    if !rustix::process::geteuid().is_root() {
        return test_support::skip("only root sees the I/O of all processes");
    }
    let here = Scratch::new();
    here.directory("target");
    let file = here.file("noise", "");
    let limit = "service_levels.other_io_percent=";
    let line = small_on_sqlite().replace(&format!("{limit}100"), &format!("{limit}1"));
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("warming up");
    let other = OtherProgram::start(&file);
    let ended = running.end();
    drop(other);
    let result = result(&here, "out");
    let server = &result["server"];
    if server["volume_measured_by"] == "" {
        return test_support::skip("the scratch directory is on no block device");
    }
    ended.exits(5).prints("INCONCLUSIVE");
    // Where the data stays in memory, the run is open for that reason in the first place.
    let reason = result["verdict_reason"].as_str().unwrap_or_default();
    let open = ["Other processes (", "there was no such I/O"];
    assert!(open.iter().any(|why| reason.contains(why)), "{reason}");
    let other_io = &server["other_io"];
    let named = other_io["processes"].as_array().expect("names");
    assert!(named.iter().any(|name| name == "dd"), "{other_io}");
    assert!(other_io["share_percent"].as_f64() > Some(1.0), "{other_io}");
}

#[test]
fn the_processes_of_a_server_are_known_whatever_its_program_is_called() {
    if !rustix::process::geteuid().is_root() {
        return test_support::skip("only root sees the I/O of all processes");
    }
    let here = Scratch::new();
    let Some(server) = MariaDb::renamed(&here) else {
        return;
    };
    let line = SMALL.replace("--on target ", "");
    let line = format!("{line} {WIDE} --database {}", server.url());
    here.proofload(&line);
    let server = &result(&here, "out")["server"];
    if server["volume_measured_by"] == "" {
        return test_support::skip("the scratch directory is on no block device");
    }
    let named = server["other_io"]["processes"].as_array();
    let named = named.expect("the processes of the server are known");
    assert!(!named.iter().any(|name| name == "tradesrv"), "{named:?}");
}
