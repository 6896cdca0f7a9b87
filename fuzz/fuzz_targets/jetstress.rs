//! Target "jetstress"; see crates/fuzz-targets.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| fuzz_targets::texts::jetstress(bytes));
