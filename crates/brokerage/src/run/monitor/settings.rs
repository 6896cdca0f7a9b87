//! Settings that decide what survives a crash, while the load is on: an administrator may change them.

use super::statistics::{Unsupported, query};
use crate::error::DatabaseError;
use crate::guarantees;
use crate::session::Session;
use crate::statement::{Dialect, Statement};
use std::collections::{BTreeMap, BTreeSet};

static POSTGRESQL: Statement = Statement {
    name: "watch_settings",
    sql: "SELECT name, setting FROM pg_settings \
          WHERE name IN ('fsync', 'full_page_writes', 'synchronous_commit') ORDER BY name",
    parameters: &[],
};

static MARIADB: Statement = Statement {
    name: "watch_mariadb_settings",
    sql: "SELECT LOWER(VARIABLE_NAME), VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES \
          WHERE VARIABLE_NAME IN ('INNODB_FLUSH_LOG_AT_TRX_COMMIT', 'SYNC_BINLOG', 'LOG_BIN') \
          ORDER BY 1",
    parameters: &[],
};

/// Adds what the server does not guarantee at this moment to `missing`.
///
/// # Errors
/// The server is gone.
pub(super) fn sample(
    session: &mut dyn Session,
    dialect: Dialect,
    unsupported: &mut Unsupported,
    missing: &mut BTreeSet<String>,
) -> Result<(), DatabaseError> {
    let statement = match dialect {
        Dialect::PostgreSql => &POSTGRESQL,
        Dialect::MariaDb => &MARIADB,
        // Nobody else changes how our own connections write.
        Dialect::Sqlite => return Ok(()),
    };
    let Some(rows) = query(session, statement, unsupported)? else {
        return Ok(());
    };
    let setting = |row| Some((rows.text(row, 0)?.to_owned(), rows.text(row, 1)?.to_owned()));
    let settings: BTreeMap<String, String> = (0..rows.count()).filter_map(setting).collect();
    missing.extend(guarantees::missing(&settings));
    Ok(())
}
