//! Which rules the description of a back end breaks.

use crate::raid::vraid::{MINIMUM_DISKS, ProtectionLevel};
use crate::raid::{Level, Striped};
use crate::{Complaint, SECTOR_BYTES};

use super::{BackendSettings, DiskGroupSettings, RebuildSettings, ScrubSettings};

/// More disks than any array of these families takes; station numbers stay small.
const MAX_DISKS: usize = 4096;

/// Stripes with more than a pair of disks are at most that wide.
const MAX_STRIPE_DISKS: u16 = 32;

/// Joins a prefix and a key by a dot.
pub(super) fn path(prefix: &str, key: &str) -> String {
    if prefix.is_empty() {
        key.to_string()
    } else {
        format!("{prefix}.{key}")
    }
}

impl BackendSettings {
    /// Every rule these settings break by themselves; paths start with `prefix`, which may be
    /// empty.
    pub fn check(&self, prefix: &str) -> Vec<Complaint> {
        let mut complaints = self.dispatch.check(&path(prefix, "dispatch"));
        complaints.extend(self.rebuild.check(&path(prefix, "rebuild")));
        complaints.extend(self.scrub.check(&path(prefix, "scrub")));
        let mut disks = 0;
        for (number, disk_group) in self.disk_group.iter().enumerate() {
            let here = path(prefix, &format!("disk_group.{number}"));
            disks += usize::from(disk_group.disks) + usize::from(disk_group.spares);
            complaints.extend(disk_group.check(&here));
            let twin = self.disk_group[..number]
                .iter()
                .any(|other| other.name == disk_group.name);
            if twin {
                let message = format!(
                    "There is another disk group '{}'; give each a name of its own.",
                    disk_group.name
                );
                complaints.push(Complaint::new(path(&here, "name"), message));
            }
        }
        if self.disk_group.is_empty() || disks > MAX_DISKS {
            let message = format!("There are {disks} disks; 1 to {MAX_DISKS} can be modelled.");
            complaints.push(Complaint::new(path(prefix, "disk_group"), message));
        }
        complaints
    }
}

impl DiskGroupSettings {
    /// Chunk length, sectors; one without a chunk.
    pub(super) fn chunk_sectors(&self) -> u64 {
        self.chunk_kib
            .map_or(1, |chunk_kib| u64::from(chunk_kib) * 1024 / SECTOR_BYTES)
    }

    fn check(&self, here: &str) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        let mut complain = |key: &str, message: String| {
            complaints.push(Complaint::new(path(here, key), message));
        };
        if self.level == Level::Vraid {
            self.check_vraid(here, &mut complaints);
            return complaints;
        }
        if self.protection_level != ProtectionLevel::None {
            let message = "Only a Vraid has a protection level; other groups have spares.";
            complain("protection_level", message.into());
        }
        if !self.virtual_disk.is_empty() {
            let message = "Virtual disks are laid out over a disk group of level = \"vraid\".";
            complain("virtual_disk", message.into());
        }
        let minimum = Striped::minimum_members(self.level);
        if self.disks < minimum {
            let message = format!(
                "{} needs at least {minimum} disks, this group has {}.",
                self.level.title(),
                self.disks
            );
            complain("disks", message);
        }
        if self.level == Level::Raid10 && !self.disks.is_multiple_of(2) {
            let message = format!("RAID 10 pairs its disks; {} is an odd number.", self.disks);
            complain("disks", message);
        }
        let wide = matches!(self.level, Level::Raid1 | Level::Raid5 | Level::Raid6);
        if wide && self.disks > MAX_STRIPE_DISKS {
            let message = format!(
                "A {} group has at most {MAX_STRIPE_DISKS} disks, this one has {}.",
                self.level.title(),
                self.disks
            );
            complain("disks", message);
        }
        let striped = !matches!(self.level, Level::Linear | Level::Raid1);
        match self.chunk_kib {
            None if striped => {
                let message = format!(
                    "{} stripes over its disks; say in what chunks, as in chunk_kib = 64.",
                    self.level.title()
                );
                complain("chunk_kib", message);
            }
            Some(_) if !striped => {
                let message = format!(
                    "{} does not stripe; leave chunk_kib out.",
                    self.level.title()
                );
                complain("chunk_kib", message);
            }
            Some(chunk_kib) if !chunk_kib.is_power_of_two() || chunk_kib > 16_384 => {
                let message =
                    format!("A chunk is a power of two from 1 to 16384 KiB, not {chunk_kib}.");
                complain("chunk_kib", message);
            }
            _ => {}
        }
        complaints
    }
}

impl DiskGroupSettings {
    fn check_vraid(&self, here: &str, complaints: &mut Vec<Complaint>) {
        let mut complain = |key: &str, message: String| {
            complaints.push(Complaint::new(path(here, key), message));
        };
        if self.disks < MINIMUM_DISKS {
            let message = format!(
                "A Vraid disk group has at least {MINIMUM_DISKS} disks, this one has {}.",
                self.disks
            );
            complain("disks", message);
        }
        if self.spares > 0 && self.protection_level != ProtectionLevel::None {
            let message = "A protection level keeps room free on all disks; leave spares out.";
            complain("protection_level", message.into());
        }
        let largest_kib = self.placement.segment_kib;
        if !largest_kib.is_power_of_two() || largest_kib > 1 << 20 {
            let message = "A segment is a power of two from 1 KiB to 1 GiB long.";
            complain("placement.segment_kib", message.into());
        }
        let chunk_kib = self.chunk_kib.unwrap_or(0);
        if !chunk_kib.is_power_of_two() || chunk_kib > largest_kib {
            let message = format!(
                "Vraids stripe in chunks of a power of two from 1 to {largest_kib} KiB, \
                 as in chunk_kib = 128."
            );
            complain("chunk_kib", message);
        }
        if !(0.0..=1.0).contains(&self.placement.stroke_fraction) {
            let message = "A share of the stroke lies between 0 and 1.";
            complain("placement.stroke_fraction", message.into());
        }
        if self.virtual_disk.is_empty() {
            let message = "A Vraid disk group without virtual disks stores nothing; add one.";
            complain("virtual_disk", message.into());
        }
        for (number, disk) in self.virtual_disk.iter().enumerate() {
            let key = format!("virtual_disk.{number}");
            if !(1e-6..=1e7).contains(&disk.size_gib) {
                let message = "A virtual disk is larger than nothing and at most 1e7 GiB large.";
                complain(&format!("{key}.size_gib"), message.into());
            }
            let twin = self.virtual_disk[..number]
                .iter()
                .any(|other| other.name == disk.name);
            if twin {
                let message = format!("There is another virtual disk '{}'.", disk.name);
                complain(&format!("{key}.name"), message);
            }
        }
    }
}

impl Level {
    /// The level as engineers write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linear => "A linear group",
            Self::Raid0 => "RAID 0",
            Self::Raid1 => "RAID 1",
            Self::Raid10 => "RAID 10",
            Self::Raid5 => "RAID 5",
            Self::Raid6 => "RAID 6",
            Self::Vraid => "Vraid",
        }
    }
}

impl RebuildSettings {
    fn check(&self, here: &str) -> Vec<Complaint> {
        let mut complaints = Vec::new();
        let mut complain = |key: &str, message: &str| {
            complaints.push(Complaint::new(path(here, key), message));
        };
        if !(0.001..=1e6).contains(&self.rate_mb_per_s) {
            complain(
                "rate_mb_per_s",
                "A rebuild writes between 0.001 and 1e6 MB/s.",
            );
        }
        if !(1..=1024).contains(&self.in_flight) {
            complain(
                "in_flight",
                "Between 1 and 1024 stripes are rebuilt at a time.",
            );
        }
        if !(1..=65_536).contains(&self.unit_kib) {
            complain("unit_kib", "A step of a rebuild is 1 to 65536 KiB long.");
        }
        complaints
    }
}

impl ScrubSettings {
    fn check(&self, here: &str) -> Vec<Complaint> {
        if (0.001..=1e6).contains(&self.rate_mb_per_s) {
            return Vec::new();
        }
        let message = "A scrub reads between 0.001 and 1e6 MB/s.";
        vec![Complaint::new(path(here, "rate_mb_per_s"), message)]
    }
}
