//! Disks of a served array that work and do not give back what was written.

mod common;

use std::fs::File;
use std::os::unix::fs::FileExt;

use common::Scratch;
use common::served::{bytes, ended, opened, serving};

const DATA_BYTES: usize = 8 << 20;

/// What is read comes from the disks, and what was written is on them.
const PAST_THE_CACHE: [&str; 8] = [
    "--control",
    "socket",
    "--set",
    "array.volumes.write_policy=write-through",
    "--set",
    "array.volumes.direct_io=true",
    "--set",
    "array.volumes.read_ahead=false",
];

fn read(volume: &File) -> Vec<u8> {
    let mut read = vec![0; DATA_BYTES];
    volume.read_exact_at(&mut read, 0).expect("read");
    read
}

/// The disks of the first group of the array: nine of data, one or two of which hold parity in each stripe.
const DISKS: std::ops::Range<u32> = 0..9;

#[test]
fn places_that_cannot_be_read_are_computed_and_changed_ones_are_handed_out() {
    let here = Scratch::new();
    let Some(mut running) = serving(&here, &PAST_THE_CACHE) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    let written = bytes(DATA_BYTES, 5);
    volume.write_all_at(&written, 0).expect("written");
    volume.sync_all().expect("on the disks");
    // All that disk 2 holds: the others are enough.
    here.proofload("event socket sectors-unreadable 2 x1000000")
        .exits(0)
        .prints("cannot read up to 1000000 places of 4 KiB any more");
    running.wait_until_it_says("cannot read ");
    assert!(read(&volume) == written, "computed from the other disks");
    for disk in DISKS {
        let line = format!("event socket sectors-corrupted {disk} x1000000");
        here.proofload(&line).exits(0);
    }
    running.wait_until_it_says("holds something else in ");
    assert!(read(&volume) != written, "no error, and other bytes");
    drop(volume);
    ended(running).exits(0);
}
