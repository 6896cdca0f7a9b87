//! The background scan reads everything from the disk, keeps its pace and names what is damaged.

use config::ByteSize;
use edb::cache::{Cache, PageError, WriteAhead};
use edb::format::page::{PageChange, PageFlags};
use edb::log::LocalFuture;
use edb::log::LogError;
use edb::maintenance::{MaintenanceScan, ScanTarget};
use edb::position::{LogPosition, PageNumber};
use edb::settings::{Engine, EngineSettings, Maintenance};
use edb::store::FileStore;
use runtime::time::SECOND_NS;
use runtime::{Buffer, Directory, File, IoCause, IoEvent, IoObserver, Persistence, Runtime};
use runtime::{SimulatedDisk, SimulatedOptions};
use std::cell::{Cell, RefCell};
use std::rc::Rc;

const PAGE: usize = 4096;
const PAGES: u32 = 200;

struct NoLog;

impl WriteAhead for NoLog {
    fn durable(&self) -> LogPosition {
        LogPosition(u64::MAX)
    }

    fn end(&self) -> LogPosition {
        LogPosition(u64::MAX)
    }

    fn request(&self, _position: LogPosition) {}

    fn make_durable(&self, _position: LogPosition) -> LocalFuture<'_, Result<(), LogError>> {
        Box::pin(async { Ok(()) })
    }
}

#[derive(Default)]
struct Target(RefCell<Vec<u32>>);

impl ScanTarget for Target {
    fn pages(&self) -> u32 {
        PAGES
    }

    fn damaged(&self, error: &PageError) {
        assert!(error.to_string().contains("test.edb"), "{error}");
        self.0.borrow_mut().push(error.page.0);
    }
}

#[derive(Default)]
struct Bytes(Cell<u64>);

impl IoObserver for Bytes {
    fn completed(&self, event: &IoEvent) {
        if event.cause == IoCause::Maintenance {
            self.0.set(self.0.get() + event.length_bytes);
        }
    }
}

#[test]
fn the_scan_verifies_the_disk_at_its_pace() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(3));
        let file = disk
            .directory("data")
            .create("test.edb")
            .await
            .expect("created");
        let settings = EngineSettings {
            engine: Engine {
                page_size: ByteSize(PAGE as u64),
                cache_size_per_database: ByteSize(100 * PAGE as u64),
                max_coalesced_read: ByteSize(16 * PAGE as u64),
                ..Engine::default()
            },
            maintenance: Maintenance {
                max_rate_per_second: Some(ByteSize(u64::from(PAGES) * PAGE as u64 / 2)),
                ..Maintenance::default()
            },
            ..EngineSettings::default()
        };
        let observer = Rc::new(Bytes::default());
        let store = FileStore::new(&handle, file.clone(), &settings, observer.clone());
        store
            .extend_to(PAGES, IoCause::Build)
            .await
            .expect("extended");
        let cache = Cache::new(&handle, &settings, store, Rc::new(NoLog));
        // A quarter of the pages is written; the cache keeps them.
        for page in (1..=PAGES / 4).map(PageNumber) {
            let held = cache.create(page);
            held.change(LogPosition(1), LogPosition(1), |bytes: &mut Buffer| {
                PageChange::new(bytes).format_new(page.0, 1, PageFlags::LEAF);
            });
        }
        cache.flush_all().await.expect("written");
        // The disk spoils a page that the cache holds.
        let spoilt = PageNumber(17).offset_bytes(PAGE);
        let mut bytes = Buffer::zeroed(PAGE);
        bytes[100..200].fill(0x55);
        let write = file.write(spoilt, Rc::new(bytes), Persistence::Durable);
        write.await.expect("written");
        assert!(cache.get(PageNumber(17)).is_some());

        let target = Rc::new(Target::default());
        let reported: Rc<dyn ScanTarget> = target.clone();
        let scan = MaintenanceScan::start(&handle, &settings, &cache, reported);
        handle.sleep_ns(20 * SECOND_NS).await;
        let statistics = scan.statistics();
        // Two seconds for a pass.
        assert!((9..=10).contains(&statistics.passes), "{statistics:?}");
        let damaged = target.0.take();
        assert!(damaged.iter().all(|&page| page == 17), "{damaged:?}");
        assert!(
            (9..=11).contains(&damaged.len()),
            "once in each pass: {}",
            damaged.len()
        );
        assert_eq!(statistics.damaged, damaged.len() as u64);
        assert!(observer.0.get() >= statistics.pages * PAGE as u64);
        assert!(
            cache.get(PageNumber(PAGES)).is_none(),
            "the scan leaves nothing in the cache"
        );
        drop(scan);
        handle.sleep_ns(SECOND_NS).await;
        let after = observer.0.get();
        handle.sleep_ns(5 * SECOND_NS).await;
        assert_eq!(observer.0.get(), after, "a dropped scan ends");
    });
}
