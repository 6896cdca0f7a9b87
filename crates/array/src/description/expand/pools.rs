//! Pools: their disk groups, and what their SSDs are for.

use super::{Expansion, Place, PlaceKind};
use crate::description::keys::{PoolKeys, ReadCacheKeys, SsdUse};
use crate::disk::DiskDescription;
use crate::group::DiskGroupSettings;
use crate::pool::PoolSettings;
use crate::pool::settings::{PoolGroupSettings, ReadCacheSettings, Tier};
use crate::raid::Level;
use crate::raid::vraid::ProtectionLevel;

/// Turns per minute from which on a disk belongs to the standard tier.
const STANDARD_RPM: u32 = 10_000;

impl Expansion<'_> {
    pub fn add_pools(&mut self) {
        let description = self.description;
        for (number, keys) in description.keys.pool.iter().enumerate() {
            let path = format!("pool.{number}");
            let ssd_use = self.ssd_use(keys, &path);
            for copy in 0..keys.count {
                let name = self.pool_name(keys, copy);
                let settings = self.pool(keys, &name, &path, ssd_use);
                for (setting, key) in [
                    (format!("pools.{name}.groups"), path.clone()),
                    (
                        format!("pools.{name}.read_cache.group"),
                        format!("{path}.ssd_disk"),
                    ),
                    (format!("pools.{name}"), path.clone()),
                ] {
                    self.came_from(setting, key);
                }
                let controllers = self.description.keys.controllers.count.max(1);
                let owner = self.places.len() as u32 % controllers;
                self.settings.pools.insert(name.clone(), settings);
                self.add_place(Place {
                    name,
                    kind: PlaceKind::Pool,
                    owner: Some(owner),
                    path: path.clone(),
                });
            }
        }
    }

    /// Pools without a name are called by letters.
    fn pool_name(&self, keys: &PoolKeys, copy: u32) -> String {
        let letter = |number: usize| match u8::try_from(number) {
            Ok(number) if number < 26 => char::from(b'a' + number).to_string(),
            _ => (number + 1).to_string(),
        };
        match (&keys.name, keys.count) {
            (Some(name), 0..=1) => name.clone(),
            (Some(name), _) => format!("{name}-{}", letter(copy as usize)),
            (None, _) => letter(self.places.len()),
        }
    }

    /// What the SSDs are for. A count of zero that was given as an option of its own turns them
    /// off, so that a series of counts can begin with none.
    fn ssd_use(&mut self, keys: &PoolKeys, path: &str) -> SsdUse {
        if keys.ssd_use == SsdUse::None {
            return SsdUse::None;
        }
        let what = match keys.ssd_use {
            SsdUse::Tier => "a tier",
            _ => "a read cache",
        };
        let count = format!("{path}.ssd_count");
        if keys.ssd_count == 0 {
            if self.description.was_assigned(&count) {
                return SsdUse::None;
            }
            let help = "give ssd_disk and ssd_count, or write ssd_use = \"none\"";
            let message = format!("{what} is made of SSDs, and this pool has none");
            self.fault(&format!("{path}.ssd_use"), message, Some(help));
            return SsdUse::None;
        }
        if keys.ssd_disk.is_none() {
            let help = "name one with ssd_disk, such as ssd_disk = \"ssd-sas-800gb\"";
            self.fault(&count, "nothing says which SSDs these are", Some(help));
            return SsdUse::None;
        }
        keys.ssd_use
    }

    fn pool(&mut self, keys: &PoolKeys, name: &str, path: &str, ssd_use: SsdUse) -> PoolSettings {
        let mut groups = Vec::new();
        for number in 1..=keys.group_count {
            let group_name = match keys.group_count {
                1 => format!("{name}-disks"),
                _ => format!("{name}-disks-{number}"),
            };
            let group = GroupParts {
                disk: &keys.disk,
                disk_count: keys.disk_count,
                raid: keys.raid,
                chunk_kib: keys.chunk_kib,
                spares: keys.spares,
                tier: keys.tier,
            };
            self.add_pool_group(&group, &group_name, path, "", &mut groups);
        }
        for (number, more) in keys.group.iter().enumerate() {
            let group = GroupParts {
                disk: &more.disk,
                disk_count: more.disk_count,
                raid: more.raid,
                chunk_kib: more.chunk_kib,
                spares: more.spares,
                tier: more.tier,
            };
            let group_name = format!("{name}-more-{}", number + 1);
            let table = format!("{path}.group.{number}");
            self.add_pool_group(&group, &group_name, &table, "", &mut groups);
        }
        let cache_group = self.add_ssds(keys, name, path, ssd_use, &mut groups);
        for (number, group) in groups.iter().enumerate() {
            let here = format!("pools.{name}.groups.{number}");
            let is_ssd = group.group.ends_with("-ssd");
            let key = if is_ssd { "ssd_disk" } else { "disk" };
            self.came_from(format!("{here}.group"), format!("{path}.{key}"));
            let key = if is_ssd { "ssd_disk" } else { "tier" };
            self.came_from(format!("{here}.tier"), format!("{path}.{key}"));
        }
        let default = [50, 75, 95];
        PoolSettings {
            page_size_kib: keys.page_size_kib,
            groups,
            allocation: keys.allocation,
            page_spread_percent: keys.page_spread_percent,
            tiering: keys.tiering.clone(),
            read_cache: cache_group.map(|group| read_cache(&keys.read_cache, group)),
            warning_levels_percent: keys
                .warning_levels_percent
                .clone()
                .unwrap_or_else(|| default.to_vec()),
        }
    }

    fn add_pool_group(
        &mut self,
        parts: &GroupParts<'_>,
        name: &str,
        path: &str,
        prefix: &str,
        groups: &mut Vec<PoolGroupSettings>,
    ) {
        let Some(disk) = self.disk(parts.disk, &format!("{path}.{prefix}disk")) else {
            return;
        };
        if parts.raid == Level::Vraid {
            let help = "virtual disks lie on a group of their own: [[group]] with raid = \"vraid\"";
            let path = format!("{path}.{prefix}raid");
            self.fault(&path, "the disk groups of a pool are no Vraids", Some(help));
            return;
        }
        let settings = DiskGroupSettings {
            name: name.to_owned(),
            disk: parts.disk.to_owned(),
            disks: parts.disk_count,
            spares: parts.spares,
            level: parts.raid,
            chunk_kib: parts.chunk_kib,
            virtual_disk: Vec::new(),
            placement: crate::group::PlacementSettings::default(),
            protection_level: ProtectionLevel::None,
        };
        self.add_disk_group(settings, path, prefix);
        groups.push(PoolGroupSettings {
            group: name.to_owned(),
            tier: parts.tier.unwrap_or_else(|| tier_of(&disk)),
        });
    }

    /// Adds the group of SSDs; gives its name when it is for the read cache.
    fn add_ssds(
        &mut self,
        keys: &PoolKeys,
        name: &str,
        path: &str,
        ssd_use: SsdUse,
        groups: &mut Vec<PoolGroupSettings>,
    ) -> Option<String> {
        let disk = keys.ssd_disk.as_deref()?;
        if ssd_use == SsdUse::None {
            // A name that is not used yet may still be wrong.
            self.disk(disk, &format!("{path}.ssd_disk"));
            return None;
        }
        let level = keys
            .ssd_raid
            .unwrap_or(usual_ssd_raid(ssd_use, keys.ssd_count));
        let striped = !matches!(level, Level::Linear | Level::Raid1);
        let chunk_kib = keys.ssd_chunk_kib.or(keys.chunk_kib).unwrap_or(512);
        let group_name = format!("{name}-ssd");
        let group = GroupParts {
            disk,
            disk_count: keys.ssd_count,
            raid: level,
            chunk_kib: striped.then_some(chunk_kib),
            spares: keys.ssd_spares,
            tier: Some(Tier::Performance),
        };
        let mut of_ssds = Vec::new();
        self.add_pool_group(&group, &group_name, path, "ssd_", &mut of_ssds);
        if ssd_use == SsdUse::ReadCache {
            return of_ssds.pop().map(|_| group_name);
        }
        if matches!(level, Level::Linear | Level::Raid0) {
            self.notes.push(format!(
                "The tier of pool '{name}' has no protection: one failed SSD loses data."
            ));
        }
        groups.append(&mut of_ssds);
        None
    }
}

struct GroupParts<'a> {
    disk: &'a str,
    disk_count: u16,
    raid: Level,
    chunk_kib: Option<u32>,
    spares: u16,
    tier: Option<Tier>,
}

/// What is usual for this many SSDs: a cache holds copies and needs no protection.
fn usual_ssd_raid(ssd_use: SsdUse, count: u16) -> Level {
    match (ssd_use, count) {
        (_, 0..=1) => Level::Linear,
        (SsdUse::ReadCache | SsdUse::None, _) => Level::Raid0,
        (SsdUse::Tier, 2) => Level::Raid1,
        (SsdUse::Tier, even) if even % 2 == 0 => Level::Raid10,
        (SsdUse::Tier, _) => Level::Raid5,
    }
}

fn tier_of(disk: &DiskDescription) -> Tier {
    match (&disk.hard_disk, &disk.ideal) {
        (Some(disk), _) if disk.rpm < STANDARD_RPM => Tier::Archive,
        (Some(_), _) => Tier::Standard,
        (None, Some(ideal)) if ideal.servers <= 1 => Tier::Standard,
        (None, _) => Tier::Performance,
    }
}

fn read_cache(keys: &ReadCacheKeys, group: String) -> ReadCacheSettings {
    // At most 4 TB in the MSA 2040 family (confirmed); lines of 64 KiB (not published).
    let usual_limit_gib = 4e12 / (1_u64 << 30) as f64;
    ReadCacheSettings {
        group,
        limit_gib: keys.limit_gib.unwrap_or(usual_limit_gib),
        size_gib: keys.size_gib,
        line_kib: keys.line_kib.unwrap_or(64),
        fill: keys.fill.clone(),
        on_write: keys.on_write,
        replacement: keys.replacement,
    }
}
