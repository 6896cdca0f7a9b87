//! Crash tests of the engine: a database under a random workload on a disk that loses power at any
//! request, tears and reorders what was not flushed, fails, stalls, fills up or lies, in virtual
//! time, compared with a model in memory.
//!
//! One number, the seed, decides everything ([`Plan`]); the same seed gives the same simulation, bit
//! for bit, on every machine.
//!
//! - [`plan`] draws settings, a disk, a fault and some lifetimes of the database from the seed; [`fault`]
//!   says what is required of the engine for each kind of fault.
//! - [`table`] is the table, [`base`] the database that each simulation begins with, [`sessions`] the
//!   workload, [`model`] what it has committed.
//! - [`simulation`] goes through the lifetimes: [`lifetime`] is one of them, from the opening, through
//!   recovery, to the next power cut; [`judge`] decides what an error or a wrong row means.
//! - [`survivors`] finds the commits that are left, [`reading`] reads every row by every way there
//!   is, [`page_history`] finds pages that are older than the log says, `verification` closes the
//!   database and has the engine read everything back.
//! - [`outcome`] is what came of it; `panics` turns failed assertions into messages.

pub mod base;
pub mod check;
pub mod fault;
pub mod judge;
pub mod lifetime;
pub mod model;
pub mod outcome;
pub mod page_history;
mod panics;
pub mod plan;
pub mod reading;
pub mod sessions;
pub mod simulation;
pub mod survivors;
pub mod table;
mod verification;

pub use check::Stop;
pub use fault::{FaultKind, Requirement, Target};
pub use outcome::{Failure, KindTotals, Outcome, Totals};
pub use plan::Plan;
pub use simulation::{run, trace};
