//! What the tests of real storage share.

#![allow(dead_code)] // Not every test file uses everything.

pub mod model;

use runtime::{Handle, HostDirectory, Runtime, UringOptions};
use std::path::Path;

/// Runs `test` on the wall clock in a new directory of the file system that the build is on. Says
/// so and does nothing where io_uring or direct I/O is refused.
pub fn on_real_storage<F: Future<Output = ()> + 'static>(
    test: impl FnOnce(Handle, HostDirectory) -> F,
) {
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    in_directory(place.path(), test);
}

/// The same in a given directory.
pub fn in_directory<F: Future<Output = ()> + 'static>(
    path: &Path,
    test: impl FnOnce(Handle, HostDirectory) -> F,
) {
    let runtime = match Runtime::wall_clock(&UringOptions::default()) {
        Ok(runtime) => runtime,
        Err(error) => {
            return test_support::skip(format_args!("io_uring is not available: {error}"));
        }
    };
    let directory = match HostDirectory::open(&runtime.handle(), path) {
        Ok(directory) => directory,
        Err(error) => {
            return test_support::skip(format_args!("the file system has no direct I/O: {error}"));
        }
    };
    runtime.block_on(test(runtime.handle(), directory));
}
