//! The databases: PostgreSQL, SQLite and MariaDB behind one interface.
//!
//! - [`target`]: the values of `--database`, and the address of a server.
//! - [`endpoint`]: where a server listens.
//! - `passfile`: passwords in `~/.pgpass`.
//! - [`tls`]: encryption of connections.
//! - [`secret`]: a password that is never printed.
//! - [`server_files`]: where a server has its files.
//! - [`interface`]: the trait [`Database`], everything outside of transactions: creating, loading,
//!   keys and indexes, removal.
//! - [`marker`]: the marker by which a database is known as ours, and its state.
//! - [`run_lock`]: the lock that a run holds on its database.
//! - [`RunMark`]: which run was the last on a database.
//! - `digest`: all rows of a table in two numbers.
//! - [`seal`]: the digests of all tables, by which changes between two runs are found.
//! - [`ddl`] and [`render`]: tables and statements in each dialect.
//! - [`post_load`]: keys, indexes and statistics after loading, in parallel.
//! - [`postgres`]: a connection over the wire protocol, and a temporary server of our own.
//! - [`mariadb`]: a connection to MariaDB or MySQL.
//! - [`sqlite`]: a database file.

mod arguments;
mod call;
pub mod ddl;
mod digest;
pub mod endpoint;
pub mod interface;
pub mod mariadb;
pub mod marker;
pub mod owners;
mod passfile;
pub mod post_load;
pub mod postgres;
pub mod render;
pub mod run_lock;
mod run_mark;
pub mod seal;
pub mod secret;
pub mod server_files;
mod socket;
pub mod sqlite;
pub mod target;
mod target_error;
mod text_rows;
pub mod tls;
mod url;

pub use arguments::without_password;
pub use digest::{TableDigest, TableDigests, TablePart};
pub use endpoint::Endpoint;
pub use interface::Step;
pub use interface::{Database, FileCounters, Loader, Server, missing_tables_and_indexes};
pub use marker::{Build, State};
pub use post_load::{Finished, finish};
pub use run_lock::{LockError, RunLock};
pub use run_mark::RunMark;
pub use secret::Secret;
pub use target::{Address, Target};
pub use target_error::TargetError;
pub use tls::{TlsMode, TlsSettings};
