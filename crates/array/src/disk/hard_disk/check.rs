//! The rules a hard disk's description obeys.

use super::description::{HardDiskDescription, MeasuredSeeks, SheetSeeks};
use super::seek::{SeekCurve, SeekTimes};
use super::zones::sheet_zones;
use crate::broken_rule::Checker;
use crate::{BrokenRule, SECTOR_BYTES};

/// The longest seek that the model can hold, turns of the platters.
const MOST_TURNS: f64 = 15.0;

/// Every rule that is broken; paths start with `prefix`.
pub(super) fn check(disk: &HardDiskDescription, prefix: &str) -> Vec<BrokenRule> {
    let mut checker = Checker::new(disk, prefix);
    // What follows divides by these.
    if !checker.is_empty() {
        return checker.finish();
    }
    check_tracks(disk, &mut checker);
    check_seeks(disk, &mut checker);
    check_caches(disk, &mut checker);
    checker.finish()
}

fn check_tracks(disk: &HardDiskDescription, checker: &mut Checker<'_>) {
    if disk.zones.is_empty() {
        let bytes = disk.capacity_bytes as f64
            / (f64::from(disk.heads) * f64::from(disk.tracks_per_surface));
        if let Some(stated) = disk.average_bytes_per_track
            && (stated as f64 / bytes - 1.0).abs() > 0.02
        {
            checker.add(
                "average_bytes_per_track",
                format!(
                    "Capacity, heads and tracks_per_surface make {bytes:.0} bytes per track, \
                     which is more than 2 % from this; one of the four is wrong."
                ),
            );
        }
        let fits = sheet_zones(disk)
            .iter()
            .all(|(_, sectors)| (2..=200_000).contains(sectors));
        checker.require(
            fits,
            "tracks_per_surface",
            "Capacity, heads and tracks_per_surface make tracks of fewer than 2 or more than \
             200000 sectors.",
        );
    } else {
        check_zones(disk, checker);
    }
}

fn check_zones(disk: &HardDiskDescription, checker: &mut Checker<'_>) {
    let (mut cylinders, mut sectors) = (0_u64, 0_u64);
    for (index, zone) in disk.zones.iter().enumerate() {
        let per_track = zone.sectors_per_track;
        for (skew, key) in [
            (zone.track_skew_sectors, "track_skew_sectors"),
            (zone.cylinder_skew_sectors, "cylinder_skew_sectors"),
        ] {
            checker.require(
                skew.is_none_or(|skew| skew <= per_track),
                &format!("zones.{index}.{key}"),
                "A skew is not longer than the track.",
            );
        }
        cylinders += u64::from(zone.cylinders);
        let tracks = u64::from(zone.cylinders) * u64::from(disk.heads);
        sectors = sectors.saturating_add(tracks.saturating_mul(u64::from(per_track)));
    }
    checker.require(
        disk.zones.len() <= 1_024,
        "zones",
        "A disk has at most 1024 zones.",
    );
    if cylinders != u64::from(disk.tracks_per_surface) {
        checker.add(
            "zones",
            format!(
                "The zones have {cylinders} cylinders together, tracks_per_surface says {}; the \
                 two are the same.",
                disk.tracks_per_surface
            ),
        );
    }
    if sectors < disk.capacity_bytes / SECTOR_BYTES {
        checker.add(
            "zones",
            format!(
                "The zones hold {} bytes together, less than capacity_bytes.",
                sectors.saturating_mul(SECTOR_BYTES)
            ),
        );
    }
}

fn check_seeks(disk: &HardDiskDescription, checker: &mut Checker<'_>) {
    let most_ms = MOST_TURNS * 60_000.0 / f64::from(disk.rpm);
    match (&disk.seek, &disk.measured_seek) {
        (Some(sheet), None) => check_sheet(sheet, disk.tracks_per_surface, most_ms, checker),
        (None, Some(measured)) => check_measured(measured, disk, most_ms, checker),
        _ => checker.add(
            "seek",
            "A drive has its seek times in exactly one of the tables `seek` (data sheet) and \
             `measured_seek`.",
        ),
    }
}

fn check_sheet(sheet: &SheetSeeks, tracks: u32, most_ms: f64, checker: &mut Checker<'_>) {
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
            checker.add(
                &format!("seek.{name}"),
                format!(
                    "Single track, average and full stroke ascend from above 0 to at most \
                     {MOST_TURNS} turns ({most_ms:.1} ms)."
                ),
            );
        } else if let Err((least, most)) = SeekCurve::fit(times, tracks) {
            checker.add(
                &format!("seek.{name}.average_ms"),
                format!(
                    "Between these single-track and full-stroke times the average of an arm \
                     that accelerates, coasts and brakes must be between {least:.2} and {most:.2} ms."
                ),
            );
        }
    }
}

fn check_measured(
    measured: &MeasuredSeeks,
    disk: &HardDiskDescription,
    most_ms: f64,
    checker: &mut Checker<'_>,
) {
    let rows = &measured.rows;
    checker.require(
        rows.len() >= 2 && rows[0].tracks >= 1,
        "measured_seek.rows",
        "A seek table has at least two rows, the first over at least one track.",
    );
    for (index, row) in rows.iter().enumerate() {
        checker.require(
            (0.0..=most_ms).contains(&row.time_ms),
            &format!("measured_seek.rows.{index}.time_ms"),
            "A seek takes between 0 ms and 15 turns.",
        );
        let ascends = index == 0 || rows[index - 1].tracks < row.tracks;
        checker.require(
            ascends,
            &format!("measured_seek.rows.{index}.tracks"),
            "The rows of a seek table ascend in distance.",
        );
    }
    // The table reaches close enough to the full stroke for its last slope to be continued.
    let reach = rows.last().map_or(0, |row| row.tracks);
    checker.require(
        u64::from(reach) * 2 >= u64::from(disk.tracks_per_surface),
        "measured_seek.rows",
        "The last row of a seek table covers at least half of the tracks.",
    );
}

fn check_caches(disk: &HardDiskDescription, checker: &mut Checker<'_>) {
    let fits = disk
        .read_cache
        .as_ref()
        .is_none_or(|cache| cache.read_ahead_bytes <= cache.bytes / u64::from(cache.segments));
    checker.require(
        fits,
        "read_cache.read_ahead_bytes",
        "What is read ahead fits into one segment, which is bytes / segments.",
    );
}
