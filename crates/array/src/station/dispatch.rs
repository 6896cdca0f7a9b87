//! Which of the waiting requests a disk gets next.
//!
//! Requests wait in three lanes. The foreground is what a host waits for; destage is what the
//! cache wants written; the background is rebuild, scrub and migration. The order within a lane is
//! that of arrival: sorting is the business of the destager before and of the disk after.

use config::{settings, within};

use crate::io::IoClass;

settings! {
    /// How the controller hands requests to a disk. Arrays do not publish these numbers: queue
    /// depths of 8 to 32 per disk and reads before destage with a guard against starvation are
    /// general practice (unconfirmed for any product).
    pub struct DispatchSettings {
        /// Requests in a disk's own queue at once; the disk's depth limits it too.
        pub queue_limit: u32 = 16, as within(1..=65_536);
        /// How many of them may be destage requests.
        pub destage_queue_limit: u32 = 16, as within(1..=65_536);
        /// How many of them may be background requests.
        pub background_queue_limit: u32 = 1, as within(1..=65_536);
        /// Whether what a host waits for goes before destage. If not, the two go by arrival.
        pub foreground_first: bool = true;
        /// A destage request that has waited that long goes first.
        pub destage_wait_limit_ms: f64 = 100.0, as within(0.0..=1e9);
        /// A background request that has waited that long goes first.
        pub background_wait_limit_ms: f64 = 1000.0, as within(0.0..=1e9);
    }
}

/// Where a request waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Lane {
    Foreground,
    Destage,
    Background,
}

pub(super) const LANES: usize = 3;

impl Lane {
    #[inline]
    pub(super) fn of(class: IoClass) -> Self {
        match class {
            IoClass::HostRead | IoClass::HostWrite | IoClass::ReadAhead => Self::Foreground,
            IoClass::Destage | IoClass::CacheFill => Self::Destage,
            IoClass::Migration | IoClass::Rebuild | IoClass::Scrub | IoClass::Warped => {
                Self::Background
            }
        }
    }
}

/// The settings in the units of the model.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Dispatch {
    queue_limit: u32,
    lane_limits: [u32; LANES],
    foreground_first: bool,
    destage_wait_limit_ns: u64,
    background_wait_limit_ns: u64,
}

impl Dispatch {
    pub(crate) fn new(settings: &DispatchSettings, on_board_queue_depth: usize) -> Self {
        let queue_limit = settings
            .queue_limit
            .min(u32::try_from(on_board_queue_depth).unwrap_or(u32::MAX));
        Self {
            queue_limit,
            lane_limits: [
                queue_limit,
                settings.destage_queue_limit,
                settings.background_queue_limit,
            ],
            foreground_first: settings.foreground_first,
            destage_wait_limit_ns: (settings.destage_wait_limit_ms * 1e6) as u64,
            background_wait_limit_ns: (settings.background_wait_limit_ms * 1e6) as u64,
        }
    }

    /// Whether the disk takes another request of a lane, given what it holds.
    #[inline]
    pub(super) fn has_room(&self, lane: Lane, on_board: &[u32; LANES]) -> bool {
        on_board.iter().sum::<u32>() < self.queue_limit
            && on_board[lane as usize] < self.lane_limits[lane as usize]
    }

    /// The lane whose oldest request goes next, given when the oldest of each lane arrived.
    pub(super) fn choose(
        &self,
        now_ns: u64,
        oldest_ns: [Option<u64>; LANES],
        on_board: &[u32; LANES],
    ) -> Option<Lane> {
        let ready = |lane: Lane| oldest_ns[lane as usize].filter(|_| self.has_room(lane, on_board));
        let foreground = ready(Lane::Foreground);
        let destage = ready(Lane::Destage);
        let background = ready(Lane::Background);
        let overdue = |arrived_ns: Option<u64>, limit_ns: u64| {
            arrived_ns.is_some_and(|arrived_ns| now_ns - arrived_ns >= limit_ns)
        };
        if overdue(background, self.background_wait_limit_ns) {
            return Some(Lane::Background);
        }
        if overdue(destage, self.destage_wait_limit_ns) {
            return Some(Lane::Destage);
        }
        match (foreground, destage) {
            (Some(foreground_ns), Some(destage_ns)) => {
                let foreground_next = self.foreground_first || foreground_ns <= destage_ns;
                Some(if foreground_next {
                    Lane::Foreground
                } else {
                    Lane::Destage
                })
            }
            (Some(_), None) => Some(Lane::Foreground),
            (None, Some(_)) => Some(Lane::Destage),
            (None, None) => background.map(|_| Lane::Background),
        }
    }
}
