//! The tests of this crate in one program, so that what they have in common is compiled once.

mod any_result;
mod browser;
mod certificate;
mod expected;
#[path = "../examples/invented/mod.rs"]
mod invented;
mod jetstress_layout;
mod known_advice;
mod known_certificates;
mod known_charts;
mod known_runs;
mod page;
mod run_directory;
#[path = "../examples/stories/mod.rs"]
mod stories;
