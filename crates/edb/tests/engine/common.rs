//! Databases with small settings that the tests of the engine share.

use config::ByteSize;
use edb::format::schema::{COLUMN_AUTO_INCREMENT, ColumnType};
use edb::settings::{Engine, Maintenance, TornPages, WritePolicy};
use edb::{Database, EngineError, EngineSettings, RecoveryReport, TableDefinition, Value};
use runtime::Handle;
use runtime::simulated::{SimulatedDirectory, SimulatedDisk};
use runtime::trace::Unobserved;
use std::rc::Rc;

pub type Db = Database<SimulatedDirectory>;

/// Small numbers, so that little work goes through many log files, checkpoints and evictions.
pub fn small_settings(page_size_bytes: usize) -> EngineSettings {
    EngineSettings {
        engine: Engine {
            page_size: ByteSize(page_size_bytes as u64),
            cache_size_per_database: ByteSize(64 * page_size_bytes as u64),
            log_file_size: ByteSize((64 * 1024).max(4 * page_size_bytes as u64)),
            log_buffer: ByteSize::kib(64),
            checkpoint_depth: ByteSize((128 * 1024).max(8 * page_size_bytes as u64)),
            extension_pages: 16,
            version_store: ByteSize::mib(4),
            ..Engine::default()
        },
        maintenance: Maintenance {
            enabled: false,
            ..Maintenance::default()
        },
        ..EngineSettings::default()
    }
}

pub fn with_images(settings: &EngineSettings) -> EngineSettings {
    let mut settings = *settings;
    settings.engine.torn_pages = TornPages::LogImages;
    settings.engine.database_writes = WritePolicy::FlushAtCheckpoint;
    settings
}

pub fn messages() -> TableDefinition {
    TableDefinition::new("messages")
        .fixed("Id", ColumnType::LongLong, COLUMN_AUTO_INCREMENT)
        .fixed("Size", ColumnType::Long, 0)
        .variable("Token", ColumnType::Binary)
        .tagged("Body", ColumnType::LongBinary)
        .primary("ById", &["Id"])
        .unique_index("ByToken", &["Token"])
}

pub fn row(token: &[u8], size: i32, body: Vec<u8>) -> Vec<Value> {
    vec![
        Value::Null,
        Value::Long(size),
        Value::Bytes(token.to_vec()),
        Value::Bytes(body),
    ]
}

pub async fn create(handle: &Handle, disk: &SimulatedDisk, settings: &EngineSettings) -> Db {
    let (database, log) = (disk.directory("database"), disk.directory("log"));
    let observer = Rc::new(Unobserved);
    Database::create(handle, &database, "mail.edb", &log, *settings, observer)
        .await
        .expect("a new database")
}

pub async fn open(
    handle: &Handle,
    disk: &SimulatedDisk,
    settings: &EngineSettings,
) -> Result<(Db, RecoveryReport), EngineError> {
    let (database, log) = (disk.directory("database"), disk.directory("log"));
    let observer = Rc::new(Unobserved);
    Database::open(handle, &database, "mail.edb", &log, *settings, observer).await
}
