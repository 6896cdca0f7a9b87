//! What a disk is made of, as its TOML file says it.

use serde::Deserialize;

use super::hard_disk::HardDiskDescription;
use super::ideal::IdealDescription;
use super::solid_state::SolidStateDescription;
use crate::{Complaint, SECTOR_BYTES};

/// No disk is larger than this. It keeps every address and product in the models within range.
pub const MAX_CAPACITY_BYTES: u64 = 1_000_000_000_000_000;

/// The description of a disk: a title and exactly one table that says of what kind it is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskDescription {
    /// The disk's name for people.
    pub title: String,
    /// Platters and an arm.
    pub hard_disk: Option<HardDiskDescription>,
    /// Flash.
    pub solid_state: Option<SolidStateDescription>,
    /// A station of textbook queueing.
    pub ideal: Option<IdealDescription>,
}

impl DiskDescription {
    /// Reads the TOML of a description. Its rules are checked by [`DiskDescription::check`].
    ///
    /// # Errors
    /// What is not TOML, not known or of the wrong kind, as a sentence.
    pub fn from_toml(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.message().to_owned())
    }

    /// Every rule this description breaks; nothing when a disk can be built of it.
    pub fn check(&self) -> Vec<Complaint> {
        match (&self.hard_disk, &self.solid_state, &self.ideal) {
            (Some(hard_disk), None, None) => hard_disk.check("hard_disk"),
            (None, Some(solid_state), None) => solid_state.check("solid_state"),
            (None, None, Some(ideal)) => ideal.check("ideal"),
            _ => vec![Complaint::new(
                "title",
                "A disk needs exactly one of the tables [hard_disk], [solid_state] and [ideal].",
            )],
        }
    }
}

/// The rule of every kind of disk for its capacity.
pub(super) fn check_capacity(capacity_bytes: u64, prefix: &str) -> Vec<Complaint> {
    if (SECTOR_BYTES..=MAX_CAPACITY_BYTES).contains(&capacity_bytes) {
        return Vec::new();
    }
    vec![Complaint::new(
        format!("{prefix}.capacity_bytes"),
        "A disk holds between one sector (512 bytes) and 10^15 bytes.",
    )]
}
