//! What administrators and limits of a server do to a run is named, and is no error of the storage. Full volumes
//! and keys of other clients are tested beside this.

use super::{Load, copies};
use crate::common;
use brokerage::database::mariadb::MariaDb;
use brokerage::database::postgres::{Cluster, Connection};
use measure::result::{ErrorKind, OutageCause, RunResult, Verdict};
use rustix::process::{Pid, Signal, kill_process};
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The sessions of a run.
const OTHERS: &str = "FROM pg_stat_activity WHERE pid <> pg_backend_pid() \
     AND backend_type = 'client backend'";

/// How long something may take that is waited for.
const TIMEOUT: Duration = Duration::from_secs(60);

/// A run on a server of its own, to which something happens after a while; `None` where there is no PostgreSQL.
fn disturbed(disturb: impl FnOnce(&mut Cluster, Connection, &Load)) -> Option<RunResult> {
    let room = common::room();
    let mut cluster = copies::cluster(&room)?;
    let postgres = cluster.database().unwrap();
    let administrator = postgres.connect_for_sql().unwrap();
    let load = Load::start(Arc::new(postgres));
    load.wait_for_load();
    std::thread::sleep(Duration::from_secs(1));
    disturb(&mut cluster, administrator, &load);
    Some(load.end())
}

/// Waits until the run has ended by itself.
fn wait_for_end(load: &Load) {
    let started = Instant::now();
    while !load.thread.is_finished() && started.elapsed() < TIMEOUT {
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Ends the sessions of a run until it has ended by itself. The statement may fail by what was done to the run:
/// a server that needs a buffer for it may have to write a page to a file that it cannot open.
fn end_sessions(administrator: &mut Connection, load: &Load) {
    let started = Instant::now();
    while !load.thread.is_finished() && started.elapsed() < TIMEOUT {
        let end = format!("SELECT pg_terminate_backend(pid) {OTHERS}");
        let _ = administrator.ask(&end);
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// The run ended early, by its server.
fn assert_server_side(result: &RunResult, says: &str) {
    let reported = format!("{:?} {:?}", result.errors, result.verdict_reason);
    assert_eq!(result.verdict, Verdict::Inconclusive, "{reported}");
    assert_eq!(result.errors[0].kind, ErrorKind::ServerSide, "{reported}");
    assert!(result.verdict_reason.contains(says), "{reported}");
    assert_eq!(result.error_count(), 0, "{reported}");
}

/// The run went on after the server was back, and says why it was gone.
fn assert_outage(result: &RunResult, says: &str) {
    let server = result.server.as_ref().unwrap();
    let reported = format!(
        "{:?} {:?} {:?}",
        result.errors, result.verdict_reason, server.outages
    );
    assert!(
        server.outages.iter().any(|one| one.reason.contains(says)),
        "{reported}"
    );
    assert_eq!(server.outages[0].cause, OutageCause::Command, "{reported}");
    assert_eq!(
        (&result.errors[..], result.error_count()),
        (&[][..], 0),
        "{reported}"
    );
    assert_eq!(result.verdict, Verdict::Interrupted, "{reported}");
    assert!(server.consistency_checks.iter().all(|check| check.passed));
}

#[test]
fn a_statement_that_is_cancelled_ends_a_run_by_its_server() {
    let result = disturbed(|_, mut administrator, load| {
        let started = Instant::now();
        while !load.thread.is_finished() && started.elapsed() < TIMEOUT {
            let cancel = format!("SELECT pg_cancel_backend(pid) {OTHERS} AND state = 'active'");
            administrator.ask(&cancel).unwrap();
        }
    });
    if let Some(result) = result {
        assert_server_side(&result, "the server cancelled a statement");
    }
}

#[test]
fn a_server_that_becomes_a_standby_ends_a_run_by_itself() {
    let result = disturbed(|cluster, administrator, load| {
        drop(administrator);
        cluster.stop();
        std::fs::write(cluster.data_directory().join("standby.signal"), "").unwrap();
        cluster.restart().unwrap();
        wait_for_end(load);
    });
    if let Some(result) = result {
        // A statement may meet it before a new session does.
        let reason = &result.verdict_reason;
        let found = ["standby", "read-only"]
            .into_iter()
            .find(|word| reason.contains(word));
        assert_server_side(&result, found.unwrap_or("standby"));
    }
}

#[test]
fn users_that_are_locked_out_end_a_run_by_its_server() {
    let result = disturbed(|cluster, mut administrator, load| {
        let rules = cluster.data_directory().join("pg_hba.conf");
        std::fs::write(rules, "local all all reject\n").unwrap();
        administrator.ask("SELECT pg_reload_conf()").unwrap();
        end_sessions(&mut administrator, load);
    });
    if let Some(result) = result {
        assert_server_side(&result, "the database server refuses");
    }
}

/// PostgreSQL has one code for a missing right of a user and for a file that the kernel does not let it open, as
/// on a file system that is read-only since an error.
#[test]
fn a_file_that_the_server_may_not_open_is_an_error_of_the_storage() {
    let result = disturbed(|cluster, mut administrator, load| {
        let found = administrator.ask("SELECT pg_relation_filepath('trade')");
        let file = found.unwrap()[0][0].clone().unwrap();
        let file = cluster.data_directory().join(file);
        let allow = |mode| std::fs::set_permissions(&file, Permissions::from_mode(mode)).unwrap();
        allow(0o000);
        end_sessions(&mut administrator, load);
        allow(0o600);
    });
    if let Some(result) = result {
        let reported = format!("{:?} {:?}", result.errors, result.verdict_reason);
        assert_eq!(result.verdict, Verdict::Error, "{reported}");
        assert_eq!(result.errors[0].kind, ErrorKind::Integrity, "{reported}");
    }
}

#[test]
fn a_restart_by_an_administrator_is_an_outage_with_its_reason() {
    let result = disturbed(|cluster, administrator, _| {
        drop(administrator);
        cluster.restart().unwrap();
        std::thread::sleep(Duration::from_secs(2));
    });
    if let Some(result) = result {
        assert_outage(&result, "administrator command");
    }
}

/// A run on a MariaDB server, to which something happens after a while.
fn disturbed_mariadb(
    disturb: impl FnOnce(&mut common::mariadb::Server, &Load),
) -> Option<RunResult> {
    let mut server = copies::mariadb()?;
    let maria = MariaDb::open(&server.address()).unwrap();
    let load = Load::start(Arc::new(maria));
    load.wait_for_load();
    std::thread::sleep(Duration::from_secs(1));
    disturb(&mut server, &load);
    std::thread::sleep(Duration::from_secs(2));
    Some(load.end())
}

fn causes(result: &RunResult) -> Vec<OutageCause> {
    let outages = &result.server.as_ref().unwrap().outages;
    outages.iter().map(|one| one.cause).collect()
}

#[test]
fn sessions_that_a_client_of_mariadb_ends_are_an_outage_by_command() {
    let result = disturbed_mariadb(|server, _| {
        let mut administrator = MariaDb::open(&server.address())
            .unwrap()
            .connect_for_sql()
            .unwrap();
        let sessions = "SELECT id FROM information_schema.processlist WHERE id <> CONNECTION_ID() \
             AND user = 'root' AND command = 'Sleep'";
        for session in administrator.ask(sessions).unwrap() {
            let number = session[0].clone().unwrap();
            // It may have ended meanwhile.
            let _ = administrator.ask(&format!("KILL {number}"));
        }
    });
    if let Some(result) = result {
        let causes = causes(&result);
        assert!(!causes.is_empty());
        assert!(
            causes.iter().all(|one| *one == OutageCause::Command),
            "{causes:?}"
        );
    }
}

#[test]
fn a_shutdown_of_mariadb_is_a_command_and_a_crash_is_none() {
    for (is_crash, expected) in [(false, OutageCause::Command), (true, OutageCause::Other)] {
        let result = disturbed_mariadb(|server, _| {
            let process = Pid::from_child(&server.child);
            let signal = if is_crash { Signal::KILL } else { Signal::TERM };
            kill_process(process, signal).unwrap();
            server.child.wait().unwrap();
            server.child = common::mariadb::start(server.room.path());
            server.wait();
        });
        if let Some(result) = result {
            assert_eq!(causes(&result).first(), Some(&expected), "{is_crash}");
        }
    }
}

#[test]
fn connections_that_others_have_taken_are_an_outage() {
    let result = disturbed(|cluster, mut administrator, _| {
        let postgres = cluster.database().unwrap();
        let mut taken = Vec::new();
        let mut take_all = || {
            while let Ok(connection) = postgres.connect_for_sql() {
                taken.push(connection);
            }
            taken.len()
        };
        // What is free, and then at least one of those that the run has lost.
        let started = Instant::now();
        let most = take_all();
        while take_all() == most && started.elapsed() < TIMEOUT {
            let end = format!("SELECT pg_terminate_backend(pid) {OTHERS} AND state <> 'idle'");
            administrator.ask(&end).unwrap();
        }
        std::thread::sleep(Duration::from_secs(1));
        drop(taken);
        std::thread::sleep(Duration::from_secs(2));
    });
    if let Some(result) = result {
        assert_outage(&result, "administrator command");
        // It was refused for as long as there was no connection left.
        let outages = &result.server.as_ref().unwrap().outages;
        assert!(outages.iter().any(|one| one.length_s >= 1.0), "{outages:?}");
    }
}

#[test]
fn settings_that_are_weakened_under_a_load_are_noticed() {
    let result = disturbed(|_, mut administrator, _| {
        let mut set = |sql: &str| {
            administrator.ask(sql).unwrap();
            administrator.ask("SELECT pg_reload_conf()").unwrap();
            std::thread::sleep(Duration::from_secs(2));
        };
        set("ALTER SYSTEM SET synchronous_commit = off");
        set("ALTER SYSTEM RESET synchronous_commit");
    });
    let Some(result) = result else {
        return;
    };
    let server = result.server.as_ref().unwrap();
    assert_eq!(server.settings["synchronous_commit"], "on");
    let missing = &server.not_guaranteed;
    let is_noticed = |one: &String| {
        one.starts_with("synchronous_commit is off (") && one.ends_with(" for a part of the run")
    };
    assert!(missing.iter().any(is_noticed), "{missing:?}");
    let warned = |text: &String| text.contains("does not guarantee that committed work survives");
    assert!(result.warnings.iter().any(warned), "{:?}", result.warnings);
}

#[test]
fn settings_of_mariadb_that_are_weakened_under_a_load_are_noticed() {
    let Some(server) = copies::mariadb() else {
        return;
    };
    let maria = MariaDb::open(&server.address()).unwrap();
    let mut administrator = maria.connect_for_sql().unwrap();
    let load = Load::start(Arc::new(maria));
    load.wait_for_load();
    for value in [2, 1] {
        let set = format!("SET GLOBAL innodb_flush_log_at_trx_commit = {value}");
        administrator.ask(&set).unwrap();
        std::thread::sleep(Duration::from_secs(2));
    }
    let result = load.end();
    assert_eq!(result.ended_by(), None, "{}", result.verdict_reason);
    let missing = &result.server.as_ref().unwrap().not_guaranteed;
    let is_noticed = |one: &String| one.starts_with("innodb_flush_log_at_trx_commit is 2 (");
    assert!(missing.iter().any(is_noticed), "{missing:?}");
}

/// What a run does not guarantee for a table.
#[track_caller]
fn assert_altered(result: &RunResult, says: &str) {
    assert_eq!(result.ended_by(), None, "{}", result.verdict_reason);
    let missing = &result.server.as_ref().unwrap().not_guaranteed;
    assert!(missing.iter().any(|one| one.contains(says)), "{missing:?}");
    let warned = |text: &String| {
        text.contains("does not guarantee that committed work survives") && text.contains(says)
    };
    assert!(result.warnings.iter().any(warned), "{:?}", result.warnings);
}

#[test]
fn a_table_of_postgresql_without_a_log_is_no_durable_one() {
    let room = common::room();
    let Some(cluster) = copies::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    let mut administrator = postgres.connect_for_sql().unwrap();
    administrator
        .ask("ALTER TABLE trade_history SET UNLOGGED")
        .unwrap();
    let load = Load::start(Arc::new(postgres));
    load.wait_for_load();
    std::thread::sleep(Duration::from_secs(2));
    assert_altered(&load.end(), "the table trade_history is UNLOGGED (");
}

#[test]
fn a_table_of_mariadb_in_an_engine_without_transactions_is_no_durable_one() {
    let Some(server) = copies::mariadb() else {
        return;
    };
    let maria = MariaDb::open(&server.address()).unwrap();
    let mut administrator = maria.connect_for_sql().unwrap();
    for (table, engine) in [
        ("charge", "MyISAM"),
        ("commission_rate", "Aria"),
        ("customer_tax_rate", "MEMORY"),
    ] {
        // The other engines have no foreign keys.
        let keys = format!(
            "SELECT constraint_name FROM information_schema.table_constraints \
             WHERE table_schema = DATABASE() AND table_name = '{table}' \
             AND constraint_type = 'FOREIGN KEY'"
        );
        for key in administrator.ask(&keys).unwrap() {
            let key = key[0].clone().unwrap();
            let drop = format!("ALTER TABLE {table} DROP FOREIGN KEY {key}");
            administrator.ask(&drop).unwrap();
        }
        let alter = format!("ALTER TABLE {table} ENGINE = {engine}");
        administrator.ask(&alter).unwrap();
    }
    let load = Load::start(Arc::new(maria));
    load.wait_for_load();
    std::thread::sleep(Duration::from_secs(2));
    let result = load.end();
    assert_altered(
        &result,
        "the table charge is of the engine MyISAM and not of InnoDB (",
    );
    assert_altered(&result, "the table commission_rate is of the engine Aria");
    assert_altered(
        &result,
        "the table customer_tax_rate is of the engine MEMORY",
    );
}

#[test]
fn the_work_of_another_database_of_the_server_is_not_that_of_a_run() {
    let result = disturbed(|cluster, mut administrator, _| {
        administrator.ask("CREATE DATABASE shop").unwrap();
        let mut shop = Connection::open(&cluster.address(), "shop", TIMEOUT).unwrap();
        shop.ask("CREATE TABLE item (id bigint)").unwrap();
        for _ in 0..4 {
            shop.ask("INSERT INTO item SELECT generate_series(1, 100000)")
                .unwrap();
            std::thread::sleep(Duration::from_secs(1));
        }
    });
    let Some(result) = result else {
        return;
    };
    let warned = |text: &String| text.starts_with("Other databases of the server (shop");
    assert!(result.warnings.iter().any(warned), "{:?}", result.warnings);
}
