//! One SQL statement for all databases.

use crate::schema::Type;

/// Which SQL is spoken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(missing_docs)] // They are known by their names.
pub enum Dialect {
    PostgreSql,
    Sqlite,
    MariaDb,
}

/// A statement of the house. It is written once, in the words that all three databases know, with
/// parameters `$1`, `$2` ... (each may stand in several places) and these marks where they differ:
///
/// - `@integer@` after `CAST(... AS`: the name of a 64-bit number there;
/// - `@for_update@` at the end of a question: locks the rows where the database can.
///
/// Every question that may answer several rows orders them wholly, or two databases could answer
/// differently and both be right.
#[derive(Debug, PartialEq, Eq)]
pub struct Statement {
    /// Its name, which no other statement has: sessions keep what they have prepared under it.
    pub name: &'static str,
    /// The text.
    pub sql: &'static str,
    /// Types of `$1`, `$2` ... in order.
    pub parameters: &'static [Type],
    /// Types of the columns that come back; none for a change.
    pub columns: &'static [Type],
}
