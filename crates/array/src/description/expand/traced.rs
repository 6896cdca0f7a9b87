//! Volumes for a block trace, in place of those for the databases of a workload.

use super::volumes::Wanted;
use super::{Expansion, PlannedArray};
use crate::VolumeId;
use crate::description::source::DescriptionError;
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
    let whole = Source::file(name, include_str!("../one_disk.toml"));
    let disk = Source::assignment(name, &format!("group.0.disk=\"{name}\""));
    let title = Source::assignment(name, &format!("title=\"One disk: {name}\""));
    Some(vec![whole, disk, title])
}

/// Capacity of a bundled disk in bytes, whole MiB of it; `None` when there is none of that name.
#[must_use]
pub fn disk_capacity_bytes(name: &str) -> Option<u64> {
    let disk = BUNDLED_DISKS.iter().find(|disk| disk.name == name)?;
    let description = DiskDescription::from_toml(disk.toml).ok()?;
    let model = crate::disk::DiskModel::new(&description, 0).ok()?;
    let sectors = crate::disk::Disk::capacity_sectors(&model);
    Some((sectors * crate::SECTOR_BYTES) >> 20 << 20)
}

impl Description {
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
            return Err(self.error(expansion.faults));
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
