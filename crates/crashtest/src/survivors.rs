//! Which commits are left after a crash.

use crate::model::{Committed, State, apply_to, describe};
use edb::Row;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Differences that are shown; the rest is counted.
const MOST_SHOWN: usize = 6;

/// A row that is not what it must be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Difference {
    /// Key of the row.
    pub key: i64,
    /// What it must be, and the commit that made it so.
    pub expected: String,
    /// The row that was read, or that there was none.
    pub found: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            formatter,
            "row {}: expected {}; found {}",
            self.key, self.expected, self.found
        )
    }
}

/// The rows are those of no sequence of commits that may be left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Commits that were acknowledged as durable, counted from the last known state.
    pub acknowledged: usize,
    /// Commits in all, acknowledged as durable or not.
    pub commits: usize,
    /// The number of commits whose rows are nearest to those found.
    pub nearest: usize,
    /// What differs from these.
    pub differences: Vec<Difference>,
    /// Differences that are counted only.
    pub further: usize,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            acknowledged,
            commits,
            nearest,
            ..
        } = self;
        write!(
            formatter,
            "the rows are not those after {acknowledged} (acknowledged) to {commits} (all) commits; \
             nearest are those after {nearest}"
        )
    }
}

/// The rows compared with a state that changes commit by commit.
struct Comparison<'a> {
    rows: &'a BTreeMap<i64, Row>,
    state: State,
    differing: BTreeSet<i64>,
}

impl<'a> Comparison<'a> {
    fn new(rows: &'a BTreeMap<i64, Row>, state: State) -> Self {
        let keys: Vec<i64> = rows.keys().chain(state.keys()).copied().collect();
        let mut comparison = Self {
            rows,
            state,
            differing: BTreeSet::new(),
        };
        keys.into_iter().for_each(|key| comparison.look_at(key));
        comparison
    }

    fn look_at(&mut self, key: i64) {
        let agrees = match (self.state.get(&key), self.rows.get(&key)) {
            (None, None) => true,
            (Some(model), Some(row)) => model.is(row),
            _ => false,
        };
        if agrees {
            self.differing.remove(&key);
        } else {
            self.differing.insert(key);
        }
    }

    fn commit(&mut self, effects: &[(i64, Option<crate::model::RowModel>)]) {
        apply_to(&mut self.state, effects);
        effects.iter().for_each(|(key, _)| self.look_at(*key));
    }
}

/// Which state the rows show: the one after so many of the commits, all that were acknowledged
/// among them.
///
/// # Errors
/// How the rows differ from the nearest such state.
pub fn survivors(
    start: &State,
    history: &[Committed],
    rows: &BTreeMap<i64, Row>,
) -> Result<(State, usize), Box<Mismatch>> {
    let acknowledged = history.iter().rposition(|one| one.acknowledged);
    let acknowledged = acknowledged.map_or(0, |at| at + 1);
    let mut comparison = Comparison::new(rows, start.clone());
    let mut nearest = (usize::MAX, 0);
    for count in 0..=history.len() {
        if count > 0 {
            comparison.commit(&history[count - 1].effects);
        }
        if count < acknowledged {
            continue;
        }
        if comparison.differing.is_empty() {
            return Ok((comparison.state, count));
        }
        nearest = nearest.min((comparison.differing.len(), count));
    }
    let (_, nearest) = nearest;
    Err(Box::new(mismatch(
        start,
        history,
        rows,
        acknowledged,
        nearest,
    )))
}

fn mismatch(
    start: &State,
    history: &[Committed],
    rows: &BTreeMap<i64, Row>,
    acknowledged: usize,
    nearest: usize,
) -> Mismatch {
    let mut comparison = Comparison::new(rows, start.clone());
    history[..nearest]
        .iter()
        .for_each(|one| comparison.commit(&one.effects));
    let author = |key: i64| {
        let changes = |one: &Committed| one.effects.iter().any(|(changed, _)| *changed == key);
        match history[..nearest].iter().rposition(changes) {
            None => "as of the last start".to_owned(),
            Some(at) if at < acknowledged => format!("by commit {}, acknowledged", at + 1),
            Some(at) => format!("by commit {}, not acknowledged", at + 1),
        }
    };
    let difference = |key: &i64| Difference {
        key: *key,
        expected: match comparison.state.get(key) {
            Some(model) => format!("{model} ({})", author(*key)),
            None => format!("no such row ({})", author(*key)),
        },
        found: rows.get(key).map_or("no such row".to_owned(), describe),
    };
    let all = comparison.differing.len();
    Mismatch {
        acknowledged,
        commits: history.len(),
        nearest,
        differences: comparison
            .differing
            .iter()
            .take(MOST_SHOWN)
            .map(difference)
            .collect(),
        further: all.saturating_sub(MOST_SHOWN),
    }
}
