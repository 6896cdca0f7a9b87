//! The angle of the platters. It is a function of time alone, so nothing drifts: the whole
//! turns of a minute are exact for any whole number of turns per minute.

/// Bits of an angle.
const ANGLE_BITS: u32 = 28;
/// One turn, in angle units. Times of the mechanism are held in angle units too, as 32 bits: up to
/// 16 turns, with a resolution of about 0.02 ns at 10,000 turns per minute.
pub(super) const TURN: u32 = 1 << ANGLE_BITS;
const ANGLE_MASK: u32 = TURN - 1;
/// An angle missed by no more than this (about 6 ns at 10,000 turns per minute) is not missed: it
/// absorbs the rounding of times to nanoseconds.
const TOLERANCE: u32 = 256;

const MINUTE_NS: u64 = 60_000_000_000;

/// A spindle that turns at a constant speed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Rotation {
    turns_per_minute: u64,
    /// Nanoseconds of a turn, times 2^32.
    turn_ns_q32: u64,
}

impl Rotation {
    pub(super) fn new(rpm: u32) -> Self {
        let turns_per_minute = u64::from(rpm);
        Self {
            turns_per_minute,
            turn_ns_q32: ((u128::from(MINUTE_NS) << 32) / u128::from(turns_per_minute)) as u64,
        }
    }

    /// Nanoseconds of a turn.
    pub(super) fn turn_ns(&self) -> f64 {
        self.turn_ns_q32 as f64 / (1_u64 << 32) as f64
    }

    /// The angle at a time, for platters that were at angle 0 when the model started.
    #[inline]
    pub(super) fn angle_at(&self, now_ns: u64) -> u32 {
        // Whole turns fit a minute, so the time within the minute is all that matters. The product
        // stays below 2^52, the shifted remainder below 2^64.
        let turned = (now_ns % MINUTE_NS) * self.turns_per_minute % MINUTE_NS;
        ((turned << ANGLE_BITS) / MINUTE_NS) as u32
    }

    /// How far the platters turn until `target` is under a head at `from`.
    #[inline]
    pub(super) fn wait(target: u32, from: u32) -> u32 {
        let ahead = target.wrapping_add(TOLERANCE).wrapping_sub(from) & ANGLE_MASK;
        ahead.saturating_sub(TOLERANCE)
    }

    /// Angle units as nanoseconds, rounded down.
    #[inline]
    pub(super) fn ns_of(&self, units: u32) -> u64 {
        let product = u128::from(self.turn_ns_q32) * u128::from(units);
        (product >> (32 + ANGLE_BITS)) as u64
    }

    /// Nanoseconds as angle units, rounded up; times beyond 16 turns are cut there.
    pub(super) fn units_of(&self, time_ns: f64) -> u32 {
        (time_ns / self.turn_ns() * f64::from(TURN)).ceil() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn platters_come_round_after_every_whole_turn() {
        for rpm in [5_400, 7_200, 10_000, 10_520, 15_000] {
            let rotation = Rotation::new(rpm);
            // Turn n ends at n * 60e9 / rpm, rounded up to the nanosecond.
            for turn in [1_u64, 2, 1_000, 86_399, 1_000_003, 250_000_000] {
                let end_ns = (turn * MINUTE_NS).div_ceil(u64::from(rpm));
                let angle = rotation.angle_at(end_ns);
                // Less than one nanosecond past the mark.
                assert!(
                    rotation.ns_of(angle) <= 1,
                    "{rpm} rpm, turn {turn}: {angle}"
                );
            }
        }
    }

    #[test]
    fn a_wait_never_reaches_a_turn_and_forgives_rounding() {
        assert_eq!(Rotation::wait(100, 100), 0);
        assert_eq!(Rotation::wait(100, 101), 0);
        assert_eq!(Rotation::wait(100, 100 + TOLERANCE), 0);
        assert_eq!(Rotation::wait(100, 101 + TOLERANCE), TURN - TOLERANCE - 1);
        assert_eq!(Rotation::wait(0, TURN - 1_000), 1_000);
        assert_eq!(Rotation::wait(1_000, 0), 1_000);
    }

    #[test]
    fn times_and_angles_convert_both_ways() {
        let rotation = Rotation::new(7_200);
        for time_ns in [0_u64, 1, 999, 4_166_667, 17_060_000] {
            let units = rotation.units_of(time_ns as f64);
            assert!(rotation.ns_of(units).abs_diff(time_ns) <= 1);
        }
    }
}
