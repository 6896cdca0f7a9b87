//! Which rows of a database exist, without a list of them.
//!
//! Inserts number their rows one after the other. Deletes take rows in a pseudo-random order
//! ([`Shuffle`]), so a row is deleted exactly if its position in that order is below the number of
//! deletes so far. That makes three things cheap for a database of any size: to pick any existing
//! row evenly, to pick the next row to delete, and to say whether a row that was not found should
//! have been there.

use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use workload::permutation::Shuffle;
use workload::random::SeededRng;

/// The state of a population between runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PopulationState {
    /// Rows that the database was built with.
    pub built_rows: u64,
    /// Number that the next inserted row gets.
    pub next_row: u64,
    /// Deletes done or under way.
    pub deletes: u64,
}

/// The part of a database that gets more than its share of accesses.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct HotSet {
    /// Share of the rows that are hot, 0 to 1: the newest ones, as in a mailbox.
    pub rows_fraction: f64,
    /// Share of the accesses that go to them, 0 to 1.
    pub accesses_fraction: f64,
}

/// The rows of one database.
#[derive(Debug)]
pub struct Population {
    built_rows: u64,
    next_row: u64,
    deletes: u64,
    /// Rows whose insert is not committed yet.
    arriving: BTreeSet<u64>,
    /// Rows below the next one that were not inserted, because something went wrong.
    absent: BTreeSet<u64>,
    /// Whether there were more of those than are kept.
    has_more_absent: bool,
    delete_order: Shuffle,
    hot_set: Option<HotSet>,
}

/// Rows that were not inserted are remembered up to this number; about 16 MiB. Beyond it no row is
/// missed any more.
const MOST_ABSENT: usize = 1_000_000;

/// Draws of an existing row before giving up; every draw succeeds with at least some percent.
const DRAWS: usize = 1_000;

impl Population {
    /// The rows of a database in the given state. `seed` decides the order of deletes and must be
    /// that of the database, not of the run.
    #[must_use]
    pub fn new(state: PopulationState, seed: u64, hot_set: Option<HotSet>) -> Self {
        assert!(state.built_rows > 0 && state.next_row >= state.built_rows);
        Self {
            built_rows: state.built_rows,
            next_row: state.next_row,
            deletes: state.deletes,
            arriving: BTreeSet::new(),
            absent: BTreeSet::new(),
            has_more_absent: false,
            delete_order: Shuffle::new(state.built_rows, seed),
            hot_set,
        }
    }

    /// What to keep for the next run. Call it only when nothing is under way.
    #[must_use]
    pub fn state(&self) -> PopulationState {
        PopulationState {
            built_rows: self.built_rows,
            next_row: self.next_row,
            deletes: self.deletes,
        }
    }

    /// Rows below this number have been inserted for good.
    #[must_use]
    pub fn settled_rows(&self) -> u64 {
        self.arriving.first().copied().unwrap_or(self.next_row)
    }

    /// Takes the number of a row to insert. It must be settled or abandoned later.
    pub fn begin_insert(&mut self) -> u64 {
        let row = self.next_row;
        self.next_row += 1;
        self.arriving.insert(row);
        row
    }

    /// Says that the insert of `row` is committed.
    pub fn settle_insert(&mut self, row: u64) {
        assert!(self.arriving.remove(&row), "row {row} is not arriving");
    }

    /// Says that `row` is not inserted after all.
    pub fn give_up_insert(&mut self, row: u64) {
        assert!(self.arriving.remove(&row), "row {row} is not arriving");
        if self.absent.len() < MOST_ABSENT {
            self.absent.insert(row);
        } else {
            self.has_more_absent = true;
        }
    }

    /// Whether every insert that has begun was committed.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.arriving.is_empty() && self.absent.is_empty()
    }

    /// Whether it is in order that `row` is not found.
    #[must_use]
    pub fn may_be_missing(&self, row: u64) -> bool {
        self.is_deleted(row) || self.absent.contains(&row) || self.has_more_absent
    }

    /// Takes the next row to delete. It counts as deleted from now on; `None` when every row that
    /// could be deleted has been.
    pub fn begin_delete(&mut self) -> Option<u64> {
        let row = self.row_of_delete(self.deletes);
        if row >= self.settled_rows() {
            return None;
        }
        self.deletes += 1;
        Some(row)
    }

    /// The row that the delete with this number takes, counted from 0.
    #[must_use]
    pub fn row_of_delete(&self, number: u64) -> u64 {
        let turn = number / self.built_rows;
        turn * self.built_rows + self.delete_order.at(number % self.built_rows)
    }

    /// The number that the next inserted row gets when so many deletes are done: not below that of a
    /// row that one of them took.
    #[must_use]
    pub fn next_row_after_deletes(&self, deletes: u64) -> u64 {
        // Earlier turns took all rows below this one.
        let turn = deletes / self.built_rows * self.built_rows;
        if self.next_row >= turn + self.built_rows {
            return self.next_row;
        }
        let rows = (turn..deletes).map(|number| self.row_of_delete(number) + 1);
        rows.fold(self.next_row.max(turn), u64::max)
    }

    /// Whether a delete of `row` has begun.
    #[must_use]
    pub fn is_deleted(&self, row: u64) -> bool {
        let (turn, member) = (row / self.built_rows, row % self.built_rows);
        match turn.cmp(&(self.deletes / self.built_rows)) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => {
                self.delete_order.position_of(member) < self.deletes % self.built_rows
            }
        }
    }

    /// An existing row, all alike likely unless there is a hot set; `None` when none is left.
    pub fn pick(&self, rng: &mut SeededRng) -> Option<u64> {
        let settled = self.settled_rows();
        for _ in 0..DRAWS {
            let row = self.draw(settled, rng);
            if !self.is_deleted(row) && !self.absent.contains(&row) {
                return Some(row);
            }
        }
        None
    }

    fn draw(&self, settled: u64, rng: &mut SeededRng) -> u64 {
        let Some(hot) = self.hot_set else {
            return rng.below(settled);
        };
        let hot_rows = (settled as f64 * hot.rows_fraction) as u64;
        let hot_rows = hot_rows.clamp(1, settled);
        if hot_rows == settled || rng.happens(hot.accesses_fraction) {
            settled - hot_rows + rng.below(hot_rows)
        } else {
            rng.below(settled - hot_rows)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn fresh(built_rows: u64, hot_set: Option<HotSet>) -> Population {
        let state = PopulationState {
            built_rows,
            next_row: built_rows,
            deletes: 0,
        };
        Population::new(state, 4, hot_set)
    }

    proptest! {
        #[test]
        fn it_agrees_with_a_list_of_rows(
            built_rows in 1_u64..200, steps in prop::collection::vec(0_u8..4, 1..600), seed: u64,
        ) {
            let mut population = fresh(built_rows, None);
            let mut list: BTreeSet<u64> = (0..built_rows).collect();
            let mut arriving = Vec::new();
            let mut rng = SeededRng::new(seed, 0);
            for step in steps {
                match step {
                    0 => arriving.push(population.begin_insert()),
                    1 if !arriving.is_empty() => {
                        let at = rng.below(arriving.len() as u64) as usize;
                        let row = arriving.swap_remove(at);
                        population.settle_insert(row);
                        list.insert(row);
                    }
                    2 => if let Some(row) = population.begin_delete() {
                        prop_assert!(list.remove(&row), "row {} is deleted twice", row);
                    },
                    _ => if let Some(row) = population.pick(&mut rng) {
                        prop_assert!(list.contains(&row));
                    },
                }
            }
            for row in 0..population.settled_rows() {
                prop_assert_eq!(population.is_deleted(row), !list.contains(&row));
            }
            let state = population.state();
            let reopened = Population::new(state, 4, None);
            prop_assert_eq!(reopened.state(), state);
        }
    }

    #[test]
    fn rows_that_were_not_inserted_are_neither_picked_nor_missed() {
        let mut population = fresh(10, None);
        let (given_up, settled) = (population.begin_insert(), population.begin_insert());
        assert!(!population.is_settled());
        population.give_up_insert(given_up);
        population.settle_insert(settled);
        assert_eq!(population.settled_rows(), settled + 1);
        assert!(population.may_be_missing(given_up) && !population.may_be_missing(settled));
        let mut rng = SeededRng::new(1, 1);
        let picked: BTreeSet<_> = (0..1_000)
            .filter_map(|_| population.pick(&mut rng))
            .collect();
        assert!(picked.contains(&settled) && !picked.contains(&given_up));
        // The rows have to be counted again before the next run.
        assert!(!population.is_settled());
    }

    #[test]
    fn rows_are_picked_evenly() {
        let mut population = fresh(100, None);
        for _ in 0..40 {
            population.begin_delete();
        }
        let mut counts = [0_u32; 100];
        let mut rng = SeededRng::new(1, 1);
        for _ in 0..60_000 {
            counts[population.pick(&mut rng).unwrap() as usize] += 1;
        }
        let alive: Vec<u32> = counts.into_iter().filter(|&count| count > 0).collect();
        assert_eq!(alive.len(), 60);
        // 1,000 each; five standard deviations are 158.
        assert!(
            alive.iter().all(|count| (840..1160).contains(count)),
            "{alive:?}"
        );
    }

    #[test]
    fn the_hot_set_gets_its_share() {
        let hot = HotSet {
            rows_fraction: 0.1,
            accesses_fraction: 0.8,
        };
        let population = fresh(1_000, Some(hot));
        let mut rng = SeededRng::new(2, 2);
        let hits = (0..100_000)
            .filter(|_| population.pick(&mut rng) >= Some(900))
            .count();
        assert!((79_400..80_600).contains(&hits), "{hits}");
    }

    #[test]
    fn deleting_more_than_there_is_ends() {
        let mut population = fresh(10, None);
        assert_eq!(
            (0..20).filter_map(|_| population.begin_delete()).count(),
            10
        );
        assert_eq!(population.pick(&mut SeededRng::new(0, 0)), None);
    }
}
