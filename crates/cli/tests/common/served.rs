//! An array that is served, and programs that use its volumes.

use std::fs::File;
use std::path::Path;

use super::{Ended, Running, Scratch, proofload};

/// The array.
pub const ARRAY: &str = "msa2050";

/// The live array, mounted; `None` where nothing can be.
pub fn serving(here: &Scratch, more: &[&str]) -> Option<Running> {
    serving_of(ARRAY, here, more)
}

/// The same of another array.
pub fn serving_of(array: &str, here: &Scratch, more: &[&str]) -> Option<Running> {
    if File::options()
        .read(true)
        .write(true)
        .open("/dev/fuse")
        .is_err()
    {
        test_support::skip("there is no FUSE (/dev/fuse)");
        return None;
    }
    let _ = std::fs::create_dir(here.path("array"));
    let mut command = proofload(&here.path(""));
    command.arg("serve").args(more);
    let mut running = Running::start_with(command, &format!("{array} --at array --size 1GiB"));
    running.wait_until_it_says("The volumes are mounted");
    Some(running)
}

/// A volume, open for reading and writing.
pub fn opened(here: &Scratch, volume: &str) -> File {
    let path = here.path("array").join(volume);
    let opened = File::options().read(true).write(true).open(path);
    opened.expect("a volume")
}

/// Ends the server as Ctrl-C does.
pub fn ended(mut running: Running) -> Ended {
    running.signal("INT");
    running.end()
}

/// Bytes that differ from place to place.
pub fn bytes(length: usize, seed: u8) -> Vec<u8> {
    let byte = |index: usize| {
        (index as u8)
            .wrapping_mul(31)
            .wrapping_add((index >> 8) as u8)
            ^ seed
    };
    (0..length).map(byte).collect()
}

/// Unmounts what a killed server has left.
pub fn unmount(path: &Path) {
    let status = std::process::Command::new("umount").arg(path).status();
    assert!(status.expect("umount").success());
}
