//! Where PostgreSQL has its files.

use std::path::Path;

use super::connection::Connection;
use crate::database::server_files::{Part, ServerFiles};
use crate::error::DatabaseError;
use crate::schema::TABLES;

/// The first file of each table and index, relative to the data directory: those of a tablespace begin with a
/// symbolic link in `pg_tblspc`.
const RELATIONS: &str = "WITH own AS (SELECT oid, relname FROM pg_class WHERE relkind = 'r' \
     AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())) \
     SELECT relname::text, pg_relation_filepath(oid) FROM own \
     UNION ALL SELECT own.relname::text, pg_relation_filepath(i.indexrelid) \
     FROM own JOIN pg_index i ON i.indrelid = own.oid";

/// The files of a server with this data directory, and those of the tables of the connection's database.
///
/// # Errors
/// The server is gone.
pub(super) fn files(
    connection: &mut Connection,
    directory: &Path,
) -> Result<ServerFiles, DatabaseError> {
    let mut files = ServerFiles::default();
    files.add("the data directory", directory.to_owned(), Part::Data);
    files.add("the WAL", directory.join("pg_wal"), Part::Log);
    for row in connection.ask(RELATIONS)? {
        let mut columns = row.into_iter();
        let (Some(Some(table)), Some(Some(path))) = (columns.next(), columns.next()) else {
            continue;
        };
        // Tables of others may be in the same database.
        if TABLES.iter().any(|one| one.name.name() == table) {
            files.tables.push((table, directory.join(path)));
        }
    }
    Ok(files)
}
