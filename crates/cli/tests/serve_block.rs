//! `proofload serve --block`: volumes as block devices, and file systems on them. Needs root and loop devices.

mod common;

use std::fs;
use std::os::unix::fs::{MetadataExt, chown};
use std::process::Command;

use common::served::{ARRAY, ended};
use common::{Running, Scratch, proofload};

/// Someone who is not root.
const OWNER: u32 = 12_345;

/// A server with two volumes in a store; `None` where nobody can attach a loop device.
fn serving(here: &Scratch, more: &[&str]) -> Option<Running> {
    if !can_attach() {
        test_support::skip("loop devices cannot be attached");
        return None;
    }
    for directory in ["array", "one", "two"] {
        let _ = fs::create_dir(here.path(directory));
    }
    let mut command = proofload(&here.path(""));
    command.arg("serve").args(more);
    let rest = format!("{ARRAY} --at array --size 64MiB --volumes 2 --store store");
    Some(Running::start_with(command, &rest))
}

fn can_attach() -> bool {
    let free = Command::new("losetup").arg("--find").output();
    let is_there = |path: &str| std::path::Path::new(path).exists();
    free.is_ok_and(|output| output.status.success())
        && is_there("/dev/fuse")
        && Command::new("mkfs.ext4").arg("-V").output().is_ok()
}

/// What is attached or mounted of a server that has ended.
fn left_over(here: &Scratch) -> Vec<String> {
    let place = here.path("").display().to_string();
    let mounts = fs::read_to_string("/proc/self/mountinfo").expect("the mounts");
    let devices = fs::read_dir("/sys/block").expect("the devices");
    let files = devices.filter_map(|device| {
        fs::read_to_string(device.ok()?.path().join("loop/backing_file")).ok()
    });
    let mounts = mounts.lines().map(str::to_owned);
    let all = mounts.chain(files);
    all.filter(|line| line.contains(place.trim_end_matches('/')))
        .collect()
}

#[test]
fn file_systems_are_made_mounted_and_kept() {
    let here = Scratch::new();
    let options = ["--mkfs", "ext4", "--mount", "one,two"];
    fs::create_dir(here.path("one")).expect("a directory");
    let _ = chown(here.path("one"), Some(OWNER), None);
    let Some(mut running) = serving(&here, &options) else {
        return;
    };
    running.wait_until_it_says("The volumes are mounted");
    let root = fs::metadata(here.path("one")).expect("a file system");
    assert_eq!(root.uid(), OWNER);
    let device = fs::metadata(here.path("two")).expect("another").dev();
    assert_ne!(device, root.dev());
    fs::write(here.path("one/kept"), "contents").expect("written");
    ended(running)
        .exits(0)
        .says("It has a new file system of type ext4.")
        .says("volume-2 is mounted on two.");
    assert_eq!(left_over(&here), Vec::<String>::new());
    let mut running = serving(&here, &options).expect("as before");
    running.wait_until_it_says("The volumes are mounted");
    let kept = fs::read_to_string(here.path("one/kept"));
    assert_eq!(kept.expect("the file"), "contents");
    // A program that is still there does not keep the server from ending.
    let user = fs::File::open(here.path("two")).expect("the directory");
    ended(running)
        .exits(0)
        .says("It has a file system of type ext4, which is kept.")
        .prints("two was unmounted while");
    drop(user);
}

#[test]
fn what_is_on_a_volume_is_not_written_over() {
    let here = Scratch::new();
    let Some(mut running) = serving(&here, &["--mkfs", "ext4"]) else {
        return;
    };
    running.wait_until_it_says("The volumes are mounted");
    ended(running).exits(0);
    let refused = serving(&here, &["--mkfs", "xfs"]).expect("as before");
    refused.end().exits(2).says("contains ext4 already");
    assert_eq!(left_over(&here), Vec::<String>::new());
    let mounted = serving(&here, &["--mount", "one,one"]).expect("as before");
    mounted.end().exits(2).says("one is named twice");
    let too_few = serving(&here, &["--mount", "one"]).expect("as before");
    too_few
        .end()
        .exits(2)
        .says("There are 2 volumes, and directories for 1.");
    fs::write(here.path("two/file"), "").expect("a file");
    let full = serving(&here, &["--mount", "one,two"]).expect("as before");
    full.end().exits(2).says("two is not empty");
}

#[test]
fn what_cannot_be_mounted_is_taken_down_again() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &["--mount", "one,two"]) else {
        return;
    };
    running
        .end()
        .exits(3)
        .says("The program mount failed: ")
        .says("--mkfs");
    assert_eq!(left_over(&here), Vec::<String>::new());
}
