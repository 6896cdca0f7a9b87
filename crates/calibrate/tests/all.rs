//! The tests of this crate in one program, so that what they have in common is compiled once.

mod coverage;
mod drives;
mod fio;
mod hidden_numbers;
mod model;
