//! Target "nbd"; see crates/fuzz-targets.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_targets::nbd_client::nbd(bytes));
