//! The mark of the last run on a database: by it an audit knows whether the database is as that run left
//! it, or another run came after it.
//!
//! It is kept among the names and values of the database.

use super::interface::Database;
use crate::error::DatabaseError;
use witness::RunId;

/// The name of the mark among names and values.
const NAME: &str = "run";

/// The mark of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunMark {
    /// The number by which the run is known.
    pub run: RunId,
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
                run: RunId::parse(run)?,
                base: base.parse().ok()?,
            })
        }))
    }

    /// Marks a database before the first change of a run.
    ///
    /// # Errors
    /// Those of the database.
    pub fn write(&self, database: &dyn Database) -> Result<(), DatabaseError> {
        let mut values = database.state_values()?;
        values.retain(|(name, _)| name != NAME);
        values.push((NAME.to_owned(), format!("{} {}", self.run, self.base)));
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
        assert_eq!(read(), None);
        let mark = |number, base| RunMark {
            run: RunId([number; 16]),
            base,
        };
        mark(1, 5).write(&sqlite).unwrap();
        assert_eq!(read(), Some(mark(1, 5)));
        seal::write(&sqlite, &[]).unwrap();
        assert_eq!(read(), Some(mark(1, 5)));
        seal::remove(&sqlite).unwrap();
        assert_eq!(
            (read(), sqlite.state_values().unwrap().len()),
            (Some(mark(1, 5)), 1)
        );
        mark(2, 9).write(&sqlite).unwrap();
        assert_eq!(
            (read(), sqlite.state_values().unwrap().len()),
            (Some(mark(2, 9)), 1)
        );
    }
}
