//! Volumes, and which of them each database and each log gets.

use super::{DatabaseDemand, DatabasePlacement, Expansion, PlaceKind};
use crate::VolumeId;
use crate::description::keys::{DatabaseVolumes, LogVolumes, VolumeKeys, VolumeUse};
use crate::group::VirtualDiskSettings;
use crate::raid::vraid::Vraid;
use crate::settings::{VolumePolicy, VolumeSettings};

/// Room for what a volume's own table of files takes.
const TABLE_BYTES: u64 = 64 << 20;

const MIB: u64 = 1 << 20;

/// Whole MiB of a size in 10^9 bytes.
pub(super) fn mib_of(size_gb: f64) -> u64 {
    (size_gb * 1e9 / MIB as f64) as u64
}

/// What of a database lies on a volume that a rule makes.
#[derive(Clone, Copy)]
enum Part {
    Database,
    Log,
}

impl Part {
    /// In names of volumes and of settings.
    fn word(self) -> &'static str {
        match self {
            Self::Database => "database",
            Self::Log => "log",
        }
    }
}

/// A volume before it has a place.
pub(super) struct Wanted {
    pub(super) name: String,
    pub(super) capacity_mib: u64,
    /// Name of its place.
    pub(super) on: String,
    pub(super) owner: Option<u32>,
    pub(super) vraid: Vraid,
    pub(super) policy: VolumePolicy,
    /// Keys of its size and of its place.
    pub(super) size_path: String,
    pub(super) on_path: String,
    pub(super) path: String,
}

impl Expansion<'_> {
    /// Adds the volumes, and deals the databases over them.
    pub fn add_volumes(&mut self, databases: &[DatabaseDemand]) -> Vec<DatabasePlacement> {
        if !self.diagnostics.is_empty() {
            return Vec::new();
        }
        if self.document.settings.volume.is_empty() {
            self.add_by_rule(databases)
        } else {
            self.add_listed(databases)
        }
    }

    fn add_by_rule(&mut self, databases: &[DatabaseDemand]) -> Vec<DatabasePlacement> {
        let rule = &self.document.settings.volumes;
        let apart = rule.log_volumes != LogVolumes::WithDatabases;
        let on_databases = |demand: &DatabaseDemand| {
            let log = if apart { 0 } else { demand.log_bytes };
            demand.data_bytes.saturating_add(log)
        };
        let needed: Vec<u64> = databases.iter().map(on_databases).collect();
        let data = match rule.database_volumes {
            DatabaseVolumes::Each => self.one_for_each(Part::Database, databases, &needed),
            DatabaseVolumes::One => self.one_for_all(Part::Database, databases, &needed),
        };
        let needed: Vec<u64> = databases.iter().map(|demand| demand.log_bytes).collect();
        let logs = match rule.log_volumes {
            LogVolumes::WithDatabases => data.clone(),
            LogVolumes::Each => self.one_for_each(Part::Log, databases, &needed),
            LogVolumes::One => self.one_for_all(Part::Log, databases, &needed),
        };
        let pairs = data.into_iter().zip(logs);
        pairs
            .map(|(data, log)| DatabasePlacement { data, log })
            .collect()
    }

    fn one_for_each(
        &mut self,
        part: Part,
        databases: &[DatabaseDemand],
        needed: &[u64],
    ) -> Vec<VolumeId> {
        let volumes = databases.iter().zip(needed).enumerate();
        volumes
            .map(|(number, (demand, needed))| {
                let name = format!("{}-{}", demand.name, part.word());
                self.add_ruled(part, name, number, *needed)
            })
            .collect()
    }

    fn one_for_all(
        &mut self,
        part: Part,
        databases: &[DatabaseDemand],
        needed: &[u64],
    ) -> Vec<VolumeId> {
        let all = needed
            .iter()
            .fold(0, |sum: u64, each| sum.saturating_add(*each));
        let volume = self.add_ruled(part, format!("{}s", part.word()), 0, all);
        vec![volume; databases.len()]
    }

    /// Adds volume `number` of a part, with room for `needed` bytes.
    fn add_ruled(&mut self, part: Part, name: String, number: usize, needed: u64) -> VolumeId {
        let rule = self.document.settings.volumes.clone();
        let (own, size_gb, vraid) = match part {
            Part::Log => (&rule.logs_on, rule.log_size_gb, rule.log_vraid),
            Part::Database => (
                &rule.databases_on,
                rule.database_size_gb,
                rule.database_vraid,
            ),
        };
        let word = part.word();
        let (list, list_path) = match own.is_empty() {
            false => (own, format!("volumes.{word}s_on")),
            true => (&rule.databases_on, "volumes.databases_on".to_owned()),
        };
        let everywhere: Vec<String> = self.places.iter().map(|place| place.name.clone()).collect();
        let list = if list.is_empty() { &everywhere } else { list };
        let turn = number % list.len().max(1);
        let size_path = format!("volumes.{word}_size_gb");
        let capacity_mib = match size_gb {
            Some(size_gb) => {
                let capacity_mib = mib_of(size_gb);
                self.check_room(&name, capacity_mib, needed, &size_path);
                capacity_mib
            }
            None => needed.saturating_add(TABLE_BYTES).div_ceil(MIB),
        };
        let on = list.get(turn).cloned().unwrap_or_default();
        self.add(Wanted {
            name,
            capacity_mib,
            on,
            owner: None,
            vraid,
            policy: rule.policy.clone(),
            size_path,
            on_path: format!("{list_path}.{turn}"),
            path: "volumes".to_owned(),
        })
    }

    fn check_room(&mut self, name: &str, capacity_mib: u64, needed: u64, path: &str) {
        let has = capacity_mib.saturating_mul(MIB);
        // Volumes of one rule are alike; the first says it for all.
        let location = self.document.location(path);
        let is_known = self.shortages.iter().any(|one| one.location == location);
        if needed > has && !is_known {
            let gb = |bytes: u64| bytes as f64 / 1e9;
            let message = format!(
                "volume '{name}' has {:.1} GB, and the workload needs {:.1} GB on it with room to \
                 grow",
                gb(has),
                gb(needed)
            );
            let help = "make the volumes larger, or the databases smaller with --target-size";
            let shortage = self
                .document
                .diagnostic(path, message, Some(help.to_owned()));
            self.shortages.push(shortage);
        }
    }

    fn add_listed(&mut self, databases: &[DatabaseDemand]) -> Vec<DatabasePlacement> {
        let listed = self.document.settings.volume.clone();
        let (mut for_data, mut for_logs) = (Vec::new(), Vec::new());
        for (number, keys) in listed.iter().enumerate() {
            let volume = self.add_one(number, keys);
            if matches!(
                keys.holds,
                VolumeUse::Databases | VolumeUse::DatabasesAndLogs
            ) {
                for_data.push(volume);
            }
            if matches!(keys.holds, VolumeUse::Logs | VolumeUse::DatabasesAndLogs) {
                for_logs.push(volume);
            }
        }
        if for_data.is_empty() && !databases.is_empty() {
            let help = "write holds = \"databases\" for those that are to hold them";
            self.report("volume", "no volume holds databases", Some(help));
            return Vec::new();
        }
        // Without a volume for logs they lie beside their databases.
        let apart = !for_logs.is_empty();
        let numbers = 0..databases.len();
        let placement: Vec<DatabasePlacement> = numbers
            .map(|number| {
                let data = for_data[number % for_data.len()];
                let log = if apart {
                    for_logs[number % for_logs.len()]
                } else {
                    data
                };
                DatabasePlacement { data, log }
            })
            .collect();
        self.check_listed(databases, &placement, &listed);
        placement
    }

    fn check_listed(
        &mut self,
        databases: &[DatabaseDemand],
        placement: &[DatabasePlacement],
        listed: &[VolumeKeys],
    ) {
        let mut needed = vec![0_u64; listed.len()];
        for (demand, place) in databases.iter().zip(placement) {
            for (volume, bytes) in [
                (place.data, demand.data_bytes),
                (place.log, demand.log_bytes),
            ] {
                if let Some(sum) = needed.get_mut(usize::from(volume.0)) {
                    *sum = sum.saturating_add(bytes);
                }
            }
        }
        for (number, (keys, needed)) in listed.iter().zip(needed).enumerate() {
            let capacity_mib = mib_of(keys.size_gb);
            let path = format!("volume.{number}.size_gb");
            self.check_room(&keys.name, capacity_mib, needed, &path);
        }
    }

    pub(super) fn add_one(&mut self, number: usize, keys: &VolumeKeys) -> VolumeId {
        let path = format!("volume.{number}");
        let size_path = format!("{path}.size_gb");
        let capacity_mib = mib_of(keys.size_gb);
        let only = match self.places.as_slice() {
            [one] => one.name.clone(),
            _ => String::new(),
        };
        self.add(Wanted {
            name: keys.name.clone(),
            capacity_mib,
            on: keys.on.clone().unwrap_or(only),
            owner: keys.owner,
            vraid: keys.vraid,
            policy: keys.policy.clone(),
            size_path,
            on_path: format!("{path}.on"),
            path,
        })
    }

    pub(super) fn add(&mut self, wanted: Wanted) -> VolumeId {
        let number = self.settings.volumes.len();
        let volume = VolumeId(u16::try_from(number).unwrap_or(u16::MAX));
        let found = self.places.iter().find(|place| place.name == wanted.on);
        let Some((kind, place_owner)) = found.map(|place| (place.kind, place.owner)) else {
            let names: Vec<&str> = self
                .places
                .iter()
                .map(|place| place.name.as_str())
                .collect();
            let help = format!("the pools and groups are {}", names.join(", "));
            let message = match wanted.on.as_str() {
                "" => format!("nothing says where volume '{}' lies", wanted.name),
                on => format!("there is no pool or group '{on}'"),
            };
            self.report(&wanted.on_path, message, Some(&help));
            return volume;
        };
        let here = format!("volumes.{number}");
        self.came_from(format!("{here}.capacity_mib"), wanted.size_path.clone());
        self.came_from(format!("{here}.group"), wanted.on_path);
        self.came_from(here, wanted.path);
        if let PlaceKind::Vraid(group) = kind {
            self.add_virtual_disk(group, &wanted.name, wanted.capacity_mib, wanted.vraid);
            let disks = self.settings.backend.disk_group[group].virtual_disk.len();
            let disk = format!("backend.disk_group.{group}.virtual_disk.{}", disks - 1);
            self.came_from(format!("{disk}.size_gib"), wanted.size_path);
        }
        let controllers = self.document.settings.controllers.count.max(1);
        let (pool, group) = match kind {
            PlaceKind::Pool => (Some(wanted.on), None),
            PlaceKind::Group => (None, Some(wanted.on)),
            PlaceKind::Vraid(_) => (None, Some(wanted.name.clone())),
        };
        self.settings.volumes.push(VolumeSettings {
            name: wanted.name,
            capacity_mib: wanted.capacity_mib,
            group,
            pool,
            policy: wanted.policy,
            owner: wanted
                .owner
                .or(place_owner)
                .unwrap_or(number as u32 % controllers),
        });
        volume
    }

    fn add_virtual_disk(&mut self, group: usize, name: &str, capacity_mib: u64, level: Vraid) {
        let disks = &mut self.settings.backend.disk_group[group].virtual_disk;
        disks.push(VirtualDiskSettings {
            name: name.to_owned(),
            level,
            size_gib: capacity_mib as f64 / 1024.0,
        });
    }
}
