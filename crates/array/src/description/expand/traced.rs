//! Volumes for a block trace, in place of those for the databases of a workload.

use std::path::Path;

use super::volumes::Wanted;
use super::{Expansion, PlannedArray};
use crate::VolumeId;
use crate::description::source::{DescriptionError, DescriptionFault};
use crate::description::{Description, Source};
use crate::disk::{BUNDLED_DISKS, DiskDescription};

/// A volume that a trace goes to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TracedVolume {
    /// Its name in the trace.
    pub name: String,
    /// How far the trace reaches.
    pub reach_bytes: u64,
}

/// The sources of an array that is one disk and takes no time of its own; `None` when no disk of
/// that name is built in.
#[must_use]
pub fn one_disk(name: &str) -> Option<Vec<Source>> {
    BUNDLED_DISKS.iter().find(|disk| disk.name == name)?;
    Some(alone(name))
}

/// The same for a disk that the file at `path` describes. It is called after the file.
#[must_use]
pub fn one_disk_of_file(path: &str, text: &str) -> Vec<Source> {
    let stem = Path::new(path).file_stem().and_then(|stem| stem.to_str());
    let plain = |letter: char| match letter {
        letter if letter.is_alphanumeric() || "-_".contains(letter) => letter,
        _ => '-',
    };
    let name: String = stem.unwrap_or("disk").chars().map(plain).collect();
    let mut sources = alone(&name);
    sources.push(Source::disk(path, &name, text));
    sources
}

fn alone(name: &str) -> Vec<Source> {
    let whole = Source::file(name, include_str!("../one_disk.toml"));
    let disk = Source::assignment(name, &format!("group.0.disk=\"{name}\""));
    let title = Source::assignment(name, &format!("title=\"One disk: {name}\""));
    vec![whole, disk, title]
}

/// Whether a text describes a disk and no array: it has a table that only disks have, and none that
/// every array has or extends.
#[must_use]
pub fn describes_disk(text: &str) -> bool {
    let Ok(table) = text.parse::<toml::Table>() else {
        return false;
    };
    let has = |keys: &[&str]| keys.iter().any(|key| table.contains_key(*key));
    has(&["hard_disk", "solid_state", "ideal"])
        && !has(&["extends", "controllers", "cache", "pool", "group", "disks"])
}

impl Description {
    /// Capacity of the disk of an array that is one disk, in bytes, whole MiB of it; `None` when it
    /// cannot be built.
    #[must_use]
    pub fn one_disk_bytes(&self) -> Option<u64> {
        let name = &self.keys.group.first()?.disk;
        let bundled = || {
            let disk = BUNDLED_DISKS.iter().find(|disk| disk.name == *name)?;
            DiskDescription::from_toml(disk.toml).ok()
        };
        let description = self.keys.disks.get(name).cloned().or_else(bundled)?;
        let model = crate::disk::DiskModel::new(&description, 0).ok()?;
        let sectors = crate::disk::Disk::capacity_sectors(&model);
        Some((sectors * crate::SECTOR_BYTES) >> 20 << 20)
    }

    /// Writes out the array with a volume for each volume of a trace: of `size_bytes`, or else of
    /// the size that the rule for databases says, or else as large as the trace reaches. The
    /// placement names them in the order of `volumes`. Listed volumes are taken by their names,
    /// or in their order when no name is that of one in the trace.
    ///
    /// # Errors
    /// Every rule that is broken, at the line of the key that breaks it.
    pub fn plan_for_trace(
        &self,
        volumes: &[TracedVolume],
        size_bytes: Option<u64>,
    ) -> Result<(PlannedArray, Vec<VolumeId>), DescriptionError> {
        let expand = |other: &Self| other.expand_for_trace(volumes, size_bytes);
        expand(self).map_err(|faults| {
            let faults_of = |other: &Self| expand(other).err().unwrap_or_default();
            self.error(self.blamed(faults, faults_of))
        })
    }

    fn expand_for_trace(
        &self,
        volumes: &[TracedVolume],
        size_bytes: Option<u64>,
    ) -> Result<(PlannedArray, Vec<VolumeId>), Vec<DescriptionFault>> {
        let mut expansion = Expansion::new(self);
        expansion.check_counts();
        if expansion.faults.is_empty() {
            expansion.add_pools();
            expansion.add_groups();
        }
        let mut placement = Vec::new();
        if expansion.faults.is_empty() {
            placement = match self.keys.volume.is_empty() {
                true => expansion.add_traced(volumes, size_bytes),
                false => expansion.take_listed(volumes),
            };
            expansion.check_settings();
        }
        let events = expansion.add_events();
        if !expansion.faults.is_empty() {
            return Err(expansion.faults);
        }
        let planned = PlannedArray {
            settings: expansion.settings,
            placement: Vec::new(),
            notes: expansion.notes,
            events,
        };
        Ok((planned, placement))
    }
}

impl Expansion<'_> {
    fn add_traced(&mut self, volumes: &[TracedVolume], size_bytes: Option<u64>) -> Vec<VolumeId> {
        let rule = self.description.keys.volumes.clone();
        let places: Vec<String> = match rule.databases_on.is_empty() {
            true => self.places.iter().map(|place| place.name.clone()).collect(),
            false => rule.databases_on.clone(),
        };
        let size_path = "volumes.database_size_gb".to_owned();
        let numbered = volumes.iter().enumerate();
        numbered
            .map(|(number, volume)| {
                let capacity_mib = match (size_bytes, rule.database_size_gb) {
                    (Some(bytes), _) => bytes >> 20,
                    (None, Some(size_gb)) => self.mib_of(size_gb, &size_path),
                    (None, None) => volume.reach_bytes.div_ceil(1 << 20),
                };
                let turn = number % places.len().max(1);
                self.add(Wanted {
                    name: volume.name.clone(),
                    capacity_mib: capacity_mib.max(1),
                    on: places.get(turn).cloned().unwrap_or_default(),
                    owner: None,
                    vraid: rule.database_vraid,
                    thick: rule.thick,
                    affinity: rule.affinity,
                    write_policy: rule.write_policy,
                    read_ahead: rule.read_ahead,
                    direct_io: rule.direct_io,
                    partition_offset_sectors: rule.partition_offset_sectors,
                    size_path: size_path.clone(),
                    on_path: format!("volumes.databases_on.{turn}"),
                    path: "volumes".to_owned(),
                })
            })
            .collect()
    }

    fn take_listed(&mut self, volumes: &[TracedVolume]) -> Vec<VolumeId> {
        let listed = self.description.keys.volume.clone();
        let numbers: Vec<VolumeId> = listed
            .iter()
            .enumerate()
            .map(|(number, keys)| self.add_one(number, keys))
            .collect();
        let named = |volume: &TracedVolume| listed.iter().position(|one| one.name == volume.name);
        let by_name = volumes.iter().any(|volume| named(volume).is_some());
        let mut placement = Vec::new();
        for (number, volume) in volumes.iter().enumerate() {
            let place = if by_name { named(volume) } else { Some(number) };
            match place.and_then(|place| numbers.get(place)) {
                Some(&id) => placement.push(id),
                None => {
                    let message = format!(
                        "the trace goes to '{}', and no volume is left for it",
                        volume.name
                    );
                    let help = "add a table [[volume]] of that name";
                    self.fault("volume", message, Some(help));
                }
            }
        }
        placement
    }
}
