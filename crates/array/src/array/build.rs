//! From settings to an array.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::cache::Streams;
use crate::calendar::Calendar;
use crate::controller::Controller;
use crate::disk::DiskModel;
use crate::group::{Backend, GroupId, GroupState};
use crate::host::VolumeId;
use crate::payload::Payload;
use crate::pool::{LinearPool, LinearVolume, Pool};
use crate::raid::Protection;
use crate::settings::{ArraySettings, VolumeSettings, WritePolicy};
use crate::slab::Slab;
use crate::{Complaint, SECTOR_BYTES};

use super::counters::VolumeCounting;
use super::flight::Times;
use super::lost::LostSectors;
use super::{Array, ArrayError, FastPath, Volume};

impl<P: Payload> Array<P> {
    /// Builds the array that `settings` describe. Everything random in it follows from `seed`.
    ///
    /// # Errors
    ///
    /// When the settings break a rule: all complaints, with the paths of the keys.
    pub fn new(settings: &ArraySettings, seed: u64) -> Result<Self, ArrayError> {
        let complaints = settings.check();
        if !complaints.is_empty() {
            return Err(ArrayError::Settings(complaints));
        }
        let backend = build_backend(settings, seed)?;
        let linear = place_linear(settings, &backend)?;
        let pools = vec![Pool::Linear(LinearPool::new(&linear))];
        let cache = &settings.cache;
        let volumes = settings.volumes.iter().zip(&linear);
        let volumes = volumes.map(|(each, place)| build_volume(settings, each, place, &backend));
        let limit_lines = cache.dirty_limit_lines();
        let share = |percent: f64| (limit_lines as f64 * percent / 100.0) as u64;
        Ok(Self {
            calendar: Calendar::new(),
            controllers: (0..settings.controllers.count)
                .map(|_| Controller::new(&settings.controllers, cache, settings.volumes.len()))
                .collect(),
            volumes: volumes.collect(),
            pools,
            pool_of_group: vec![0; backend.group_count()],
            backend,
            flights: Slab::new(),
            operations: Slab::new(),
            lost: LostSectors::default(),
            completed: Vec::new(),
            now_ns: 0,
            times: Times::new(settings),
            mirrors: cache.mirror,
            holds_reads: cache.hold_reads,
            flush_policy: cache.flush,
            line_sectors: cache.line_sectors(),
            read_ahead_piece_sectors: (u64::from(cache.read_ahead.min_window_kib) * 1024
                / SECTOR_BYTES) as u32,
            dirty_limit_lines: limit_lines,
            high_watermark_lines: share(cache.destage.high_watermark_percent).max(1),
            low_watermark_lines: share(cache.destage.low_watermark_percent),
            destages_in_flight: cache.destage.in_flight as usize,
            next_path: 0,
            moved: Vec::new(),
            woken: Vec::new(),
            moves_under_way: 0,
            gaps: Vec::new(),
            pieces: Vec::new(),
        })
    }

    /// Whether a group has all its disks.
    pub(super) fn is_optimal(&self, group: GroupId) -> bool {
        self.backend.group(group).state == GroupState::Healthy
    }
}

fn build_backend<P: Payload>(
    settings: &ArraySettings,
    seed: u64,
) -> Result<Backend<P>, ArrayError> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut disks = Vec::new();
    for name in settings.backend.disk_names() {
        let Some(description) = settings.disks.get(name) else {
            let message = format!("There is no description of the disk '{name}'.");
            return Err(ArrayError::Settings(vec![Complaint::new("disks", message)]));
        };
        disks.push(DiskModel::new(description, random.random())?);
    }
    Ok(Backend::new(&settings.backend, disks)?)
}

/// Gives every linear volume its place: in the order of the settings, each from a stripe on.
fn place_linear<P: Payload>(
    settings: &ArraySettings,
    backend: &Backend<P>,
) -> Result<Vec<LinearVolume>, ArrayError> {
    let names = settings.backend.group_names();
    let mut taken_sectors = vec![0u64; names.len()];
    let mut places = Vec::new();
    let mut complaints = Vec::new();
    for (number, volume) in settings.volumes.iter().enumerate() {
        let Some(group) = names.iter().position(|name| *name == volume.group) else {
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
                volume.capacity_mib, volume.group
            );
            complaints.push(Complaint::new(
                format!("volumes.{number}.capacity_mib"),
                message,
            ));
            continue;
        }
        taken_sectors[group] = end_sector.next_multiple_of(view.geometry.stripe_sectors());
        places.push(LinearVolume {
            volume: VolumeId(number as u16),
            group: GroupId(group as u16),
            first_sector,
            sectors,
        });
    }
    if complaints.is_empty() {
        Ok(places)
    } else {
        Err(ArrayError::Settings(complaints))
    }
}

fn build_volume<P: Payload>(
    settings: &ArraySettings,
    volume: &VolumeSettings,
    place: &LinearVolume,
    backend: &Backend<P>,
) -> Volume {
    let geometry = backend.group(place.group).geometry;
    let cache = &settings.cache;
    let line_sectors = u64::from(cache.line_sectors());
    let write_back = volume.write_policy == WritePolicy::WriteBack && !volume.direct_io;
    let reads_ahead = volume.read_ahead && cache.read_ahead.enabled && !volume.direct_io;
    let short = settings.controllers.service.fast_path_us.is_some()
        && volume.direct_io
        && !volume.read_ahead;
    let strips = geometry.data_columns > 1 || geometry.protection != Protection::None;
    Volume {
        pool: 0,
        capacity_sectors: volume.capacity_sectors(),
        owner: volume.owner as u8,
        preferred_owner: volume.owner as u8,
        moving_to: None,
        paused: false,
        waiting: std::collections::VecDeque::new(),
        active: 0,
        operations_open: 0,
        write_back,
        direct_io: volume.direct_io,
        reads_ahead,
        lines_per_unit: (geometry.stripe_sectors() / line_sectors).max(1),
        page_sectors: None,
        fast_path: short.then_some(FastPath {
            group: place.group,
            strip_sectors: if strips {
                geometry.chunk_sectors
            } else {
                u64::MAX
            },
            writes: geometry.protection == Protection::None,
        }),
        readers: Streams::new(&cache.read_ahead),
        writers: Streams::new(&cache.read_ahead),
        counters: VolumeCounting::default(),
    }
}
