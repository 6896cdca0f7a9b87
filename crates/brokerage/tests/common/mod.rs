//! Databases for tests: in a directory of their own, removed with it.
#![allow(dead_code, clippy::unwrap_used)] // Each test file uses some of these; no test code is shipped.

pub mod mariadb;

use std::os::unix::fs::PermissionsExt;

use brokerage::database::postgres::cluster::Settings;
use brokerage::database::postgres::{Cluster, ClusterError};
use brokerage::database::{
    Build, Database, Loader, State, Step, finish, missing_tables_and_indexes,
};
use brokerage::error::DatabaseError;
use brokerage::row::Answers;
use brokerage::schema::{Index, TABLES, Table, TableName, Type};
use brokerage::session::{AfterBatch, Call, Isolation, Session};
use brokerage::statement::Statement;
use brokerage::value::Value;
use runtime::thread::complete;
use tempfile::TempDir;

/// A directory that the server's user can reach, in memory where that is possible: no test here is
/// about the storage.
pub fn room() -> TempDir {
    let room = tempfile::tempdir_in("/dev/shm")
        .or_else(|_| tempfile::tempdir())
        .unwrap();
    std::fs::set_permissions(room.path(), std::fs::Permissions::from_mode(0o711)).unwrap();
    room
}

/// A server with little memory and few connections.
pub fn settings() -> Settings {
    let mut settings = Settings::with_memory(16 << 20);
    settings.connections = 30;
    settings
}

/// A PostgreSQL server, or `None` and a message where there is no PostgreSQL.
pub fn cluster(room: &TempDir) -> Option<Cluster> {
    match Cluster::start(&room.path().join("postgres"), &settings()) {
        Ok(cluster) => Some(cluster),
        Err(ClusterError::NoPrograms) => {
            test_support::skip("PostgreSQL is not installed");
            None
        }
        Err(other) => panic!("{other}"),
    }
}

/// Rows per table of a test build.
pub const ROWS: i64 = 16;

/// A text that no generator makes, so that nothing is lost in escaping.
pub const STRANGE: &str = "tab\t back\\slash \\N line\nreturn\r quote' \"\u{e9}\u{4e2d}\u{1f600} ";

/// The value of row `number` in a column. References hold: they name the row of the same number.
fn put(sink: &mut dyn Loader, table: &Table, column: usize, number: i64) {
    let about = &table.columns[column];
    match about.of {
        _ if about.may_be_null && number % 3 == 0 => sink.null(),
        Type::Big | Type::Integer | Type::Small => sink.integer(number),
        Type::Text(length) if length <= 2 => sink.text(&(number % 10).to_string()),
        Type::Text(_) => sink.text(&format!("t{number}")),
        Type::Long => sink.text(&format!("{number} {STRANGE}").repeat(100)),
    }
}

/// Rows `numbers` of all tables.
pub fn load(database: &dyn Database, numbers: std::ops::Range<i64>) -> Result<(), DatabaseError> {
    let mut loader = database.loader()?;
    for table in &TABLES {
        loader.begin(table.name)?;
        for number in numbers.clone() {
            for column in 0..table.columns.len() {
                put(&mut *loader, table, column, number);
            }
            loader.end_row()?;
        }
        let count = u64::try_from(numbers.end - numbers.start).unwrap();
        assert_eq!(loader.end()?, count);
    }
    Ok(())
}

/// Builds a database of [`ROWS`] rows in every table, by two threads.
pub fn build(database: &dyn Database) -> Build {
    let build = Build::new(1000, 2, u64::MAX);
    assert_eq!(database.state().unwrap(), State::Absent);
    database.create(&build).unwrap();
    assert_eq!(database.state().unwrap(), State::Building(build.clone()));
    std::thread::scope(|scope| {
        let first = scope.spawn(|| load(database, 0..5));
        load(database, 5..10).unwrap();
        first.join().unwrap().unwrap();
    });
    let reported = std::sync::Mutex::new(Vec::new());
    finish(database, 2, &|finished| {
        reported.lock().unwrap().push(finished.done);
        true
    })
    .unwrap();
    let mut reported = reported.into_inner().unwrap();
    reported.sort_unstable();
    let steps: usize = database.post_load_steps().iter().map(Vec::len).sum();
    assert_eq!(reported, (1..=steps).collect::<Vec<_>>());
    miss_an_index(database);
    database.mark_ready().unwrap();
    assert_eq!(database.state().unwrap(), State::Ready(build.clone()));
    assert!(missing_tables_and_indexes(database).unwrap().is_empty());
    build
}

/// An index that somebody drops is missed.
fn miss_an_index(database: &dyn Database) {
    let mut indexes = TABLES.iter().flat_map(|table| {
        let indexes = table.indexes.iter();
        indexes.map(move |index| (table, index))
    });
    // One that no foreign key needs.
    let is_free = |(table, index): &(&Table, &Index)| {
        let mut references = table.references.iter();
        !references.any(|reference| index.columns.starts_with(reference.columns))
    };
    let (table, index) = indexes.find(is_free).unwrap();
    let (of, columns) = (table.name.name(), index.columns);
    let name = format!("{of}_by_{}", columns.join("_"));
    let run = |sql: String| {
        database.run_step(&Step {
            what: name.clone(),
            sql,
            is_optional: false,
        })
    };
    // MariaDB asks for the name of the table, and the others do not take it.
    run(format!("DROP INDEX {name}"))
        .or_else(|_| run(format!("DROP INDEX {name} ON {of}")))
        .unwrap();
    assert_eq!(
        missing_tables_and_indexes(database).unwrap(),
        std::slice::from_ref(&name)
    );
    let unique = if index.is_unique { "UNIQUE" } else { "" };
    let columns = columns.join(", ");
    run(format!("CREATE {unique} INDEX {name} ON {of} ({columns})")).unwrap();
    assert!(missing_tables_and_indexes(database).unwrap().is_empty());
}

pub static BROKER: Statement = Statement {
    name: "broker",
    sql: "SELECT id, name, trade_count FROM broker WHERE id >= $1 AND id < $2 AND id >= $1 \
          ORDER BY id @for_update@",
    parameters: &[Type::Big, Type::Big],
};

pub static NEWS: Statement = Statement {
    name: "news",
    sql: "SELECT item, author FROM news_item WHERE id = $1",
    parameters: &[Type::Big],
};

pub static COUNT: Statement = Statement {
    name: "count",
    sql: "SELECT COUNT(*), CAST(SUM(trade_count) AS @integer@) FROM broker",
    parameters: &[],
};

pub static RAISE: Statement = Statement {
    name: "raise",
    sql: "UPDATE broker SET trade_count = trade_count + $1 WHERE id = $2",
    parameters: &[Type::Integer, Type::Big],
};

pub static RENAME: Statement = Statement {
    name: "rename",
    sql: "UPDATE news_item SET author = $1, item = $2 WHERE id = $3",
    parameters: &[Type::Text(30), Type::Long, Type::Big],
};

pub static HIRE: Statement = Statement {
    name: "hire",
    sql: "INSERT INTO broker (id, status_id, name, trade_count, commission_cents) \
          VALUES ($1, $2, $3, $4, $5)",
    parameters: &[
        Type::Big,
        Type::Small,
        Type::Text(49),
        Type::Integer,
        Type::Big,
    ],
};

pub fn call(statement: &'static Statement, parameters: &[Value]) -> Call {
    Call {
        statement,
        parameters: parameters.to_vec(),
    }
}

pub fn spawn_clients(id: i64, status: i64, name: &str) -> Call {
    let number = Value::Integer;
    call(
        &HIRE,
        &[
            number(id),
            number(status),
            name.into(),
            number(0),
            number(1 << 40),
        ],
    )
}

pub fn raise(by: i64, id: i64) -> Call {
    call(&RAISE, &[by.into(), id.into()])
}

/// One batch in a transaction of its own.
pub fn alone<'a>(
    session: &'a mut dyn Session,
    isolation: Isolation,
    calls: &[Call],
) -> Result<&'a Answers, DatabaseError> {
    session.begin(isolation)?;
    complete(session.run(calls, AfterBatch::Commit))
}

/// Everything that a session promises, on a database made by [`build`].
pub fn try_session(session: &mut dyn Session) {
    let isolation = [
        Isolation::ReadCommitted,
        Isolation::RepeatableRead,
        Isolation::Serializable,
    ];
    // All rows are there.
    let answers = alone(session, isolation[0], &[call(&COUNT, &[])]).unwrap();
    assert_eq!(
        (answers.of(0).integer(0, 0), answers.of(0).integer(0, 1)),
        (Some(10), Some(45))
    );
    for isolation in isolation {
        // Several batches, with queries and changes, committed with the last or by an empty one.
        session.begin(isolation).unwrap();
        let calls = [
            call(&BROKER, &[2.into(), 4.into()]),
            raise(10, 3),
            call(&BROKER, &[3.into(), 4.into()]),
        ];
        let answers = complete(session.run(&calls, AfterBatch::Continue)).unwrap();
        assert_eq!(answers.of(0).count(), 2);
        assert_eq!(answers.of(0).text(1, 1), Some("t3"));
        assert_eq!((answers.of(0).changed, answers.of(1).changed), (0, 1));
        assert_eq!(
            answers.of(2).integer(0, 2),
            answers.of(0).integer(1, 2).map(|was| was + 10)
        );
        assert_eq!(
            complete(session.run(&[raise(-10, 3)], AfterBatch::Continue))
                .unwrap()
                .of(0)
                .changed,
            1
        );
        assert!(
            complete(session.run(&[], AfterBatch::Commit))
                .unwrap()
                .count()
                == 0
        );
        // Rolled back.
        session.begin(isolation).unwrap();
        complete(session.run(&[raise(1000, 3)], AfterBatch::Continue)).unwrap();
        complete(session.rollback()).unwrap();
        // Abandoned: rolled back, though nobody waits for it.
        session.begin(isolation).unwrap();
        complete(session.run(&[raise(1000, 3)], AfterBatch::Continue)).unwrap();
        session.abandon();
        let answers = alone(session, isolation, &[call(&COUNT, &[])]).unwrap();
        assert_eq!(answers.of(0).integer(0, 1), Some(45));
        // Begun and not used.
        session.begin(isolation).unwrap();
        session.abandon();
        session.begin(isolation).unwrap();
        complete(session.rollback()).unwrap();
        session.begin(isolation).unwrap();
        complete(session.run(&[], AfterBatch::Commit)).unwrap();
        // An error in the middle undoes all of it, and the session goes on.
        session.begin(isolation).unwrap();
        let calls = [
            raise(1000, 4),
            spawn_clients(1, 1, "there already"),
            raise(1000, 5),
        ];
        let error = complete(session.run(&calls, AfterBatch::Commit)).unwrap_err();
        let is_right = |error: &DatabaseError| matches!(error, DatabaseError::ServerSide { statement, .. } if statement == "hire");
        assert!(is_right(&error), "{error:?}");
        let answers = alone(session, isolation, &[call(&COUNT, &[])]).unwrap();
        assert_eq!(answers.of(0).integer(0, 1), Some(45));
    }
    strange_texts(session);
    wrong_calls(session);
}

fn strange_texts(session: &mut dyn Session) {
    let news = |id: i64| call(&NEWS, &[id.into()]);
    let answers = alone(
        session,
        Isolation::ReadCommitted,
        &[news(2), news(3), news(99)],
    )
    .unwrap();
    let long = format!("2 {STRANGE}").repeat(100);
    assert_eq!(
        (answers.of(0).text(0, 0), answers.of(0).text(0, 1)),
        (Some(&*long), Some("t2"))
    );
    assert!(answers.of(1).is_null(0, 1));
    assert_eq!(answers.of(2).count(), 0);
    let rename = |author: Value, item: &str, id: i64| {
        let parameters = [author, item.into(), id.into()];
        call(&RENAME, &parameters)
    };
    let calls = [
        rename(Value::Null, STRANGE, 2),
        rename("".into(), "", 3),
        news(2),
        news(3),
    ];
    let answers = alone(session, Isolation::RepeatableRead, &calls).unwrap();
    assert_eq!(answers.of(2).text(0, 0), Some(STRANGE));
    assert!(answers.of(2).is_null(0, 1));
    assert_eq!(
        [0, 1].map(|column| answers.of(3).text(0, column)),
        [Some(""); 2]
    );
    let back = rename("t2".into(), &long, 2);
    alone(session, Isolation::RepeatableRead, &[back]).unwrap();
    // So many that they are not sent in one piece.
    let calls: Vec<_> = (0..200)
        .flat_map(|number| {
            [
                rename("t".into(), &"x".repeat(9_000), number % 10),
                news(number),
            ]
        })
        .collect();
    let answers = alone(session, Isolation::Serializable, &calls).unwrap();
    assert_eq!(answers.count(), 400);
    assert_eq!(answers.of(1).text(0, 0).map(str::len), Some(9_000));
    assert_eq!(answers.of(399).count(), 0);
}

fn wrong_calls(session: &mut dyn Session) {
    complete(session.run(&[raise(1, 1)], AfterBatch::Commit)).unwrap_err();
    session.begin(Isolation::ReadCommitted).unwrap();
    session.begin(Isolation::ReadCommitted).unwrap_err();
    complete(session.run(&[call(&RAISE, &[1.into()])], AfterBatch::Commit)).unwrap_err();
    let too_large = [raise(1 << 40, 1)];
    assert!(alone(session, Isolation::ReadCommitted, &too_large).is_err());
    let answers = alone(session, Isolation::ReadCommitted, &[call(&COUNT, &[])]).unwrap();
    assert_eq!(answers.of(0).integer(0, 1), Some(45));
}

/// Rows that violate a foreign key must not become a data set.
pub fn broken_reference(database: &dyn Database) {
    database.create(&Build::new(1000, 2, 1)).unwrap();
    load(database, 0..3).unwrap();
    let mut loader = database.loader().unwrap();
    loader.begin(TableName::WatchItem).unwrap();
    loader.integer(77);
    loader.text("t1");
    loader.end_row().unwrap();
    loader.end().unwrap();
    drop(loader);
    let error = finish(database, 2, &|_| true).unwrap_err();
    let is_named = |error: &DatabaseError| {
        matches!(error, DatabaseError::Failed { statement, .. }
            if statement == "the foreign keys of watch_item")
    };
    assert!(is_named(&error), "{error:?}");
    assert!(matches!(database.state().unwrap(), State::Building(_)));
    database.remove().unwrap();
    assert_eq!(database.state().unwrap(), State::Absent);
}

/// A step that would take minutes fails as soon as steps are cancelled.
pub fn long_steps_end(database: &dyn Database, sql: &str) {
    database.create(&Build::new(1000, 2, 1)).unwrap();
    let step = Step {
        what: "a long step".to_owned(),
        sql: sql.to_owned(),
        is_optional: false,
    };
    let ended = std::thread::scope(|scope| {
        let carried_out = scope.spawn(|| database.run_step(&step));
        while !carried_out.is_finished() {
            database.cancel_steps().unwrap();
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
        carried_out.join().unwrap()
    });
    assert!(ended.is_err(), "it came to its end");
    database.cancel_steps().unwrap();
    database.remove().unwrap();
}

/// A small volume, unmounted when dropped.
pub struct Small<'a>(&'a std::path::Path);

impl<'a> Small<'a> {
    pub fn mount(on: &'a std::path::Path, size: &str) -> Option<Self> {
        std::fs::create_dir(on).unwrap();
        let mounted = std::process::Command::new("mount")
            .args(["-t", "tmpfs", "-o", size, "tmpfs"])
            .arg(on)
            .output();
        if mounted.is_ok_and(|output| output.status.success()) {
            return Some(Self(on));
        }
        test_support::skip("no tmpfs can be mounted (needs root)");
        None
    }
}

impl Drop for Small<'_> {
    fn drop(&mut self) {
        std::process::Command::new("umount")
            .arg("--lazy")
            .arg(self.0)
            .status()
            .unwrap();
    }
}
