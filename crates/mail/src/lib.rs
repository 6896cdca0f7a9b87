//! The mail workload: databases full of mails, and sessions that add, delete, replace and read them.
//!
//! A mail is a row with a short and a long column. [`keys`] decides where in the index a row goes,
//! [`content`] what it holds, [`population`] which rows exist, and [`operation`] what can be done
//! with them. [`session`] runs transactions on a [`store`]; [`edb_store`] is the engine as such a
//! store, with the table of [`schema`], and [`edb_host`] builds, opens and closes its databases, with
//! a [`state_file`] beside each that distinguishes a complete database from an unfinished one.
//! [`acknowledged`] is what open databases acknowledge, for a witness.
//! [`recount`] finds out which rows there are after a run was interrupted. [`simulation`] is the engine
//! without contents, for predictions. [`plan`] is a run worked out from its profile.
//! `storage_run` prepares a run on directories or block devices and clears up after it, and
//! `report` is what it adds to the reports of its runs.

pub mod acknowledged;
pub mod content;
pub mod edb_host;
pub mod edb_store;
mod interface;
pub mod item;
pub mod keys;
pub mod ledger;
pub mod operation;
pub mod plan;
pub mod population;
pub mod profile;
pub mod recount;
#[cfg(test)]
mod recount_tests;
mod report;
#[cfg(test)]
mod run_tests;
#[cfg(feature = "host")]
mod runnable;
pub mod schema;
pub mod session;
#[cfg(test)]
mod session_tests;
pub mod simulation;
pub mod sizing;
pub mod space;
pub mod state_file;
#[cfg(feature = "host")]
mod storage_run;
pub mod store;
#[cfg(test)]
pub(crate) mod test_store;
pub mod verify;

pub use interface::{MailWorkload, WORKLOAD};
