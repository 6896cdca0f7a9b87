//! One SQL statement for all databases.

use crate::schema::Type;

/// The SQL dialect of a database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // They are known by their names.
pub enum Dialect {
    PostgreSql,
    Sqlite,
    MariaDb,
}

/// An SQL statement. It is written once, in the subset that all three databases understand, with
/// parameters `$1`, `$2` ... (each may occur several times) and these placeholders where dialects
/// differ:
///
/// - `@integer@` after `CAST(... AS`: the name of a 64-bit integer type;
/// - `@for_update@` at the end of a query: locks the rows where the database can.
///
/// Every query that may return several rows orders them completely, or two databases could return
/// different rows and both be right.
#[derive(Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its unique name, under which sessions keep it prepared.
    pub name: &'static str,
    /// The SQL text, with placeholders.
    pub sql: &'static str,
    /// Types of `$1`, `$2` ... in order.
    pub parameters: &'static [Type],
}
