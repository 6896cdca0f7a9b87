//! Texts that are compared with files below `tests/known`.

use std::path::{Path, PathBuf};

/// A file or directory below `tests/known`.
pub fn known(name: &str) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests");
    tests.join("known").join(name)
}

/// Compares a text with such a file.
pub fn expect(file: &str, text: &str) {
    test_support::expect(&known(file), text);
}
