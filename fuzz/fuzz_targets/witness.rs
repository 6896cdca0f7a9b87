//! Target "witness"; see crates/fuzz-targets.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_targets::witness_messages::witness(bytes));
