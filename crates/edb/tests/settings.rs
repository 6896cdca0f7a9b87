//! Every setting of the engine has an effect: each is changed, and the requests, the counters or the
//! errors of a small load on simulated storage must change with it.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use std::cell::RefCell;
use std::fmt::Write;
use std::rc::Rc;

use config::{ByteSize, TimeSpan, settings};
use edb::format::schema::{COLUMN_AUTO_INCREMENT, ColumnType};
use edb::settings::{Engine, EngineSettings, Maintenance};
use edb::{Commit, Database, LongValues, ScanOptions, TableDefinition, Value};
use runtime::time::SECOND_NS;
use runtime::{Directory, IoEvent, IoObserver, Runtime, SimulatedDisk, SimulatedOptions};
use test_support::{alternatives, set};

settings! {
    /// What a profile has of the engine.
    struct Sections {
        /// Section `[engine]`.
        engine: Engine = Engine::default();
        /// Section `[maintenance]`.
        maintenance: Maintenance = Maintenance::default();
    }
}

/// Small numbers, so that little work goes through log files, checkpoints and evictions.
fn small() -> Sections {
    Sections {
        engine: Engine {
            page_size: ByteSize::kib(4),
            cache_size_per_database: ByteSize::mib(1),
            log_file_size: ByteSize::kib(64),
            log_buffer: ByteSize::kib(32),
            checkpoint_depth: ByteSize::kib(512),
            max_coalesced_read: ByteSize::kib(64),
            max_coalesced_write: ByteSize::kib(64),
            coalesce_read_gap: ByteSize::kib(16),
            coalesce_write_gap: ByteSize::kib(16),
            extension_pages: 64,
            version_store: ByteSize::mib(1),
            ..Engine::default()
        },
        maintenance: Maintenance {
            pause: TimeSpan::millis(10),
            ..Maintenance::default()
        },
    }
}

/// Writes down every request.
#[derive(Default)]
struct Requests(RefCell<String>);

impl IoObserver for Requests {
    fn completed(&self, event: &IoEvent) {
        writeln!(self.0.borrow_mut(), "{event:?}").unwrap();
    }
}

/// What a load does on an engine with these settings; `None` when they are refused.
fn observed(sections: &Sections) -> Option<String> {
    let settings = EngineSettings {
        engine: sections.engine,
        maintenance: sections.maintenance,
        ..EngineSettings::default()
    };
    settings.check().ok()?;
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let requests = Rc::new(Requests::default());
    let observer: Rc<dyn IoObserver> = requests.clone();
    let said = runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(7));
        let (data, log) = (disk.directory("data"), disk.directory("log"));
        let created = Database::create(&handle, &data, "mail.edb", &log, settings, observer);
        let db = created.await.unwrap();
        let definition = TableDefinition::new("messages")
            .fixed("Id", ColumnType::LongLong, COLUMN_AUTO_INCREMENT)
            .tagged("Body", ColumnType::LongBinary)
            .primary("ById", &["Id"]);
        let table = db.create_table(&definition).await.unwrap();
        let mut said = String::new();
        for number in 0..600_u64 {
            let mut tx = db.begin();
            let body = vec![number as u8; 1_500 + number as usize % 3 * 4_000];
            let row = [Value::Null, Value::Bytes(body)];
            tx.insert(&table, &row).await.unwrap();
            let commit = match number % 2 {
                0 => Commit::Durable,
                _ => Commit::Lazy { within_ms: 50 },
            };
            tx.commit(commit).await.unwrap();
        }
        // The checkpoint releases log files, which the next changes use again.
        handle.sleep_ns(4 * SECOND_NS).await;
        // Every third row is changed while an old transaction still sees what was there before.
        let old = db.begin();
        for number in 0..200 {
            let mut tx = db.begin();
            let body = Value::Bytes(vec![0x5a; 1_400]);
            let key = number * 7_919 % 600 + 1;
            if let Err(error) = tx.update(&table, key, vec![(1, body)]).await {
                writeln!(said, "{number}: {error}").unwrap();
                break;
            }
            tx.commit(Commit::Durable).await.unwrap();
        }
        for key in [3, 400, 77, 3, 400, 599] {
            old.get(&table, key, LongValues::Fetch).await.unwrap();
        }
        let scan = ScanOptions {
            read_ahead: true,
            long_values: LongValues::Fetch,
            ..ScanOptions::default()
        };
        let rows = old.scan(&table, .., scan).await.unwrap();
        drop(old);
        handle.sleep_ns(2 * SECOND_NS).await;
        writeln!(said, "{} rows, {:?}", rows.len(), db.statistics()).unwrap();
        db.close().await.unwrap();
        writeln!(said, "{:?}", log.list().await.unwrap()).unwrap();
        said
    });
    Some(format!("{said}{}", requests.0.take()))
}

#[test]
fn every_setting_has_an_effect() {
    let sections = small();
    let before = observed(&sections).unwrap();
    assert_eq!(before, observed(&sections).unwrap());
    let written = config::to_toml(&sections);
    let mut left = Vec::new();
    for setting in alternatives(&sections) {
        let changes = setting.assignments().any(|assignment| {
            let sources = [config::Source::file("small", &written), set(&assignment)];
            let layers = config::Layers::join(&PLAIN, &sources);
            let Ok(changed) = layers.read::<Sections>(None) else {
                return false;
            };
            observed(&changed.settings).is_some_and(|after| after != before)
        });
        if !changes {
            left.push(setting.path);
        }
    }
    assert_eq!(left, [""; 0]);
}

static PLAIN: config::Format = config::Format::plain("document");
