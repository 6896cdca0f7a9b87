//! What was committed, kept in memory: the rows that a database must show.

use crate::table::row;
use edb::{Row, Value};
use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A row as the model keeps it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct RowModel {
    /// Value of the unique index.
    pub token: Vec<u8>,
    /// Value of a fixed column.
    pub size: i32,
    /// Seed and length of the body.
    pub body: (u32, usize),
}

/// Rows by primary key.
pub type State = BTreeMap<i64, RowModel>;

impl RowModel {
    /// The body, without regular patterns: those can hide a torn write from the checksum.
    #[must_use]
    pub fn body_bytes(&self) -> Vec<u8> {
        let (seed, length) = self.body;
        let mut body = vec![0; length];
        Xoshiro256PlusPlus::seed_from_u64(u64::from(seed)).fill_bytes(&mut body);
        body
    }

    /// The values to insert.
    #[must_use]
    pub fn values(&self) -> Vec<Value> {
        row(&self.token, self.size, self.body_bytes())
    }

    /// Whether a row that was read is this one.
    #[must_use]
    pub fn is(&self, row: &Row) -> bool {
        row.values[1] == Value::Long(self.size)
            && row.values[2].as_bytes() == Some(&self.token)
            && row.values[3]
                .as_bytes()
                .is_some_and(|body| body.len() == self.body.1 && body == self.body_bytes())
    }
}

impl fmt::Display for RowModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (token, bytes) = (Hex(&self.token), self.body.1);
        write!(
            formatter,
            "size {}, token {token}, body of {bytes} bytes",
            self.size
        )
    }
}

/// The first bytes of a token.
struct Hex<'a>(&'a [u8]);

impl fmt::Display for Hex<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .take(8)
            .try_for_each(|byte| write!(formatter, "{byte:02x}"))
    }
}

/// A row that was read, in words.
#[must_use]
pub fn describe(row: &Row) -> String {
    let bytes = |value: &Value| value.as_bytes().map_or(0, <[u8]>::len);
    let token = row.values[2].as_bytes().unwrap_or_default();
    let size = match &row.values[1] {
        Value::Long(size) => size.to_string(),
        other => format!("{other:?}"),
    };
    let (token, body) = (Hex(token), bytes(&row.values[3]));
    format!("size {size}, token {token}, body of {body} bytes")
}

/// What a committed transaction changed, to be looked for after a crash.
#[derive(Debug, Clone)]
pub struct Committed {
    /// Rows by key; `None`: deleted.
    pub effects: Vec<(i64, Option<RowModel>)>,
    /// Whether the caller was informed that it is durable.
    pub acknowledged: bool,
}

/// Makes the changes of a transaction.
pub fn apply_to(state: &mut State, effects: &[(i64, Option<RowModel>)]) {
    for (key, row) in effects {
        match row {
            Some(row) => state.insert(*key, row.clone()),
            None => state.remove(key),
        };
    }
}

/// What all sessions know together.
#[derive(Default)]
pub struct Model {
    /// Rows as of the last commit.
    pub state: State,
    /// Commits in their order.
    pub history: Vec<Committed>,
    /// Per row, the number of the last commit that changed it.
    pub(crate) last_change: BTreeMap<i64, usize>,
    /// Per row, the open sessions that changed it or try to.
    pub(crate) active: BTreeMap<i64, BTreeSet<u64>>,
    /// Per row, when a transaction that had touched it last ended.
    pub(crate) ended: BTreeMap<i64, u64>,
    pub(crate) next_token: u64,
    events: u64,
    trace: DefaultHasher,
}

impl Model {
    /// A model of a database that holds these rows. Tokens begin at a number that no other lifetime of
    /// the database uses.
    #[must_use]
    pub fn new(state: State, next_token: u64) -> Self {
        Self {
            state,
            next_token,
            ..Self::default()
        }
    }

    /// Takes note of an event; returns its number.
    pub(crate) fn event(&mut self, what: impl Hash) -> u64 {
        what.hash(&mut self.trace);
        self.events += 1;
        self.events
    }

    /// A number that stands for everything that has happened.
    #[must_use]
    pub fn trace(&self) -> u64 {
        self.trace.finish()
    }

    /// Commits; returns the place in the history.
    pub(crate) fn apply(&mut self, effects: Vec<(i64, Option<RowModel>)>) -> usize {
        apply_to(&mut self.state, &effects);
        for (key, _) in &effects {
            self.last_change.insert(*key, self.history.len() + 1);
        }
        self.history.push(Committed {
            effects,
            acknowledged: false,
        });
        self.history.len() - 1
    }
}
