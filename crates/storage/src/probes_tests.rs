//! The target of a calibration: what is refused, and what is left of a claim.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use tempfile::TempDir;
use workload::Refusal;

use crate::testing::{LoopDevice, Mount, disk, exit_status, make_file};
use crate::{Claim, PROBES_FILE, ProbeAccess, ProbeSite, survey_for_probes};

const DEVICE_BYTES: u64 = 128 << 20;

fn scratch() -> TempDir {
    TempDir::new_in(disk()).unwrap()
}

fn survey(target: &Path, access: ProbeAccess) -> Result<ProbeSite, Refusal> {
    survey_for_probes(target, access, &mut |_| {})
}

#[track_caller]
fn refusal(target: &Path, access: ProbeAccess, status: u8) -> String {
    let refusal = survey(target, access).expect_err("a refusal");
    assert_eq!(exit_status(&refusal), status, "{refusal:?}");
    format!("{} {}", refusal.message, refusal.help)
}

fn names_in(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// A loop device over a new image, or a message and the end of the test.
macro_rules! loop_device {
    ($image:expr) => {{
        File::create(&$image)
            .unwrap()
            .set_len(DEVICE_BYTES)
            .unwrap();
        match LoopDevice::attach(&$image, &[]) {
            Some(device) => device,
            None => {
                test_support::skip("no loop device can be set up (needs root)");
                return;
            }
        }
    }};
}

#[test]
fn a_directory_is_as_before_when_a_claim_is_released() {
    let root = scratch();
    let site = survey(root.path(), ProbeAccess::Unstated).unwrap();
    assert!(site.writes() && !site.is_device() && site.first_byte() == 0);
    assert!(names_in(root.path()).is_empty());
    let claim = Claim::make_for_probes(site).unwrap();
    make_file(&claim, 0, PROBES_FILE);
    assert_eq!(names_in(root.path()).len(), 2);
    assert_eq!(claim.release().unwrap(), Vec::<PathBuf>::new());
    assert!(names_in(root.path()).is_empty());
}

#[test]
fn what_others_put_into_a_claim_is_left() {
    let root = scratch();
    let site = survey(root.path(), ProbeAccess::Unstated).unwrap();
    let directory = site.place().path().to_owned();
    let claim = Claim::make_for_probes(site).unwrap();
    make_file(&claim, 0, PROBES_FILE);
    let foreign = directory.join("notes");
    fs::write(&foreign, "of somebody else").unwrap();
    let left = claim.release().unwrap();
    assert_eq!(left, std::slice::from_ref(&foreign));
    assert_eq!(names_in(&directory), left);
}

#[test]
fn a_directory_that_holds_something_is_refused() {
    let root = scratch();
    fs::write(root.path().join("notes"), "of somebody else").unwrap();
    let said = refusal(root.path(), ProbeAccess::Unstated, 3);
    assert!(said.contains("is not empty"), "{said}");
    let said = refusal(&root.path().join("notes"), ProbeAccess::Unstated, 2);
    assert!(said.contains("is a regular file"), "{said}");
    refusal(Path::new(""), ProbeAccess::Unstated, 2);
}

#[test]
fn what_a_killed_calibration_has_left_is_named() {
    let root = scratch();
    let site = survey(root.path(), ProbeAccess::Unstated).unwrap();
    let claim = Claim::make_for_probes(site).unwrap();
    make_file(&claim, 0, PROBES_FILE);
    let said = refusal(root.path(), ProbeAccess::Unstated, 3);
    assert!(said.contains("is in use by"), "{said}");
    drop(claim); // As the system does when it ends the process.
    let said = refusal(root.path(), ProbeAccess::Unstated, 3);
    assert!(
        said.contains("the file of a calibration that was killed"),
        "{said}"
    );
    assert!(
        said.contains("rm -r") && said.contains("proofload.json"),
        "{said}"
    );
}

#[test]
fn memory_is_no_storage() {
    let root = scratch();
    let Some(_mount) = Mount::tmpfs(root.path()) else {
        test_support::skip("nothing can be mounted (needs root)");
        return;
    };
    let said = refusal(root.path(), ProbeAccess::Unstated, 3);
    assert!(said.contains("memory"), "{said}");
}

#[test]
fn a_device_is_read_or_erased_only_as_it_was_said() {
    let root = scratch();
    let image = root.path().join("image");
    let device = loop_device!(image);
    let said = refusal(device.path(), ProbeAccess::Unstated, 2);
    assert!(
        said.contains("--read-only") && said.contains("--erase-device"),
        "{said}"
    );
    // Synced, as somebody else may have the device open: then closing it writes nothing to the image.
    let mut opened = fs::OpenOptions::new()
        .write(true)
        .open(device.path())
        .unwrap();
    opened.write_all(&[7; 1 << 16]).unwrap();
    opened.sync_all().unwrap();
    drop(opened);
    let before = fs::read(&image).unwrap();
    let site = survey(device.path(), ProbeAccess::ReadOnly).unwrap();
    assert!(!site.writes() && site.room_bytes() == DEVICE_BYTES && site.first_byte() == 0);
    let said = refusal(device.path(), ProbeAccess::Erase, 3);
    assert!(said.contains("is in use by"), "one claim at a time: {said}");
    let claim = Claim::make_for_probes(site).unwrap();
    assert_eq!(claim.release().unwrap(), Vec::<PathBuf>::new());
    assert!(fs::read(&image).unwrap() == before, "nothing was written");
    let site = survey(device.path(), ProbeAccess::Erase).unwrap();
    assert!(site.writes() && site.first_byte() > 0);
    assert_eq!(site.room_bytes() + site.first_byte(), DEVICE_BYTES);
    let claim = Claim::make_for_probes(site).unwrap();
    assert_eq!(claim.release().unwrap(), Vec::<PathBuf>::new());
    assert!(fs::read(&image).unwrap().iter().all(|byte| *byte == 0));
}

#[test]
fn a_mounted_device_is_refused_also_to_be_read() {
    let root = scratch();
    let image = root.path().join("image");
    let device = loop_device!(image);
    let made = std::process::Command::new("mkfs.ext4")
        .arg("-q")
        .arg(device.path())
        .status();
    let at = root.path().join("mounted");
    fs::create_dir(&at).unwrap();
    let mounted = made.is_ok_and(|status| status.success());
    let Some(_mount) = mounted.then(|| Mount::device(device.path(), &at)).flatten() else {
        test_support::skip("no file system can be made and mounted (needs root)");
        return;
    };
    for access in [ProbeAccess::ReadOnly, ProbeAccess::Erase] {
        let said = refusal(device.path(), access, 3);
        assert!(said.contains("is mounted at"), "{said}");
    }
}
