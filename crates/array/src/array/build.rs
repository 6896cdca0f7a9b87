//! From settings to an array.

use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cache::Streams;
use crate::disk::{DiskDescription, DiskModel};
use crate::event_queue::EventQueue;
use crate::group::{Backend, GroupId};
use crate::host::VolumeId;
use crate::incident::IncidentLog;
use crate::payload::Payload;
use crate::pool::settings::{GroupFacts, PoolVolume};
use crate::pool::{LinearPool, LinearVolume, PagedPool, Pool, PoolSettings};
use crate::raid::Protection;
use crate::settings::{ArraySettings, VolumeSettings, WritePolicy, ns_of_us};
use crate::{BrokenRule, SECTOR_BYTES};

use super::controllers::Controllers;
use super::counters::VolumeCounting;
use super::lookahead::Lookahead;
use super::lost::LostSectors;
use super::operations::Operations;
use super::power::Power;
use super::read::ReadScratch;
use super::requests::Requests;
use super::rules::Rules;
use super::storage::{SOURCES, Storage};
use super::volumes::{FastPath, Ownership, Volume, VolumePolicy, Volumes};
use super::{Array, ArrayError};

impl<P: Payload> Array<P> {
    /// Builds the array that `settings` describe. Everything random in it follows from `seed`.
    ///
    /// # Errors
    ///
    /// When the settings break a rule: all broken rules, with the paths of the keys.
    pub fn new(settings: &ArraySettings, seed: u64) -> Result<Self, ArrayError> {
        let broken_rules = settings.check();
        if !broken_rules.is_empty() {
            return Err(ArrayError::Settings(broken_rules));
        }
        let backend = build_backend(settings, seed)?;
        let (pools, places) = build_pools(settings, &backend)?;
        let mut pool_of_group = vec![0; backend.group_count()];
        for (number, pool) in settings.pools.values().enumerate() {
            let cache = pool.read_cache.as_ref().map(|cache| cache.group.as_str());
            let groups = pool
                .groups
                .iter()
                .map(|each| each.group.as_str())
                .chain(cache);
            for group in groups {
                if let Some(group) = group_number(settings, group) {
                    pool_of_group[group] = number as u16 + 1;
                }
            }
        }
        let volumes = settings.volumes.iter().zip(&places);
        let volumes = volumes.map(|(each, place)| build_volume(settings, each, place, &backend));
        let volumes = Volumes::new(volumes.collect());
        let disks = station_disks(settings);
        let pool_names = settings.pools.keys().cloned().collect();
        let storage = Storage::new(backend, pools, pool_names, pool_of_group, disks, seed);
        let mut events = EventQueue::new(SOURCES);
        storage.schedule_pools(&mut events);
        Ok(Self {
            now_ns: 0,
            events,
            rules: Rules::new(settings),
            requests: Requests::new(),
            controllers: Controllers::new(settings),
            volumes,
            operations: Operations::new(),
            storage,
            lost: LostSectors::default(),
            failed_reads: 0,
            power: Power::default(),
            log: IncidentLog::default(),
            lookahead: Lookahead::default(),
            read_scratch: ReadScratch::default(),
            pieces: Vec::new(),
        })
    }
}

fn build_backend<P: Payload>(
    settings: &ArraySettings,
    seed: u64,
) -> Result<Backend<P>, ArrayError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut disks: Vec<DiskModel> = Vec::new();
    // Disks of one make share their tables: only the first of each is built from the description.
    let mut first_of_make: BTreeMap<&str, usize> = BTreeMap::new();
    for name in settings.backend.disk_names() {
        if let Some(&first) = first_of_make.get(name) {
            let disk = disks[first].another(random.random());
            disks.push(disk);
            continue;
        }
        let Some(description) = settings.disks.get(name) else {
            let message = format!("There is no description of the disk '{name}'.");
            return Err(ArrayError::Settings(vec![BrokenRule::new(
                "disks", message,
            )]));
        };
        first_of_make.insert(name, disks.len());
        disks.push(DiskModel::new(description, random.random())?);
    }
    Ok(Backend::new(&settings.backend, disks)?)
}

fn group_number(settings: &ArraySettings, name: &str) -> Option<usize> {
    settings
        .backend
        .group_names()
        .iter()
        .position(|group| *group == name)
}

/// The description of the disk in every station.
fn station_disks(settings: &ArraySettings) -> Vec<DiskDescription> {
    let names = settings.backend.disk_names();
    names
        .iter()
        .filter_map(|name| settings.disks.get(*name))
        .cloned()
        .collect()
}

/// Where a volume lies: its pool and, if that is known, its disk group.
#[derive(Debug, Clone, Copy)]
struct VolumePlace {
    pool: u16,
    group: Option<GroupId>,
    /// Sectors that are written together where they can be.
    unit_sectors: u64,
    page_sectors: Option<u64>,
}

/// Builds the pool of the linear volumes, which is the first, and all others.
fn build_pools<P: Payload>(
    settings: &ArraySettings,
    backend: &Backend<P>,
) -> Result<(Vec<Pool<P>>, Vec<VolumePlace>), ArrayError> {
    let linear = place_linear(settings, backend)?;
    let mut pools = vec![Pool::Linear(LinearPool::new(&linear))];
    let mut broken_rules = Vec::new();
    let facts = group_facts(settings, backend);
    for (name, pool) in &settings.pools {
        let volumes = pool_volumes(settings, name);
        match PagedPool::new(&format!("pools.{name}"), pool, &facts, &volumes) {
            Ok(pool) => {
                let pool = pool.warped(settings.backend.policy.warp);
                pools.push(Pool::Paged(Box::new(pool)));
            }
            Err(broken) => broken_rules.extend(broken),
        }
    }
    if !broken_rules.is_empty() {
        return Err(ArrayError::Settings(broken_rules));
    }
    let places = (0..settings.volumes.len())
        .map(|number| volume_place(settings, backend, &linear, number))
        .collect();
    Ok((pools, places))
}

/// The volumes cut from the pool `name`.
fn pool_volumes(settings: &ArraySettings, name: &str) -> Vec<PoolVolume> {
    let volumes = settings.volumes.iter().enumerate();
    volumes
        .filter(|(_, volume)| volume.pool.as_deref() == Some(name))
        .map(|(number, volume)| PoolVolume {
            id: VolumeId(number as u16),
            path: format!("volumes.{number}"),
            sectors: volume.capacity_sectors(),
            thick: volume.policy.thick,
            affinity: volume.policy.affinity,
        })
        .collect()
}

/// Every rule that volumes, pools and disk groups break together, of settings that break none by
/// themselves. Builds the disk groups, but nothing whose size depends on what they hold.
pub(crate) fn check_places(settings: &ArraySettings) -> Result<Vec<BrokenRule>, ArrayError> {
    let backend = build_backend::<()>(settings, 0)?;
    let mut broken_rules = Vec::new();
    if let Err(ArrayError::Settings(broken)) = place_linear(settings, &backend) {
        broken_rules.extend(broken);
    }
    let facts = group_facts(settings, &backend);
    for (name, pool) in &settings.pools {
        let volumes = pool_volumes(settings, name);
        let broken = pool.check(&format!("pools.{name}"), &facts, &volumes);
        let is_sound = broken.is_empty();
        broken_rules.extend(broken);
        if is_sound {
            broken_rules.extend(check_pool_volumes(name, pool, &facts, &volumes));
        }
    }
    Ok(broken_rules)
}

/// A thin pool may promise more than it has, but no volume may be larger than all of it.
fn check_pool_volumes(
    name: &str,
    pool: &PoolSettings,
    facts: &[GroupFacts],
    volumes: &[PoolVolume],
) -> Vec<BrokenRule> {
    let sizes = facts.iter().filter(|facts| {
        let mut groups = pool.groups.iter();
        groups.any(|group| group.group == facts.name)
    });
    let sectors: u64 = sizes.map(|facts| facts.usable_sectors).sum();
    let gb = |sectors: u64| sectors as f64 * SECTOR_BYTES as f64 / 1e9;
    let too_large = volumes.iter().filter(|volume| volume.sectors > sectors);
    too_large
        .map(|volume| {
            let message = format!(
                "The volume has {:.0} GB, but its pool '{name}' holds {:.0} GB in all; make the \
                 volume smaller, or the pool larger.",
                gb(volume.sectors),
                gb(sectors)
            );
            BrokenRule::new(format!("{}.capacity_mib", volume.path), message)
        })
        .collect()
}

fn volume_place<P: Payload>(
    settings: &ArraySettings,
    backend: &Backend<P>,
    linear: &[LinearVolume],
    number: usize,
) -> VolumePlace {
    let stripe = |group: GroupId| backend.group(group).geometry.stripe_sectors();
    if let Some(place) = linear
        .iter()
        .find(|place| usize::from(place.volume.0) == number)
    {
        return VolumePlace {
            pool: 0,
            group: Some(place.group),
            unit_sectors: stripe(place.group),
            page_sectors: None,
        };
    }
    let name = settings.volumes[number].pool.clone().unwrap_or_default();
    let position = settings
        .pools
        .keys()
        .position(|pool| *pool == name)
        .unwrap_or(0);
    let pool = &settings.pools[&name];
    let groups = pool
        .groups
        .iter()
        .filter_map(|each| group_number(settings, &each.group));
    let widest = groups
        .map(|group| stripe(GroupId(group as u16)))
        .max()
        .unwrap_or(1);
    VolumePlace {
        pool: position as u16 + 1,
        group: None,
        unit_sectors: widest.min(pool.page_sectors()),
        page_sectors: Some(pool.page_sectors()),
    }
}

fn group_facts<P: Payload>(settings: &ArraySettings, backend: &Backend<P>) -> Vec<GroupFacts> {
    let mut facts = Vec::new();
    for disk_group in &settings.backend.disk_group {
        let Some(id) = group_number(settings, &disk_group.name) else {
            continue;
        };
        let id = GroupId(id as u16);
        let disk = settings.disks.get(&disk_group.disk);
        let solid_state = disk.is_some_and(DiskDescription::is_solid_state);
        facts.push(GroupFacts {
            name: disk_group.name.clone(),
            id,
            usable_sectors: backend.group(id).capacity_sectors,
            solid_state,
        });
    }
    facts
}

/// A group without stripes has the whole of a disk as its chunk. What is longer than a gigabyte is no
/// stripe, and volumes begin at any megabyte there.
const LONGEST_STRIPE_SECTORS: u64 = 1 << 21;
const MEGABYTE_SECTORS: u64 = 1 << 11;

/// Gives every linear volume its place: in the order of the settings, each from a stripe on.
fn place_linear<P: Payload>(
    settings: &ArraySettings,
    backend: &Backend<P>,
) -> Result<Vec<LinearVolume>, ArrayError> {
    let mut taken_sectors = vec![0u64; backend.group_count()];
    let mut places = Vec::new();
    let mut broken_rules = Vec::new();
    for (number, volume) in settings.volumes.iter().enumerate() {
        let Some(name) = &volume.group else { continue };
        let Some(group) = group_number(settings, name) else {
            continue;
        };
        let view = backend.group(GroupId(group as u16));
        let first_sector = taken_sectors[group];
        let sectors = volume.capacity_sectors();
        let end_sector = first_sector + sectors;
        if end_sector > view.capacity_sectors {
            let free_sectors = view.capacity_sectors.saturating_sub(first_sector);
            let free = free_sectors * SECTOR_BYTES / (1024 * 1024);
            let message = format!(
                "The volume has {} MiB, but group '{}' has only {free} MiB left; make the volume \
                 smaller or the group larger.",
                volume.capacity_mib, name
            );
            broken_rules.push(BrokenRule::new(
                format!("volumes.{number}.capacity_mib"),
                message,
            ));
            continue;
        }
        let step_sectors = match view.geometry.stripe_sectors() {
            LONGEST_STRIPE_SECTORS.. => MEGABYTE_SECTORS,
            stripe_sectors => stripe_sectors,
        };
        taken_sectors[group] = end_sector.next_multiple_of(step_sectors);
        places.push(LinearVolume {
            volume: VolumeId(number as u16),
            group: GroupId(group as u16),
            first_sector,
            sectors,
        });
    }
    if broken_rules.is_empty() {
        Ok(places)
    } else {
        Err(ArrayError::Settings(broken_rules))
    }
}

fn build_volume<P: Payload>(
    settings: &ArraySettings,
    volume: &VolumeSettings,
    place: &VolumePlace,
    backend: &Backend<P>,
) -> Volume {
    let geometry = place
        .group
        .map(|group| (group, backend.group(group).geometry));
    let cache = &settings.cache;
    let line_sectors = u64::from(cache.line_sectors());
    let write_back =
        volume.policy.write_policy == WritePolicy::WriteBack && !volume.policy.direct_io;
    let reads_ahead =
        volume.policy.read_ahead && cache.read_ahead.enabled && !volume.policy.direct_io;
    let short = settings.controllers.service.fast_path_us.is_some()
        && volume.policy.direct_io
        && !volume.policy.read_ahead;
    // Without striping a chunk is a whole disk, or a long region of a mirror.
    let fast_path = geometry.map(|(group, geometry)| FastPath {
        group,
        strip_sectors: geometry.chunk_sectors,
        writes: geometry.protection == Protection::None,
    });
    Volume {
        pool: place.pool,
        capacity_sectors: volume.capacity_sectors(),
        ownership: Ownership::new(volume.owner as u8),
        policy: VolumePolicy {
            write_back,
            direct_io: volume.policy.direct_io,
            reads_ahead,
            lines_per_unit: (place.unit_sectors / line_sectors).max(1),
            page_sectors: place.page_sectors,
            fast_path: fast_path.filter(|_| short),
            write_latency_ns: match geometry.map(|(_, geometry)| geometry.protection) {
                Some(Protection::Parity(_)) if !write_back => {
                    ns_of_us(settings.controllers.service.parity_write_us)
                }
                _ => 0,
            },
        },
        requests: 0,
        operations: 0,
        readers: Streams::new(&cache.read_ahead),
        writers: Streams::new(&cache.read_ahead),
        counting: VolumeCounting::default(),
    }
}
