//! What a disk is made of, as its TOML file says it.

use config::{ConfigError, Document, Format, Source, settings};

use super::hard_disk::HardDiskDescription;
use super::ideal::IdealDescription;
use super::solid_state::SolidStateDescription;
use crate::BrokenRule;

settings! {
    /// A disk: a title and exactly one table that says of what kind it is.
    pub struct DiskDescription {
        /// The disk's name for people.
        pub title: String;
        /// Platters and an arm.
        pub hard_disk: Option<HardDiskDescription>;
        /// A controller with channels and dies of flash.
        pub solid_state: Option<SolidStateDescription>;
        /// A station of textbook queueing.
        pub ideal: Option<IdealDescription>;
    }
}

impl DiskDescription {
    /// Reads a disk: files and assignments, each over those before it.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place.
    pub fn load(sources: &[Source]) -> Result<Self, ConfigError> {
        static DISK: Format = Format::plain("disk");
        let broken = |document: &Document<Self>| {
            let rules = document.settings.check().into_iter();
            rules
                .map(|rule| document.diagnostic(&rule.path, rule.message, None))
                .collect()
        };
        let document = Document::load_with_rules(&DISK, sources, broken)?;
        let found = broken(&document);
        Ok(document.accept(found)?.settings)
    }

    /// Every rule this description breaks; nothing when a disk can be built of it.
    pub fn check(&self) -> Vec<BrokenRule> {
        match (&self.hard_disk, &self.solid_state, &self.ideal) {
            (Some(hard_disk), None, None) => hard_disk.check("hard_disk"),
            (None, Some(solid_state), None) => solid_state.check("solid_state"),
            (None, None, Some(ideal)) => ideal.check("ideal"),
            _ => vec![BrokenRule::new(
                "title",
                "A disk needs exactly one of the tables [hard_disk], [solid_state] and [ideal].",
            )],
        }
    }
}
