//! The tests of this crate in one program, so that what they have in common is compiled once.

mod alternatives;
mod messages;
mod reading;
mod sample;
mod values;
mod writing;
