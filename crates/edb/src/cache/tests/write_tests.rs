//! When and how dirty pages reach the disk.

use super::{Bench, small_settings};
use crate::cache::CacheError;
use crate::position::{LogPosition, PageNumber};
use config::ByteSize;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::Runtime;
use runtime::time::{MILLISECOND_NS, SECOND_NS};

const KIB: u64 = 1024;
const MIB: u64 = 1024 * KIB;

#[test]
fn write_back_keeps_the_depth_and_absorbs_repeated_changes() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let settings = small_settings(2000);
        let depth = settings.engine.checkpoint_depth.bytes();
        let bench = Bench::new(&handle, &settings, 2 * MILLISECOND_NS);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        // 1.6 MiB of log per second, 4 KiB a change, over pages that all fit into the cache.
        let mut most_lag = 0;
        for change in 0..40_000_u64 {
            let page = random.random_range(1..=1000);
            bench.change(page, 4 * KIB).await;
            bench.handle.sleep_ns(2_500_000).await;
            if change > 20_000 {
                let oldest = bench.cache.oldest_change().expect("pages are dirty");
                most_lag = most_lag.max(bench.log.end.get() - oldest.0);
            }
        }
        assert!(
            most_lag > depth,
            "pages wait as long as the depth lets them: {most_lag}"
        );
        assert!(
            most_lag <= depth * 5 / 4 + 2 * MIB,
            "the lag is {most_lag}, the depth {depth}"
        );
        let statistics = bench.cache.statistics();
        let dirtied = statistics.pages_written - statistics.bridge_pages;
        assert!(
            dirtied < 40_000 / 4,
            "{dirtied} pages written for 40,000 changes"
        );
        assert_eq!(
            bench.disk.most_writes_at_once.get(),
            1,
            "one write at a time is enough"
        );
        assert_eq!(statistics.page_fault_stalls, 0);
    });
}

#[test]
fn urgency_rises_when_writing_falls_behind() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let settings = small_settings(20_000);
        let bench = Bench::new(&handle, &settings, 10 * MILLISECOND_NS);
        let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut most_lag = 0;
        for change in 0..60_000_u64 {
            // Pages far apart: nothing to coalesce. 20 MiB of log per second.
            let page = random.random_range(1..=15_000) * 100;
            bench.change(page, 20 * KIB).await;
            bench.handle.sleep_ns(900_000).await;
            if change > 30_000 {
                let oldest = bench.cache.oldest_change().expect("pages are dirty");
                most_lag = most_lag.max(bench.log.end.get() - oldest.0);
            }
        }
        assert!(
            bench.disk.most_writes_at_once.get() > 4,
            "more writes at once"
        );
        let relaxed = settings.engine.checkpoint_depth.bytes() * 5 / 4;
        assert!(most_lag < relaxed + 63 * MIB, "the lag is {most_lag}");
    });
}

async fn dirty(bench: &Bench, pages: &[u32]) {
    for &page in pages {
        bench.change(page, 100).await;
    }
}

#[test]
fn neighbours_go_along_and_clean_pages_only_as_bridges() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let mut settings = small_settings(200);
        settings.engine.coalesce_write_gap = ByteSize::kib(2 * 32);
        settings.engine.max_coalesced_write = ByteSize::kib(8 * 32);
        let bench = Bench::new(&handle, &settings, 1000);
        for page in 1..=40 {
            drop(bench.cache.fetch(PageNumber(page)).await);
        }
        // 10 and 13 are joined over two clean pages; 17 is three away from 13, so it is not.
        dirty(&bench, &[13, 10, 17, 30]).await;
        bench.cache.flush_all().await.expect("writable");
        let mut writes = bench.disk.writes.take();
        writes.sort_unstable();
        assert_eq!(writes, [(10, 4), (17, 1), (30, 1)]);
        assert_eq!(bench.cache.statistics().bridge_pages, 2);
        // Twenty dirty neighbours: requests of at most eight pages.
        dirty(&bench, &(1..=20).collect::<Vec<_>>()).await;
        bench.cache.flush_all().await.expect("writable");
        let writes = bench.disk.writes.take();
        assert!(writes.iter().all(|&(_, pages)| pages <= 8), "{writes:?}");
        assert_eq!(writes.iter().map(|&(_, pages)| pages).sum::<u32>(), 20);
        assert_eq!(bench.cache.statistics().dirty_pages, 0);
        assert_eq!(bench.cache.oldest_change(), None);
    });
}

#[test]
fn no_page_is_written_before_its_log() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let bench = Bench::new(&handle, &small_settings(100), 1000);
        let held = bench.cache.fetch(PageNumber(7)).await.expect("readable");
        held.change(LogPosition(MIB), LogPosition(MIB + 50), |()| ());
        // A log that does not become durable by itself holds the page back.
        bench.log.end.set(100 * MIB);
        bench.handle.sleep_ns(30 * MILLISECOND_NS).await;
        bench.handle.sleep_ns(SECOND_NS * 2).await;
        assert_eq!(
            bench.log.durable.get(),
            MIB + 50,
            "the flusher asks for no more than it needs"
        );
        assert_eq!(bench.disk.writes.take(), [(7, 1)]);
        assert!(!held.is_dirty());
    });
}

#[test]
fn a_change_during_a_write_keeps_the_page_dirty() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let bench = Bench::new(&handle, &small_settings(100), 5 * MILLISECOND_NS);
        bench.change(3, 100).await;
        let first = bench.cache.oldest_change();
        let cache = bench.cache.clone();
        let flush = bench.handle.spawn(async move { cache.flush_all().await });
        bench.handle.sleep_ns(MILLISECOND_NS).await;
        assert!(bench.cache.is_writing(PageNumber(3)));
        bench.change(3, 100).await;
        assert_eq!(
            bench.cache.oldest_change(),
            first,
            "the first change is not yet on the disk"
        );
        flush.await.expect("writable");
        let second = bench.cache.oldest_change();
        assert_eq!(
            second.map(|position| position.0),
            first.map(|position| position.0 + 100)
        );
        assert_eq!(
            bench.cache.statistics().copies,
            1,
            "the change went into a copy"
        );
    });
}

#[test]
fn a_failed_write_stops_the_cache_for_good() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let bench = Bench::new(&handle, &small_settings(100), 1000);
        bench.change(9, 100).await;
        bench.disk.fail_writes.set(true);
        let failure = bench.cache.flush_all().await.expect_err("the write fails");
        let named = matches!(&failure, CacheError::Poisoned(error) if error.page == PageNumber(9));
        assert!(named, "{failure}");
        bench.disk.fail_writes.set(false);
        assert_eq!(
            bench
                .cache
                .fetch(PageNumber(50))
                .await
                .expect_err("stopped"),
            failure
        );
        assert_eq!(bench.cache.flush_all().await.expect_err("stopped"), failure);
        assert!(failure.to_string().contains("test.edb"), "{failure}");
    });
}

#[test]
fn a_cache_full_of_dirty_pages_stalls_and_goes_on() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let bench = Bench::new(&handle, &small_settings(64), 20 * MILLISECOND_NS);
        let mut tasks = Vec::new();
        for task in 0..8_u32 {
            let cache = bench.cache.clone();
            let log = std::rc::Rc::clone(&bench.log);
            tasks.push(bench.handle.spawn(async move {
                for step in 0..100 {
                    let page = PageNumber(1 + (task * 100 + step) * 7);
                    let held = cache.fetch(page).await.expect("readable");
                    let begin = LogPosition(log.end.get());
                    log.end.set(begin.0 + 10);
                    held.change(begin, LogPosition(begin.0 + 10), |()| ());
                    let statistics = cache.statistics();
                    assert!(statistics.resident_pages <= statistics.capacity_pages);
                }
            }));
        }
        for task in tasks {
            task.await;
        }
        let statistics = bench.cache.statistics();
        assert!(statistics.page_fault_stalls > 0 && statistics.scavenge_writes > 0);
        assert_eq!(statistics.overcommits, 0);
        bench.cache.flush_all().await.expect("writable");
        assert_eq!(bench.cache.statistics().dirty_pages, 0);
    });
}

#[test]
fn dirty_pages_leave_in_a_stream_and_not_in_bursts() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        // Marks at 80 and 160 free frames. Every page that leaves is dirty, nearly 3,000 a
        // second, and a write takes 5 ms: 15 have to be under way all the time.
        let bench = Bench::new(&handle, &small_settings(8000), 5 * MILLISECOND_NS);
        let mut stalls = 0;
        for step in 0..40_000_u32 {
            dirty(&bench, &[1 + step * 7]).await;
            bench.log.durable.set(bench.log.end.get());
            bench.handle.sleep_ns(250_000).await;
            if step == 10_000 {
                stalls = bench.cache.statistics().page_fault_stalls;
                bench.disk.most_writes_at_once.set(0);
            }
        }
        let most = bench.disk.most_writes_at_once.get();
        assert!((10..=120).contains(&most), "{most} writes at once");
        assert_eq!(bench.cache.statistics().page_fault_stalls, stalls);
    });
}

#[test]
fn prereads_are_few_requests_and_shared() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let mut settings = small_settings(200);
        settings.engine.coalesce_read_gap = ByteSize::kib(32);
        let bench = Bench::new(&handle, &settings, 1000);
        drop(bench.cache.fetch(PageNumber(4)).await);
        bench.disk.reads.take();
        let pages = [1, 2, 3, 5, 6, 20, 22, 40].map(PageNumber);
        bench.cache.preread(pages.to_vec());
        let held = bench.cache.fetch(PageNumber(22)).await.expect("readable");
        drop(held);
        bench.handle.sleep_ns(MILLISECOND_NS).await;
        let mut reads = bench.disk.reads.take();
        reads.sort_unstable();
        assert_eq!(reads, [(1, 6), (20, 3), (40, 1)]);
        let statistics = bench.cache.statistics();
        assert_eq!(
            (statistics.preread_pages, statistics.preread_gap_pages),
            (8, 2)
        );
        assert!(
            bench.cache.get(PageNumber(21)).is_none(),
            "a gap is thrown away"
        );
        assert_eq!(statistics.reads, 1, "only page 4 was read by itself");
    });
}

#[test]
fn damage_met_by_reading_ahead_is_reported_though_nobody_waits() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let bench = Bench::new(&handle, &small_settings(200), 1000);
        bench.disk.bad_page.set(Some(21));
        bench.cache.preread([20, 22].map(PageNumber).to_vec());
        bench.handle.sleep_ns(MILLISECOND_NS).await;
        // What lies between wanted pages is nobody's business.
        assert_eq!(bench.cache.take_preread_damage(), []);
        bench.cache.preread([20, 21, 23].map(PageNumber).to_vec());
        bench.handle.sleep_ns(MILLISECOND_NS).await;
        let damage = bench.cache.take_preread_damage();
        let pages: Vec<PageNumber> = damage.iter().map(|error| error.page).collect();
        assert_eq!(pages, [PageNumber(21)]);
        bench.cache.fetch(PageNumber(21)).await.unwrap_err();
    });
}
