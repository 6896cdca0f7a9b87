//! Which rules the description of a back end breaks.

use crate::broken_rule::{Checker, join_path};
use crate::raid::vraid::{MINIMUM_DISKS, ProtectionLevel};
use crate::raid::{Level, Striped};
use crate::{BrokenRule, SECTOR_BYTES};

use super::{BackendSettings, DiskGroupSettings};

/// More disks than any array of these families takes; station numbers stay small.
const MAX_DISKS: usize = 4096;

/// Stripes with more than a pair of disks are at most that wide.
const MAX_STRIPE_DISKS: u16 = 32;

impl BackendSettings {
    /// Every rule these settings break by themselves; paths start with `prefix`, which may be
    /// empty.
    pub fn check(&self, prefix: &str) -> Vec<BrokenRule> {
        let mut broken_rules = BrokenRule::out_of_bounds(self, prefix);
        let mut disks = 0;
        for (number, disk_group) in self.disk_group.iter().enumerate() {
            let here = join_path(prefix, &format!("disk_group.{number}"));
            disks += usize::from(disk_group.disks) + usize::from(disk_group.spares);
            broken_rules.extend(disk_group.check(&here));
            let duplicate = self.disk_group[..number]
                .iter()
                .any(|other| other.name == disk_group.name);
            if duplicate {
                let message = format!(
                    "There is another disk group '{}'; give each a name of its own.",
                    disk_group.name
                );
                broken_rules.push(BrokenRule::new(join_path(&here, "name"), message));
            }
        }
        if self.disk_group.is_empty() || disks > MAX_DISKS {
            let message = format!("There are {disks} disks; 1 to {MAX_DISKS} can be modelled.");
            broken_rules.push(BrokenRule::new(join_path(prefix, "disk_group"), message));
        }
        broken_rules
    }
}

impl DiskGroupSettings {
    /// Chunk length, sectors; one without a chunk.
    pub(super) fn chunk_sectors(&self) -> u64 {
        self.chunk_kib
            .map_or(1, |chunk_kib| u64::from(chunk_kib) * 1024 / SECTOR_BYTES)
    }

    fn check(&self, here: &str) -> Vec<BrokenRule> {
        let mut checker = Checker::empty(here);
        if self.level == Level::Vraid {
            self.check_vraid(&mut checker);
            return checker.finish();
        }
        if self.protection_level != ProtectionLevel::None {
            let message = "Only a Vraid has a protection level; other groups have spares.";
            checker.add("protection_level", message);
        }
        if !self.virtual_disk.is_empty() {
            let message = "Virtual disks are laid out over a disk group of level = \"vraid\".";
            checker.add("virtual_disk", message);
        }
        let minimum = Striped::minimum_members(self.level);
        if self.disks < minimum {
            let message = format!(
                "{} needs at least {minimum} disks, this group has {}.",
                self.level.title(),
                self.disks
            );
            checker.add("disks", message);
        }
        if self.level == Level::Raid10 && !self.disks.is_multiple_of(2) {
            let message = format!("RAID 10 pairs its disks; {} is an odd number.", self.disks);
            checker.add("disks", message);
        }
        let wide = matches!(self.level, Level::Raid1 | Level::Raid5 | Level::Raid6);
        if wide && self.disks > MAX_STRIPE_DISKS {
            let message = format!(
                "A {} group has at most {MAX_STRIPE_DISKS} disks, this one has {}.",
                self.level.title(),
                self.disks
            );
            checker.add("disks", message);
        }
        let striped = !matches!(self.level, Level::Linear | Level::Raid1);
        match self.chunk_kib {
            None if striped => {
                let message = format!(
                    "{} stripes over its disks; say in what chunks, as in chunk_kib = 64.",
                    self.level.title()
                );
                checker.add("chunk_kib", message);
            }
            Some(_) if !striped => {
                let message = format!(
                    "{} does not stripe; omit chunk_kib.",
                    match self.level {
                        Level::Linear => "A group without RAID",
                        level => level.title(),
                    }
                );
                checker.add("chunk_kib", message);
            }
            Some(chunk_kib) if !chunk_kib.is_power_of_two() || chunk_kib > 16_384 => {
                let message =
                    format!("A chunk is a power of two from 1 to 16384 KiB, not {chunk_kib}.");
                checker.add("chunk_kib", message);
            }
            _ => {}
        }
        checker.finish()
    }
}

impl DiskGroupSettings {
    fn check_vraid(&self, checker: &mut Checker<'_>) {
        if self.disks < MINIMUM_DISKS {
            let message = format!(
                "A Vraid disk group has at least {MINIMUM_DISKS} disks, this one has {}.",
                self.disks
            );
            checker.add("disks", message);
        }
        if self.spares > 0 && self.protection_level != ProtectionLevel::None {
            let message = "A protection level keeps room free on all disks; leave spares out.";
            checker.add("protection_level", message);
        }
        let largest_kib = self.placement.segment_kib;
        if !largest_kib.is_power_of_two() {
            let message = "A segment is a power of two from 1 KiB to 1 GiB long.";
            checker.add("placement.segment_kib", message);
        }
        let chunk_kib = self.chunk_kib.unwrap_or(0);
        if !chunk_kib.is_power_of_two() || chunk_kib > largest_kib {
            let message = format!(
                "Vraids stripe in chunks of a power of two from 1 to {largest_kib} KiB, \
                 as in chunk_kib = 128."
            );
            checker.add("chunk_kib", message);
        }
        if self.virtual_disk.is_empty() {
            let message = "A Vraid disk group without virtual disks stores nothing; add one.";
            checker.add("virtual_disk", message);
        }
        for (number, disk) in self.virtual_disk.iter().enumerate() {
            let duplicate = self.virtual_disk[..number]
                .iter()
                .any(|other| other.name == disk.name);
            if duplicate {
                let message = format!("There is another virtual disk '{}'.", disk.name);
                checker.add(&format!("virtual_disk.{number}.name"), message);
            }
        }
    }
}

impl Level {
    /// The level as engineers write it.
    pub fn title(self) -> &'static str {
        match self {
            Self::Linear => "no RAID",
            Self::Raid0 => "RAID 0",
            Self::Raid1 => "RAID 1",
            Self::Raid10 => "RAID 10",
            Self::Raid5 => "RAID 5",
            Self::Raid6 => "RAID 6",
            Self::Vraid => "Vraid",
        }
    }
}
