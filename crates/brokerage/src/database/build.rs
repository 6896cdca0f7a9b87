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

    /// State, and whether the database around it is ours, from the one row of the marker table.
    ///
    /// # Errors
    /// The table is not as we make it: it is not ours.
    pub(super) fn read(columns: &[Option<String>]) -> Result<(State, bool), DatabaseError> {
        let strange = || {
            DatabaseError::Refused(format!(
                "there is a table {MARKER} that this program did not make; name another database"
            ))
        };
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
