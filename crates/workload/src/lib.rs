//! What users do: the mail sessions, their pacing and their tuning.
//!
//! [`profile`] says what a run shall do, [`progress`] how it tells what it is doing. [`mail`] holds
//! the databases and what sessions do to them, [`pacing`] when they do it, [`tuning`] how many of
//! them there are. [`controller`] takes a run from the first built page to its result.
//! [`trace`] reads block traces, which are replayed in place of a workload. Everything random comes
//! from [`random`] and a seed.

pub mod brokerage;
pub mod controller;
pub mod mail;
pub mod pacing;
pub mod profile;
pub mod progress;
pub mod random;
pub mod trace;
pub mod tuning;
