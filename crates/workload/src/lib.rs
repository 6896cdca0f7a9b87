//! What users do: the mail sessions, their pacing and their tuning.

pub mod mail;
pub mod random;
