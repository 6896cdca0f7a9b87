//! What all drives of one make share: the geometry, the speed, the seek times of every distance,
//! and the settings. Computed once from the description.

use super::description::{HardDiskDescription, Scheduler};
use super::geometry::{Geometry, Place};
use super::rotation::Rotation;
use super::seek::{SeekCurve, table_time_ms};
use super::zones::{SkewTimes, zone_shapes};
use crate::{Direction, SECTOR_BYTES};

/// The position of the arm.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Arm {
    pub(super) cylinder: u32,
    pub(super) head: u32,
}

/// A head over the medium that will be before `place` at `at_ns`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor {
    pub(super) place: Place,
    pub(super) at_ns: u64,
}

/// Seek times as the arm needs them, milliseconds by distance.
pub(super) struct Seeks {
    pub(super) read_ms: Box<dyn Fn(u32) -> f64>,
    write_ms: Box<dyn Fn(u32) -> f64>,
}

/// Times of commands in the electronics, nanoseconds.
#[derive(Debug, Clone, Copy)]
struct Overheads {
    read_ns: u64,
    write_ns: u64,
    hit_ns: u64,
    sequential_ns: u64,
    /// They pass while another command is served.
    overlap: bool,
}

impl Overheads {
    fn new(description: &HardDiskDescription) -> Self {
        let ns = |ms: f64| (ms * 1e6).round() as u64;
        let or_usual = |own: Option<f64>| ns(own.unwrap_or(description.command_overhead_ms));
        Self {
            read_ns: ns(description.command_overhead_ms),
            write_ns: or_usual(description.write_overhead_ms),
            hit_ns: or_usual(description.hit_overhead_ms),
            sequential_ns: or_usual(description.sequential_overhead_ms),
            overlap: description.overlaps_overhead,
        }
    }
}

/// What drives of one make share.
#[derive(Debug)]
pub(super) struct Mechanics {
    pub(super) geometry: Geometry,
    pub(super) rotation: Rotation,
    pub(super) capacity_sectors: u64,
    overheads: Overheads,
    pub(super) on_board_queue_depth: usize,
    /// Commands among which the next one is chosen.
    pub(super) scheduler_depth: usize,
    pub(super) overlaps_interface: bool,
    /// Angle units on top of any seek to a new place.
    settle_units: u32,
    pub(super) scheduler: Scheduler,
    /// Angle units forgiven per nanosecond waited, times 2^16.
    pub(super) aging_q16: u64,
    /// Seek times in angle units by distance: those of reads, then those of writes.
    seek_units: Vec<u32>,
    /// Switch of heads in angle units, reads and writes.
    switch_units: [u32; 2],
    interface_ns_per_sector: f64,
}

impl Mechanics {
    /// The mechanics of a description that has been checked; `None` when its seek times cannot be
    /// those of one arm, which the check has reported.
    pub(super) fn new(description: &HardDiskDescription) -> Option<Self> {
        let rotation = Rotation::new(description.rpm);
        let seeks = seeks(description)?;
        let settle_ms = ((seeks.write_ms)(1) - (seeks.read_ms)(1)).max(0.0);
        let write_switch_ms = description.head_switch_ms + settle_ms;
        let skews = SkewTimes {
            track_ms: write_switch_ms,
            cylinder_ms: (seeks.write_ms)(1).max(write_switch_ms),
        };
        let zones = zone_shapes(description, skews, &rotation);
        let capacity_sectors = description.capacity_bytes / SECTOR_BYTES;
        let units = |ms: f64| rotation.units_of(ms * 1e6);
        let distances = 0..description.tracks_per_surface;
        let seek_units = (distances.clone().map(|d| units((seeks.read_ms)(d))))
            .chain(distances.map(|d| units((seeks.write_ms)(d))))
            .collect();
        let units_per_ns = f64::from(super::rotation::TURN) / rotation.turn_ns();
        Some(Self {
            geometry: Geometry::new(&zones, description.heads, capacity_sectors, &rotation),
            rotation,
            capacity_sectors,
            overheads: Overheads::new(description),
            on_board_queue_depth: description.on_board_queue_depth as usize,
            scheduler_depth: description
                .scheduler_depth
                .map_or(usize::MAX, |depth| depth as usize),
            overlaps_interface: description.overlaps_interface,
            settle_units: units(description.settle_ms),
            scheduler: description.scheduler,
            aging_q16: (description.aging * units_per_ns * 65_536.0).round() as u64,
            seek_units,
            switch_units: [units(description.head_switch_ms), units(write_switch_ms)],
            interface_ns_per_sector: SECTOR_BYTES as f64 * 1e3 / description.interface_mb_per_s,
        })
    }

    /// What is left of the overhead of a command that needs the medium and has waited so long.
    #[inline]
    pub(super) fn overhead_ns(&self, direction: Direction, waited_ns: u64) -> u64 {
        let whole_ns = match direction {
            Direction::Read => self.overheads.read_ns,
            Direction::Write => self.overheads.write_ns,
        };
        match self.overheads.overlap {
            true => whole_ns.saturating_sub(waited_ns),
            false => whole_ns,
        }
    }

    /// The least that is left of the overhead of any command.
    #[inline]
    pub(super) fn least_overhead_ns(&self) -> u64 {
        match self.overheads.overlap {
            true => 0,
            false => self.overheads.read_ns.min(self.overheads.write_ns),
        }
    }

    /// The overhead of a command that is served from the buffer or into it.
    #[inline]
    pub(super) fn buffer_overhead_ns(&self, direction: Direction) -> u64 {
        match direction {
            Direction::Read => self.overheads.hit_ns,
            Direction::Write => self.overheads.write_ns,
        }
    }

    /// The overhead of a command that goes on where the head is.
    #[inline]
    pub(super) fn sequential_overhead_ns(&self) -> u64 {
        self.overheads.sequential_ns
    }

    /// What settling takes after a seek or a switch of heads to a new place, angle units.
    #[inline]
    pub(super) fn settle_units(&self) -> u32 {
        self.settle_units
    }

    /// Where the seek times of a direction begin in the table.
    #[inline]
    pub(super) fn seek_base(&self, direction: Direction) -> u32 {
        match direction {
            Direction::Read => 0,
            Direction::Write => (self.seek_units.len() / 2) as u32,
        }
    }

    /// Seek time in angle units over a distance, from where a direction's times begin.
    #[inline]
    pub(super) fn seek_units(&self, base: u32, tracks: u32) -> u32 {
        self.seek_units[(base + tracks) as usize]
    }

    /// Switch of heads in angle units.
    #[inline]
    pub(super) fn switch_units(&self, direction: Direction) -> u32 {
        self.switch_units[usize::from(direction == Direction::Write)]
    }

    /// Time on the interface, nanoseconds.
    #[inline]
    pub(super) fn interface_ns(&self, sectors: u32) -> u64 {
        (f64::from(sectors) * self.interface_ns_per_sector) as u64
    }

    /// Lets `sectors` pass under the head, with the switches from track to track.
    #[inline]
    pub(super) fn pass(&self, cursor: &mut Cursor, sectors: u32, direction: Direction) {
        let mut remaining = sectors;
        loop {
            let here = remaining.min(self.geometry.left_on_track(&cursor.place));
            cursor.at_ns += self.geometry.passing_ns(&cursor.place, here);
            cursor.place.sector += here;
            remaining -= here;
            if remaining == 0 || !self.cross(cursor, direction) {
                return;
            }
        }
    }

    /// Lets sectors pass that have passed wholly by `now_ns`, at most `most`; how many did.
    pub(super) fn pass_until(&self, cursor: &mut Cursor, now_ns: u64, most: u64) -> u64 {
        let mut passed = 0;
        while passed < most && cursor.at_ns < now_ns {
            let left = u64::from(self.geometry.left_on_track(&cursor.place)).min(most - passed);
            if left == 0 {
                if !self.cross(cursor, Direction::Read) {
                    break;
                }
                continue;
            }
            let time_ns = now_ns - cursor.at_ns;
            let here = self
                .geometry
                .sectors_passing(&cursor.place, time_ns)
                .min(left);
            if here == 0 {
                break;
            }
            cursor.at_ns += self.geometry.passing_ns(&cursor.place, here as u32);
            cursor.place.sector += here as u32;
            passed += here;
        }
        passed
    }

    /// From the end of a track to the beginning of the next. False behind the last track.
    fn cross(&self, cursor: &mut Cursor, direction: Direction) -> bool {
        let Some((next, arm_moves)) = self.geometry.next_track(&cursor.place) else {
            return false;
        };
        let mut switch = self.switch_units(direction);
        if arm_moves {
            switch = switch.max(self.seek_units(self.seek_base(direction), 1));
        }
        cursor.place = next;
        cursor.at_ns += self.rotation.ns_of(switch);
        self.wait_for_place(cursor);
        true
    }

    /// Waits until the cursor's place comes round.
    pub(super) fn wait_for_place(&self, cursor: &mut Cursor) {
        let from = self.rotation.angle_at(cursor.at_ns);
        let wait = Rotation::wait(self.geometry.angle(&cursor.place), from);
        cursor.at_ns += self.rotation.ns_of(wait);
    }
}

/// The seek times of a description.
pub(super) fn seeks(description: &HardDiskDescription) -> Option<Seeks> {
    if let Some(measured) = &description.measured_seek {
        let (rows, settle_ms) = (measured.rows.clone(), measured.write_settle_ms);
        let read_ms = move |d| table_time_ms(&rows, d);
        let settled = read_ms.clone();
        return Some(Seeks {
            read_ms: Box::new(read_ms),
            write_ms: Box::new(move |d| settled(d) + if d > 0 { settle_ms } else { 0.0 }),
        });
    }
    let sheet = description.seek?;
    let read = SeekCurve::fit(&sheet.read, description.tracks_per_surface).ok()?;
    let write = SeekCurve::fit(&sheet.write, description.tracks_per_surface).ok()?;
    Some(Seeks {
        read_ms: Box::new(move |d| read.time_ms(f64::from(d))),
        write_ms: Box::new(move |d| write.time_ms(f64::from(d))),
    })
}
