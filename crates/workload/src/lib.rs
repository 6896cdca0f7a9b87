//! What users do: the mail sessions, their pacing and their tuning.
//!
//! [`profile`] says what a run shall do, [`progress`] how it tells what it is doing.

pub mod mail;
pub mod profile;
pub mod progress;
pub mod random;
