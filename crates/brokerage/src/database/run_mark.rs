//! The mark of the last run with a witness on a database: by it an audit knows whether the database is
//! as that run left it, or another run came after it.
//!
//! It is kept among the names and values of the database. A run without a witness changes it only where
//! there is one.

use super::interface::Database;
use crate::error::DatabaseError;

/// The name of the mark among names and values.
const NAME: &str = "witnessed run";
/// In the place of its number, when a run without a witness has followed.
const NONE: &str = "none";

/// The mark of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunMark {
    /// The number by which the witness knows the run; `none` of a run without one.
    pub run: String,
    /// The highest trade id before the run.
    pub base: i64,
}

impl RunMark {
    /// The mark in a database, if there is one.
    ///
    /// # Errors
    /// Those of the database.
    pub fn read(database: &dyn Database) -> Result<Option<Self>, DatabaseError> {
        let values = database.state_values()?;
        Ok(Self::kept(&values).and_then(|(_, value)| {
            let (run, base) = value.split_once(' ')?;
            Some(Self {
                run: run.to_owned(),
                base: base.parse().ok()?,
            })
        }))
    }

    /// Marks a database for a run with the number `run`, or without a witness, before its first change.
    ///
    /// # Errors
    /// Those of the database.
    pub fn write(
        database: &dyn Database,
        run: Option<&str>,
        base: i64,
    ) -> Result<(), DatabaseError> {
        let mut values = database.state_values()?;
        if run.is_none() && Self::kept(&values).is_none() {
            return Ok(());
        }
        values.retain(|(name, _)| name != NAME);
        let run = run.unwrap_or(NONE);
        values.push((NAME.to_owned(), format!("{run} {base}")));
        database.set_state_values(&values)
    }

    /// The name and the value of the mark, to be kept when others are replaced.
    pub(super) fn kept(values: &[(String, String)]) -> Option<(String, String)> {
        values.iter().find(|(name, _)| name == NAME).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::sqlite::Sqlite;
    use super::super::{Build, seal};
    use super::*;

    #[test]
    fn a_mark_stays_until_another_run_comes() {
        let room = tempfile::tempdir().unwrap();
        let sqlite = Sqlite::new(room.path(), 1 << 20, 1);
        sqlite.create(&Build::new(1_000, 1, 7)).unwrap();
        let read = || RunMark::read(&sqlite).unwrap();
        RunMark::write(&sqlite, None, 5).unwrap();
        assert_eq!((read(), sqlite.state_values().unwrap()), (None, Vec::new()));
        RunMark::write(&sqlite, Some("abc"), 5).unwrap();
        let mark = |run: &str, base| {
            let run = run.to_owned();
            Some(RunMark { run, base })
        };
        assert_eq!(read(), mark("abc", 5));
        seal::write(&sqlite, &mut |_| Ok(())).unwrap();
        assert_eq!(read(), mark("abc", 5));
        seal::remove(&sqlite).unwrap();
        assert_eq!(
            (read(), sqlite.state_values().unwrap().len()),
            (mark("abc", 5), 1)
        );
        RunMark::write(&sqlite, None, 9).unwrap();
        assert_eq!(read(), mark(NONE, 9));
    }
}
