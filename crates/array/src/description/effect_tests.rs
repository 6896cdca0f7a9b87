//! Every setting of an array and of a disk has an effect: changed by itself, it changes what a short
//! run on some array gives, or what the array is called.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use config::{ConfigError, Settings as _, Shape, Source, Table};
use test_support::{alternatives, set};

use super::*;
use crate::{Array, FirstWrite, HostOperation, HostRequest, VolumeId};

/// Two pools with an SSD tier, everything tight, and faults.
const TIER: &str = include_str!("effect_tier.toml");

/// Changes to it that bring other settings into play, and what the paths of those begin with.
const CASES: &[(&[&str], &[&str])] = &[
    (&[], &[""]),
    // A read cache in place of the tier.
    (
        &[
            "pool.ssd_use=read-cache",
            "pool.read_cache={ size_gib = 0.01, limit_gib = 0.5, line_kib = 16 }",
        ],
        &["pool.read_cache"],
    ),
    (
        &[
            "pool.ssd_use=read-cache",
            "pool.read_cache={ limit_gib = 0.002, fill = { admit_after_misses = 2, in_flight_max = 1, \
             limit_mib_per_s = 1, warm_percent = 20.0 } }",
        ],
        &["pool.read_cache"],
    ),
    // A tier that begins as after hours, one of another rule, and one that few pages fit into.
    (
        &[
            "disks.ssd.solid_state.capacity_bytes=3000000",
            "cache.cache_reads=false",
            "pool.tiering.swap_margin=0",
        ],
        &["pool.tiering"],
    ),
    (
        &[
            "pool.tiering.instant_moves_s=1.5",
            "pool.tiering.prior_load_h=0.0001",
        ],
        &["pool.tiering"],
    ),
    (
        &[
            "pool.tiering.free_pages=700",
            "pool.tiering.policy=heat",
            "pool.tiering.cold_score=5",
            "pool.tiering.half_life_s=1",
        ],
        &["pool.tiering"],
    ),
    (
        &[
            "volumes.affinity=performance",
            "pool.tiering.free_pages=300",
        ],
        &["pool.tiering"],
    ),
    (
        &["pool.ssd_raid=raid1", "event.0.group=\"a-ssd\""],
        &["pool.ssd_", "pool.tiering"],
    ),
    // No controller works for a while.
    (
        &[
            "event=[{ at = '2s', what = 'controller-fails', controller = 0 }, { at = '2s', what = \
           'controller-fails', controller = 1 }, { at = '3s', what = 'controller-returns', \
           controller = 0 }]",
        ],
        &["controllers.failover"],
    ),
    // A disk with flaws.
    (
        &["event=[{ at = '1s', what = 'sectors-unreadable', disk = 2, places = 2000 }]"],
        &["event.places"],
    ),
    // A cache that watches many streams, and one that is full of writes.
    (
        &[
            "cache.read_ahead.streams=64",
            "cache.read_ahead.max_window_kib=128",
        ],
        &["cache.read_ahead"],
    ),
    (
        &[
            "cache.destage.idle_ms=0",
            "cache.destage.age_ms=9000",
            "cache.dirty_limit_percent=5",
        ],
        &["cache.destage"],
    ),
    // Pools called by a name of their own.
    (
        &["volumes.databases_on=[]", "volumes.logs_on=[]", "event=[]"],
        &["pool.name", "pool.group_count"],
    ),
    // A RAID card, with and without write-through.
    (
        &[
            "controllers.count=1",
            "cache.mirror=false",
            "volumes.write_policy=write-through",
            "volumes.direct_io=true",
            "volumes.read_ahead=false",
            "pool=[]",
            "group={ name = 'a', disk = 'hdd', disk_count = 4, raid = 'raid5', chunk_kib = 64 }",
            "volumes.databases_on=[]",
            "volumes.logs_on=[]",
            "event=[]",
        ],
        &["controllers", "backend", "volumes", "group.name"],
    ),
    (
        &[
            "controllers.count=1",
            "cache.mirror=false",
            "pool.raid=raid10",
            "event=[]",
        ],
        &["controllers", "backend", "cache"],
    ),
    // Further groups, listed volumes, and groups outside of pools.
    (
        &[
            "pool.group=[{ disk = 'hddx', disk_count = 2, raid = 'raid0', chunk_kib = 16, \
             spares = 1 }]",
            "volume=[{ name = 'v', size_gb = 0.4, on = 'a' }, { name = 'l', size_gb = 0.2, \
             on = 'b', holds = 'logs' }]",
            "volume.write_policy=write-through",
        ],
        &["pool.group", "volume", "event"],
    ),
    (
        &[
            "group=[{ name = 'g', disk = 'hdd', disk_count = 6, raid = 'vraid', chunk_kib = 16, \
             placement = { segment_kib = 128, stroke_fraction = 0.8 } }, { name = 'h', disk = \
             'station', disk_count = 3, raid = 'raid5', chunk_kib = 16, spares = 1 }]",
            "volumes.databases_on=['h', 'g']",
            "volumes.logs_on=['g']",
            "backend.dispatch.queue_limit=16",
            "backend.scrub.rate_mb_per_s=100",
        ],
        &["group", "volumes", "disks.ideal"],
    ),
    (
        &[
            "group=[{ name = 'g', disk = 'hdd', disk_count = 8, raid = 'vraid', chunk_kib = 16 }]",
            "volume=[{ name = 'v', size_gb = 0.45, on = 'g' }]",
        ],
        &["volume."],
    ),
    // A cloud volume, with many and with few large requests.
    (
        &[
            "pool=[]",
            "group={ name = 'a', disk = 'cloud', disk_count = 3, raid = 'raid0', chunk_kib = 16 }",
            "volumes.databases_on=[]",
            "volumes.logs_on=[]",
            "event=[]",
        ],
        &["disks.cloud_volume"],
    ),
    (
        &[
            "pool=[]",
            "group={ name = 'a', disk = 'cloud', disk_count = 3, raid = 'raid0', chunk_kib = 16 }",
            "disks.cloud.cloud_volume.iops=5000",
            "disks.cloud.cloud_volume.burst_iops=9000",
            "volumes.databases_on=[]",
            "volumes.logs_on=[]",
            "event=[]",
        ],
        &["disks.cloud_volume"],
    ),
    // SSDs that write with one bit a cell first.
    (
        &[
            "disks.ssd.solid_state.slc_cache_bytes=400000",
            "disks.ssd.solid_state.slc_write_mb_per_s=80",
        ],
        &["disks.solid_state"],
    ),
    // Measured disks, and a hard disk with a write cache.
    (&["pool.disk=measured"], &["disks.hard_disk"]),
    (
        &["disks.hdd.hard_disk.write_cache_bytes=1048576"],
        &["disks.hard_disk"],
    ),
];

/// Further values, where those that `test_support::alternatives` finds name what is not there.
const FURTHER: &[(&str, &str)] = &[
    ("pool.group.disk", "\"hdd\""),
    ("event.group", "\"b-disks\""),
    ("volume.on", "\"b\""),
    ("volumes.databases_on", "[\"b\"]"),
    ("volumes.logs_on", "[\"b\"]"),
    ("pool.warning_levels_percent", "[1, 2, 3]"),
];

/// Settings that are there to refuse others: what does not fit them.
const REFUSING: &[&str] = &[
    "cache.limit_mib",
    "disks.hard_disk.average_bytes_per_track",
    "disks.hard_disk.zones.cylinders",
    "disks.cloud_volume.capacity_bytes",
    "disks.ideal.capacity_bytes",
    "group.protection_level",
];

/// Settings for people only.
const FOR_PEOPLE: &[&str] = &["disks.title"];

/// What the table begins with whose settings change nothing of an array: predictions read it.
const OF_PREDICTIONS: &str = "calibration.";

/// What comes of a description: names, notes, and everything that a short run does.
fn outcome(sources: &[Source]) -> Result<u64, ConfigError> {
    let description = Description::load(sources)?;
    let demand = |number: u32| DatabaseDemand {
        name: format!("d{number}"),
        data_bytes: 96 << 20,
        log_bytes: 32 << 20,
    };
    let planned = description.plan(&[demand(1), demand(2), demand(3)])?;
    let settings = &planned.settings;
    let mut hasher = DefaultHasher::new();
    let names = settings.volumes.iter().map(|volume| &volume.name);
    let names = names.chain(settings.pools.keys());
    let groups = settings.backend.disk_group.iter();
    let names: Vec<&String> = names.chain(groups.map(|group| &group.name)).collect();
    (description.title(), description.family(), names).hash(&mut hasher);
    (&planned.notes, format!("{:?}", planned.placement)).hash(&mut hasher);
    let mut array: Array<()> = Array::new(settings, 1).expect("it was checked");
    for event in &planned.events {
        array.inject(event.at_ns, event.fault);
    }
    let offsets = settings.volumes.iter();
    let offsets: Vec<u64> = offsets
        .map(|one| one.policy.partition_offset_sectors)
        .collect();
    run(&mut array, &offsets).hash(&mut hasher);
    format!("{:?} {:?}", array.counters(), array.take_incidents()).hash(&mut hasher);
    Ok(hasher.finish())
}

/// Bursts of small reads and writes, half of them in few places, beside sequential streams, with
/// pauses; the completions as text. Each host's partition begins at the offset of its volume.
fn run(array: &mut Array<()>, offsets: &[u64]) -> String {
    let volumes = offsets.len() as u64;
    for volume in 0..volumes {
        let id = VolumeId(volume as u16);
        let sectors = array.capacity_sectors(id).unwrap_or(0).min(160 << 11) / 2;
        array
            .lay_out(id, 0, sectors / 2, FirstWrite::Sequential)
            .ok();
        array
            .lay_out(id, sectors / 2, sectors / 2, FirstWrite::Random)
            .ok();
    }
    let (mut completed, mut random) = (Vec::new(), 0x9E37_79B9_7F4A_7C15_u64);
    let mut next = |below: u64| {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        random % below
    };
    let mut streams = [20_000_u64; 4];
    for turn in 0..2_000_u64 {
        let now_ns = turn / 25 * 110_000_000 + turn % 25 * 400_000;
        let now_ns = now_ns + if turn > 1_500 { 1_000_000_000 } else { 0 };
        let kind = next(20);
        let (operation, sectors) = match kind {
            0..8 => (HostOperation::Read, 16),
            8..13 => (HostOperation::Write, 16),
            13..16 => (HostOperation::Read, 32),
            16..18 => (HostOperation::Write, 64),
            18 => (HostOperation::Flush, 8),
            _ if turn % 5 == 0 => (HostOperation::Trim, 2048),
            _ => (HostOperation::Read, 900),
        };
        // Streams of reads, and one of writes; each stays on a volume.
        let stream = match kind {
            13..16 => Some(kind - 13),
            16..18 => Some(3),
            _ => None,
        };
        let volume = stream.unwrap_or_else(|| next(volumes)) % volumes;
        let (volume, offset) = (VolumeId(volume as u16), offsets[volume as usize]);
        let reach = array.capacity_sectors(volume).unwrap_or(1).min(160 << 11);
        let place = match stream {
            Some(stream) => {
                let next = &mut streams[stream as usize];
                *next += sectors;
                *next - sectors
            }
            None if next(2) == 0 => next(40) * 1031,
            None => next(reach),
        };
        let request = HostRequest {
            tag: turn,
            volume,
            operation,
            first_sector: offset + place % reach.saturating_sub(sectors + offset).max(1),
            sectors: sectors as u32,
            payload: (),
        };
        array.advance_to(now_ns, &mut completed);
        array.submit(now_ns, request);
    }
    array.advance_to(12_000_000_000, &mut completed);
    array.check_invariants();
    let ends = completed
        .iter()
        .map(|one| (one.tag, one.completed_ns, one.result));
    format!("{:?}", ends.collect::<Vec<_>>())
}

/// The path of a setting without numbers and names: that of its declaration.
fn declared(path: &str) -> String {
    let mut parts: Vec<&str> = path.split('.').collect();
    if parts[0] == "disks" {
        parts.remove(1);
    }
    parts.retain(|part| part.parse::<u32>().is_err());
    parts.join(".")
}

fn all_declared(table: &Table, prefix: &str, found: &mut BTreeSet<String>) {
    for field in &table.fields {
        let path = format!("{prefix}{}", field.key);
        match field.shape.table() {
            Some(inner) => all_declared(&inner, &format!("{path}."), found),
            None => {
                assert!(!matches!(field.shape, Shape::Named(_)), "{path}");
                found.insert(path);
            }
        }
    }
}

#[test]
fn every_setting_of_an_array_and_of_a_disk_has_an_effect() {
    let mut idle = BTreeSet::new();
    all_declared(&DescriptionKeys::declaration(), "", &mut idle);
    for path in FOR_PEOPLE {
        assert!(idle.remove(*path), "{path}");
    }
    idle.retain(|path| !path.starts_with(OF_PREDICTIONS));
    for (case, prefixes) in CASES {
        let mut sources = vec![Source::file("tier", TIER)];
        sources.extend(case.iter().map(|text| set(text)));
        let base = outcome(&sources).unwrap_or_else(|error| panic!("{case:?}\n{error}"));
        let description = Description::load(&sources).expect("it was loaded");
        for setting in alternatives(&description.document.settings) {
            let path = declared(&setting.path);
            let is_meant = prefixes.iter().any(|prefix| path.starts_with(prefix));
            if !is_meant || !idle.contains(&path) {
                continue;
            }
            let further = FURTHER.iter().filter(|(further, _)| *further == path);
            let further = further.map(|(_, value)| format!("{}={value}", setting.path));
            let is_refusing = REFUSING.contains(&path.as_str());
            let has_effect = further.chain(setting.assignments()).any(|assignment| {
                sources.push(set(&assignment));
                let changed = outcome(&sources);
                sources.pop();
                changed.map_or(is_refusing, |changed| changed != base)
            });
            if has_effect {
                idle.remove(&path);
            }
        }
    }
    assert!(idle.is_empty(), "no effect was seen of {idle:#?}");
}
