//! The one target of a calibration: a directory in which a file is made, or a block device.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use runtime::host::direct_unit_bytes;
use workload::Refusal;

use crate::examine::open_for_trial;
use crate::space::{self, DEVICE_TABLE_BYTES};
use crate::target::TargetKind;
use crate::under_way::Wait;
use crate::{DatabasePlace, Layout, Place, Target, device, directory};

/// Name of the file that probes read and write.
pub const PROBES_FILE: &str = "probes.dat";

/// Name of the directory that is made for it.
const PROBES_DIRECTORY: &str = "probes-001";

/// What may be done to a block device. In a directory a file of our own is made in either case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProbeAccess {
    /// Neither was said, so block devices are refused.
    Unstated,
    /// It is only read.
    ReadOnly,
    /// It may be overwritten.
    Erase,
}

/// A target that can be probed.
#[derive(Clone, Debug)]
pub struct ProbeSite {
    pub(crate) layout: Layout,
    access: ProbeAccess,
    room_bytes: u64,
    least_request_bytes: u64,
}

/// Looks at the target of a calibration as [`crate::survey`] does at those of a run. Writes nothing, except that
/// a file without a name comes and goes in a directory. A block device is held until the site is dropped.
///
/// # Errors
/// What is in the way.
pub fn survey_for_probes(
    given: &Path,
    access: ProbeAccess,
    notify: &mut dyn FnMut(&str),
) -> Result<ProbeSite, Refusal> {
    if given.as_os_str().is_empty() {
        return Err(Refusal::usage(
            "TARGET is empty.",
            "Name a directory on the storage to calibrate, or a block device.",
        ));
    }
    let mut target = Target::find(given, "calibrate")?;
    match target.handle.clone() {
        Some(handle) => {
            directory::check_empty(&target, &handle, None)?;
            directory::check_direct_io(&target, &handle)?;
        }
        None => {
            if access == ProbeAccess::Unstated {
                return Err(unstated(given));
            }
            let lock = device::lock(&target)?;
            Wait::begin(notify).on(&lock, &target.given)?;
            match access {
                ProbeAccess::ReadOnly => device::check_for_reading(&target)?,
                _ => device::check(&target, false, true)?,
            }
            target.lock = Some(Arc::new(lock));
        }
    }
    let least_request_bytes = least_request_bytes(&target).map_err(|error| {
        Refusal::environment(
            format!("{} cannot be opened: {error}.", given.display()),
            "Check the storage ('dmesg' shows I/O errors).",
        )
    })?;
    let room_bytes = match (access, target.kind) {
        (ProbeAccess::ReadOnly, TargetKind::Device { size_bytes }) => size_bytes,
        _ => space::free_bytes(&target)?,
    };
    Ok(ProbeSite {
        layout: layout(target),
        access,
        room_bytes,
        least_request_bytes,
    })
}

fn unstated(given: &Path) -> Refusal {
    Refusal::usage(
        format!(
            "{} is a block device, and probes that write destroy what it holds.",
            given.display()
        ),
        "Add --read-only to read it only, or --erase-device if everything on it may be lost.",
    )
}

/// The smallest direct request; where the kernel does not say, that of all storage that can be tested.
fn least_request_bytes(target: &Target) -> io::Result<u64> {
    let unit_bytes = direct_unit_bytes(open_for_trial(target)?).unwrap_or(0);
    Ok(match unit_bytes {
        1..=512 => 512,
        _ => runtime::buffer::BLOCK_BYTES as u64,
    })
}

/// One place for one file.
fn layout(target: Target) -> Layout {
    let place = match target.kind {
        TargetKind::Directory => Place::Directory(target.path.join(PROBES_DIRECTORY)),
        TargetKind::Device { .. } => Place::Device(target.path.clone()),
    };
    Layout {
        databases: vec![DatabasePlace {
            name: PROBES_DIRECTORY.to_owned(),
            data: place.clone(),
            log: place,
            data_target: 0,
            log_target: 0,
        }],
        targets: vec![target],
    }
}

impl ProbeSite {
    /// The target.
    #[must_use]
    pub fn target(&self) -> &Target {
        &self.layout.targets[0]
    }

    /// Where the probes go.
    #[must_use]
    pub fn place(&self) -> &Place {
        &self.layout.databases[0].data
    }

    /// The path without symbolic links.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.target().path.clone()
    }

    /// Whether it is a block device.
    #[must_use]
    pub fn is_device(&self) -> bool {
        self.target().kind != TargetKind::Directory
    }

    /// Whether something is written there: a file of our own, or the device.
    #[must_use]
    pub fn writes(&self) -> bool {
        !self.is_device() || self.access == ProbeAccess::Erase
    }

    /// Room for the probes, bytes.
    #[must_use]
    pub fn room_bytes(&self) -> u64 {
        self.room_bytes
    }

    /// Where the probes begin on a block device, bytes: behind our label, if it is written.
    #[must_use]
    pub fn first_byte(&self) -> u64 {
        match self.is_device() && self.writes() {
            true => DEVICE_TABLE_BYTES,
            false => 0,
        }
    }

    /// The smallest request that it takes past the page cache, 512 or 4,096 bytes.
    #[must_use]
    pub fn least_request_bytes(&self) -> u64 {
        self.least_request_bytes
    }
}
