//! The databases that keep the books: PostgreSQL, SQLite and MariaDB behind one door.
//!
//! - [`target`]: what `--database` names, and the address of a server.
//! - `passfile`: passwords kept in a file.
//! - [`secret`]: a password that no output shows.
//! - [`house`]: the trait [`Database`] with all work around the transactions: creating, loading,
//!   keys and indexes, removal.
//! - [`build`]: the marker by which a database is known as ours, and its state.
//! - [`ddl`] and [`render`]: tables and statements in the words of each database.
//! - [`finishing`]: keys, references and statistics after the rows, by several hands.
//! - [`postgres`]: a connection over the wire protocol, and a throw-away server of our own.
//! - [`mariadb`]: a connection to MariaDB or MySQL, likewise.
//! - [`sqlite`]: a file.

pub mod build;
mod call;
pub mod ddl;
pub mod finishing;
pub mod house;
pub mod mariadb;
mod passfile;
pub mod postgres;
pub mod render;
pub mod secret;
mod socket;
pub mod sqlite;
pub mod target;

pub use build::{Build, State};
pub use finishing::{Finished, Step, finish};
pub use house::{Database, Loader, Server, missing_tables};
pub use secret::Secret;
pub use target::{Address, Endpoint, Target, TargetError};
