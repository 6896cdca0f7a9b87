//! Target "page"; see crates/fuzz-targets.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_targets::database::page(bytes));
