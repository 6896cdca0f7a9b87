//! The mail server: databases full of mails, and sessions that add, delete, replace and read them.
//!
//! A mail is a row with a short and a long column. [`permutation`] decides where in the index a row
//! goes, [`content`] what stands in it, [`population`] which rows exist, and [`deck`] what is done
//! next.

pub mod content;
pub mod deck;
pub mod item;
pub mod ledger;
pub mod permutation;
pub mod population;
pub mod session;
#[cfg(test)]
mod session_tests;
pub mod sizing;
pub mod store;
#[cfg(test)]
pub(crate) mod test_store;
