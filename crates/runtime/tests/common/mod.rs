//! What the tests of real storage share.

#![allow(dead_code)] // Not every test file uses everything.

pub mod model;

use runtime::{Handle, HostDirectory, IoDriver, Runtime, WallClockOptions};
use std::path::Path;

/// A runtime with each I/O driver. Says so where io_uring is refused; threads are always there.
pub fn runtimes() -> Vec<Runtime> {
    let drivers = [IoDriver::IoUring, IoDriver::Threads];
    drivers.into_iter().filter_map(runtime_with).collect()
}

/// A runtime with this I/O driver and no other.
pub fn runtime_with(driver: IoDriver) -> Option<Runtime> {
    match Runtime::wall_clock(&WallClockOptions::with_driver(Some(driver))) {
        Ok(runtime) => Some(runtime),
        Err(error) if driver == IoDriver::IoUring => {
            test_support::skip(format_args!("io_uring is not available: {error}"));
            None
        }
        Err(error) => panic!("a runtime on threads: {error}"),
    }
}

/// Runs `test` with each I/O driver in a new directory of the file system that the build is on. Says
/// so and does nothing where direct I/O is refused.
pub fn on_real_storage<F: Future<Output = ()> + 'static>(
    test: impl Fn(Handle, HostDirectory) -> F,
) {
    for runtime in runtimes() {
        let place =
            tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).expect("a place for the test");
        in_directory(&runtime, place.path(), &test);
    }
}

/// Runs `test` in a given directory.
pub fn in_directory<F: Future<Output = ()> + 'static>(
    runtime: &Runtime,
    path: &Path,
    test: impl FnOnce(Handle, HostDirectory) -> F,
) {
    let directory = match HostDirectory::open(&runtime.handle(), path) {
        Ok(directory) => directory,
        Err(error) => {
            return test_support::skip(format_args!("the file system has no direct I/O: {error}"));
        }
    };
    runtime.block_on(test(runtime.handle(), directory));
}
