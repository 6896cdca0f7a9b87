//! The rules a hard disk's description obeys.

use std::ops::RangeInclusive;

use super::description::{HardDiskDescription, MeasuredSeeks, SheetSeeks};
use super::seek::{SeekCurve, SeekTimes};
use super::zones::sheet_zones;
use crate::disk::description::check_capacity;
use crate::{Complaint, SECTOR_BYTES};

/// Collects complaints under a common path.
struct Complaints<'a> {
    prefix: &'a str,
    list: Vec<Complaint>,
}

impl Complaints<'_> {
    fn say(&mut self, key: &str, message: impl Into<String>) {
        let path = format!("{}.{key}", self.prefix);
        self.list.push(Complaint::new(path, message));
    }

    fn unless(&mut self, holds: bool, key: &str, message: &str) {
        if !holds {
            self.say(key, message);
        }
    }
}

/// The longest seek that the model can hold, turns of the platters.
const MOST_TURNS: f64 = 15.0;

/// Every rule that is broken; paths start with `prefix`.
pub(super) fn check(disk: &HardDiskDescription, prefix: &str) -> Vec<Complaint> {
    let mut complaints = Complaints {
        prefix,
        list: check_capacity(disk.capacity_bytes, prefix),
    };
    check_settings(disk, &mut complaints);
    // What follows divides by these.
    if !complaints.list.is_empty() {
        return complaints.list;
    }
    check_tracks(disk, &mut complaints);
    check_seeks(disk, &mut complaints);
    check_caches(disk, &mut complaints);
    complaints.list
}

fn check_settings(disk: &HardDiskDescription, complaints: &mut Complaints<'_>) {
    let ms = 0.0..=100.0;
    let rules = [
        (
            (1_000..=60_000).contains(&disk.rpm),
            "rpm",
            "Platters turn 1000 to 60000 times per minute.",
        ),
        (
            (1..=64).contains(&disk.heads),
            "heads",
            "A drive has 1 to 64 heads.",
        ),
        (
            (3..=2_000_000).contains(&disk.tracks_per_surface),
            "tracks_per_surface",
            "A surface has 3 to 2000000 tracks.",
        ),
        (
            (1.0..=4.0).contains(&disk.outer_to_inner_rate_ratio),
            "outer_to_inner_rate_ratio",
            "The outer zone is 1 to 4 times as fast as the inner one.",
        ),
        (
            (1..=256).contains(&disk.zone_count),
            "zone_count",
            "A surface has 1 to 256 zones.",
        ),
        (
            ms.contains(&disk.command_overhead_ms),
            "command_overhead_ms",
            "The overhead of a command lies between 0 and 100 ms.",
        ),
        (
            (0.0..=20.0).contains(&disk.head_switch_ms),
            "head_switch_ms",
            "A switch of heads takes 0 to 20 ms.",
        ),
        (
            (1..=4_096).contains(&disk.on_board_queue_depth),
            "on_board_queue_depth",
            "The on-board queue holds 1 to 4096 commands.",
        ),
        (
            (0.0..=100.0).contains(&disk.aging),
            "aging",
            "Aging lies between 0 (none) and 100.",
        ),
        (
            (1.0..=100_000.0).contains(&disk.interface_mb_per_s),
            "interface_mb_per_s",
            "The interface moves 1 to 100000 MB/s.",
        ),
    ];
    for (holds, key, message) in rules {
        complaints.unless(holds, key, message);
    }
}

fn check_tracks(disk: &HardDiskDescription, complaints: &mut Complaints<'_>) {
    let possible = 2..=200_000_u32;
    if disk.zones.is_empty() {
        let bytes = disk.capacity_bytes as f64
            / (f64::from(disk.heads) * f64::from(disk.tracks_per_surface));
        if let Some(stated) = disk.average_bytes_per_track
            && (stated as f64 / bytes - 1.0).abs() > 0.02
        {
            complaints.say(
                "average_bytes_per_track",
                format!(
                    "Capacity, heads and tracks_per_surface make {bytes:.0} bytes per track, \
                     which is more than 2 % from this; one of the four is wrong."
                ),
            );
        }
        let fits = sheet_zones(disk)
            .iter()
            .all(|(_, sectors)| possible.contains(sectors));
        complaints.unless(
            fits,
            "tracks_per_surface",
            "Capacity, heads and tracks_per_surface make tracks of fewer than 2 or more than \
             200000 sectors.",
        );
    } else {
        check_zones(disk, &possible, complaints);
    }
}

fn check_zones(
    disk: &HardDiskDescription,
    possible: &RangeInclusive<u32>,
    complaints: &mut Complaints<'_>,
) {
    let (mut cylinders, mut sectors) = (0_u64, 0_u64);
    for (index, zone) in disk.zones.iter().enumerate() {
        let per_track = zone.sectors_per_track;
        let path = |key: &str| format!("zones[{index}].{key}");
        let in_range = possible.contains(&per_track);
        complaints.unless(
            in_range,
            &path("sectors_per_track"),
            "A track has 2 to 200000 sectors.",
        );
        complaints.unless(
            zone.cylinders > 0,
            &path("cylinders"),
            "A zone has at least one cylinder.",
        );
        for (skew, key) in [
            (zone.track_skew_sectors, "track_skew_sectors"),
            (zone.cylinder_skew_sectors, "cylinder_skew_sectors"),
        ] {
            complaints.unless(
                skew.is_none_or(|skew| skew <= per_track),
                &path(key),
                "A skew is not longer than the track.",
            );
        }
        cylinders += u64::from(zone.cylinders);
        let tracks = u64::from(zone.cylinders) * u64::from(disk.heads);
        sectors = sectors.saturating_add(tracks.saturating_mul(u64::from(per_track)));
    }
    complaints.unless(
        disk.zones.len() <= 1_024,
        "zones",
        "A disk has at most 1024 zones.",
    );
    if cylinders != u64::from(disk.tracks_per_surface) {
        complaints.say(
            "zones",
            format!(
                "The zones have {cylinders} cylinders together, tracks_per_surface says {}; the \
                 two are the same.",
                disk.tracks_per_surface
            ),
        );
    }
    if sectors < disk.capacity_bytes / SECTOR_BYTES {
        complaints.say(
            "zones",
            format!(
                "The zones hold {} bytes together, less than capacity_bytes.",
                sectors.saturating_mul(SECTOR_BYTES)
            ),
        );
    }
}

fn check_seeks(disk: &HardDiskDescription, complaints: &mut Complaints<'_>) {
    let most_ms = MOST_TURNS * 60_000.0 / f64::from(disk.rpm);
    match (&disk.seek, &disk.measured_seek) {
        (Some(sheet), None) => check_sheet(sheet, disk.tracks_per_surface, most_ms, complaints),
        (None, Some(measured)) => check_measured(measured, disk, most_ms, complaints),
        _ => complaints.say(
            "seek",
            "A drive has its seek times in exactly one of the tables `seek` (data sheet) and \
             `measured_seek`.",
        ),
    }
}

fn check_sheet(sheet: &SheetSeeks, tracks: u32, most_ms: f64, complaints: &mut Complaints<'_>) {
    for (times, name) in [(&sheet.read, "read"), (&sheet.write, "write")] {
        let SeekTimes {
            single_track_ms,
            average_ms,
            full_stroke_ms,
        } = *times;
        let ascend = 0.0 < single_track_ms
            && single_track_ms < average_ms
            && average_ms < full_stroke_ms
            && full_stroke_ms <= most_ms;
        if !ascend {
            complaints.say(
                &format!("seek.{name}"),
                format!(
                    "Single track, average and full stroke ascend from above 0 to at most \
                     {MOST_TURNS} turns ({most_ms:.1} ms)."
                ),
            );
        } else if let Err((least, most)) = SeekCurve::fit(times, tracks) {
            complaints.say(
                &format!("seek.{name}.average_ms"),
                format!(
                    "Between these single-track and full-stroke times the average of an arm \
                     that accelerates, coasts and brakes lies between {least:.2} and {most:.2} ms."
                ),
            );
        }
    }
}

fn check_measured(
    measured: &MeasuredSeeks,
    disk: &HardDiskDescription,
    most_ms: f64,
    complaints: &mut Complaints<'_>,
) {
    let rows = &measured.rows;
    complaints.unless(
        rows.len() >= 2 && rows[0].tracks >= 1,
        "measured_seek.rows",
        "A seek table has at least two rows, the first over at least one track.",
    );
    for (index, row) in rows.iter().enumerate() {
        complaints.unless(
            (0.0..=most_ms).contains(&row.time_ms),
            &format!("measured_seek.rows[{index}].time_ms"),
            "A seek takes between 0 ms and 15 turns.",
        );
        let ascends = index == 0 || rows[index - 1].tracks < row.tracks;
        complaints.unless(
            ascends,
            &format!("measured_seek.rows[{index}].tracks"),
            "The rows of a seek table ascend in distance.",
        );
    }
    complaints.unless(
        (0.0..=20.0).contains(&measured.write_settle_ms),
        "measured_seek.write_settle_ms",
        "Settling for a write takes 0 to 20 ms.",
    );
    // The table reaches close enough to the full stroke for its last slope to be continued.
    let reach = rows.last().map_or(0, |row| row.tracks);
    complaints.unless(
        u64::from(reach) * 2 >= u64::from(disk.tracks_per_surface),
        "measured_seek.rows",
        "The last row of a seek table covers at least half of the tracks.",
    );
}

fn check_caches(disk: &HardDiskDescription, complaints: &mut Complaints<'_>) {
    complaints.unless(
        disk.write_cache_bytes <= 1 << 34,
        "write_cache_bytes",
        "A write cache has at most 16 GiB; 0 turns it off.",
    );
    let Some(cache) = &disk.read_cache else {
        return;
    };
    let segments_fit = (1..=256).contains(&cache.segments);
    complaints.unless(
        segments_fit,
        "read_cache.segments",
        "A read cache has 1 to 256 segments.",
    );
    let bytes_fit = (4_096..=1 << 34).contains(&cache.bytes);
    complaints.unless(
        bytes_fit,
        "read_cache.bytes",
        "A read cache has between 4 KiB and 16 GiB.",
    );
    if segments_fit && bytes_fit {
        complaints.unless(
            cache.read_ahead_bytes <= cache.bytes / u64::from(cache.segments),
            "read_cache.read_ahead_bytes",
            "What is read ahead fits into one segment, which is bytes / segments.",
        );
    }
}
