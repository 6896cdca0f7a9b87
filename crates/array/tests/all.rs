//! The tests of this crate in one program, so that what they have in common is compiled once.

mod array_bytes;
mod array_front;
mod common;
mod events;
mod fast_path;
mod group_bytes;
mod group_counts;
mod group_mva;
mod group_scrub;
mod group_sparing;
mod warp;
