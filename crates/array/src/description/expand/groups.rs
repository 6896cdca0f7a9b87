//! Disk groups outside of pools.

use super::{Expansion, Place, PlaceKind};
use crate::group::DiskGroupSettings;
use crate::raid::Level;

impl Expansion<'_> {
    pub fn add_groups(&mut self) {
        for (number, keys) in self.description.keys.group.iter().enumerate() {
            let path = format!("group.{number}");
            if self.disk(&keys.disk, &format!("{path}.disk")).is_none() {
                continue;
            }
            let group = DiskGroupSettings {
                name: keys.name.clone(),
                disk: keys.disk.clone(),
                disks: keys.disk_count,
                spares: keys.spares,
                level: keys.raid,
                chunk_kib: keys.chunk_kib,
                virtual_disk: Vec::new(),
                placement: keys.placement.clone(),
                protection_level: keys.protection_level,
            };
            let there = self.add_disk_group(group, &path, "");
            let kind = match keys.raid {
                Level::Vraid => PlaceKind::Vraid(there),
                _ => PlaceKind::Group,
            };
            self.add_place(Place {
                name: keys.name.clone(),
                kind,
                owner: keys.owner,
                path,
            });
        }
    }

    /// Adds a place, whose name must be its own.
    pub fn add_place(&mut self, place: Place) {
        if self.places.iter().any(|other| other.name == place.name) {
            let message = format!("there is another pool or group '{}'", place.name);
            let path = format!("{}.name", place.path);
            self.fault(&path, message, Some("give each a name of its own"));
        }
        self.places.push(place);
    }
}
