//! What is to happen to disks.

use super::Expansion;
use super::events::group_of;
use crate::description::keys::{EventKeys, EventName};
use crate::disk::CloudVolumeDescription;
use crate::{Fault, SectorDamage};

impl Expansion<'_> {
    pub(super) fn fault_of_disk(
        &mut self,
        keys: &EventKeys,
        factor: u32,
        places: u32,
        path: &str,
    ) -> Option<(Fault, String)> {
        let (disk, name) = self.disk_of(keys, path)?;
        Some(match keys.what {
            EventName::SectorsUnreadable => (
                Fault::DamageSectors {
                    disk,
                    places,
                    damage: SectorDamage::Unreadable,
                },
                format!("{name} cannot read up to {places} places of 4 KiB any more"),
            ),
            EventName::SectorsCorrupted => (
                Fault::DamageSectors {
                    disk,
                    places,
                    damage: SectorDamage::Corrupted,
                },
                format!("{name} holds something else in up to {places} places of 4 KiB"),
            ),
            EventName::CreditsSpent => {
                self.require_bursts(disk, &name, path)?;
                let text = format!("the credits of {name} for bursts are spent");
                (Fault::SpendCredits(disk), text)
            }
            EventName::DiskFails => (Fault::FailDisk(disk), format!("{name} fails")),
            EventName::DiskSlows => (
                Fault::SlowDisk { disk, factor },
                format!("{name} slows down by a factor of {factor}"),
            ),
            EventName::DiskRecovers => (
                Fault::SlowDisk { disk, factor },
                format!("{name} is as fast as before"),
            ),
            _ => (Fault::ReplaceDisk(disk), format!("{name} is replaced")),
        })
    }

    /// How many times as long everything takes after an event.
    pub(super) fn factor_of(&mut self, keys: &EventKeys, path: &str) -> Option<u32> {
        match (keys.what, keys.factor) {
            (EventName::DiskSlows, Some(factor)) => Some(factor),
            (EventName::DiskSlows, None) => {
                let help = "write factor = 10 for a disk that takes ten times as long; with --event it is x10, as in 'disk-slow 3 x10'";
                self.report(path, "nothing says by how much the disk slows", Some(help));
                None
            }
            (_, Some(_)) => {
                let message = "only a disk that slows has a factor";
                self.report(&format!("{path}.factor"), message, Some("omit it"));
                None
            }
            (_, None) => Some(1),
        }
    }

    /// In how many places of a disk it happens; 0 for events without places.
    pub(super) fn places_of(&mut self, keys: &EventKeys, path: &str) -> Option<u32> {
        match (keys.what.has_places(), keys.places) {
            (true, Some(places)) => Some(places),
            (true, None) => {
                let help = "write places = 100; with --event it is x100, as in 'sectors-unreadable 3 x100'";
                self.report(path, "nothing says in how many places", Some(help));
                None
            }
            (false, Some(_)) => {
                let message = "only sectors that are unreadable or corrupted have places";
                self.report(&format!("{path}.places"), message, Some("omit it"));
                None
            }
            (false, None) => Some(0),
        }
    }

    /// Refuses to spend credits that a disk does not have.
    fn require_bursts(&mut self, disk: u32, name: &str, path: &str) -> Option<()> {
        let (group, _) = group_of(&self.settings.backend.disk_group, disk)?;
        let make = &self.settings.backend.disk_group[group].disk;
        let description = self.settings.disks.get(make);
        let volume = description.and_then(|disk| disk.cloud_volume.as_ref());
        if volume.is_some_and(CloudVolumeDescription::has_bursts) {
            return Some(());
        }
        let message = format!("{name} has no credits: it is no cloud volume with bursts");
        let help = "use an array of such volumes, as cloud-burst is";
        self.report(&format!("{path}.what"), message, Some(help));
        None
    }

    /// Number and name of the disk that an event is about.
    fn disk_of(&mut self, keys: &EventKeys, path: &str) -> Option<(u32, String)> {
        if keys.controller.is_some() {
            let message = "this event is about a disk and has no controller";
            self.report(&format!("{path}.controller"), message, None);
            return None;
        }
        let Some(disk) = keys.disk else {
            let help = "write disk = 3, and group = \"NAME\" to count within a disk group";
            self.report(path, "nothing says which disk this is", Some(help));
            return None;
        };
        let groups = &self.settings.backend.disk_group;
        let sizes = groups
            .iter()
            .map(|group| u32::from(group.disks) + u32::from(group.spares));
        let mut first = 0;
        let spans: Vec<(String, u32, u32)> = groups
            .iter()
            .zip(sizes)
            .map(|(group, size)| {
                first += size;
                (group.name.clone(), first - size, size)
            })
            .collect();
        let (at, disk, limit) = match &keys.group {
            None => (format!("{path}.disk"), disk, first),
            Some(name) => {
                let Some((_, begin, size)) = spans.iter().find(|(group, ..)| group == name) else {
                    let names: Vec<&str> = spans.iter().map(|span| span.0.as_str()).collect();
                    let help = format!("the disk groups are {}", names.join(", "));
                    let message = format!("there is no disk group '{name}'");
                    self.report(&format!("{path}.group"), message, Some(&help));
                    return None;
                };
                let limit = begin + size;
                (format!("{path}.disk"), disk.saturating_add(*begin), limit)
            }
        };
        if disk >= limit {
            let (whose, count) = match &keys.group {
                None => ("the array".to_owned(), limit),
                Some(name) => {
                    let size = spans
                        .iter()
                        .find(|span| span.0 == *name)
                        .map_or(0, |span| span.2);
                    (format!("group '{name}'"), size)
                }
            };
            let message = format!("there is no disk {}", keys.disk.unwrap_or(0));
            let help = format!("{whose} has {count} disks with its spares, from 0 on");
            self.report(&at, message, Some(&help));
            return None;
        }
        let span = spans
            .iter()
            .find(|(_, begin, size)| (*begin..begin + size).contains(&disk));
        let (group, begin, _) = span?;
        Some((disk, format!("disk {} of group '{group}'", disk - begin)))
    }
}
