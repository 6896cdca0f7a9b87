//! Tests of the requests that a page makes, in one program.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod garbage;
mod requests;
