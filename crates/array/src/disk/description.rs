//! What a disk is made of, as its TOML file says it.

use serde::Deserialize;

use super::ideal::IdealDescription;
use crate::Complaint;

/// No disk is larger than this. It keeps every address and product in the models within range.
pub const MAX_CAPACITY_BYTES: u64 = 1_000_000_000_000_000;

/// The description of a disk: a title and exactly one table that says of what kind it is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskDescription {
    /// The disk's name for people.
    pub title: String,
    /// A station of textbook queueing.
    pub ideal: Option<IdealDescription>,
}

impl DiskDescription {
    /// Every rule this description breaks; nothing when a disk can be built of it.
    pub fn check(&self) -> Vec<Complaint> {
        match &self.ideal {
            Some(ideal) => ideal.check("ideal"),
            None => vec![Complaint::new(
                "title",
                "A disk needs exactly one of the tables [hard_disk], [solid_state] and [ideal].",
            )],
        }
    }
}
