//! Which rows a database holds after a run on it was interrupted.
//!
//! The state file says which rows there were when the run began. The engine's recovery keeps the
//! transactions of that run up to some commit, and none behind it. Two numbers are to be found again:
//! the row that the next insert makes, and how many deletes have been done.
//!
//! Inserts are easy: every message with a number above that of the last one before the run was
//! inserted in it, and says which row it is. Rows between them whose inserts were under way are
//! missing; they are inserted now, so that all rows below the next one exist.
//!
//! Deletes leave nothing behind, but take rows in a known order. No more changes were under way than
//! [`InFlight`] says. So of twice that many and one more rows in that order most are gone if deletes
//! went beyond all of them, and most are there if they did not reach the first; halving the distance
//! finds the place. A row that the run inserted and deleted again looks like one whose insert was under
//! way. Of the numbers of deletes that are possible, the one counts that needs the fewest changes
//! under way to explain what is there.

use super::item::ItemMaker;
use super::population::{Population, PopulationState};
use super::store::{Commit, LongValues, MailStore, MessageNumber, StoreError};
use runtime::Handle;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use workload::failure::{Failure, FailureKind};

/// Messages read in one step.
const MESSAGES: u32 = 512;
/// Rows looked up at once.
const LOOK_UPS: usize = 32;
/// Missing rows inserted in one transaction.
const INSERTS: usize = 64;

/// The most rows that transactions under way at one moment insert or delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct InFlight(pub u64);

/// Counts the rows of one database again.
pub struct Recount<'a, S: MailStore> {
    /// The database, recovered and open.
    pub store: &'a S,
    /// The runtime, for its clock and tasks.
    pub handle: &'a Handle,
    /// How items are made.
    pub maker: &'a ItemMaker,
    /// Seed of the order of deletes.
    pub seed: u64,
    /// The bound of what was under way when the run was interrupted.
    pub in_flight: InFlight,
}

/// What inserts have left.
struct Inserted {
    next_row: u64,
    /// Rows below the next one that are not there and were before the run.
    missing: BTreeSet<u64>,
}

impl<S: MailStore> Recount<'_, S> {
    /// Finds the rows that there are, given those before the run that was interrupted, and inserts those
    /// that are missing between them.
    ///
    /// # Errors
    /// As the storage fails.
    pub async fn count(&self, before: PopulationState) -> Result<PopulationState, Failure> {
        let counted = self.try_count(before).await;
        counted.map_err(|error| match error {
            StoreError::Failed(failure) => failure,
            StoreError::Conflict | StoreError::VersionsFull => Failure::new(
                FailureKind::Internal,
                self.store.name(),
                "counting the rows again",
                "a transaction that is alone met another",
            ),
        })
    }

    async fn try_count(&self, before: PopulationState) -> Result<PopulationState, StoreError> {
        let mut inserted = self.inserted(before).await?;
        let after = PopulationState {
            next_row: inserted.next_row,
            ..before
        };
        let deletes = self.deletes(after, &inserted.missing).await?;
        let next_row = Population::new(after, self.seed, None).next_row_after_deletes(deletes);
        inserted.missing.extend(after.next_row..next_row);
        let after = PopulationState {
            next_row,
            deletes,
            ..after
        };
        let population = Population::new(after, self.seed, None);
        let absent = inserted.missing.into_iter();
        let absent: Vec<u64> = absent.filter(|&row| !population.is_deleted(row)).collect();
        for rows in absent.chunks(INSERTS) {
            let mut transaction = self.store.begin();
            for &row in rows {
                let item = self.maker.first(row);
                self.store.insert(&mut transaction, &item).await?;
            }
            self.store.commit(transaction, Commit::Durable).await?;
        }
        Ok(after)
    }

    /// Reads all messages of the run that was interrupted.
    async fn inserted(&self, before: PopulationState) -> Result<Inserted, StoreError> {
        let mut next_row = before.next_row;
        let mut missing = BTreeSet::new();
        let mut from = self.first_message(before).await?;
        loop {
            let messages = self.messages(from, MESSAGES).await?;
            for &(_, row) in &messages {
                // Transactions commit in another order than they took their rows.
                missing.extend(next_row..row);
                next_row = next_row.max(row + 1);
                missing.remove(&row);
            }
            match messages.last() {
                Some(&(last, _)) => from = last + 1,
                None => return Ok(Inserted { next_row, missing }),
            }
        }
    }

    /// A number above all messages that there were before the run, and not above those of the run.
    async fn first_message(&self, before: PopulationState) -> Result<MessageNumber, StoreError> {
        // A message of the run has a larger number than all before it, and a row that was next.
        let (mut low, mut step) = (before.built_rows as MessageNumber, 1024);
        while !self.is_of_run(low + step, before).await? {
            low += step;
            step *= 2;
        }
        let mut high = low + step;
        while high - low > 1 {
            let middle = low + (high - low) / 2;
            if self.is_of_run(middle, before).await? {
                high = middle;
            } else {
                low = middle;
            }
        }
        Ok(high)
    }

    /// Whether the first message from `from` on, if there is one, was inserted in the run.
    async fn is_of_run(
        &self,
        from: MessageNumber,
        before: PopulationState,
    ) -> Result<bool, StoreError> {
        let messages = self.messages(from, 1).await?;
        Ok(messages.iter().all(|&(_, row)| row >= before.next_row))
    }

    async fn messages(
        &self,
        from: MessageNumber,
        limit: u32,
    ) -> Result<Vec<(MessageNumber, u64)>, StoreError> {
        let mut transaction = self.store.begin();
        let messages = self.store.messages(&mut transaction, from, limit).await?;
        self.store.roll_back(transaction).await?;
        Ok(messages)
    }

    /// The number of deletes that have been done.
    async fn deletes(
        &self,
        after: PopulationState,
        missing: &BTreeSet<u64>,
    ) -> Result<u64, StoreError> {
        let population = Population::new(after, self.seed, None);
        let mut low = after.deletes;
        let (mut high, mut step) = (low, self.window());
        while self.is_passed(high, &population).await? {
            low = high;
            high += step;
            step *= 2;
        }
        while high - low > self.window() {
            let middle = low + (high - low) / 2;
            if self.is_passed(middle, &population).await? {
                low = middle;
            } else {
                high = middle;
            }
        }
        // The last delete lies between the first of these rows and the last.
        let mut deletes: Vec<Delete> = deletes_from(low, &population)
            .take_while(|delete| delete.number < high)
            .collect();
        deletes.extend(deletes_from(high, &population).take(self.window() as usize));
        let rows: Vec<u64> = deletes.iter().map(|delete| delete.row).collect();
        let present = self.present(&rows).await?;
        Ok(deletes_done(low, &deletes, &present, missing))
    }

    /// So many rows that those of transactions under way are the smaller part, both those not
    /// deleted yet and those not inserted yet.
    fn window(&self) -> u64 {
        2 * self.in_flight.0 + 1
    }

    /// Whether some of the deletes from this number on have been done. If not, not all of the next ones
    /// have, of rows that may be there.
    async fn is_passed(&self, number: u64, population: &Population) -> Result<bool, StoreError> {
        let deletes = deletes_from(number, population).take(self.window() as usize);
        let rows: Vec<u64> = deletes.map(|delete| delete.row).collect();
        let (mut there, mut gone) = (0, 0);
        for batch in rows.chunks(LOOK_UPS) {
            for present in self.present(batch).await? {
                *(if present { &mut there } else { &mut gone }) += 1;
            }
            if there.max(gone) > self.in_flight.0 {
                break;
            }
        }
        Ok(gone > self.in_flight.0)
    }

    /// Which of these rows there are.
    async fn present(&self, rows: &[u64]) -> Result<Vec<bool>, StoreError> {
        let mut present = Vec::with_capacity(rows.len());
        for batch in rows.chunks(LOOK_UPS) {
            let look_ups = batch.iter().map(|&row| {
                let (store, at) = (self.store.clone(), self.maker.address(row));
                self.handle.spawn(async move {
                    let mut transaction = store.begin();
                    let found = store.find(&mut transaction, at, LongValues::Leave).await;
                    store.roll_back(transaction).await?;
                    found.map(|found| found.is_some())
                })
            });
            // All are begun before the first is waited for.
            let look_ups: Vec<_> = look_ups.collect();
            for look_up in look_ups {
                present.push(look_up.await?);
            }
        }
        Ok(present)
    }
}

/// A place in the order of deletes.
#[derive(Clone, Copy)]
struct Delete {
    number: u64,
    row: u64,
}

/// The deletes from a number on, of rows below the next one: that others were ever there is not known.
fn deletes_from(number: u64, population: &Population) -> impl Iterator<Item = Delete> {
    let PopulationState {
        built_rows,
        next_row,
        ..
    } = population.state();
    let end = next_row.next_multiple_of(built_rows);
    let all = (number..end).map(|number| Delete {
        number,
        row: population.row_of_delete(number),
    });
    all.filter(move |delete| delete.row < next_row)
}

/// The number of deletes done, of those from `low` on that may have been. A row that is there may be
/// one whose delete was under way; one that is missing, one whose insert was.
fn deletes_done(low: u64, deletes: &[Delete], present: &[bool], missing: &BTreeSet<u64>) -> u64 {
    let mut under_way = 0_i64;
    let (mut best, mut fewest) = (low, 0);
    for (delete, &present) in deletes.iter().zip(present) {
        let is_sure = !present && !missing.contains(&delete.row);
        under_way += if present { 1 } else { -1 };
        if is_sure || under_way < fewest {
            (best, fewest) = (delete.number + 1, under_way);
        }
    }
    best
}
