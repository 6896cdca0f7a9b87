//! SQLite, in a file.

use crate::common;
use crate::common::{COUNT, alone, call, raise};
use brokerage::database::sqlite::Sqlite;
use brokerage::database::{Build, Database, State};
use brokerage::error::DatabaseError;
use brokerage::row::Answers;
use brokerage::session::{AfterBatch, Isolation};
use runtime::thread::complete;

fn database(room: &tempfile::TempDir) -> Sqlite {
    Sqlite::new(room.path(), 8 << 20, 4)
}

#[test]
fn a_database_is_built_used_and_removed() {
    let room = common::room();
    let sqlite = database(&room);
    common::long_steps_end(
        &sqlite,
        "CREATE TABLE long AS WITH RECURSIVE one(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM one \
         LIMIT 10000000000) SELECT COUNT(*) FROM one",
    );
    common::broken_reference(&sqlite);
    let build = common::build(&sqlite);
    common::try_session(&mut *sqlite.connect().unwrap());
    assert!(sqlite.size_bytes().unwrap() > 100_000);
    assert!(sqlite.server().unwrap().name.starts_with("SQLite 3."));
    assert_eq!(database(&room).state().unwrap(), State::Ready(build));
    sqlite.create(&Build::new(1000, 2, 1)).unwrap_err();
    sqlite.remove().unwrap();
    assert_eq!(sqlite.state().unwrap(), State::Absent);
    assert_eq!(std::fs::read_dir(room.path()).unwrap().count(), 0);
}

#[test]
fn a_file_that_is_not_ours_is_left_alone() {
    let room = common::room();
    let sqlite = database(&room);
    for content in [&b"a letter of somebody else"[..], &[7; 200]] {
        std::fs::write(sqlite.path(), content).unwrap();
        for refused in [
            sqlite.state().map(|_| ()),
            sqlite.create(&Build::new(1000, 2, 1)),
            sqlite.remove(),
        ] {
            assert!(
                matches!(refused, Err(DatabaseError::Refused(_))),
                "{refused:?}"
            );
        }
        assert_eq!(std::fs::read(sqlite.path()).unwrap(), content);
    }
}

#[test]
fn writers_take_turns_and_late_ones_conflict() {
    let room = common::room();
    let sqlite = database(&room);
    common::build(&sqlite);
    // Each raise is kept, though all write the same row.
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let mut session = sqlite.connect().unwrap();
                for _ in 0..25 {
                    alone(&mut *session, Isolation::Serializable, &[raise(1, 1)]).unwrap();
                }
            });
        }
    });
    let mut one = sqlite.connect().unwrap();
    let mut two = sqlite.connect().unwrap();
    let answers = alone(&mut *one, Isolation::ReadCommitted, &[call(&COUNT, &[])]).unwrap();
    assert_eq!(answers.of(0).integer(0, 1), Some(145));
    // One reads, another writes, the first wants to write what is no longer so.
    one.begin(Isolation::ReadCommitted).unwrap();
    complete(one.run(&[call(&COUNT, &[])], AfterBatch::Continue)).unwrap();
    alone(&mut *two, Isolation::RepeatableRead, &[raise(1, 1)]).unwrap();
    let error = complete(one.run(&[raise(1, 1)], AfterBatch::Commit)).unwrap_err();
    assert!(matches!(error, DatabaseError::Conflict(_)), "{error:?}");
    alone(&mut *one, Isolation::ReadCommitted, &[raise(1, 1)]).unwrap();
}

#[test]
fn a_damaged_file_is_called_damaged() {
    let room = common::room();
    let sqlite = database(&room);
    common::build(&sqlite);
    drop(sqlite.connect().unwrap());
    let mut bytes = std::fs::read(sqlite.path()).unwrap();
    for page in bytes.chunks_mut(8192).skip(1) {
        page.fill(0xee);
    }
    std::fs::write(sqlite.path(), bytes).unwrap();
    let answered = sqlite.connect().and_then(|mut session| {
        alone(
            &mut *session,
            Isolation::ReadCommitted,
            &[call(&COUNT, &[])],
        )
        .map(Answers::count)
    });
    assert!(
        matches!(answered, Err(DatabaseError::Damaged(_))),
        "{answered:?}"
    );
    sqlite.remove().unwrap();
}
