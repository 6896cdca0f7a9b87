//! Sessions on a store in memory.

use super::content::ContentSource;
use super::item::{Item, ItemMaker};
use super::keys::RowKeys;
use super::operation::Operation;
use super::population::{Population, PopulationState};
use super::session::{MailDatabase, MailDatabaseParts, SessionSettings, layout};
use super::test_store::{TestDisk, TestStore};
use measure::sample::{OperationMeter, Phase, Recorder, ShardSample};
use runtime::Runtime;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use workload::controller::host::LoadedDatabase;
use workload::controller::observer::CountingObserver;
use workload::controller::pending_errors::PendingErrors;
use workload::failure::{Failure, FailureKind};

const DISK: TestDisk = TestDisk {
    servers: 4,
    service_ns: 1_000_000,
    reads_per_operation: 2,
};

fn settings() -> SessionSettings {
    SessionSettings {
        mix: vec![
            (Operation::Insert, 40.0),
            (Operation::Delete, 20.0),
            (Operation::Replace, 5.0),
            (Operation::Read, 34.0),
            (Operation::Scan, 1.0),
        ],
        operations_per_transaction: 1,
        lazy_fraction: 0.7,
        lazy_within_ms: 1000,
        replace_long: true,
        read_long: false,
        read_by_index_fraction: 0.5,
        scan_items: 10,
        scan_long: false,
        scan_read_ahead: true,
        read_ahead: false,
    }
}

struct Outcome {
    sample: ShardSample,
    store: TestStore,
    result: Result<(), Failure>,
}

/// Runs `transactions` transactions on a database of `rows` rows with 16 sessions.
fn run(
    rows: u64,
    transactions: u32,
    settings: SessionSettings,
    prepare: impl FnOnce(&TestStore) + 'static,
) -> Outcome {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let layout = Arc::new(layout(["one".to_owned()]));
        let recorder = Rc::new(RefCell::new(Recorder::new(layout, 0, Phase::Measured, 0)));
        let maker = ItemMaker {
            keys: RowKeys::new(rows, 9),
            content: ContentSource::new(9, 0, 0.0),
            short_bytes: 20,
            long_bytes: 50,
            is_indexed: true,
            mailboxes: 5,
            with_contents: true,
        };
        let items = (0..rows).map(|row| maker.first(row));
        let observer = Rc::new(CountingObserver::new(
            Rc::clone(&recorder),
            0,
            32_768,
            PendingErrors::default(),
        ));
        let store = TestStore::new(&handle, DISK, observer, 0, items);
        prepare(&store);
        let state = PopulationState {
            built_rows: rows,
            next_row: rows,
            deletes: 0,
        };
        let database = MailDatabase::new(MailDatabaseParts {
            store: store.clone(),
            handle: handle.clone(),
            settings,
            maker,
            population: Population::new(state, 9, None),
            recorder: Rc::clone(&recorder),
            index: 0,
            seed: 9,
        });
        let sessions: Vec<_> = (0..16)
            .map(|_| {
                let database = database.clone();
                handle.spawn(async move {
                    for _ in 0..transactions / 16 {
                        database.transact(None).await?;
                    }
                    Ok(())
                })
            })
            .collect();
        let mut result = Ok(());
        for session in sessions {
            result = result.and(session.await);
        }
        let sample = recorder.borrow_mut().take(handle.now_ns());
        Outcome {
            sample,
            store,
            result,
        }
    })
}

fn counts(sample: &ShardSample) -> Vec<u64> {
    let database = &sample.databases[0];
    let count = |index| database.operation(index).map_or(0, OperationMeter::count);
    (0..Operation::ALL.len() + 2).map(count).collect()
}

#[test]
fn the_mix_and_the_share_of_lazy_commits_are_exact() {
    let outcome = run(5_000, 16_000, settings(), |_| {});
    outcome.result.unwrap();
    let counts = counts(&outcome.sample);
    assert_eq!(counts[..5], [6400, 3200, 800, 5440, 160]);
    // 10,400 changing transactions, ten full decks and 400 cards of the eleventh.
    let (durable, lazy) = (counts[5], counts[6]);
    assert_eq!(durable + lazy, 10_400);
    assert!((7_200..=7_360).contains(&lazy), "{lazy}");
    let (lazy_seen, durable_seen) = outcome.store.commits();
    // A replacement of a row that has been deleted in the meantime changes nothing.
    assert!(lazy_seen + durable_seen <= 10_400 && lazy_seen + durable_seen > 10_350);
    assert_eq!(outcome.store.len(), 5_000 + 6_400 - 3_200);
}

#[test]
fn conflicts_are_made_again_and_counted_apart() {
    // Few rows and long transactions: sessions meet on the same rows all the time.
    let crowded = SessionSettings {
        mix: vec![(Operation::Replace, 90.0), (Operation::Read, 10.0)],
        operations_per_transaction: 4,
        ..settings()
    };
    let outcome = run(60, 1_600, crowded, |_| {});
    outcome.result.unwrap();
    let counts = counts(&outcome.sample);
    assert_eq!(
        (counts[2], counts[3]),
        (5_760 + counts[2] - 5_760, 6_400 - counts[2])
    );
    assert!((5_700..5_800).contains(&counts[2]), "{counts:?}");
    let replace = outcome.sample.databases[0]
        .operation(Operation::Replace as usize)
        .unwrap();
    assert!(replace.failures > 100, "{}", replace.failures);
}

#[test]
fn wrong_content_is_an_integrity_failure() {
    type Spoil = fn(&mut Item);
    let spoils: [(Spoil, &str); 2] = [
        (|item| item.short[3] ^= 1, "holds other bytes"),
        (|item| item.row += 1, "was asked for"),
    ];
    for (spoil, message) in spoils {
        let outcome = run(500, 1_600, settings(), move |store| store.spoil(spoil));
        let failure = outcome.result.unwrap_err();
        assert_eq!(failure.kind, FailureKind::Integrity);
        assert!(failure.error.contains(message), "{failure}");
    }
}

#[test]
fn a_failed_request_names_file_and_page() {
    let outcome = run(500, 1_600, settings(), |store| store.fail_after(300));
    let failure = outcome.result.unwrap_err();
    assert_eq!((failure.kind, failure.page), (FailureKind::Io, Some(7)));
    assert_eq!(failure.file, "/simulated/mail-001.edb");
}

#[test]
fn one_seed_gives_one_run() {
    let samples = [0, 1].map(|_| run(800, 3_200, settings(), |_| {}).sample);
    assert_eq!(samples[0], samples[1]);
}
