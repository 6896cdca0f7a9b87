//! What a disk is made of, as its TOML file says it.

use config::settings;

use super::hard_disk::HardDiskDescription;
use super::ideal::IdealDescription;
use super::solid_state::SolidStateDescription;
use crate::Diagnostic;

settings! {
    /// A disk: a title and exactly one table that says of what kind it is.
    pub struct DiskDescription {
        /// The disk's name for people.
        pub title: String;
        /// Platters and an arm.
        pub hard_disk: Option<HardDiskDescription>;
        /// Flash.
        pub solid_state: Option<SolidStateDescription>;
        /// A station of textbook queueing.
        pub ideal: Option<IdealDescription>;
    }
}

impl DiskDescription {
    /// Every rule this description breaks; nothing when a disk can be built of it.
    pub fn check(&self) -> Vec<Diagnostic> {
        match (&self.hard_disk, &self.solid_state, &self.ideal) {
            (Some(hard_disk), None, None) => hard_disk.check("hard_disk"),
            (None, Some(solid_state), None) => solid_state.check("solid_state"),
            (None, None, Some(ideal)) => ideal.check("ideal"),
            _ => vec![Diagnostic::new(
                "title",
                "A disk needs exactly one of the tables [hard_disk], [solid_state] and [ideal].",
            )],
        }
    }
}
