//! Zones: bands of cylinders with the same number of sectors per track, more outside than inside.

use super::description::HardDiskDescription;
use super::rotation::Rotation;
use crate::SECTOR_BYTES;

/// One zone before it is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ZoneShape {
    pub(super) cylinders: u32,
    pub(super) sectors_per_track: u32,
    pub(super) track_skew_sectors: u32,
    pub(super) cylinder_skew_sectors: u32,
}

/// The time a track switch is given by the skew, milliseconds.
#[derive(Debug, Clone, Copy)]
pub(super) struct SkewTimes {
    /// Switch of heads within a cylinder.
    pub(super) track_ms: f64,
    /// Move to the next cylinder.
    pub(super) cylinder_ms: f64,
}

impl SkewTimes {
    fn sectors(time_ms: f64, sectors_per_track: u32, rotation: &Rotation) -> u32 {
        let turns = time_ms * 1e6 / rotation.turn_ns();
        // More than a turn of skew is a turn wasted; what is left of it decides.
        (turns.fract() * f64::from(sectors_per_track)).ceil() as u32
    }
}

/// The zones of a description that has been checked, outermost first.
pub(super) fn zone_shapes(
    description: &HardDiskDescription,
    skews: SkewTimes,
    rotation: &Rotation,
) -> Vec<ZoneShape> {
    let with_skews = |cylinders, sectors_per_track, track: Option<u32>, cylinder: Option<u32>| {
        let derived = |time_ms| SkewTimes::sectors(time_ms, sectors_per_track, rotation);
        ZoneShape {
            cylinders,
            sectors_per_track,
            track_skew_sectors: track.unwrap_or_else(|| derived(skews.track_ms)),
            cylinder_skew_sectors: cylinder.unwrap_or_else(|| derived(skews.cylinder_ms)),
        }
    };
    if !description.zones.is_empty() {
        return description
            .zones
            .iter()
            .map(|zone| {
                with_skews(
                    zone.cylinders,
                    zone.sectors_per_track,
                    zone.track_skew_sectors,
                    zone.cylinder_skew_sectors,
                )
            })
            .collect();
    }
    sheet_zones(description)
        .into_iter()
        .map(|(cylinders, sectors)| with_skews(cylinders, sectors, None, None))
        .collect()
}

/// Zones that follow from the data sheet: cylinders and sectors per track.
///
/// Bits per length of track are constant, so the sectors of a track grow with its radius, which
/// falls linearly with the cylinder: the rate falls linearly from the outer to the inner one. The
/// mean follows from capacity, heads and tracks; sectors per track are rounded up, and the tracks
/// this leaves over at the inner edge stay unused.
pub(super) fn sheet_zones(description: &HardDiskDescription) -> Vec<(u32, u32)> {
    let tracks = u64::from(description.tracks_per_surface);
    let count = u64::from(description.zone_count).clamp(1, tracks);
    let sectors = (description.capacity_bytes / SECTOR_BYTES) as f64;
    let mean = sectors / (tracks as f64 * f64::from(description.heads));
    let inner = 2.0 / (1.0 + description.outer_to_inner_rate_ratio);
    let outer = inner * description.outer_to_inner_rate_ratio;
    let mut zones: Vec<(u32, u32)> = (0..count)
        .map(|zone| {
            let first = zone * tracks / count;
            let end = (zone + 1) * tracks / count;
            let middle = (first + end) as f64 / 2.0 / tracks as f64;
            let share = outer + (inner - outer) * middle;
            ((end - first) as u32, (mean * share).ceil() as u32)
        })
        .collect();
    // Rounding up holds every sector, except where the mean is a whole number up to the rounding
    // of a float.
    let held = |zones: &[(u32, u32)]| -> f64 {
        let sum = zones
            .iter()
            .map(|&(tracks, sectors)| f64::from(tracks) * f64::from(sectors));
        sum.sum::<f64>() * f64::from(description.heads)
    };
    if held(&zones) < sectors
        && let Some(last) = zones.last_mut()
    {
        last.1 += 1;
    }
    zones
}
