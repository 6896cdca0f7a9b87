//! Databases for tests.

use edb::format::schema::{COLUMN_AUTO_INCREMENT, ColumnType};
use edb::settings::{MaintenanceSettings, TornPages, WritePolicy};
use edb::{Database, EngineError, EngineSettings, RecoveryReport, TableDefinition, Value};
use runtime::Handle;
use runtime::simulated::{SimulatedDirectory, SimulatedDisk};
use runtime::trace::Unobserved;
use std::rc::Rc;

pub type Db = Database<SimulatedDirectory>;

/// Small numbers, so that little work goes through many log files, checkpoints and evictions.
pub fn small_settings(page_size_bytes: usize) -> EngineSettings {
    EngineSettings {
        page_size_bytes,
        cache_size_bytes: 64 * page_size_bytes as u64,
        log_file_size_bytes: (64 * 1024).max(4 * page_size_bytes as u64),
        log_buffer_bytes: 64 * 1024,
        checkpoint_depth_bytes: (128 * 1024).max(8 * page_size_bytes as u64),
        extension_pages: 16,
        version_store_bytes: 4 << 20,
        maintenance: MaintenanceSettings {
            enabled: false,
            ..MaintenanceSettings::default()
        },
        ..EngineSettings::default()
    }
}

pub fn with_images(settings: &EngineSettings) -> EngineSettings {
    EngineSettings {
        torn_page_protection: TornPages::LogImages,
        database_writes: WritePolicy::FlushAtCheckpoint,
        ..settings.clone()
    }
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
    Database::create(
        handle,
        &database,
        "mail.edb",
        &log,
        settings.clone(),
        observer,
    )
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
    Database::open(
        handle,
        &database,
        "mail.edb",
        &log,
        settings.clone(),
        observer,
    )
    .await
}
