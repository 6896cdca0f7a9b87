//! From keys to settings: every pool, disk group and volume written out.
//!
//! Each piece of the settings remembers the key it came from, so that a rule of the settings that
//! is broken can be shown at the line an engineer wrote.

mod check;
mod events;
mod groups;
mod pools;
mod traced;
mod volumes;

pub use events::PlannedEvent;
pub use traced::{TracedVolume, describes_disk, one_disk, one_disk_of_file};

use std::collections::BTreeMap;

use super::load::Description;
use super::source::{DescriptionError, DescriptionFault};
use crate::VolumeId;
use crate::disk::{BUNDLED_DISKS, DiskDescription};
use crate::group::{BackendSettings, DiskGroupSettings};
use crate::pool::PoolSettings;
use crate::settings::{ArraySettings, VolumeSettings};

/// A database that a workload wants to put on an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseDemand {
    /// Its name.
    pub name: String,
    /// Room for its file as it may grow.
    pub data_bytes: u64,
    /// Room for its log.
    pub log_bytes: u64,
}

/// Where a database lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DatabasePlacement {
    /// The volume of its file.
    pub data: VolumeId,
    /// The volume of its log.
    pub log: VolumeId,
}

/// An array that can be built, and where the databases of a workload lie on it.
#[derive(Debug, Clone, PartialEq)]
pub struct PlannedArray {
    /// The array.
    pub settings: ArraySettings,
    /// In the order of the demands.
    pub placement: Vec<DatabasePlacement>,
    /// Sentences worth knowing, such as a tier without protection.
    pub notes: Vec<String>,
    /// What is to break and to be repaired, in the order of the times.
    pub events: Vec<PlannedEvent>,
}

impl Description {
    /// Writes out the array for these databases, and checks every rule it must keep.
    ///
    /// # Errors
    /// Every rule that is broken, at the line of the key that breaks it.
    pub fn plan(&self, databases: &[DatabaseDemand]) -> Result<PlannedArray, DescriptionError> {
        self.expand(databases).map_err(|faults| {
            let faults_of = |other: &Self| other.expand(databases).err().unwrap_or_default();
            self.error(self.blamed(faults, faults_of))
        })
    }

    fn expand(&self, databases: &[DatabaseDemand]) -> Result<PlannedArray, Vec<DescriptionFault>> {
        let mut expansion = Expansion::new(self);
        expansion.check_counts();
        if !expansion.faults.is_empty() {
            return Err(expansion.faults);
        }
        expansion.add_pools();
        expansion.add_groups();
        // Volumes that are wrong hide nothing; of disk groups that are, the rest says nothing.
        let has_groups = expansion.faults.is_empty();
        let placement = expansion.add_volumes(databases);
        if has_groups {
            expansion.check_settings();
        }
        for shortage in std::mem::take(&mut expansion.shortages) {
            expansion.add_fault_of_place(shortage);
        }
        let events = expansion.add_events();
        if !expansion.faults.is_empty() {
            return Err(expansion.faults);
        }
        Ok(PlannedArray {
            settings: expansion.settings,
            placement,
            notes: expansion.notes,
            events,
        })
    }
}

/// A pool or a disk group that volumes can be put on.
struct Place {
    name: String,
    kind: PlaceKind,
    /// The controller that owns its volumes; without one they are dealt over all.
    owner: Option<u32>,
    /// Its key.
    path: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum PlaceKind {
    Pool,
    Group,
    /// A disk group of virtual disks: its number in the back end.
    Vraid(usize),
}

struct Expansion<'a> {
    description: &'a Description,
    settings: ArraySettings,
    places: Vec<Place>,
    /// Paths of the settings and the keys they came from.
    origins: BTreeMap<String, String>,
    faults: Vec<DescriptionFault>,
    /// Volumes too small for the workload: told after every broken rule, which may be the cause.
    shortages: Vec<DescriptionFault>,
    notes: Vec<String>,
}

impl<'a> Expansion<'a> {
    fn new(description: &'a Description) -> Self {
        let keys = &description.keys;
        let backend = &keys.backend;
        let settings = ArraySettings {
            title: keys.title.clone(),
            controllers: keys.controllers.clone(),
            cache: keys.cache.clone(),
            disks: BTreeMap::new(),
            backend: BackendSettings {
                dispatch: backend.dispatch.clone(),
                mirror_read: backend.mirror_read,
                small_write: backend.small_write,
                parity_gap_kib: backend.parity_gap_kib,
                rebuild: backend.rebuild.clone(),
                scrub: backend.scrub.clone(),
                disk_group: Vec::new(),
            },
            pools: BTreeMap::<String, PoolSettings>::new(),
            volumes: Vec::<VolumeSettings>::new(),
        };
        Self {
            description,
            settings,
            places: Vec::new(),
            origins: BTreeMap::new(),
            faults: Vec::new(),
            shortages: Vec::new(),
            notes: Vec::new(),
        }
    }

    fn fault(&mut self, path: &str, message: impl Into<String>, help: Option<&str>) {
        let help = help.map(str::to_owned);
        let fault = self.description.fault(path, message.into(), help);
        self.add_fault(fault);
    }

    /// Adds a fault, unless it was told already of a pool or a volume that comes from the same line.
    fn add_fault(&mut self, fault: DescriptionFault) {
        if !self.faults.iter().any(|told| told.is_like(&fault)) {
            self.faults.push(fault);
        }
    }

    /// Adds a fault, unless something else is wrong at that place, which may be the cause.
    fn add_fault_of_place(&mut self, fault: DescriptionFault) {
        let is_wrong = |told: &DescriptionFault| told.place == fault.place;
        if fault.place.is_none() || !self.faults.iter().any(is_wrong) {
            self.faults.push(fault);
        }
    }

    /// Notes that the setting at `setting` came from the key at `key`.
    fn came_from(&mut self, setting: String, key: String) {
        self.origins.insert(setting, key);
    }

    /// The description of a disk: one of the array's own, or a bundled one. Notes it in the
    /// settings.
    fn disk(&mut self, name: &str, path: &str) -> Option<DiskDescription> {
        if let Some(known) = self.settings.disks.get(name) {
            return Some(known.clone());
        }
        let own = self.description.keys.disks.get(name).cloned();
        let bundled = BUNDLED_DISKS.iter().find(|disk| disk.name == name);
        let found = own.or_else(|| DiskDescription::from_toml(bundled?.toml).ok());
        match &found {
            Some(disk) => {
                self.settings.disks.insert(name.to_owned(), disk.clone());
            }
            None => {
                let names = BUNDLED_DISKS.iter().map(|disk| disk.name);
                let own = self.description.keys.disks.keys().map(String::as_str);
                let known: Vec<&str> = own.chain(names).collect();
                let help = format!(
                    "the disks are {}; a table [disks.{name}] would describe another",
                    known.join(", ")
                );
                self.fault(path, format!("there is no disk '{name}'"), Some(&help));
            }
        }
        found
    }

    /// Adds a disk group, whose keys stand in `table` and begin with `prefix`.
    fn add_disk_group(&mut self, group: DiskGroupSettings, table: &str, prefix: &str) -> usize {
        let number = self.settings.backend.disk_group.len();
        let here = format!("backend.disk_group.{number}");
        let count = if prefix.is_empty() {
            "disk_count"
        } else {
            "ssd_count"
        };
        for (setting, key) in [
            ("disk", format!("{prefix}disk")),
            ("disks", count.to_owned()),
            ("spares", format!("{prefix}spares")),
            ("level", format!("{prefix}raid")),
            ("chunk_kib", format!("{prefix}chunk_kib")),
        ] {
            self.came_from(format!("{here}.{setting}"), format!("{table}.{key}"));
        }
        for key in ["placement", "protection_level"] {
            self.came_from(format!("{here}.{key}"), format!("{table}.{key}"));
        }
        self.came_from(here, table.to_owned());
        self.settings.backend.disk_group.push(group);
        number
    }
}
