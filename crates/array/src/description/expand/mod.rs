//! From keys to settings: every pool, disk group and volume written out.
//!
//! Each piece of the settings remembers the key it came from, so that a rule of the settings that
//! is broken can be shown at the line an engineer wrote.

mod calibration;
mod check;
mod disk_events;
mod events;
mod groups;
mod pools;
mod traced;
mod volumes;

pub use events::PlannedEvent;
pub(super) use events::format_time;
pub use traced::{TracedVolume, describes_disk, one_disk, one_disk_of_file};

pub(super) use traced::expand_for_trace;

use std::collections::BTreeMap;

use config::{Diagnostic, Document};

use super::keys::{DescriptionKeys, SsdKeys};
use crate::VolumeId;
use crate::disk::{
    BUNDLED_DISKS, DiskDescription, HardDiskDescription, WriteHistory, bundled_disk,
};
use crate::group::{BackendSettings, DiskGroupSettings};
use crate::settings::ArraySettings;

/// A database that a workload wants to put on an array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DatabaseDemand {
    /// Name of the database, which its volumes are named after.
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
    /// Settings of the array, with the volumes of the databases.
    pub settings: ArraySettings,
    /// In the order of the demands.
    pub placement: Vec<DatabasePlacement>,
    /// Sentences worth knowing, such as a tier without protection.
    pub notes: Vec<String>,
    /// What is to break and to be repaired, in the order of the times.
    pub events: Vec<PlannedEvent>,
}

impl PlannedArray {
    /// What the figures are to be read with, if anything.
    pub fn warning(&self) -> Option<String> {
        self.settings.warp_in_words()
    }

    /// What is to break and to be repaired, such as `Event at 10 min: disk 3 of group 'a-disks' fails.`
    pub fn events_in_words(&self) -> impl Iterator<Item = String> {
        let events = self.events.iter();
        events.map(|event| format!("Event at {}: {}.", format_time(event.at_ns), event.text))
    }
}

/// The array for these databases, or every rule it breaks.
pub(super) fn expand(
    document: &Document<DescriptionKeys>,
    databases: &[DatabaseDemand],
) -> Result<PlannedArray, Vec<Diagnostic>> {
    let mut expansion = Expansion::new(document);
    expansion.check_counts();
    expansion.check_calibration();
    if !expansion.diagnostics.is_empty() {
        return Err(expansion.diagnostics);
    }
    expansion.add_pools();
    expansion.add_groups();
    expansion.note_ssds();
    expansion.note_skews();
    // Volumes that are wrong hide nothing; of disk groups that are, the rest says nothing.
    let has_groups = expansion.diagnostics.is_empty();
    let placement = expansion.add_volumes(databases);
    if has_groups {
        expansion.check_settings();
    }
    for shortage in std::mem::take(&mut expansion.shortages) {
        expansion.add_of_place(shortage);
    }
    let events = expansion.add_events();
    expansion.planned(placement, events)
}

/// A pool or a disk group that volumes can be put on.
struct Place {
    name: String,
    kind: PlaceKind,
    /// The controller that owns its volumes; without one they are dealt over all.
    owner: Option<u32>,
    /// Key of the description that made it, for diagnostics.
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
    document: &'a Document<DescriptionKeys>,
    settings: ArraySettings,
    places: Vec<Place>,
    /// Paths of the settings and the keys they came from.
    origins: BTreeMap<String, String>,
    diagnostics: Vec<Diagnostic>,
    /// Volumes too small for the workload: reported after every broken rule, which may be the cause.
    shortages: Vec<Diagnostic>,
    notes: Vec<String>,
    /// How solid-state disks were written before where `[ssds]` does not say it.
    ssd_history: Option<WriteHistory>,
}

impl<'a> Expansion<'a> {
    fn new(document: &'a Document<DescriptionKeys>) -> Self {
        let keys = &document.settings;
        let settings = ArraySettings {
            title: keys.title.clone(),
            controllers: keys.controllers.clone(),
            cache: keys.cache.clone(),
            disks: BTreeMap::new(),
            backend: BackendSettings {
                policy: keys.backend.clone(),
                disk_group: Vec::new(),
            },
            pools: BTreeMap::new(),
            volumes: Vec::new(),
        };
        Self {
            document,
            settings,
            places: Vec::new(),
            origins: BTreeMap::new(),
            diagnostics: Vec::new(),
            shortages: Vec::new(),
            notes: Vec::new(),
            ssd_history: None,
        }
    }

    /// What was written out, or what is wrong with it.
    fn planned(
        self,
        placement: Vec<DatabasePlacement>,
        events: Vec<PlannedEvent>,
    ) -> Result<PlannedArray, Vec<Diagnostic>> {
        if !self.diagnostics.is_empty() {
            return Err(self.diagnostics);
        }
        Ok(PlannedArray {
            settings: self.settings,
            placement,
            notes: self.notes,
            events,
        })
    }

    fn report(&mut self, path: &str, message: impl Into<String>, help: Option<&str>) {
        let help = help.map(str::to_owned);
        let diagnostic = self.document.diagnostic(path, message.into(), help);
        self.add_diagnostic(diagnostic);
    }

    /// Adds a diagnostic, unless it is known already of a pool or a volume from the same line.
    fn add_diagnostic(&mut self, diagnostic: Diagnostic) {
        if !self
            .diagnostics
            .iter()
            .any(|known| known.is_like(&diagnostic))
        {
            self.diagnostics.push(diagnostic);
        }
    }

    /// Adds a diagnostic, unless something else is wrong at that place, which may be the cause.
    fn add_of_place(&mut self, diagnostic: Diagnostic) {
        let is_wrong = |known: &Diagnostic| known.location == diagnostic.location;
        if diagnostic.location.is_none() || !self.diagnostics.iter().any(is_wrong) {
            self.diagnostics.push(diagnostic);
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
        let own = self.document.settings.disks.get(name).cloned();
        let mut found = own.or_else(|| bundled_disk(name)?.description().ok());
        if let Some(flash) = found.as_mut().and_then(|disk| disk.solid_state.as_mut()) {
            let ssds = &self.document.settings.ssds;
            let history = ssds.history.or(self.ssd_history);
            flash.history = history.unwrap_or(flash.history);
            flash.filled_share = ssds.filled_share.unwrap_or(flash.filled_share);
        }
        match &found {
            Some(disk) => {
                self.settings.disks.insert(name.to_owned(), disk.clone());
            }
            None => {
                let names = BUNDLED_DISKS.iter().map(|disk| disk.name);
                let own = self.document.settings.disks.keys().map(String::as_str);
                let known: Vec<&str> = own.chain(names).collect();
                let help = format!(
                    "the disks are {}; a table [disks.{name}] would describe another",
                    known.join(", ")
                );
                self.report(path, format!("there is no disk '{name}'"), Some(&help));
            }
        }
        found
    }

    /// Settings of solid-state disks in an array without any may be of a series that begins without.
    fn note_ssds(&mut self) {
        let is_set = self.document.settings.ssds != SsdKeys::default();
        let mut groups = self.settings.backend.disk_group.iter();
        let has_ssds = groups.any(|group| {
            let disk = self.settings.disks.get(&group.disk);
            disk.is_some_and(|disk| disk.solid_state.is_some())
        });
        if is_set && !has_ssds {
            let note = "The array has no solid-state disks: what [ssds] says has no effect.";
            self.notes.push(note.to_owned());
        }
    }

    /// Says which hard disks of the array have skews that are too short.
    fn note_skews(&mut self) {
        for (name, disk) in &self.settings.disks {
            let hard_disk = disk.hard_disk.iter();
            let sentences = hard_disk.flat_map(HardDiskDescription::short_skews);
            let notes = sentences.map(|sentence| format!("Disk {name}: {sentence}"));
            self.notes.extend(notes);
        }
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
