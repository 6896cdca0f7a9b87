//! MariaDB, on a server that the test starts.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

use crate::common;
use crate::common::mariadb::{Server, TIMEOUT, server, start};
use crate::common::{COUNT, alone, call, raise};
use brokerage::database::mariadb::{Connection, MariaDb};
use brokerage::database::{Build, Database, Secret, State};
use brokerage::error::DatabaseError;
use brokerage::run::monitor;
use brokerage::run::monitor::waits::Waits;
use brokerage::session::{AfterBatch, Isolation};
use brokerage::statement::Statement;
use measure::result::ServerFileIo;
use measure::result::WaitClass;
use runtime::thread::complete;
use std::time::{Duration, Instant};

#[test]
fn a_database_is_built_used_and_removed() {
    let Some(mut server) = server() else {
        return;
    };
    let mariadb = MariaDb::open(&server.address()).unwrap();
    common::long_steps_end(
        &mariadb,
        "CREATE TABLE counted AS SELECT COUNT(*) AS n FROM seq_1_to_10000000 a, \
         seq_1_to_10000000 b",
    );
    common::broken_reference(&mariadb);
    let build = common::build(&mariadb);
    common::try_session(&mut *mariadb.connect().unwrap());
    assert!(mariadb.size_bytes().unwrap() > 1_000_000);
    let said = mariadb.server().unwrap();
    assert!(said.name.starts_with("MariaDB 1"), "{}", said.name);
    let pool = ("innodb_buffer_pool_size".to_owned(), (32 << 20).to_string());
    assert!(said.settings.contains(&pool), "{:?}", said.settings);
    let again = MariaDb::open(&server.address()).unwrap();
    assert_eq!(again.state().unwrap(), State::Ready(build));
    again.create(&Build::new(1000, 2, 1)).unwrap_err();
    conflict(&mariadb);
    watched(&mariadb);
    invalid_call(&mariadb);
    outages(&mut server, &mariadb);
    again.remove().unwrap();
    assert_eq!(mariadb.state().unwrap(), State::Absent);
    what_is_not_ours(&server);
    passwords(&server);
}

fn conflict(mariadb: &MariaDb) {
    let mut one = mariadb.connect().unwrap();
    let mut two = mariadb.connect().unwrap();
    for (session, id) in [(&mut one, 1), (&mut two, 2)] {
        session.begin(Isolation::Serializable).unwrap();
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
    let answers = alone(&mut *two, Isolation::Serializable, &[call(&COUNT, &[])]).unwrap();
    assert_eq!(answers.of(0).integer(0, 1), Some(45));
}

/// A session that waits for a row is sampled as such, and pages and log are counted.
fn watched(mariadb: &MariaDb) {
    let mut holder = mariadb.connect().unwrap();
    let mut waiter = mariadb.connect().unwrap();
    let mut sampler = mariadb.connect().unwrap();
    let mut waits = Waits::default();
    let mut unsupported = monitor::statistics::Unsupported::default();
    let before = monitor::mariadb::sample(&mut *sampler, &mut waits, &mut unsupported).unwrap();
    holder.begin(Isolation::ReadCommitted).unwrap();
    complete(holder.run(&[raise(1, 7)], AfterBatch::Continue)).unwrap();
    std::thread::scope(|scope| {
        scope.spawn(|| alone(&mut *waiter, Isolation::ReadCommitted, &[raise(1, 7)]).unwrap());
        let started = Instant::now();
        while waits.share(WaitClass::Locks).unwrap_or(0.0) == 0.0 && started.elapsed() < TIMEOUT {
            monitor::mariadb::sample(&mut *sampler, &mut waits, &mut unsupported).unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        complete(holder.run(&[raise(-2, 7)], AfterBatch::Commit)).unwrap();
    });
    assert!(waits.share(WaitClass::Locks) > Some(0.0), "{waits:?}");
    let after = monitor::mariadb::sample(&mut *sampler, &mut waits, &mut unsupported).unwrap();
    let counted = monitor::statistics::between(&before, &after);
    assert!(counted.io.unwrap().buffer_hits > 0);
    assert!(counted.log.unwrap().bytes > 0);
    // The performance schema is switched on for tests.
    let files = counted.file_io;
    let is_timed = |io: &ServerFileIo| io.writes > 0 && io.average_write_ms.is_some();
    assert!(files.iter().any(is_timed), "{files:?}");
}

fn invalid_call(mariadb: &MariaDb) {
    static SUM: Statement = Statement {
        name: "sum",
        sql: "SELECT SUM(commission_cents) FROM broker",
        parameters: &[],
    };
    let mut session = mariadb.connect().unwrap();
    for _ in 0..2 {
        let calls = [call(&COUNT, &[]), call(&SUM, &[])];
        let error = alone(&mut *session, Isolation::ReadCommitted, &calls).unwrap_err();
        let is_named = matches!(&error, DatabaseError::Failed { statement, message }
            if statement == "sum" && message.contains("CAST"));
        assert!(is_named, "{error:?}");
    }
}

fn outages(server: &mut Server, mariadb: &MariaDb) {
    let mut session = mariadb.connect().unwrap();
    alone(&mut *session, Isolation::RepeatableRead, &[raise(5, 1)]).unwrap();
    let others = "SELECT id FROM information_schema.processlist WHERE db = 'proofload_brokerage'";
    for row in server.ask(others) {
        server.kill(row[0].as_deref().unwrap());
    }
    let error = alone(&mut *session, Isolation::RepeatableRead, &[raise(5, 1)]).unwrap_err();
    assert!(
        matches!(error, DatabaseError::Unavailable { .. }),
        "{error:?}"
    );
    let mut session = mariadb.connect().unwrap();
    server.child.kill().unwrap();
    server.child.wait().unwrap();
    let error = alone(&mut *session, Isolation::RepeatableRead, &[raise(5, 1)]).unwrap_err();
    assert!(
        matches!(error, DatabaseError::Unavailable { .. }),
        "{error:?}"
    );
    let error = mariadb.connect().err().unwrap();
    assert!(
        matches!(error, DatabaseError::Unavailable { .. }),
        "{error:?}"
    );
    server.child = start(server.room.path());
    server.wait();
    let mut session = mariadb.connect().unwrap();
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

fn what_is_not_ours(server: &Server) {
    server.ask("CREATE DATABASE theirs; CREATE TABLE theirs.customer (id INT)");
    server.ask("CREATE DATABASE nothing");
    let open = |name: &str| {
        let mut address = server.address();
        address.database = Some(name.to_owned());
        MariaDb::open(&address).unwrap()
    };
    let filler = open("theirs");
    assert_eq!(filler.database_name(), "proofload_brokerage");
    let within = open("nothing");
    assert_eq!(within.database_name(), "nothing");
    within.create(&Build::new(1000, 2, 1)).unwrap();
    assert!(matches!(
        open("nothing").state().unwrap(),
        State::Building(_)
    ));
    within.remove().unwrap();
    let left = "SELECT table_name FROM information_schema.tables WHERE table_schema = 'nothing'";
    assert!(server.ask(left).is_empty());
    assert_eq!(server.ask("SHOW DATABASES LIKE 'nothing'").len(), 1);
    server.ask("CREATE DATABASE proofload_brokerage; CREATE TABLE proofload_brokerage.m (id INT)");
    let refused = filler.state().unwrap_err();
    assert!(
        matches!(&refused, DatabaseError::Unusable(why) if why.contains("proofload_brokerage"))
    );
    filler.remove().unwrap_err();
    server.ask("DROP DATABASE proofload_brokerage");
}

fn passwords(server: &Server) {
    server.ask(
        "CREATE USER ann IDENTIFIED BY 'hush-ann'; CREATE USER eve IDENTIFIED VIA unix_socket",
    );
    let mut ann = server.address();
    ann.user = "ann".to_owned();
    let refused = Connection::open(&ann, None, TIMEOUT).err().unwrap();
    let is_asked = matches!(&refused, DatabaseError::Refused(why) if why.contains("MYSQL_PWD"));
    assert!(is_asked, "{refused}");
    ann.password = Some(Secret::new("hush-wrong".to_owned()));
    let refused = Connection::open(&ann, None, TIMEOUT).err().unwrap();
    assert!(matches!(refused, DatabaseError::Refused(_)), "{refused:?}");
    assert!(!refused.to_string().contains("hush"), "{refused}");
    ann.password = Some(Secret::new("hush-ann".to_owned()));
    Connection::open(&ann, None, TIMEOUT).unwrap();
    let refused = Connection::open(&ann, Some("nowhere"), TIMEOUT)
        .err()
        .unwrap();
    assert!(matches!(refused, DatabaseError::Refused(_)), "{refused:?}");
    let ann = MariaDb::open(&ann).unwrap();
    let refused = ann.check_permission().unwrap_err();
    assert!(refused.to_string().contains("GRANT"), "{refused}");
    let refused = ann.create(&Build::new(1000, 2, 1)).unwrap_err();
    assert!(
        matches!(&refused, DatabaseError::Unusable(why) if why.contains("GRANT")),
        "{refused}"
    );
}
