//! The engine as its callers use it, on simulated storage.

mod basics;
mod built;
mod common;
mod crash;
mod export;
mod faults;
mod model;
mod sessions;
