//! `proofload list`: what is built in.

use array::description::{BUNDLED_ARRAYS, Description, Source};
use array::disk::{BUNDLED_DISKS, DiskDescription};
use workload::profile::BUNDLED;

use super::print;
use crate::cli::{ListOptions, Listed};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::study::BUNDLED_STUDIES;

/// Prints the names with their descriptions.
pub fn list(options: &ListOptions) -> Result<ExitStatus, Failure> {
    match options.what {
        Listed::Workloads => workloads(),
        Listed::Arrays => arrays(),
        Listed::Disks => disks(),
        Listed::Studies => studies(),
    }
}

fn workloads() -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for profile in BUNDLED {
        let loaded = profile.load()?;
        text.push_str(&format!("{:<16}{}\n", profile.name, loaded.description));
    }
    print(&text)
}

fn arrays() -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for array in BUNDLED_ARRAYS {
        let loaded = Description::load(&[Source::file(array.name, array.toml)])?;
        text.push_str(&format!("{:<26}{}\n", array.name, loaded.title()));
    }
    print(&text)
}

fn disks() -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for disk in BUNDLED_DISKS {
        let loaded = DiskDescription::from_toml(disk.toml)
            .map_err(|error| Failure::environment(format!("{}: {error}.", disk.name), ""))?;
        text.push_str(&format!("{:<20}{}\n", disk.name, loaded.title));
    }
    print(&text)
}

fn studies() -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for study in BUNDLED_STUDIES {
        text.push_str(&format!("{:<16}{}\n", study.name, study.title()?));
    }
    print(&text)
}
