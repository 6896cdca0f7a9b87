//! `proofload list`: what is built in.

use array::description::{BUNDLED_ARRAYS, Description};
use array::disk::BUNDLED_DISKS;
use config::Source;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::{ListOptions, Listed};
use crate::print::print;
use proofload::WORKLOADS;
use proofload::study::BUNDLED_STUDIES;

/// Prints the names with their descriptions.
pub fn list(options: &ListOptions) -> Result<ExitStatus, CommandError> {
    match options.what {
        Listed::Workloads => workloads(),
        Listed::Arrays => arrays(),
        Listed::Disks => disks(),
        Listed::Studies => studies(),
    }
}

fn workloads() -> Result<ExitStatus, CommandError> {
    let mut text = String::new();
    for profile in WORKLOADS.bundled_profiles() {
        let loaded = WORKLOADS.read(&[Source::file(profile.name, profile.toml)])?;
        text.push_str(&format!("{:<16}{}\n", profile.name, loaded.description()));
    }
    print(&text)
}

fn arrays() -> Result<ExitStatus, CommandError> {
    let mut text = String::new();
    for array in BUNDLED_ARRAYS {
        let loaded = Description::load(&[Source::file(array.name, array.toml)])?;
        text.push_str(&format!("{:<26}{}\n", array.name, loaded.title()));
    }
    print(&text)
}

fn disks() -> Result<ExitStatus, CommandError> {
    let mut text = String::new();
    for disk in BUNDLED_DISKS {
        text.push_str(&format!("{:<20}{}\n", disk.name, disk.description()?.title));
    }
    print(&text)
}

fn studies() -> Result<ExitStatus, CommandError> {
    let mut text = String::new();
    for study in BUNDLED_STUDIES {
        text.push_str(&format!("{:<16}{}\n", study.name, study.title()?));
    }
    print(&text)
}
