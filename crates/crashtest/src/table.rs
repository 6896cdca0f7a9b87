//! The table under test, and settings small enough that little work goes through many log files,
//! checkpoints and evictions.

use config::ByteSize;
use edb::format::schema::{COLUMN_AUTO_INCREMENT, ColumnType};
use edb::settings::{Engine, Maintenance, TornPages, WritePolicy};
use edb::{Database, EngineError, EngineSettings, RecoveryReport, TableDefinition, Value};
use runtime::simulated::{SimulatedDirectory, SimulatedDisk};
use runtime::{Handle, IoObserver};
use std::rc::Rc;

/// A database on a simulated disk.
pub type Db = Database<SimulatedDirectory>;

/// Directory of the database file.
pub const DATABASE_DIRECTORY: &str = "database";
/// Directory of the log and the checkpoint file.
pub const LOG_DIRECTORY: &str = "log";
/// Name of the database file.
pub const DATABASE_FILE: &str = "mail.edb";
/// The table that sessions use.
pub const TABLE: &str = "messages";

/// Settings with small numbers.
#[must_use]
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

/// The same settings with page images in the log and without write-through.
#[must_use]
pub fn with_images(settings: &EngineSettings) -> EngineSettings {
    let mut settings = *settings;
    settings.engine.torn_pages = TornPages::LogImages;
    settings.engine.database_writes = WritePolicy::FlushAtCheckpoint;
    settings
}

/// A table with a primary key, a unique index and long values.
#[must_use]
pub fn messages() -> TableDefinition {
    TableDefinition::new(TABLE)
        .fixed("Id", ColumnType::LongLong, COLUMN_AUTO_INCREMENT)
        .fixed("Size", ColumnType::Long, 0)
        .variable("Token", ColumnType::Binary)
        .tagged("Body", ColumnType::LongBinary)
        .primary("ById", &["Id"])
        .unique_index("ByToken", &["Token"])
}

/// The values of a row of [`messages`].
#[must_use]
pub fn row(token: &[u8], size: i32, body: Vec<u8>) -> Vec<Value> {
    vec![
        Value::Null,
        Value::Long(size),
        Value::Bytes(token.to_vec()),
        Value::Bytes(body),
    ]
}

/// Creates the database on an empty disk.
///
/// # Errors
/// If the engine refuses or the disk fails.
pub async fn create(
    handle: &Handle,
    disk: &SimulatedDisk,
    settings: &EngineSettings,
    observer: Rc<dyn IoObserver>,
) -> Result<Db, EngineError> {
    let (database, log) = directories(disk);
    Database::create(handle, &database, DATABASE_FILE, &log, *settings, observer).await
}

/// Opens the database, with recovery if need be.
///
/// # Errors
/// If the engine refuses or the disk fails.
pub async fn open(
    handle: &Handle,
    disk: &SimulatedDisk,
    settings: &EngineSettings,
    observer: Rc<dyn IoObserver>,
) -> Result<(Db, RecoveryReport), EngineError> {
    let (database, log) = directories(disk);
    Database::open(handle, &database, DATABASE_FILE, &log, *settings, observer).await
}

fn directories(disk: &SimulatedDisk) -> (SimulatedDirectory, SimulatedDirectory) {
    (
        disk.directory(DATABASE_DIRECTORY),
        disk.directory(LOG_DIRECTORY),
    )
}
