//! The brokerage house on a real database.
//!
//! The same profile drives two houses: the page-level twin in `workload`, which a modelled array
//! carries, and this one, which keeps its books in PostgreSQL, SQLite or MariaDB on real storage.
//!
//! - [`schema`]: the 33 tables, their keys and indexes, and the words that create them in each
//!   database.
//! - [`value`] and [`row`]: what a column holds, how rows go in by the million and come out again.
//! - [`statement`]: one SQL statement for all databases, with the few words that differ.
//! - [`session`]: a connection as the transactions see it: batches of calls in one transaction.
//! - [`house`]: who and what there is, from its size and its seed alone.
//! - [`run`]: a run of the house on its database.
//! - [`database`]: the databases themselves: PostgreSQL, SQLite and MariaDB.
//! - [`data`]: the rows of a new house, by the million.
//! - [`error`]: what can go wrong between house and database, and what is worth trying again.
//! - [`transactions`]: the ten transactions of the mix, data maintenance and clean-up.
//! - [`market`]: the exchange that answers the orders.
//! - [`books`]: whether the books balance after a run.
//! - [`rehearsal`]: one user by a clock of steps, for comparing databases.
//!
//! Amounts of money are cents, moments are milliseconds since 1970, days are days since 1970, all
//! of them whole numbers: three databases then calculate alike, to the last digit.

pub mod books;
pub mod data;
pub mod database;
pub mod error;
pub mod house;
pub mod market;
pub mod rehearsal;
pub mod row;
pub mod run;
pub mod schema;
pub mod session;
pub mod statement;
pub mod transactions;
pub mod value;
