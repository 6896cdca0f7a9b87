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

const CHECKSUMS: [&str; 3] = ["--store", "store", "--checksums"];

fn checksum_errors(here: &Scratch) -> Vec<u64> {
    let printed = here.proofload("serve --status socket --json").exits(0);
    let state: serde_json::Value = serde_json::from_str(&printed.stdout).expect("JSON");
    let disks = state["disks"].as_array().expect("disks").iter();
    disks
        .map(|disk| disk["checksum_errors"].as_u64().expect("a number"))
        .collect()
}

/// Changes a byte of each sector of the file of a disk that holds something.
fn change(here: &Scratch, disk: u32) {
    let path = here.path(&format!("store/disks/a-disks-{disk}"));
    let file = File::options().read(true).write(true).open(path);
    let file = file.expect("the file of a disk");
    let mut block = [0; 512];
    for offset in (0..(DATA_BYTES as u64) * 2).step_by(512) {
        file.read_exact_at(&mut block, offset).expect("read");
        if block.iter().any(|&byte| byte != 0) {
            let byte = block[100] ^ 1;
            file.write_all_at(&[byte], offset + 100).expect("changed");
        }
    }
}

#[test]
fn what_disagrees_with_its_checksum_is_computed_or_an_error_and_never_handed_out() {
    let here = Scratch::new();
    let more = [PAST_THE_CACHE.as_slice(), &CHECKSUMS].concat();
    let Some(running) = serving(&here, &more) else {
        return;
    };
    let written = bytes(DATA_BYTES, 5);
    let volume = opened(&here, "volume-1");
    volume.write_all_at(&written, 0).expect("written");
    volume.sync_all().expect("on the disks");
    drop(volume);
    ended(running).exits(0);
    // The checksums outlive the server, and nobody has to ask for them again.
    let more = [
        PAST_THE_CACHE.as_slice(),
        &CHECKSUMS[..2],
        &["--out", "out"],
    ]
    .concat();
    let Some(mut running) = serving(&here, &more) else {
        return;
    };
    running.wait_until_it_says("those of the store store, with checksums");
    let volume = opened(&here, "volume-1");
    assert!(read(&volume) == written);
    assert_eq!(checksum_errors(&here).iter().sum::<u64>(), 0);
    // RAID 6 makes up for two disks: one is changed behind the back of the server, the other by an event.
    change(&here, 2);
    here.proofload("event socket sectors-corrupted 3 x1000000")
        .exits(0);
    assert!(read(&volume) == written, "computed from the other disks");
    running.wait_until_it_says(
        "disk 2 of group 'a-disks' gave back something else than was written, at byte ",
    );
    let errors = checksum_errors(&here);
    assert!(errors[2] > 0 && errors[3] > 0, "{errors:?}");
    assert!(read(&volume) == written);
    assert_eq!(checksum_errors(&here), errors, "it was repaired");
    // Nothing makes up for three.
    (0..3).for_each(|disk| change(&here, disk));
    let mut all = vec![0; DATA_BYTES];
    let error = volume.read_exact_at(&mut all, 0).expect_err("not readable");
    assert_eq!(error.raw_os_error(), Some(5), "{error}");
    running.wait_until_it_says("of volume volume-1 fails: they cannot be read or computed");
    // What is written again can be read. The kernel would cut longer writes in the middle of a sector.
    for (part, offset) in written.chunks(1 << 16).zip((0..).step_by(1 << 16)) {
        volume.write_all_at(part, offset).expect("written");
    }
    assert!(read(&volume) == written);
    drop(volume);
    ended(running).exits(0);
    let result = here.result();
    assert!(result["array"]["disks"][2]["checksum_errors"].as_u64() > Some(0));
    let warnings = result["warnings"].to_string();
    assert!(
        warnings.contains("disagreed with their checksums (disk "),
        "{warnings}"
    );
}

#[test]
fn a_disk_without_its_checksums_is_none_and_a_store_without_any_gets_none() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &CHECKSUMS) else {
        return;
    };
    ended(running).exits(0);
    std::fs::remove_file(here.path("store/checksums/a-disks-4")).expect("removed");
    let Some(mut running) = serving(&here, &CHECKSUMS) else {
        return;
    };
    running.wait_until_it_says("is degraded");
    ended(running).exits(0);
    let Some(running) = serving(&here, &["--store", "other"]) else {
        return;
    };
    ended(running).exits(0);
    here.proofload("serve msa2050 --at array --size 1GiB --store other --checksums")
        .exits(2)
        .says("The store other was made without checksums.");
}
