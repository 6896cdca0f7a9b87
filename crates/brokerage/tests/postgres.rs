//! PostgreSQL, on servers that the tests start.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

use crate::common;
use std::time::Duration;

use crate::common::{COUNT, alone, call, raise};
use brokerage::database::postgres::{Cluster, ClusterError, Connection, Postgres};
use brokerage::database::{
    Address, Build, Database, Secret, State, Step, missing_tables_and_indexes,
};
use brokerage::error::DatabaseError;
use brokerage::session::{AfterBatch, Isolation};
use brokerage::statement::Statement;
use runtime::thread::complete;

const TIMEOUT: Duration = Duration::from_secs(20);

fn ask(address: &Address, database: &str, sql: &str) -> Vec<Vec<Option<String>>> {
    let mut connection = Connection::open(address, database, TIMEOUT).unwrap();
    connection.ask(sql).unwrap()
}

#[test]
fn a_database_is_built_used_and_removed() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    common::long_steps_end(&postgres, "SELECT pg_sleep(600)");
    common::broken_reference(&postgres);
    ends_with_its_client(&postgres);
    let build = common::build(&postgres);
    common::try_session(&mut *postgres.connect().unwrap());
    assert!(postgres.size_bytes().unwrap() > 1_000_000);
    let server = postgres.server().unwrap();
    assert!(server.name.starts_with("PostgreSQL 1"), "{}", server.name);
    let setting = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    for setting in [
        setting("fsync", "on"),
        setting("data_checksums", "on"),
        setting("shared_buffers", "16MB"),
    ] {
        assert!(
            server.settings.contains(&setting),
            "{setting:?} in {:?}",
            server.settings
        );
    }
    assert_eq!(server.data_directory, Some(cluster.data_directory()));
    // A second open finds it, a second data set is refused, and it all goes.
    let again = cluster.database().unwrap();
    assert_eq!(again.state().unwrap(), State::Ready(build));
    again.create(&Build::new(1000, 2, 1)).unwrap_err();
    let (address, drop) = (cluster.address(), "DROP TABLE watch_item, holding CASCADE");
    ask(&address, again.database_name(), drop);
    assert_eq!(
        missing_tables_and_indexes(&again).unwrap(),
        ["watch_item", "holding"]
    );
    again.remove().unwrap();
    assert_eq!(postgres.state().unwrap(), State::Absent);
    let databases = ask(
        &cluster.address(),
        "postgres",
        "SELECT datname FROM pg_database",
    );
    assert_eq!(databases.len(), 3, "{databases:?}");
}

/// The server ends a long statement soon after its client is gone.
fn ends_with_its_client(postgres: &Postgres) {
    postgres.create(&Build::new(1000, 2, 1)).unwrap();
    // Servers before version 14 do not have it.
    let interval = "coalesce(current_setting('client_connection_check_interval', true), '5s')";
    let step = Step {
        what: "a setting".to_owned(),
        sql: format!("DO $$ BEGIN ASSERT {interval} = '5s', {interval}; END $$"),
        is_optional: false,
    };
    postgres.run_step(&step).unwrap();
    postgres.remove().unwrap();
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let address = cluster.address();
    ask(&address, "postgres", "CREATE DATABASE theirs");
    ask(&address, "postgres", "CREATE DATABASE empty");
    ask(
        &address,
        "theirs",
        "CREATE TABLE customer (id int); INSERT INTO customer VALUES (7)",
    );
    let open = |name: &str| {
        let mut address = address.clone();
        address.database = Some(name.to_owned());
        Postgres::open(&address).unwrap()
    };
    // Beside theirs, and within what is empty.
    let filler = open("theirs");
    assert_eq!(filler.database_name(), "proofload_brokerage");
    filler.check_permission().unwrap();
    filler.create(&Build::new(1000, 2, 1)).unwrap();
    let within = open("empty");
    within.check_permission().unwrap();
    within.check_admission(10).unwrap();
    let refused = within.check_admission(10_000).unwrap_err();
    assert!(refused.to_string().contains("max_connections"), "{refused}");
    assert_eq!(within.database_name(), "empty");
    within.create(&Build::new(1000, 2, 1)).unwrap();
    assert!(matches!(open("empty").state().unwrap(), State::Building(_)));
    filler.remove().unwrap();
    within.remove().unwrap();
    let left = "SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace";
    assert_eq!(ask(&address, "empty", left)[0][0].as_deref(), Some("0"));
    assert_eq!(
        ask(&address, "theirs", "SELECT * FROM customer")[0][0].as_deref(),
        Some("7")
    );
    // Our name used by somebody else.
    ask(&address, "postgres", "CREATE DATABASE proofload_brokerage");
    assert_eq!(filler.state().unwrap(), State::Absent);
    ask(
        &address,
        "proofload_brokerage",
        "CREATE TABLE mine (id int)",
    );
    let refused = filler.state().unwrap_err();
    assert!(
        matches!(&refused, DatabaseError::Unusable(why) if why.contains("proofload_brokerage"))
    );
    filler.create(&Build::new(1000, 2, 1)).unwrap_err();
    filler.remove().unwrap_err();
    // A user who may not create databases.
    ask(&address, "postgres", "DROP DATABASE proofload_brokerage");
    ask(&address, "postgres", "CREATE ROLE ann LOGIN");
    let mut ann = address;
    ann.user = "ann".to_owned();
    let ann = Postgres::open(&ann).unwrap();
    let refused = ann.check_permission().unwrap_err();
    assert!(refused.to_string().contains("OWNER"), "{refused}");
    let refused = ann.create(&Build::new(1000, 2, 1)).unwrap_err();
    assert!(
        matches!(&refused, DatabaseError::Unusable(why) if why.contains("OWNER")),
        "{refused}"
    );
}

#[test]
fn passwords_are_proved_and_shown_nowhere() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let address = cluster.address();
    ask(
        &address,
        "postgres",
        "SET password_encryption TO 'scram-sha-256'; CREATE ROLE scram LOGIN PASSWORD 'hush-scram'; \
         SET password_encryption TO 'md5'; CREATE ROLE md5 LOGIN PASSWORD 'hush-md5'; \
         CREATE ROLE plain LOGIN PASSWORD 'hush-plain'; CREATE ROLE shut LOGIN",
    );
    let rules = cluster.data_directory().join("pg_hba.conf");
    let lines = "local all scram scram-sha-256\nlocal all md5 md5\nlocal all plain password\n\
                 local all shut reject\nlocal all all trust\n";
    std::fs::write(&rules, lines).unwrap();
    ask(&address, "postgres", "SELECT pg_reload_conf()");
    // The postmaster reloads its rules a moment after the signal.
    let shut = |user: &str| {
        let mut address = address.clone();
        address.user = user.to_owned();
        Connection::open(&address, "postgres", TIMEOUT)
    };
    while shut("shut").is_ok() {
        std::thread::sleep(Duration::from_millis(10));
    }
    for user in ["scram", "md5", "plain"] {
        let mut address = address.clone();
        address.user = user.to_owned();
        let refused = shut(user).err().unwrap();
        let is_asked =
            matches!(&refused, DatabaseError::Refused(why) if why.contains("PGPASSWORD"));
        assert!(is_asked, "{refused}");
        address.password = Some(Secret::new(format!("hush-{user}")));
        Connection::session(&address, "postgres", TIMEOUT).unwrap();
        let shown = format!("{:?}", Postgres::open(&address).unwrap());
        assert!(!shown.contains("hush"), "{shown}");
        address.password = Some(Secret::new("hush-wrong".to_owned()));
        let refused = Connection::open(&address, "postgres", TIMEOUT)
            .err()
            .unwrap();
        assert!(matches!(refused, DatabaseError::Refused(_)), "{refused:?}");
        assert!(!refused.to_string().contains("hush"), "{refused}");
    }
    assert!(matches!(
        shut("shut").err(),
        Some(DatabaseError::Refused(_))
    ));
    let nowhere = Connection::open(&address, "nowhere", TIMEOUT)
        .err()
        .unwrap();
    assert!(matches!(nowhere, DatabaseError::Unusable(_)), "{nowhere:?}");
}

#[test]
fn conflicts_crashes_and_invalid_calls_are_distinguished() {
    let room = common::room();
    let Some(mut cluster) = common::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    common::build(&postgres);
    conflict(&postgres);
    invalid_call(&postgres);
    // Cut off by an administrator, while idle and while in a transaction.
    for is_open in [false, true] {
        let mut session = postgres.connect().unwrap();
        session.begin(Isolation::ReadCommitted).unwrap();
        if is_open {
            complete(session.run(&[raise(1, 1)], AfterBatch::Continue)).unwrap();
        }
        let cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                   WHERE datname = 'proofload_brokerage' AND pid <> pg_backend_pid()";
        assert!(!ask(&cluster.address(), "postgres", cut).is_empty());
        let error = complete(session.run(&[raise(1, 1)], AfterBatch::Commit)).unwrap_err();
        let is_reported = matches!(&error, DatabaseError::Unavailable { message: why, .. } if why.contains("terminat"));
        assert!(is_reported, "{error:?}");
        let error = session.begin(Isolation::ReadCommitted).unwrap_err();
        assert!(
            matches!(error, DatabaseError::Unavailable { .. }),
            "{error:?}"
        );
    }
    // A crash, and the time until the server is there again.
    let mut session = postgres.connect().unwrap();
    alone(&mut *session, Isolation::ReadCommitted, &[raise(5, 1)]).unwrap();
    cluster.crash();
    let error = alone(&mut *session, Isolation::ReadCommitted, &[raise(5, 1)]).unwrap_err();
    assert!(
        matches!(error, DatabaseError::Unavailable { .. }),
        "{error:?}"
    );
    let error = postgres.connect().err().unwrap();
    assert!(
        matches!(error, DatabaseError::Unavailable { .. }),
        "{error:?}"
    );
    cluster.restart().unwrap();
    let mut session = postgres.connect().unwrap();
    let answers = alone(
        &mut *session,
        Isolation::ReadCommitted,
        &[call(&COUNT, &[])],
    )
    .unwrap();
    assert_eq!(
        answers.of(0).integer(0, 1),
        Some(50),
        "what was committed is there"
    );
}

fn conflict(postgres: &Postgres) {
    let mut one = postgres.connect().unwrap();
    let mut two = postgres.connect().unwrap();
    for session in [&mut one, &mut two] {
        session.begin(Isolation::Serializable).unwrap();
        complete(session.run(&[call(&COUNT, &[])], AfterBatch::Continue)).unwrap();
    }
    complete(one.run(&[raise(1, 1)], AfterBatch::Commit)).unwrap();
    let error = complete(two.run(&[raise(1, 2)], AfterBatch::Commit)).unwrap_err();
    assert!(matches!(error, DatabaseError::Conflict(_)), "{error:?}");
    alone(&mut *two, Isolation::Serializable, &[raise(-1, 1)]).unwrap();
    // A deadlock.
    for (session, id) in [(&mut one, 1), (&mut two, 2)] {
        session.begin(Isolation::ReadCommitted).unwrap();
        complete(session.run(&[raise(1, id)], AfterBatch::Continue)).unwrap();
    }
    let failed = std::thread::scope(|scope| {
        let first = scope.spawn(|| complete(one.run(&[raise(1, 2)], AfterBatch::Continue)).err());
        let second = complete(two.run(&[raise(1, 1)], AfterBatch::Continue)).err();
        [first.join().unwrap(), second]
    });
    let failed: Vec<_> = failed.into_iter().flatten().collect();
    assert!(
        matches!(failed[..], [DatabaseError::Conflict(_)]),
        "{failed:?}"
    );
    complete(one.rollback()).unwrap();
    complete(two.rollback()).unwrap();
}

/// A statement with a column that is neither an integer nor a text is refused, as is one that the
/// server refuses.
fn invalid_call(postgres: &Postgres) {
    static SUM: Statement = Statement {
        name: "sum",
        sql: "SELECT SUM(commission_cents) FROM broker",
        parameters: &[],
    };
    static NOWHERE: Statement = Statement {
        name: "nowhere",
        sql: "SELECT id FROM nowhere",
        parameters: &[],
    };
    let mut session = postgres.connect().unwrap();
    for (statement, words) in [(&SUM, "CAST"), (&NOWHERE, "42P01")] {
        for _ in 0..2 {
            let calls = [call(&COUNT, &[]), call(statement, &[])];
            let error = alone(&mut *session, Isolation::ReadCommitted, &calls).unwrap_err();
            let is_named = matches!(&error, DatabaseError::Failed { statement: name, message }
                if name == statement.name && message.contains(words));
            assert!(is_named, "{error:?}");
        }
    }
}

#[test]
fn a_directory_is_used_again_or_refused() {
    let room = common::room();
    let Some(mut cluster) = common::cluster(&room) else {
        return;
    };
    let directory = room.path().join("postgres");
    let start = || Cluster::start(&directory, &common::settings());
    // While the server runs.
    let refused = start().err().unwrap();
    let process = cluster.process_id().unwrap();
    assert!(
        matches!(refused, ClusterError::StillRuns { process: found, .. } if found == process),
        "{refused}"
    );
    // After it was stopped, with what it held.
    let address = cluster.address();
    ask(&address, "postgres", "CREATE TABLE kept (id int)");
    cluster.stop();
    assert!(!std::path::Path::new(&format!("/proc/{process}")).exists());
    drop(cluster);
    let cluster = start().unwrap();
    ask(&address, "postgres", "SELECT * FROM kept");
    drop(cluster);
    // When making it was interrupted.
    std::fs::write(directory.join("proofload-cluster"), "begun\n").unwrap();
    let mut cluster = start().unwrap();
    let tables = "SELECT 1 FROM pg_class WHERE relname = 'kept'";
    assert!(ask(&address, "postgres", tables).is_empty());
    cluster.remove().unwrap();
    assert!(!directory.exists());
    // A foreign directory.
    std::fs::create_dir(&directory).unwrap();
    std::fs::write(directory.join("letter"), "dear").unwrap();
    assert!(matches!(start().err(), Some(ClusterError::NotOurs(_))));
    assert!(directory.join("letter").exists());
}

/// PostgreSQL refuses such a name.
#[test]
fn a_cluster_that_cannot_be_made_leaves_nothing() {
    let room = common::room();
    let directory = room.path().join("two\nlines");
    let failed = Cluster::start(&directory, &common::settings());
    match failed.err().unwrap() {
        ClusterError::NoPrograms => test_support::skip("PostgreSQL is not installed"),
        error => {
            assert!(matches!(error, ClusterError::Initdb { .. }), "{error}");
            assert!(!directory.exists());
        }
    }
}

#[test]
fn a_long_path_a_log_elsewhere_and_a_small_page_cache() {
    let room = common::room();
    let directory = room.path().join("d".repeat(120));
    let mut settings = common::settings();
    settings.log_directory = Some(room.path().to_owned());
    settings.page_cache_bytes = Some(8 << 20);
    let mut cluster = match Cluster::start(&directory, &settings) {
        Err(ClusterError::NoPrograms) => {
            return test_support::skip("PostgreSQL is not installed");
        }
        other => other.unwrap(),
    };
    let address = cluster.address();
    ask(&address, "postgres", "SELECT 1");
    let note = cluster.page_cache_note().to_owned();
    // The limit and the headroom; or why there is no limit.
    assert!(note.contains("56 MiB"), "{note}");
    if note.contains("control group") {
        let process = cluster.process_id().unwrap();
        let groups = std::fs::read_to_string(format!("/proc/{process}/cgroup")).unwrap();
        assert!(groups.contains("proofload-"), "{groups}");
    }
    let log = directory.join("data/pg_wal").canonicalize().unwrap();
    assert!(
        !log.starts_with(directory.canonicalize().unwrap()),
        "{}",
        log.display()
    );
    cluster.remove().unwrap();
    assert!(!log.exists() && !directory.exists());
    let brokerage::database::Endpoint::Socket(socket) = address.endpoint else {
        panic!("a socket");
    };
    assert!(!socket.parent().unwrap().exists());
}

/// The other half of the next test: starts a server, says so and waits to be killed.
#[test]
#[ignore = "the test below runs it"]
fn starts_a_server_and_waits() {
    let directory = std::env::var_os("CLUSTER_OF_A_TEST").unwrap();
    let cluster = Cluster::start(directory.as_ref(), &common::settings()).unwrap();
    println!("server {}", cluster.process_id().unwrap());
    std::thread::sleep(Duration::from_secs(600));
}

#[test]
fn a_server_ends_when_we_are_killed() {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};
    let room = common::room();
    if common::cluster(&room).is_none() {
        return;
    }
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "postgres::starts_a_server_and_waits",
            "--ignored",
            "--nocapture",
        ])
        .env("CLUSTER_OF_A_TEST", room.path().join("postgres"))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let said = lines
        .map(Result::unwrap)
        .find(|line| line.starts_with("server "))
        .unwrap();
    let server = format!("/proc/{}", &said["server ".len()..]);
    assert!(std::path::Path::new(&server).exists());
    child.kill().unwrap();
    child.wait().unwrap();
    while std::path::Path::new(&server).exists() {
        std::thread::sleep(Duration::from_millis(20));
    }
}
