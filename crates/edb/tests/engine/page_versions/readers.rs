//! Pages that are read while they are written: no read raises a false alarm.

use super::*;

/// Writers and readers of the same pages at the same time, on a disk that takes its time.
async fn readers_beside_writers(handle: &Handle, seed: u64) {
    let options = SimulatedOptions {
        read_ns: 1_000..=3_000_000,
        write_ns: 1_000..=3_000_000,
        queue_depth: 16,
        ..SimulatedOptions::seeded(seed)
    };
    let disk = SimulatedDisk::new(handle, options);
    let file = disk.directory("d").create("a.edb").await.expect("created");
    let settings = small_settings(4096);
    let store = FileStore::new(handle, file, &settings, Rc::new(NoObserver));
    let range = range_of(seed as u32);
    store.versions().set_range(range, range.base);
    store.extend_to(8, IoCause::Build).await.expect("extended");
    let dbtime = Rc::new(std::cell::Cell::new(range.base));
    let mut tasks = Vec::new();
    for page in 1..=8_u32 {
        let (store, dbtime) = (store.clone(), Rc::clone(&dbtime));
        tasks.push(handle.spawn(async move {
            for _ in 0..25 {
                dbtime.set(dbtime.get() + 1);
                let bytes = page_of(page, dbtime.get(), 4096);
                let pages = vec![Rc::new(bytes)];
                let write = store.write(PageNumber(page), pages, IoCause::Database);
                write.await.expect("written");
            }
        }));
    }
    for reader in 0..6_u32 {
        let store = store.clone();
        tasks.push(handle.spawn(async move {
            for round in 0..25 {
                let first = 1 + (reader + round) % 5;
                let read = store.read(PageNumber(first), 4, IoCause::Maintenance);
                for result in read.await {
                    if let Err(error) = result {
                        assert!(error.is_never_written(), "false alarm: {error}");
                    }
                }
            }
        }));
    }
    for task in tasks {
        task.await;
    }
    assert_eq!(store.take_settled(), [], "seed {seed}");
}

#[test]
fn reads_beside_writes_raise_no_alarm() {
    for seed in 0..200 {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move { readers_beside_writers(&handle, seed).await });
    }
}

#[test]
fn both_versions_are_right_after_a_write_that_failed() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let mut bench = Bench::new(&handle, 4096, 5).await;
        let before = bench.newest(3);
        let fail = FaultEffect::Fail(runtime::IoFailure::Device("no answer".into()));
        bench
            .disk
            .set_fault(Fault::once(IoOperation::Write, 1, fail));
        bench.dbtime += 1;
        let after = page_of(3, bench.dbtime, 4096);
        let pages = vec![Rc::new(after.copied())];
        let write = bench.store.write(PageNumber(3), pages, IoCause::Database);
        write.await.expect_err("it fails");
        for bytes in [&before, &after, &before] {
            bench.put(3, bytes).await;
            bench.read(3).await.expect("either may be there");
        }
        let older = bench.history[2][0].copied();
        bench.put(3, &older).await;
        bench.expect(3, DamageClass::LostWrite).await;
        // The next write settles it.
        bench.write(3).await;
        bench.read(3).await.expect("the newest");
        bench.put(3, &after).await;
        bench.finding(3).await;
    });
}

#[test]
fn a_page_read_back_is_covered_until_it_is_written_again() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let mut bench = Bench::new(&handle, 4096, 5).await;
        let coverage = bench.store.versions().coverage();
        assert_eq!(coverage.written_pages, u64::from(PAGES));
        assert_eq!(coverage.never_read_back_pages, u64::from(PAGES));
        bench.expect_all_right().await;
        assert_eq!(bench.store.versions().coverage().never_read_back_pages, 0);
        bench.write(5).await;
        bench.write(5).await;
        bench.write(6).await;
        let coverage = bench.store.versions().coverage();
        assert_eq!(coverage.written_pages, u64::from(PAGES));
        assert_eq!(coverage.never_read_back_pages, 2);
        bench.handle.yield_now().await;
    });
}
