//! The mail server: databases full of mails, and sessions that add, delete, replace and read them.
//!
//! A mail is a row with a short and a long column. [`permutation`] decides where in the index a row
//! goes, [`content`] what stands in it, [`population`] which rows exist, and [`deck`] what is done
//! next. [`session`] runs transactions on a [`store`]; [`edb_store`] is the engine as such a store,
//! with the table of [`schema`], and [`edb_host`] builds, opens and closes its databases, with a
//! [`state_file`] beside each that tells a whole database from an unfinished one. [`recount`] finds
//! out which rows there are after a run was cut off. [`twin`] is the engine without contents, for
//! predictions.

pub mod content;
pub mod deck;
pub mod edb_host;
pub mod edb_store;
pub mod item;
pub mod ledger;
pub mod permutation;
pub mod population;
pub mod recount;
#[cfg(test)]
mod recount_tests;
pub mod schema;
pub mod session;
#[cfg(test)]
mod session_tests;
pub mod sizing;
pub mod state_file;
pub mod store;
#[cfg(test)]
pub(crate) mod test_store;
pub mod twin;
pub mod verify;
