//! The tests of this crate in one program, so that what they have in common is compiled once.

mod known_figures;
mod ranks;
mod run_directory;
mod sampling;
mod service_levels;
mod verdicts;
mod verification;
