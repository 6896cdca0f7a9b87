//! Pools: their disk groups, and what their SSDs are for.

use super::groups::disk_group;
use super::{Expansion, Place, PlaceKind};
use crate::description::keys::{DisksKeys, PoolKeys, SsdUse};
use crate::disk::DiskDescription;
use crate::pool::PoolSettings;
use crate::pool::settings::{PoolGroupSettings, ReadCacheSettings};
use crate::pool::tier::Tier;
use crate::raid::Level;

/// Turns per minute from which on a disk belongs to the standard tier.
const STANDARD_RPM: u32 = 10_000;

impl Expansion<'_> {
    pub fn add_pools(&mut self) {
        let document = self.document;
        for (number, keys) in document.settings.pool.iter().enumerate() {
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
                let controllers = self.document.settings.controllers.count.max(1);
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
            if self.document.is_given_by_option(&count) {
                return SsdUse::None;
            }
            let help = "give ssd_disk and ssd_count, or write ssd_use = \"none\"";
            let message = format!("{what} is made of SSDs, and this pool has none");
            self.report(&format!("{path}.ssd_use"), message, Some(help));
            return SsdUse::None;
        }
        if keys.ssd_disk.is_none() {
            let help = "name one with ssd_disk, such as ssd_disk = \"ssd-sas-800gb\"";
            self.report(&count, "nothing says which SSDs these are", Some(help));
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
            self.add_pool_group(&keys.disks, keys.tier, &group_name, path, "", &mut groups);
        }
        for (number, more) in keys.group.iter().enumerate() {
            let group_name = format!("{name}-more-{}", number + 1);
            let table = format!("{path}.group.{number}");
            self.add_pool_group(&more.disks, more.tier, &group_name, &table, "", &mut groups);
        }
        let disk_groups = groups.len();
        let cache_group = self.add_ssds(keys, name, path, ssd_use, &mut groups);
        for number in 0..groups.len() {
            let here = format!("pools.{name}.groups.{number}");
            let is_ssd = number >= disk_groups;
            let key = if is_ssd { "ssd_disk" } else { "disk" };
            self.came_from(format!("{here}.group"), format!("{path}.{key}"));
            let key = if is_ssd { "ssd_disk" } else { "tier" };
            self.came_from(format!("{here}.tier"), format!("{path}.{key}"));
        }
        PoolSettings {
            groups,
            policy: keys.policy.clone(),
            read_cache: cache_group.map(|group| ReadCacheSettings {
                group,
                policy: keys.read_cache.clone(),
            }),
        }
    }

    fn add_pool_group(
        &mut self,
        disks: &DisksKeys,
        tier: Option<Tier>,
        name: &str,
        path: &str,
        prefix: &str,
        groups: &mut Vec<PoolGroupSettings>,
    ) {
        let Some(disk) = self.disk(&disks.disk, &format!("{path}.{prefix}disk")) else {
            return;
        };
        if disks.raid == Level::Vraid {
            let help = "virtual disks lie on a group of their own: [[group]] with raid = \"vraid\"";
            let path = format!("{path}.{prefix}raid");
            self.report(&path, "the disk groups of a pool are no Vraids", Some(help));
            return;
        }
        self.add_disk_group(disk_group(name, disks), path, prefix);
        groups.push(PoolGroupSettings {
            group: name.to_owned(),
            tier: tier.unwrap_or_else(|| tier_of(&disk)),
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
        let chunk_kib = keys.ssd_chunk_kib.or(keys.disks.chunk_kib).unwrap_or(512);
        let group_name = format!("{name}-ssd");
        let ssds = DisksKeys {
            disk: disk.to_owned(),
            disk_count: keys.ssd_count,
            raid: level,
            chunk_kib: striped.then_some(chunk_kib),
            spares: keys.ssd_spares,
        };
        let (tier, mut of_ssds) = (Some(Tier::Performance), Vec::new());
        self.add_pool_group(&ssds, tier, &group_name, path, "ssd_", &mut of_ssds);
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
    match &disk.hard_disk {
        Some(disk) if disk.rpm < STANDARD_RPM => Tier::Archive,
        _ if disk.is_solid_state() => Tier::Performance,
        _ => Tier::Standard,
    }
}
