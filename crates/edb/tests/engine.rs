//! The engine as its callers use it, on simulated storage.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

mod audit;
mod basics;
mod built;
mod cleanup;
mod common;
mod export;
mod faults;
mod integrity;
mod model;
mod numbered;
mod page_versions;
mod passive;
mod torn_pages;
