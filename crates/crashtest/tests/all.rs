//! The tests of this crate in one program, so that what they have in common is compiled once.

mod seeded_bugs;
mod seeds;
mod support;
