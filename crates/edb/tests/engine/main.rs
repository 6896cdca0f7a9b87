//! The engine as its callers use it, on simulated storage.

mod basics;
mod common;
