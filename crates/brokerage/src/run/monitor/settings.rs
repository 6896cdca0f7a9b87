//! Settings that decide what survives a crash, while the load is on: an administrator may change them.

use super::statistics::{Unsupported, query};
use crate::error::DatabaseError;
use crate::guarantees;
use crate::session::Session;
use crate::statement::{Dialect, Statement};
use std::collections::{BTreeMap, BTreeSet};

const POSTGRESQL_NAMES: [&str; 3] = ["fsync", "full_page_writes", "synchronous_commit"];

static POSTGRESQL: Statement = Statement {
    name: "watch_settings",
    sql: "SELECT current_setting('fsync'), current_setting('full_page_writes'), \
          current_setting('synchronous_commit')",
    parameters: &[],
};

const MARIADB_NAMES: [&str; 3] = ["innodb_flush_log_at_trx_commit", "sync_binlog", "log_bin"];

static MARIADB: Statement = Statement {
    name: "watch_mariadb_settings",
    sql: "SELECT CONCAT(@@GLOBAL.innodb_flush_log_at_trx_commit, ''), \
          CONCAT(@@GLOBAL.sync_binlog, ''), CONCAT(@@GLOBAL.log_bin, '')",
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
    let (names, statement) = match dialect {
        Dialect::PostgreSql => (POSTGRESQL_NAMES, &POSTGRESQL),
        Dialect::MariaDb => (MARIADB_NAMES, &MARIADB),
        // Nobody else changes how our own connections write.
        Dialect::Sqlite => return Ok(()),
    };
    let Some(rows) = query(session, statement, unsupported)? else {
        return Ok(());
    };
    let value = |(column, name): (usize, &&str)| {
        let value = rows.text(0, column).filter(|_| rows.count() > 0)?;
        Some(((*name).to_owned(), value.to_owned()))
    };
    let settings: BTreeMap<String, String> = names.iter().enumerate().filter_map(value).collect();
    missing.extend(guarantees::missing(&settings));
    Ok(())
}
