//! The tests of this crate in one program, so that what they have in common is compiled once.

mod error_bars;
mod examples;
mod settings;
mod study_settings;
mod toy_workload;
mod trace_settings;
mod until;
