//! Texts that are kept in the repository.

use std::path::Path;

/// Compares a text line by line with that of a file.
///
/// Once the difference has been looked at and is wanted, `PROOFLOAD_WRITE_EXPECTED=1` on the test
/// writes the text to the file.
///
/// # Panics
///
/// When they differ, with the first line that does, or when the file cannot be read or written.
#[track_caller]
pub fn expect(file: &Path, text: &str) {
    let shown = file.display();
    if std::env::var_os("PROOFLOAD_WRITE_EXPECTED").is_some() {
        let written = std::fs::write(file, text);
        written.unwrap_or_else(|error| panic!("{shown} cannot be written: {error}"));
    }
    let expected = std::fs::read_to_string(file)
        .unwrap_or_else(|error| panic!("{shown} cannot be read: {error}"));
    for (number, (line, expected)) in (1..).zip(text.lines().zip(expected.lines())) {
        assert_eq!(line, expected, "line {number} of {shown}");
    }
    assert_eq!(text.lines().count(), expected.lines().count(), "{shown}");
}
