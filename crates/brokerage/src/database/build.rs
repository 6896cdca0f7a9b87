//! What stands in a database of ours, and how far it came.
//!
//! A marker table of one row is made together with the tables and before any row of theirs: it says
//! for which house they are, and becomes `ready` last. A build that was interrupted is known by it,
//! and so is everything that is not ours: it has no marker.

use crate::error::DatabaseError;

/// The name of the marker table.
pub const MARKER: &str = "proofload_house";

/// The name of the database that is made beside those of others.
pub const DATABASE: &str = "proofload_brokerage";

/// The version of the tables and of the rows in them. A change in either raises it.
pub const FORMAT: u32 = 1;

/// For which house the tables are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Build {
    /// Customers of the house.
    pub customers: u32,
    /// Days of trading before the run.
    pub trade_days: u32,
    /// Seed of the rows.
    pub seed: u64,
    /// [`FORMAT`] of who built it.
    pub format: u32,
    /// Version of the program that built it.
    pub program: String,
}

/// How far a build came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// Nothing of ours is there, and nothing is in the way.
    Absent,
    /// It was begun and not finished: somebody is at it, or was interrupted.
    Building(Build),
    /// It is whole.
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

    /// The statement that makes the marker table. `owned` tells whether the database around it was
    /// made by us too.
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

    /// The statement that calls the build whole.
    pub(super) fn mark_ready() -> String {
        format!("UPDATE {MARKER} SET state = 'ready'")
    }

    /// The question for the marker, whose answer [`read`](Self::read) takes.
    pub(super) fn question() -> String {
        format!("SELECT state, customers, trade_days, seed, format, program, owned FROM {MARKER}")
    }

    /// As [`read`](Self::read), from the whole answer to the question.
    ///
    /// # Errors
    /// Those of the question and of reading.
    pub(super) fn read_answer(
        answer: Result<Vec<Vec<Option<String>>>, DatabaseError>,
    ) -> Result<(State, bool), DatabaseError> {
        match answer {
            Ok(rows) => Self::read(rows.first().map(Vec::as_slice).unwrap_or_default()),
            // Columns of ours are not there.
            Err(DatabaseError::Failed { .. }) => Err(strange()),
            Err(other) => Err(other),
        }
    }

    /// State, and whether the database around it is ours, from the one row of the marker table.
    ///
    /// # Errors
    /// The table is not as we make it: it is not ours.
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
            return Err(strange());
        };
        if *format != FORMAT.to_string() {
            return Err(DatabaseError::InTheWay(format!(
                "there is a brokerage that proofload {program} built in a form that this version \
                 does not know: run on it with that version, or remove it and build anew"
            )));
        }
        let build = Self {
            customers: customers.parse().map_err(|_| strange())?,
            trade_days: days.parse().map_err(|_| strange())?,
            seed: seed.parse().map_err(|_| strange())?,
            format: format.parse().map_err(|_| strange())?,
            program: program.clone(),
        };
        let state = match state.as_str() {
            "building" => State::Building(build),
            "ready" => State::Ready(build),
            _ => return Err(strange()),
        };
        Ok((state, owned == "1"))
    }
}

fn strange() -> DatabaseError {
    DatabaseError::InTheWay(format!(
        "there is a table {MARKER} that this program did not make: name another database"
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
    fn a_house_in_another_form_is_not_run_on() {
        let (state, owned) = Build::read(&row("1")).unwrap();
        assert!(matches!(state, State::Ready(_)) && owned);
        let error = Build::read(&row("2")).unwrap_err();
        assert!(error.to_string().contains("0.9.0"), "{error}");
    }

    #[test]
    fn a_marker_with_other_columns_is_not_ours() {
        let unknown = DatabaseError::Failed {
            statement: "SELECT".to_owned(),
            message: "column state does not exist".to_owned(),
        };
        for answer in [Err(unknown), Ok(Vec::new()), Ok(vec![vec![None]])] {
            let error = Build::read_answer(answer).unwrap_err();
            assert!(error.to_string().contains("did not make"), "{error}");
        }
    }
}
