//! The description of a whole array, as its TOML file says it.
//!
//! Every number is a setting with its unit in its name. Values by product family live in profiles,
//! with their sources; `check` says every rule a description breaks.

mod cache;
mod controller;
mod volume;

pub use cache::{CacheSettings, DestageSettings, FlushPolicy, ReadAheadSettings};
pub use controller::ServiceSettings;
pub use controller::{ControllerSettings, FailoverSettings, HostPaths, LinkSettings, PortSettings};
pub use volume::{VolumePolicy, VolumeSettings, WritePolicy};

use std::collections::BTreeMap;

use config::settings;

use crate::BrokenRule;
use crate::disk::DiskDescription;
use crate::group::BackendSettings;
use crate::pool::PoolSettings;
use crate::pool::settings::TieringName;
use crate::raid::Level;

settings! {
    /// All that a model of an array is built from. Loaders make it of a description.
    pub struct ArraySettings {
        /// The array's name for people.
        pub title: String;
        /// Ports, controllers and what connects them.
        pub controllers: ControllerSettings;
        /// The data cache of each controller.
        pub cache: CacheSettings;
        /// Disks by the names that disk groups use; a loader adds those it knows from its profiles.
        pub disks: BTreeMap<String, DiskDescription> = BTreeMap::new();
        /// The disk groups with their disks, and how rebuilds and scrubs go on.
        pub backend: BackendSettings;
        /// Pools by name: disk groups that volumes are cut from page by page.
        pub pools: BTreeMap<String, PoolSettings> = BTreeMap::new();
        /// The volumes; a volume's number is its place in this list.
        pub volumes: Vec<VolumeSettings>;
    }
}

impl ArraySettings {
    /// That `backend.warp` accelerates the slow machinery, or that there is none; `None` where it goes on as in the
    /// array.
    pub fn warp_in_words(&self) -> Option<String> {
        let warp = self.backend.policy.warp;
        let mut groups = self.backend.disk_group.iter();
        let rebuilds = groups.any(|group| !matches!(group.level, Level::Linear | Level::Raid0));
        let moves = self
            .pools
            .values()
            .any(|pool| pool.policy.tiering.policy != TieringName::Off && pool.groups.len() > 1);
        let what = match (rebuilds, moves) {
            _ if warp == 1 => return None,
            (true, true) => "Rebuilds, scrubs and moves between tiers",
            (true, false) => "Rebuilds and scrubs",
            (false, true) => "Moves between tiers",
            (false, false) => {
                return Some(format!(
                    "Nothing is accelerated by warp {warp}: the array has neither redundancy nor tiers."
                ));
            }
        };
        Some(format!(
            "{what} go on {warp} times as fast as in the array (warp {warp}), everything else as fast as there."
        ))
    }

    /// Every rule this description breaks; nothing when an array can be built of it.
    pub fn check(&self) -> Vec<BrokenRule> {
        let mut broken_rules = self.controllers.check("controllers");
        broken_rules.extend(self.cache.check("cache"));
        broken_rules.extend(self.check_disks());
        broken_rules.extend(self.backend.check("backend"));
        if self.cache.mirror && self.controllers.count < 2 {
            broken_rules.push(BrokenRule::new(
                "cache.mirror",
                "One controller has no partner to mirror to; set it to false.",
            ));
        }
        if self.volumes.is_empty() || self.volumes.len() > usize::from(u16::MAX) {
            broken_rules.push(BrokenRule::new(
                "volumes",
                "An array has at least one volume and at most 65535.",
            ));
        }
        for (number, volume) in self.volumes.iter().enumerate() {
            let path = format!("volumes.{number}");
            broken_rules.extend(volume.check(&path, &self.controllers));
            broken_rules.extend(self.check_place(&path, volume));
        }
        broken_rules
    }

    fn check_place(&self, path: &str, volume: &VolumeSettings) -> Vec<BrokenRule> {
        let mut broken_rules = Vec::new();
        if let Some(group) = &volume.group {
            let in_pool = self.pools.values().any(|pool| {
                let cache = pool.read_cache.as_ref().map(|cache| &cache.group);
                pool.groups.iter().any(|each| each.group == *group) || cache == Some(group)
            });
            if !self.backend.group_names().contains(&group.as_str()) {
                let message = format!("There is no group '{group}'.");
                broken_rules.push(BrokenRule::new(format!("{path}.group"), message));
            } else if in_pool {
                let message = format!("Group '{group}' belongs to a pool; name the pool.");
                broken_rules.push(BrokenRule::new(format!("{path}.group"), message));
            }
        }
        if let Some(pool) = volume
            .pool
            .as_ref()
            .filter(|&pool| !self.pools.contains_key(pool))
        {
            let message = format!("There is no pool '{pool}'.");
            broken_rules.push(BrokenRule::new(format!("{path}.pool"), message));
        }
        broken_rules
    }

    fn check_disks(&self) -> Vec<BrokenRule> {
        let mut broken_rules = Vec::new();
        for (name, disk) in &self.disks {
            for broken_rule in disk.check() {
                let path = format!("disks.{name}.{}", broken_rule.path);
                broken_rules.push(BrokenRule::new(path, broken_rule.message));
            }
        }
        for (number, group) in self.backend.disk_group.iter().enumerate() {
            if !self.disks.contains_key(&group.disk) {
                let message = format!("There is no disk '{}'.", group.disk);
                let path = format!("backend.disk_group.{number}.disk");
                broken_rules.push(BrokenRule::new(path, message));
            }
        }
        broken_rules
    }
}

/// Nanoseconds of a span given in microseconds.
pub(crate) fn ns_of_us(span_us: f64) -> u64 {
    (span_us * 1e3).round() as u64
}

/// Nanoseconds of a span given in milliseconds.
pub(crate) fn ns_of_ms(span_ms: f64) -> u64 {
    (span_ms * 1e6).round() as u64
}
