//! Whether the tables of the data set are such that a crash leaves what was committed: somebody may have altered
//! them since they were created.

use super::statistics::{Unsupported, query};
use crate::error::DatabaseError;
use crate::guarantees::{self, AlteredTable};
use crate::schema::TABLES;
use crate::session::Session;
use crate::statement::{Dialect, Statement};
use std::collections::BTreeSet;

static POSTGRESQL: Statement = Statement {
    name: "watch_tables",
    sql: "SELECT CAST(relname AS TEXT), CAST('UNLOGGED' AS TEXT) FROM pg_class \
          WHERE relkind = 'r' AND relpersistence = 'u' AND pg_table_is_visible(oid) ORDER BY 1",
    parameters: &[],
};

static MARIADB: Statement = Statement {
    name: "watch_mariadb_tables",
    sql: "SELECT TABLE_NAME, ENGINE FROM information_schema.TABLES \
          WHERE TABLE_SCHEMA = DATABASE() AND ENGINE <> 'InnoDB' ORDER BY 1",
    parameters: &[],
};

/// Adds the tables of the data set that lose committed rows by a crash at this moment to `found`.
///
/// # Errors
/// The server is gone.
pub(super) fn sample(
    session: &mut dyn Session,
    dialect: Dialect,
    unsupported: &mut Unsupported,
    found: &mut BTreeSet<AlteredTable>,
) -> Result<(), DatabaseError> {
    let (statement, of): (_, fn(String, &str) -> AlteredTable) = match dialect {
        Dialect::PostgreSql => (&POSTGRESQL, |name, _| guarantees::unlogged(name)),
        Dialect::MariaDb => (&MARIADB, guarantees::of_engine),
        // Nobody can alter a table of SQLite so.
        Dialect::Sqlite => return Ok(()),
    };
    let Some(rows) = query(session, statement, unsupported)? else {
        return Ok(());
    };
    for row in 0..rows.count() {
        let (Some(name), Some(engine)) = (rows.text(row, 0), rows.text(row, 1)) else {
            continue;
        };
        // Tables of others may be in the same database.
        if TABLES.iter().any(|table| table.name.name() == name) {
            found.insert(of(name.to_owned(), engine));
        }
    }
    Ok(())
}
