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
pub use volume::{VolumeSettings, WritePolicy};

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::Complaint;
use crate::disk::DiskDescription;
use crate::group::BackendSettings;
use crate::pool::PoolSettings;

/// A whole array.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ArraySettings {
    /// The array's name for people.
    pub title: String,
    /// Ports, controllers and what connects them.
    pub controllers: ControllerSettings,
    /// The data cache of each controller.
    pub cache: CacheSettings,
    /// Disks by the names that disk groups use; a loader adds those it knows from its profiles.
    #[serde(default)]
    pub disks: BTreeMap<String, DiskDescription>,
    /// The disk groups.
    pub backend: BackendSettings,
    /// Pools by name: disk groups that volumes are cut from page by page.
    #[serde(default)]
    pub pools: BTreeMap<String, PoolSettings>,
    /// The volumes; a volume's number is its place in this list.
    pub volumes: Vec<VolumeSettings>,
}

impl ArraySettings {
    /// Every rule this description breaks; nothing when an array can be built of it.
    pub fn check(&self) -> Vec<Complaint> {
        let mut complaints = self.controllers.check("controllers");
        complaints.extend(self.cache.check("cache"));
        complaints.extend(self.check_disks());
        complaints.extend(self.backend.check("backend"));
        if self.cache.mirror && self.controllers.count < 2 {
            complaints.push(Complaint::new(
                "cache.mirror",
                "One controller has no partner to mirror to; set it to false.",
            ));
        }
        if self.volumes.is_empty() || self.volumes.len() > usize::from(u16::MAX) {
            complaints.push(Complaint::new(
                "volumes",
                "An array has at least one volume and at most 65535.",
            ));
        }
        for (number, volume) in self.volumes.iter().enumerate() {
            let path = format!("volumes.{number}");
            complaints.extend(volume.check(&path, &self.controllers));
            complaints.extend(self.check_place(&path, volume));
        }
        complaints
    }

    fn check_place(&self, path: &str, volume: &VolumeSettings) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        if let Some(group) = &volume.group {
            let in_pool = self.pools.values().any(|pool| {
                let cache = pool.read_cache.as_ref().map(|cache| &cache.group);
                pool.groups.iter().any(|each| each.group == *group) || cache == Some(group)
            });
            if !self.backend.group_names().contains(&group.as_str()) {
                let message = format!("There is no group '{group}'.");
                complaints.push(Complaint::new(format!("{path}.group"), message));
            } else if in_pool {
                let message = format!("Group '{group}' belongs to a pool; name the pool.");
                complaints.push(Complaint::new(format!("{path}.group"), message));
            }
        }
        if let Some(pool) = volume
            .pool
            .as_ref()
            .filter(|&pool| !self.pools.contains_key(pool))
        {
            let message = format!("There is no pool '{pool}'.");
            complaints.push(Complaint::new(format!("{path}.pool"), message));
        }
        complaints
    }

    fn check_disks(&self) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        for (name, disk) in &self.disks {
            for complaint in disk.check() {
                let path = format!("disks.{name}.{}", complaint.path);
                complaints.push(Complaint::new(path, complaint.message));
            }
        }
        for (number, group) in self.backend.disk_group.iter().enumerate() {
            if !self.disks.contains_key(&group.disk) {
                let message = format!("There is no disk '{}'.", group.disk);
                let path = format!("backend.disk_group.{number}.disk");
                complaints.push(Complaint::new(path, message));
            }
        }
        complaints
    }
}

/// Collects complaints about keys under one path.
pub(crate) struct Checker {
    path: String,
    complaints: Vec<Complaint>,
}

impl Checker {
    pub fn new(path: &str) -> Self {
        Self {
            path: path.to_string(),
            complaints: Vec::new(),
        }
    }

    /// Complains about `key` unless `holds`.
    pub fn demand(&mut self, holds: bool, key: &str, rule: &str) {
        if !holds {
            self.complaints
                .push(Complaint::new(format!("{}.{key}", self.path), rule));
        }
    }

    /// Demands a finite number within bounds, both included.
    pub fn demand_within(&mut self, value: f64, low: f64, high: f64, key: &str) {
        let holds = value.is_finite() && (low..=high).contains(&value);
        self.demand(
            holds,
            key,
            &format!("The value must lie from {low} to {high}."),
        );
    }

    /// Takes over the complaints of a part.
    pub fn include(&mut self, complaints: Vec<Complaint>) {
        self.complaints.extend(complaints);
    }

    pub fn finish(self) -> Vec<Complaint> {
        self.complaints
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
