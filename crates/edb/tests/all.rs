//! The tests of this crate in one program, so that what they have in common is compiled once.

mod engine;
mod maintenance;
mod pool_and_log_crash;
mod settings;
