//! The database cache, the log and the checkpoint together, on a disk that loses power: whatever was
//! committed is there after redo, page by page, and nothing that was not logged.

#![allow(clippy::await_holding_refcell_ref)] // Nobody else looks at the history meanwhile.

use config::ByteSize;
use edb::cache::{Cache, CacheError};
use edb::cache::{PageError, PageImages, PageProblem, PageRef, PageStore};
use edb::checkpoint::{CheckpointFile, CheckpointSource, Checkpointer, HeaderWriter};
use edb::format::database_header::{DatabaseHeader, LogTime, Signature};
use edb::format::page::{NodeFlags, PageChange, PageFlags, PageView};
use edb::log::{Log, LogEnd, LogError, LogReader, LogSettings};
use edb::position::{LogPosition, LogSpan, PageNumber};
use edb::settings::{Engine, EngineSettings, Internals, TornPages, WritePolicy};
use edb::store::FileStore;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::Tearing;
use runtime::trace::NoObserver;
use runtime::{Buffer, Directory, File, Handle, IoCause, IoFailure, Runtime};
use runtime::{SimulatedDirectory, SimulatedDisk, SimulatedFile, SimulatedOptions};
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

const PAGE: usize = 4096;
const PAGES: u32 = 400;
const CHANGE: u8 = 1;
const IMAGE: u8 = 2;

type Store = FileStore<SimulatedFile>;
type TestCache = Cache<Buffer, Store>;

#[derive(Clone, Copy)]
struct Operation {
    span: LogSpan,
    page: u32,
    version: u64,
}

#[derive(Default)]
struct History {
    operations: Vec<Operation>,
    /// So many operations were reported durable.
    durable: usize,
}

struct NoTransactions;

impl CheckpointSource for NoTransactions {
    fn oldest_transaction(&self) -> Option<LogPosition> {
        None
    }
}

struct Images(Log);

impl PageImages<Buffer> for Images {
    fn log_image(&self, page: PageNumber, payload: &Buffer) -> LogPosition {
        let mut record = vec![IMAGE];
        record.extend(page.0.to_le_bytes());
        record.extend(&payload[..]);
        self.0.append(&record).end
    }
}

fn settings(random: &mut Xoshiro256PlusPlus) -> EngineSettings {
    let mut engine = Engine {
        page_size: ByteSize(PAGE as u64),
        cache_size_per_database: ByteSize(random.random_range(64..200) * PAGE as u64),
        log_file_size: ByteSize::kib(64),
        log_buffer: ByteSize::kib(64),
        checkpoint_depth: ByteSize::kib(random.random_range(1..4) * 64),
        ..Engine::default()
    };
    let internals = Internals {
        checkpoint_interval_ms: random.random_range(1..20),
        flush_idle_ms: random.random_range(1..30),
        flush_urgency_step_bytes: 4096,
        ..Internals::default()
    };
    engine = Engine {
        max_coalesced_write: ByteSize(random.random_range(1..9) * PAGE as u64),
        coalesce_write_gap: ByteSize(random.random_range(0..4) * PAGE as u64),
        circular_logging: random.random_bool(0.8),
        database_writes: if random.random_bool(0.5) {
            WritePolicy::WriteThrough
        } else {
            WritePolicy::FlushAtCheckpoint
        },
        torn_pages: if random.random_bool(0.5) {
            TornPages::Detect
        } else {
            TornPages::LogImages
        },
        ..engine
    };
    EngineSettings {
        engine,
        internals,
        ..EngineSettings::default()
    }
}

/// Writes what page `page` holds at `version`: noise, so that a torn page is seen.
fn fill(bytes: &mut Buffer, page: u32, version: u64) {
    bytes.fill(0);
    let mut noise = vec![0_u8; 3500];
    Xoshiro256PlusPlus::seed_from_u64(version << 32 | u64::from(page)).fill(&mut noise[..]);
    let mut change = PageChange::new(bytes);
    change.format_new(page, 1, PageFlags::LEAF);
    change
        .insert_node(0, b"noise", &noise, NodeFlags::NONE)
        .expect("the noise fits");
    change.set_dbtime(version);
}

fn version_of(bytes: &[u8]) -> u64 {
    PageView::new(bytes).dbtime()
}

struct Database {
    cache: TestCache,
    log: Log,
    _checkpointer: Checkpointer<Buffer, Store, SimulatedFile>,
}

async fn fetch_or_create(cache: &TestCache, page: u32) -> Result<PageRef<Buffer>, CacheError> {
    let page = PageNumber(page);
    match cache.fetch(page).await {
        Err(CacheError::Page(error)) if error.is_never_written() => Ok(cache.create(page)),
        fetched => fetched,
    }
}

impl Database {
    async fn change(&self, page: u32, history: &RefCell<History>) -> Result<(), CacheError> {
        let held = fetch_or_create(&self.cache, page).await?;
        self.log.admit().await?;
        let version = history.borrow().operations.len() as u64 + 1;
        let mut record = vec![CHANGE];
        record.extend(page.to_le_bytes());
        record.extend(version.to_le_bytes());
        let span = self.log.append(&record);
        held.change(span.begin, span.end, |bytes| fill(bytes, page, version));
        let operation = Operation {
            span,
            page,
            version,
        };
        history.borrow_mut().operations.push(operation);
        Ok(())
    }

    async fn use_until_power_is_lost(
        &self,
        handle: &Handle,
        history: &RefCell<History>,
        seed: u64,
    ) -> Result<(), CacheError> {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        loop {
            match random.random_range(0..12) {
                0..=6 => {
                    let hot = random.random_bool(0.5);
                    let page = random.random_range(1..=if hot { 40 } else { PAGES });
                    self.change(page, history).await?;
                }
                7 => {
                    let count = history.borrow().operations.len();
                    self.log.make_durable(self.log.end()).await?;
                    history.borrow_mut().durable = count;
                }
                8 => handle.sleep_ns(random.random_range(0..3_000_000)).await,
                9 => {
                    let wanted = (0..20).map(|_| PageNumber(random.random_range(1..=PAGES)));
                    self.cache.preread(wanted.collect());
                }
                10 if random.random_bool(0.02) => self.cache.flush_all().await?,
                _ => self.log.request(self.log.end(), 2_000_000),
            }
        }
    }
}

/// Every change on the disk belongs to a log file the header knows: checked before redo.
async fn check_header(store: &Store, header: &DatabaseHeader, history: &History) {
    for page in 1..=PAGES {
        let read = store.read(PageNumber(page), 1, IoCause::Build).await;
        let Some(Ok(bytes)) = read.into_iter().next() else {
            continue;
        };
        let version = version_of(&bytes);
        let Some(operation) = history.operations.get(version as usize - 1) else {
            panic!("page {page} holds version {version}, which was never logged durably");
        };
        let generation = operation.span.begin.generation(64 * 1024);
        assert!(
            generation <= header.highest_log_needed,
            "page {page} needs log file {generation}, the header knows {}",
            header.highest_log_needed
        );
    }
}

/// Reads the log to its end, comparing it with the history; how many operations it or the disk
/// holds.
async fn compare(
    mut reader: LogReader<SimulatedDirectory>,
    from: LogPosition,
    history: &History,
) -> Result<(usize, LogEnd), LogError> {
    let before = |operation: &Operation| operation.span.begin < from;
    let mut count = history.operations.partition_point(before);
    while let Some((span, record)) = reader.next().await? {
        if record[0] == CHANGE {
            let expected = &history.operations[count];
            let page = page_of(&record);
            assert_eq!(
                (span, page),
                (expected.span, expected.page),
                "operation {count}"
            );
            count += 1;
        }
    }
    let end = reader.end().cloned().expect("the log was read to its end");
    Ok((count, end))
}

fn page_of(record: &[u8]) -> u32 {
    u32::from_le_bytes([record[1], record[2], record[3], record[4]])
}

/// Redoes the log up to `end` on `cache`. True: pages were torn and restored from images; records
/// before those images must be redone once more.
async fn redo(
    mut reader: LogReader<SimulatedDirectory>,
    cache: &TestCache,
    torn: TornPages,
) -> Result<bool, CacheError> {
    let mut damaged = BTreeSet::new();
    let mut any_damage = false;
    while let Some((span, record)) = reader.next().await? {
        let page = page_of(&record);
        let held = match fetch_or_create(cache, page).await {
            Err(CacheError::Page(error)) if torn == TornPages::LogImages && is_damage(&error) => {
                any_damage = true;
                damaged.insert(page);
                cache.create(PageNumber(page))
            }
            fetched => fetched?,
        };
        let version = version_of(&held.bytes());
        if record[0] == IMAGE {
            if damaged.remove(&page) || version <= version_of(&record[5..]) {
                held.change(span.begin, span.end, |bytes| {
                    bytes.copy_from_slice(&record[5..]);
                });
            }
            continue;
        }
        let mut number = [0; 8];
        number.copy_from_slice(&record[5..13]);
        let after = u64::from_le_bytes(number);
        if !damaged.contains(&page) && version < after {
            held.change(span.begin, span.end, |bytes| fill(bytes, page, after));
        }
    }
    assert!(
        damaged.is_empty(),
        "no image was logged for the torn pages {damaged:?}"
    );
    Ok(any_damage)
}

fn is_damage(error: &PageError) -> bool {
    matches!(error.problem, PageProblem::Damaged(_))
}

async fn check_contents(cache: &TestCache, history: &History) -> Result<(), CacheError> {
    let mut expected = vec![0; PAGES as usize + 1];
    for operation in &history.operations {
        expected[operation.page as usize] = operation.version;
    }
    for page in 1..=PAGES {
        let held = fetch_or_create(cache, page).await?;
        let version = version_of(&held.bytes());
        assert_eq!(version, expected[page as usize], "version of page {page}");
    }
    Ok(())
}

struct Bench {
    handle: Handle,
    disk: SimulatedDisk,
    settings: EngineSettings,
    signature: Signature,
}

impl Bench {
    async fn open(&self, history: &RefCell<History>) -> Result<Database, CacheError> {
        let io = |error: runtime::IoError| CacheError::Log(LogError::Io(error));
        let observer = Rc::new(NoObserver);
        let directory = self.disk.directory("data");
        let (handle, settings) = (&self.handle, &self.settings);
        let log_settings = LogSettings::new(settings, "E00", self.signature);
        let file = match directory.open("test.edb").await {
            Err(error) if error.failure == IoFailure::NotFound => {
                directory.create("test.edb").await.map_err(io)?
            }
            opened => opened.map_err(io)?,
        };
        let store = FileStore::new(handle, file.clone(), settings, observer.clone());
        store.extend_to(PAGES, IoCause::Build).await.map_err(io)?;
        directory.sync().await.map_err(io)?;
        let (first, result) = file.read(0, Buffer::zeroed(PAGE)).await;
        result.map_err(io)?;
        let (second, result) = file.read(PAGE as u64, Buffer::zeroed(PAGE)).await;
        result.map_err(io)?;
        let mut header = DatabaseHeader::choose(&first, &second)
            .unwrap_or_else(|_| DatabaseHeader::new(PAGE as u32, self.signature));
        let chk = CheckpointFile::open(handle, &directory, "E00", observer.clone()).await;
        let chk = chk.map_err(io)?;
        let from = chk
            .read()
            .await
            .map_err(io)?
            .map_or(LogPosition::START, |chk| chk.position);
        let opened = LogReader::open(handle, &directory, "E00", from, observer.clone()).await?;
        let Some(reader) = opened else {
            assert_eq!(history.borrow().durable, 0, "the log is there");
            history.borrow_mut().operations.clear();
            let log = Log::create(handle, &directory, &log_settings, observer.clone()).await?;
            let cache = self.cache(&store, &log);
            return self.start(store, cache, log, header, chk, from).await;
        };
        header.highest_log_needed = header.highest_log_needed.max(1);
        check_header(&store, &header, &history.borrow()).await;
        let compared = compare(reader, from, &history.borrow()).await;
        let (count, end) = compared?;
        assert!(
            count >= history.borrow().durable,
            "{count} operations survive"
        );
        history.borrow_mut().operations.truncate(count);
        history.borrow_mut().durable = count;
        let log = Log::open(handle, &directory, &log_settings, &end, observer.clone()).await?;
        let cache = self.cache(&store, &log);
        let mut again = true;
        while again {
            let observer = observer.clone();
            let reader = LogReader::reopen(handle, &directory, "E00", from, &end, observer);
            again = redo(reader.await?, &cache, settings.engine.torn_pages).await?;
        }
        check_contents(&cache, &history.borrow()).await?;
        self.start(store, cache, log, header, chk, from).await
    }

    fn cache(&self, store: &Store, log: &Log) -> TestCache {
        let cache = Cache::new(
            &self.handle,
            &self.settings,
            store.clone(),
            Rc::new(log.clone()),
        );
        if self.settings.engine.torn_pages == TornPages::LogImages {
            cache.log_images_with(Rc::new(Images(log.clone())));
        }
        cache
    }

    async fn start(
        &self,
        store: Store,
        cache: TestCache,
        log: Log,
        header: DatabaseHeader,
        chk: CheckpointFile<SimulatedFile>,
        from: LogPosition,
    ) -> Result<Database, CacheError> {
        let headers = HeaderWriter::new(store, header);
        let generation = log.generation();
        let update = headers.update(|header| header.highest_log_needed = generation);
        update
            .await
            .map_err(|error| CacheError::Log(LogError::Io(error)))?;
        let source = Rc::new(NoTransactions);
        let checkpointer = Checkpointer::start(
            &self.handle,
            &self.settings,
            &cache,
            &log,
            chk,
            headers,
            source,
            from,
        );
        Ok(Database {
            cache,
            log,
            _checkpointer: checkpointer,
        })
    }
}

fn lost_power(error: &CacheError) -> bool {
    matches!(error, CacheError::Log(LogError::Io(error)) | CacheError::LogFailed(LogError::Io(error))
        if error.failure == IoFailure::PowerLost)
        || error.to_string().contains("lost power")
}

fn survives(seed: u64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let settings = settings(&mut random);
    let signature = Signature {
        random: random.random(),
        created: LogTime {
            unix_ms: 1_385_000_000_000,
        },
    };
    let mut runtime = Runtime::virtual_clock();
    let options = SimulatedOptions {
        tearing: match settings.engine.torn_pages {
            TornPages::Detect => Tearing::Pages { bytes: PAGE as u64 },
            TornPages::LogImages => Tearing::Sectors,
        },
        ..SimulatedOptions::seeded(seed)
    };
    let mut disk = SimulatedDisk::new(&runtime.handle(), options);
    let history = Rc::new(RefCell::new(History::default()));
    for round in 0..4 {
        let (session_seed, crash_seed) = (random.random(), random.random());
        let crash_after_ns = random.random_range(0..250_000_000);
        let bench = Bench {
            handle: runtime.handle(),
            disk: disk.clone(),
            settings,
            signature,
        };
        let kept = Rc::clone(&history);
        runtime.block_on(async move {
            let (clock, cut) = (bench.handle.clone(), bench.disk.clone());
            let cutter = bench.handle.spawn(async move {
                clock.sleep_ns(crash_after_ns).await;
                cut.crash(crash_seed);
            });
            let outcome = match bench.open(&kept).await {
                Ok(database) => {
                    database
                        .use_until_power_is_lost(&bench.handle, &kept, session_seed)
                        .await
                }
                Err(error) => Err(error),
            };
            if let Err(error) = outcome {
                assert!(lost_power(&error), "seed {seed}, round {round}: {error}");
            }
            cutter.await;
        });
        let next = Runtime::virtual_clock();
        disk = disk.reopen(&next.handle());
        runtime = next;
    }
    let bench = Bench {
        handle: runtime.handle(),
        disk,
        settings,
        signature,
    };
    runtime.block_on(async move {
        let opened = bench.open(&history).await;
        assert!(opened.is_ok(), "seed {seed}: {:?}", opened.err());
    });
}

#[test]
fn committed_changes_survive_power_cuts() {
    let seeds = std::env::var("PROOFLOAD_SEEDS")
        .ok()
        .and_then(|seeds| seeds.parse().ok());
    for seed in 0..seeds.unwrap_or(150) {
        let outcome = std::panic::catch_unwind(|| survives(seed));
        if let Err(panic) = outcome {
            eprintln!("failed with seed {seed}");
            std::panic::resume_unwind(panic);
        }
    }
}
