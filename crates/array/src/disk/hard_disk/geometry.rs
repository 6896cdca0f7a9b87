//! Where a sector lies: cylinder, head, place on the track, and the angle at which it begins.
//!
//! Addresses run along a track, then over the heads of a cylinder, then inwards. Each track starts
//! later by a skew that gives the next head (or the arm) time to settle.

use super::rotation::{Rotation, TURN};
use super::zones::ZoneShape;

/// Cylinders with the same number of sectors per track.
#[derive(Debug, Clone, Copy)]
struct Zone {
    first_sector: u64,
    first_cylinder: u32,
    end_cylinder: u32,
    sectors_per_track: u32,
    /// Angle of a sector, times 2^32.
    sector_angle_q32: u64,
    /// Nanoseconds of a sector, times 2^20.
    sector_ns_q20: u64,
    /// Angle by which a track starts later than the track before it in the same cylinder.
    track_skew: u32,
    /// Angle by which a cylinder's first track starts later than that of the cylinder before it.
    cylinder_skew: u32,
}

/// A place on the medium, before a sector or, with `sector` equal to the track's sectors, behind
/// the last sector of a track.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Place {
    pub(super) cylinder: u32,
    pub(super) head: u32,
    pub(super) sector: u32,
    zone: u32,
}

/// The map from addresses to places.
#[derive(Debug, Clone)]
pub(super) struct Geometry {
    heads: u32,
    zones: Vec<Zone>,
    /// Zone of the first sector of each stretch of 2^`hint_shift` sectors.
    hints: Vec<u16>,
    hint_shift: u32,
}

impl Geometry {
    /// Lays out zones, outermost first, for a disk of `capacity_sectors`.
    pub(super) fn new(
        shapes: &[ZoneShape],
        heads: u32,
        capacity_sectors: u64,
        rotation: &Rotation,
    ) -> Self {
        let (mut first_sector, mut first_cylinder) = (0, 0);
        let mut zones = Vec::with_capacity(shapes.len());
        for shape in shapes {
            let sectors_per_track = shape.sectors_per_track;
            let per_track = u64::from(sectors_per_track);
            let skew = |sectors: u32| {
                ((u64::from(sectors) * u64::from(TURN)).div_ceil(per_track)) as u32 & (TURN - 1)
            };
            let track_skew = skew(shape.track_skew_sectors);
            zones.push(Zone {
                first_sector,
                first_cylinder,
                end_cylinder: first_cylinder + shape.cylinders,
                sectors_per_track,
                sector_angle_q32: (u64::from(TURN) << 32) / per_track,
                sector_ns_q20: (rotation.turn_ns() * f64::from(1 << 20) / per_track as f64) as u64,
                track_skew,
                cylinder_skew: track_skew
                    .wrapping_mul(heads - 1)
                    .wrapping_add(skew(shape.cylinder_skew_sectors)),
            });
            first_sector += u64::from(shape.cylinders) * u64::from(heads) * per_track;
            first_cylinder += shape.cylinders;
        }
        let hint_shift = (64 - capacity_sectors.leading_zeros()).saturating_sub(10);
        let zone_of = |sector: u64| zones.partition_point(|z| z.first_sector <= sector) - 1;
        let hints = (0..=capacity_sectors >> hint_shift)
            .map(|stretch| zone_of(stretch << hint_shift) as u16)
            .collect();
        Self {
            heads,
            zones,
            hints,
            hint_shift,
        }
    }

    /// The place of a sector.
    #[inline]
    pub(super) fn locate(&self, sector: u64) -> Place {
        let mut zone = self.hints[(sector >> self.hint_shift) as usize] as usize;
        while self
            .zones
            .get(zone + 1)
            .is_some_and(|next| next.first_sector <= sector)
        {
            zone += 1;
        }
        let layout = &self.zones[zone];
        let offset = sector - layout.first_sector;
        let per_track = u64::from(layout.sectors_per_track);
        let (track, within) = match u32::try_from(offset) {
            Ok(offset) => {
                let track = offset / layout.sectors_per_track;
                (track, offset - track * layout.sectors_per_track)
            }
            Err(_) => ((offset / per_track) as u32, (offset % per_track) as u32),
        };
        let cylinder = track / self.heads;
        Place {
            cylinder: layout.first_cylinder + cylinder,
            head: track - cylinder * self.heads,
            sector: within,
            zone: zone as u32,
        }
    }

    /// The angle at which the sector of a place begins.
    #[inline]
    pub(super) fn angle(&self, place: &Place) -> u32 {
        let zone = &self.zones[place.zone as usize];
        let along = ((u64::from(place.sector) * zone.sector_angle_q32) >> 32) as u32;
        (place.cylinder - zone.first_cylinder)
            .wrapping_mul(zone.cylinder_skew)
            .wrapping_add(place.head.wrapping_mul(zone.track_skew))
            .wrapping_add(along)
            & (TURN - 1)
    }

    /// Sectors from the place to the end of its track.
    #[inline]
    pub(super) fn left_on_track(&self, place: &Place) -> u32 {
        self.zones[place.zone as usize].sectors_per_track - place.sector
    }

    /// Nanoseconds in which `sectors` of the place's track pass under the head.
    #[inline]
    pub(super) fn passing_ns(&self, place: &Place, sectors: u32) -> u64 {
        (u64::from(sectors) * self.zones[place.zone as usize].sector_ns_q20 + (1 << 19)) >> 20
    }

    /// Whole sectors of the place's track that pass under the head in `time_ns`.
    #[inline]
    pub(super) fn sectors_passing(&self, place: &Place, time_ns: u64) -> u64 {
        (u128::from(time_ns) << 20)
            .div_euclid(u128::from(self.zones[place.zone as usize].sector_ns_q20)) as u64
    }

    /// The beginning of the next track, and whether the arm has to move there. `None` behind the
    /// last track.
    #[inline]
    pub(super) fn next_track(&self, place: &Place) -> Option<(Place, bool)> {
        let mut next = Place {
            sector: 0,
            head: place.head + 1,
            ..*place
        };
        if next.head < self.heads {
            return Some((next, false));
        }
        next.head = 0;
        next.cylinder += 1;
        if next.cylinder == self.zones[next.zone as usize].end_cylinder {
            next.zone += 1;
        }
        ((next.zone as usize) < self.zones.len()).then_some((next, true))
    }
}
