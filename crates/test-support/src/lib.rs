//! What the tests of all crates share.
//!
//! Some tests need a program, a privilege or a device that a machine may lack: a database server, a
//! browser, a loop device. Such a test calls [`skip`] and returns. The test runner then counts it as
//! passed, so [`skip`] also writes a line to the file that [`SKIPPED_TESTS`] names; `scripts/test`
//! sets it, and prints at its end how many tests were skipped and why.
//!
//! [`expect`] compares a text with one that is kept in the repository. [`alternatives()`] lists every
//! setting with other valid values, so that a test can change one after the other; [`set`] makes a
//! source of `path=value`.

mod alternatives;
mod expected;

pub use alternatives::{Alternatives, alternatives, set};
pub use expected::expect;

use std::fmt::Display;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::panic::Location;
use std::path::Path;

/// The environment variable that names the file to which skipped tests are appended, one a line:
/// reason, test and place in the source, separated by tabs.
pub const SKIPPED_TESTS: &str = "PROOFLOAD_SKIPPED_TESTS";

/// Records that the calling test cannot run on this machine because of `reason`.
///
/// The reason completes the sentence "skipped: ..." and is the same for all tests that lack the same
/// thing, because they are counted by it: "PostgreSQL is not installed".
///
/// # Panics
///
/// When the file that [`SKIPPED_TESTS`] names cannot be written, as a skipped test would otherwise
/// pass for one that ran.
#[track_caller]
pub fn skip(reason: impl Display) {
    eprintln!("skipped: {reason}");
    if let Some(path) = std::env::var_os(SKIPPED_TESTS) {
        let line = line(&reason.to_string(), Location::caller());
        append(Path::new(&path), &line);
    }
}

/// One line of the file. The test runner names each thread after the test that it runs.
fn line(reason: &str, place: &Location<'_>) -> String {
    let thread = std::thread::current();
    let test = thread.name().unwrap_or("a test");
    let reason = reason.replace(['\t', '\n'], " ");
    format!("{reason}\t{test}\t{}:{}\n", place.file(), place.line())
}

/// Appends in one write, so that lines of test processes that run at once do not mix.
fn append(path: &Path, line: &str) {
    let opened = OpenOptions::new().create(true).append(true).open(path);
    let written = opened.and_then(|mut file| file.write_all(line.as_bytes()));
    if let Err(error) = written {
        panic!("{} cannot be written: {error}", path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_names_reason_test_and_place() {
        let place = Location::caller();
        let expected = format!(
            "no disk of its own\ttests::a_line_names_reason_test_and_place\t{}:{}\n",
            file!(),
            place.line()
        );
        assert_eq!(line("no disk\tof its own", place), expected);
    }

    #[test]
    fn lines_are_appended() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("skipped");
        append(&path, "a\n");
        append(&path, "b\n");
        assert_eq!(std::fs::read_to_string(path).unwrap(), "a\nb\n");
    }

    #[test]
    #[should_panic(expected = "cannot be written")]
    fn a_file_that_cannot_be_written_fails_the_test() {
        append(Path::new("/nowhere/at/all"), "a\n");
    }
}
