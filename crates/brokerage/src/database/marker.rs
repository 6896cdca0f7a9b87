//! The marker: by which a database is known as ours, and how far it is built.
//!
//! A marker table of one row is created together with the tables and before any of their rows: it
//! describes the data set, and its state becomes `ready` last. It identifies an interrupted build,
//! and everything that is not ours: that has no marker.

use super::text_rows::TextRows;
use crate::error::DatabaseError;

/// The name of the marker table. It identifies existing databases, so it never changes.
pub const MARKER: &str = "proofload_house";

/// The name of the database that is created next to those of others. Never changes either.
pub const DATABASE: &str = "proofload_brokerage";

/// The version of the tables and of the rows in them. A change in either raises it.
pub const FORMAT: u32 = 1;

/// The data set of a build, as the marker describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Number of customers, in whole thousands.
    pub customers: u32,
    /// Trading days of the initial trades.
    pub trade_days: u32,
    /// Seed of the rows.
    pub seed: u64,
    /// [`FORMAT`] of the program that built it.
    pub format: u32,
    /// Version of the program that built it.
    pub program: String,
}

/// How far a build is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There is nothing of ours, and nothing else.
    Absent,
    /// Begun and not finished: in progress, or interrupted.
    Building(Build),
    /// The build is complete.
    Ready(Build),
}

impl Build {
    /// A build by this program.
    #[must_use]
    pub fn new(customers: u32, trade_days: u32, seed: u64) -> Self {
        Self {
            customers,
            trade_days,
            seed,
            format: FORMAT,
            program: env!("CARGO_PKG_VERSION").to_owned(),
        }
    }

    /// The statement that creates the marker table. Its column `owned` says whether we created the
    /// database, too.
    pub(super) fn marker_table(text_type: &str) -> String {
        format!(
            "CREATE TABLE {MARKER} (state {text_type} NOT NULL, customers BIGINT NOT NULL, \
             trade_days BIGINT NOT NULL, seed {text_type} NOT NULL, format BIGINT NOT NULL, \
             program {text_type} NOT NULL, owned BIGINT NOT NULL)"
        )
    }

    /// The statement that fills it. Every text in it is a number or a version of ours.
    pub(super) fn marker_row(&self, owned: bool) -> String {
        assert!(
            self.program
                .bytes()
                .all(|byte| byte.is_ascii_graphic() && byte != b'\''),
            "a version is plain ASCII"
        );
        format!(
            "INSERT INTO {MARKER} VALUES ('building', {}, {}, '{}', {}, '{}', {})",
            self.customers,
            self.trade_days,
            self.seed,
            self.format,
            self.program,
            u8::from(owned)
        )
    }

    /// The statement that marks the build as complete.
    pub(super) fn mark_ready() -> String {
        format!("UPDATE {MARKER} SET state = 'ready'")
    }

    /// The query whose result [`read`](Self::read) takes.
    pub(super) fn query() -> String {
        format!("SELECT state, customers, trade_days, seed, format, program, owned FROM {MARKER}")
    }

    /// As [`read`](Self::read), from the result of the query.
    ///
    /// # Errors
    /// Those of the query and of reading.
    pub(super) fn read_answer(
        answer: Result<TextRows, DatabaseError>,
    ) -> Result<(State, bool), DatabaseError> {
        match answer {
            Ok(rows) => Self::read(rows.first().map(Vec::as_slice).unwrap_or_default()),
            // Columns of ours do not exist.
            Err(DatabaseError::Failed { .. }) => Err(foreign_marker()),
            Err(other) => Err(other),
        }
    }

    /// State, and whether we created the database, from the row of the marker table.
    ///
    /// # Errors
    /// The table is not ours.
    pub(super) fn read(columns: &[Option<String>]) -> Result<(State, bool), DatabaseError> {
        let [
            Some(state),
            Some(customers),
            Some(days),
            Some(seed),
            Some(format),
            Some(program),
            Some(owned),
        ] = columns
        else {
            return Err(foreign_marker());
        };
        if *format != FORMAT.to_string() {
            return Err(DatabaseError::Unusable(format!(
                "the brokerage database was built by proofload {program} in a format that this \
                 version does not support: run on it with that version, or remove it and build a \
                 new one"
            )));
        }
        let build = Self {
            customers: customers.parse().map_err(|_| foreign_marker())?,
            trade_days: days.parse().map_err(|_| foreign_marker())?,
            seed: seed.parse().map_err(|_| foreign_marker())?,
            format: format.parse().map_err(|_| foreign_marker())?,
            program: program.clone(),
        };
        let state = match state.as_str() {
            "building" => State::Building(build),
            "ready" => State::Ready(build),
            _ => return Err(foreign_marker()),
        };
        Ok((state, owned == "1"))
    }
}

fn foreign_marker() -> DatabaseError {
    DatabaseError::Unusable(format!(
        "there is a table {MARKER} that this program did not create: name another database"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(format: &str) -> Vec<Option<String>> {
        let columns = ["ready", "1000", "4", "7", format, "0.9.0", "1"];
        columns
            .iter()
            .map(|text| Some((*text).to_owned()))
            .collect()
    }

    #[test]
    fn a_database_of_another_format_is_refused() {
        let (state, owned) = Build::read(&row("1")).unwrap();
        assert!(matches!(state, State::Ready(_)) && owned);
        let error = Build::read(&row("2")).unwrap_err();
        assert!(error.to_string().contains("0.9.0"), "{error}");
    }

    #[test]
    fn a_marker_with_other_columns_is_refused() {
        let unknown = DatabaseError::failed("SELECT", "column state does not exist");
        for answer in [Err(unknown), Ok(Vec::new()), Ok(vec![vec![None]])] {
            let error = Build::read_answer(answer).unwrap_err();
            assert!(error.to_string().contains("did not create"), "{error}");
        }
    }
}
