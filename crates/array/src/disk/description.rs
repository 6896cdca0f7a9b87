//! What a disk is made of, as its TOML file says it.

use config::{ConfigError, Document, Format, Source, settings};

use super::cloud_volume::CloudVolumeDescription;
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
        /// A volume of a cloud provider.
        pub cloud_volume: Option<CloudVolumeDescription>;
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
        let kinds = [
            self.hard_disk.as_ref().map(|disk| disk.check("hard_disk")),
            self.solid_state
                .as_ref()
                .map(|disk| disk.check("solid_state")),
            self.cloud_volume
                .as_ref()
                .map(|volume| volume.check("cloud_volume")),
            self.ideal.as_ref().map(|station| station.check("ideal")),
        ];
        let mut kinds: Vec<Vec<BrokenRule>> = kinds.into_iter().flatten().collect();
        match (kinds.pop(), kinds.is_empty()) {
            (Some(broken), true) => broken,
            _ => vec![BrokenRule::new(
                "title",
                "A disk needs exactly one of the tables [hard_disk], [solid_state], [cloud_volume] \
                 and [ideal].",
            )],
        }
    }

    /// Whether it has no arm: random requests cost no more than others, and several are served at
    /// once.
    pub(crate) fn is_solid_state(&self) -> bool {
        let several = |ideal: &IdealDescription| ideal.servers > 1;
        self.hard_disk.is_none() && self.ideal.as_ref().is_none_or(several)
    }
}
