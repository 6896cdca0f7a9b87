//! Rows are counted again after runs that were interrupted at any point.

use super::content::ContentSource;
use super::item::ItemMaker;
use super::keys::RowKeys;
use super::population::{Population, PopulationState};
use super::recount::{InFlight, Recount};
use super::store::{Commit, LongValues, MailStore};
use super::test_store::{TestDisk, TestStore};
use proptest::prelude::*;
use runtime::Runtime;
use runtime::trace::NoObserver;
use std::ops::Range;
use std::rc::Rc;
use workload::random::SeededRng;

const DISK: TestDisk = TestDisk {
    servers: 64,
    service_ns: 1_000,
    reads_per_operation: 1,
};
const SEED: u64 = 11;

/// A change that a session is at.
#[derive(Clone, Copy)]
enum Change {
    Insert(u64),
    Delete(u64),
}

struct Work {
    store: TestStore,
    maker: ItemMaker,
    population: Population,
    under_way: Vec<Change>,
    rng: SeededRng,
}

impl Work {
    /// Begins changes and commits them in any order, at most `most` under way at a time.
    async fn go_on(&mut self, steps: usize, most: usize, insert_share: f64) {
        for _ in 0..steps {
            if self.under_way.len() < most && self.rng.happens(0.6) {
                if self.rng.happens(insert_share) {
                    let row = self.population.begin_insert();
                    self.under_way.push(Change::Insert(row));
                } else if let Some(row) = self.population.begin_delete() {
                    self.under_way.push(Change::Delete(row));
                }
            } else {
                self.commit_one().await;
            }
        }
    }

    async fn commit_one(&mut self) {
        let count = self.under_way.len() as u64;
        if count == 0 {
            return;
        }
        let change = self.under_way.swap_remove(self.rng.below(count) as usize);
        let mut transaction = self.store.begin();
        match change {
            Change::Insert(row) => {
                let item = self.maker.first(row);
                self.store.insert(&mut transaction, &item).await.unwrap();
                self.population.settle_insert(row);
            }
            Change::Delete(row) => {
                let at = self.maker.address(row);
                let found = self.store.find(&mut transaction, at, LongValues::Leave);
                let (message, _) = found.await.unwrap().expect("a row to delete");
                self.store.delete(&mut transaction, message).await.unwrap();
            }
        }
        let committed = self.store.commit(transaction, Commit::Durable);
        committed.await.unwrap();
    }
}

/// Rows up to `next_row` that exist.
async fn existing(store: &TestStore, maker: &ItemMaker, next_row: u64) -> Vec<bool> {
    let mut existing = Vec::new();
    for row in 0..next_row {
        let mut transaction = store.begin();
        let at = maker.address(row);
        let found = store.find(&mut transaction, at, LongValues::Leave);
        existing.push(found.await.unwrap().is_some());
    }
    existing
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn every_row_that_counts_is_there(
        built_rows in 3_u64..60, seed: u64, before in 0_usize..300, after in 0_usize..700,
        most in 1_usize..9, insert_share in 0.02_f64..0.9,
    ) {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let (next_row, exist, left) = runtime.block_on(async move {
            let maker = ItemMaker {
                keys: RowKeys::new(built_rows, SEED),
                content: ContentSource::new(SEED, 0, 0.5),
                short_bytes: 8,
                long_bytes: 8,
                is_indexed: true,
                mailboxes: 1,
                with_contents: true,
            };
            let items = maker.clone();
            let items = (0..built_rows).map(move |row| items.first(row));
            let store = TestStore::new(&handle, DISK, Rc::new(NoObserver), 0, items);
            let fresh = PopulationState { built_rows, next_row: built_rows, deletes: 0 };
            let mut work = Work {
                store: store.clone(),
                maker: maker.clone(),
                population: Population::new(fresh, SEED, None),
                under_way: Vec::new(),
                rng: SeededRng::new(seed, 0),
            };
            work.go_on(before, most, insert_share).await;
            while !work.under_way.is_empty() {
                work.commit_one().await;
            }
            let closed = work.population.state();
            work.go_on(after, most, insert_share).await;
            let recount = Recount {
                store: &store,
                handle: &handle,
                maker: &maker,
                seed: SEED,
                in_flight: InFlight(most as u64),
            };
            let counted = recount.count(closed).await.expect("a count");
            let population = Population::new(counted, SEED, None);
            let exist = existing(&store, &maker, counted.next_row + 20).await;
            let deleted = |rows: Range<u64>| -> Vec<bool> {
                rows.map(|row| population.is_deleted(row)).collect()
            };
            let next_row = counted.next_row;
            let left = (deleted(0..next_row), deleted(next_row..next_row + 20));
            (next_row, exist, left)
        });
        let mut leaked = 0;
        for (row, &deleted) in left.0.iter().enumerate() {
            prop_assert!(deleted || exist[row], "row {} is gone and not known to be", row);
            leaked += usize::from(deleted && exist[row]);
        }
        prop_assert!(leaked <= most, "{} rows are there and not known", leaked);
        prop_assert!(exist[next_row as usize..].iter().all(|exists| !exists));
        prop_assert!(left.1.iter().all(|deleted| !deleted), "a row to come counts as deleted");
    }
}
