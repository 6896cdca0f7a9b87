//! Concurrent sessions against the model, and the same run twice.

use super::common::*;
use crashtest::model::State;
use crashtest::reading::{equals, read_all};
use crashtest::sessions::TestDatabase;
use runtime::Runtime;
use runtime::simulated::{SimulatedDisk, SimulatedOptions};

/// Runs sessions to the end; returns what identifies the run.
fn run(seed: u64, page_bytes: usize, images: bool) -> u64 {
    println!("seed {seed}, pages of {page_bytes} bytes, images: {images}");
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(seed));
        let settings = small_settings(page_bytes);
        let settings = if images {
            with_images(&settings)
        } else {
            settings
        };
        let db = create(&handle, &disk, &settings).await;
        let table = db.create_table(&messages()).await.unwrap();
        let world = TestDatabase::new(&handle, db.clone(), table.clone(), State::new(), seed);
        let errors = world.run(seed, 6, 60).await;
        assert_eq!(errors, []);
        let rows = read_all(&db, &table).await.unwrap();
        assert!(
            equals(&rows, &world.model.borrow().state),
            "rows differ from the model"
        );
        db.close().await.unwrap();
        let (db, report) = open(&handle, &disk, &settings).await.unwrap();
        assert!(report.was_clean);
        let table = db.table("messages").unwrap();
        let rows = read_all(&db, &table).await.unwrap();
        assert!(
            equals(&rows, &world.model.borrow().state),
            "rows differ after reopening"
        );
        let trace = world.model.borrow().trace();
        db.close().await.unwrap();
        trace ^ handle.now_ns() ^ disk.request_count() << 32
    })
}

#[test]
fn sessions_see_what_their_snapshots_promise() {
    for seed in 0..24 {
        let page_bytes = [4096, 8192, 32_768][seed as usize % 3];
        run(seed, page_bytes, seed % 2 == 1);
    }
}

#[test]
fn two_runs_with_one_seed_are_the_same_run() {
    for seed in 100..103 {
        assert_eq!(
            run(seed, 4096, false),
            run(seed, 4096, false),
            "seed {seed}"
        );
    }
    assert_ne!(
        run(100, 4096, false),
        run(101, 4096, false),
        "seeds make a difference"
    );
}
