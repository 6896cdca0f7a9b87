//! Block devices as targets, over loop devices. Where those are not allowed the tests say so.

use std::fs::{self, File};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use config::ByteSize;
use mail::profile::MailProfile;
use tempfile::TempDir;

use crate::testing::{LoopDevice, Mount, disk};
use crate::{Claim, Layout, Place, Request, survey};
use workload::Refusal;

const DEVICE_BYTES: u64 = 256 << 20;

/// A directory with a blank image in it.
fn image() -> (TempDir, PathBuf) {
    let root = TempDir::new_in(disk()).unwrap();
    let path = root.path().join("image");
    File::create(&path).unwrap().set_len(DEVICE_BYTES).unwrap();
    (root, path)
}

fn small() -> MailProfile {
    let mut profile = MailProfile::default();
    profile.mail.databases = 1;
    profile.mail.scale_to(ByteSize::mib(32));
    profile.engine.checkpoint_depth = ByteSize::mib(4);
    profile
}

fn survey_device(device: &Path, erase_device: bool) -> Result<Layout, Refusal> {
    let profile = small();
    survey(
        &Request {
            on: &[device.to_owned()],
            log_on: &[],
            profile: &profile,
            reuse: false,
            erase_device,
        },
        &mut |_| {},
    )
}

fn refusal(device: &Path, erase_device: bool) -> String {
    let failure = survey_device(device, erase_device).unwrap_err();
    assert_eq!(crate::testing::exit_status(&failure), 3, "{failure:?}");
    format!("{failure:?}")
}

/// A loop device, or a message and the end of the test.
macro_rules! loop_device {
    ($image:expr, $options:expr) => {
        match LoopDevice::attach($image, $options) {
            Some(device) => device,
            None => {
                test_support::skip("no loop device can be set up (needs root)");
                return;
            }
        }
    };
}

#[test]
fn a_blank_device_is_taken_also_by_a_link() {
    let (root, image) = image();
    let device = loop_device!(&image, &[]);
    let layout = survey_device(device.path(), false).unwrap();
    assert_eq!(
        layout.databases[0].data,
        Place::Device(device.path().to_owned())
    );
    let link = root.path().join("by-id");
    symlink(device.path(), &link).unwrap();
    let said = refusal(&link, false);
    let own = format!("(process {}, started 2", std::process::id());
    assert!(said.contains(&own), "it is taken already: {said}");
    drop(layout);
    let layout = survey_device(&link, false).unwrap();
    assert_eq!(
        layout.databases[0].data,
        Place::Device(device.path().to_owned())
    );
}

#[test]
fn a_device_that_holds_something_is_erased_only_on_request() {
    let (_root, image) = image();
    let file = File::options().write(true).open(&image).unwrap();
    file.write_all_at(b"x", DEVICE_BYTES - 1).unwrap();
    let device = loop_device!(&image, &[]);
    let said = refusal(device.path(), false);
    assert!(
        said.contains("holds data") && said.contains("--erase-device"),
        "{said}"
    );
    // A process that another test has just started holds the lock until it runs its own program.
    let layout = (0..50).find_map(|_| {
        std::thread::sleep(std::time::Duration::from_millis(20));
        survey_device(device.path(), true).ok()
    });
    let layout = layout.expect("nobody else uses the device for long");
    drop(Claim::make(layout, "exchange-2013", &small(), true).unwrap());
    survey_device(device.path(), false).unwrap();
}

#[test]
fn a_loop_device_over_memory_is_not_storage() {
    let memory = TempDir::new_in(disk()).unwrap();
    let Some(_mount) = Mount::tmpfs(memory.path()) else {
        test_support::skip("no tmpfs can be mounted (needs root)");
        return;
    };
    let image = memory.path().join("image");
    File::create(&image).unwrap().set_len(DEVICE_BYTES).unwrap();
    let device = loop_device!(&image, &[]);
    for erase in [false, true] {
        let said = refusal(device.path(), erase);
        assert!(
            said.contains("whose file is in memory (tmpfs), which is not storage"),
            "{said}"
        );
    }
}

#[test]
fn what_somebody_put_on_a_device_meanwhile_is_left() {
    let (_root, image) = image();
    let device = loop_device!(&image, &[]);
    let layout = survey_device(device.path(), false).unwrap();
    let claim = Claim::make(layout, "exchange-2013", &small(), false).unwrap();
    let file = File::options().write(true).open(device.path()).unwrap();
    file.write_all_at(b"of somebody else", 0).unwrap();
    file.sync_all().unwrap();
    drop(file);
    assert_eq!(claim.release().unwrap(), [device.path()]);
    let said = refusal(device.path(), false);
    assert!(said.contains("holds data"), "{said}");
}

#[test]
fn a_mounted_device_is_never_taken() {
    let (root, image) = image();
    let made = Command::new("mkfs.ext4").arg("-q").arg(&image).status();
    if !made.is_ok_and(|status| status.success()) {
        test_support::skip("mkfs.ext4 is not installed");
        return;
    }
    let device = loop_device!(&image, &[]);
    let said = refusal(device.path(), false);
    assert!(said.contains("ext4 file system"), "{said}");
    let at = root.path().join("at");
    fs::create_dir(&at).unwrap();
    let Some(_mount) = Mount::device(device.path(), &at) else {
        test_support::skip("no file system can be mounted (needs root)");
        return;
    };
    let said = refusal(device.path(), true);
    assert!(
        said.contains("is mounted at") && said.contains("unmount"),
        "{said}"
    );
}

#[test]
fn a_partitioned_device_is_never_taken() {
    let (_root, image) = image();
    // One partition of type 0x83 from sector 2048 on, in the first entry of a classic table.
    let mut entry = [0_u8; 16];
    entry[4] = 0x83;
    entry[8..12].copy_from_slice(&2048_u32.to_le_bytes());
    entry[12..16].copy_from_slice(&65_536_u32.to_le_bytes());
    let file = File::options().write(true).open(&image).unwrap();
    file.write_all_at(&entry, 446).unwrap();
    file.write_all_at(b"\x55\xaa", 510).unwrap();
    let device = loop_device!(&image, &["--partscan"]);
    let said = refusal(device.path(), false);
    assert!(said.contains("partition"), "{said}");
    let name = device
        .path()
        .file_name()
        .unwrap()
        .to_string_lossy()
        .into_owned();
    if Path::new("/sys/block")
        .join(&name)
        .join(format!("{name}p1"))
        .exists()
    {
        let said = refusal(device.path(), true);
        assert!(said.contains("has partitions"), "{said}");
    }
}

#[test]
fn a_read_only_or_small_device_is_refused() {
    let (_root, image) = image();
    let device = loop_device!(&image, &["--read-only"]);
    assert!(refusal(device.path(), true).contains("read-only"));
    drop(device);
    let file = File::options().write(true).open(&image).unwrap();
    file.set_len(40 << 20).unwrap();
    let device = loop_device!(&image, &[]);
    assert!(refusal(device.path(), false).contains("free, but 1 database"));
}

#[test]
fn a_device_takes_one_database_only() {
    let (_root, image) = image();
    let device = loop_device!(&image, &[]);
    let mut profile = MailProfile::default();
    profile.mail.scale_to(ByteSize::mib(32));
    let failure = survey(
        &Request {
            on: &[device.path().to_owned()],
            log_on: &[],
            profile: &profile,
            reuse: false,
            erase_device: false,
        },
        &mut |_| {},
    );
    let failure = failure.unwrap_err();
    assert_eq!(crate::testing::exit_status(&failure), 2);
    assert!(
        format!("{failure:?}").contains("--databases 1"),
        "{failure:?}"
    );
}
