//! Disk groups outside of pools.

use super::{Expansion, Place, PlaceKind};
use crate::description::keys::DisksKeys;
use crate::group::{DiskGroupSettings, PlacementSettings};
use crate::raid::Level;
use crate::raid::vraid::ProtectionLevel;

/// A disk group of these disks.
pub(super) fn disk_group(name: &str, keys: &DisksKeys) -> DiskGroupSettings {
    DiskGroupSettings {
        name: name.to_owned(),
        disk: keys.disk.clone(),
        disks: keys.disk_count,
        spares: keys.spares,
        level: keys.raid,
        chunk_kib: keys.chunk_kib,
        virtual_disk: Vec::new(),
        placement: PlacementSettings::default(),
        protection_level: ProtectionLevel::None,
    }
}

impl Expansion<'_> {
    pub fn add_groups(&mut self) {
        for (number, keys) in self.document.settings.group.iter().enumerate() {
            let path = format!("group.{number}");
            if self
                .disk(&keys.disks.disk, &format!("{path}.disk"))
                .is_none()
            {
                continue;
            }
            let group = DiskGroupSettings {
                placement: keys.placement.clone(),
                protection_level: keys.protection_level,
                ..disk_group(&keys.name, &keys.disks)
            };
            let there = self.add_disk_group(group, &path, "");
            let kind = match keys.disks.raid {
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
            self.report(&path, message, Some("give each a name of its own"));
        }
        self.places.push(place);
    }
}
