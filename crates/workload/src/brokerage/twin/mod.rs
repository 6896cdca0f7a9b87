//! The twin of a brokerage's database: the I/O of its transactions without contents, for books of
//! any size.
//!
//! It runs the page cache, the log and the checkpoint of the mail store's engine with pages that
//! hold nothing. Which pages a transaction looks at and changes follows from its plan and from
//! arithmetic over the trees; what reaches the storage is what the cache lets through.
//!
//! - [`pages`] spreads the pages over the data files.
//! - [`database`] puts cache, log and checkpoint together, [`work`] carries plans out on them.
//! - [`house`] is the users, the exchange and the clock; [`shard`] takes all through a run.
//! - [`run`] sets it going on a virtual clock.
//!
//! What it leaves out: locks. The rows that many change, prices and brokers, are changed for a
//! moment each, so that in the published studies storage, not locks, held the load back.

pub(crate) mod database;
pub(crate) mod house;
pub(crate) mod pages;
pub mod run;
pub(crate) mod shard;
pub(crate) mod work;

pub use pages::file_bytes;
pub use run::{Places, run_on_virtual_clock};
