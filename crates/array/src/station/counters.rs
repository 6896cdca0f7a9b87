//! What a station counts: the disk and the requests that wait for it in the controller.

use crate::Direction;
use crate::io::IoClass;

/// Counters of one station since the model started. Response times run from the moment the back
/// end hands a request to the station until the disk has completed it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StationCounters {
    /// Reads completed since the model started.
    pub reads: u64,
    /// Writes completed since the model started.
    pub writes: u64,
    /// Sectors of the reads completed.
    pub read_sectors: u64,
    /// Sectors of the writes completed.
    pub written_sectors: u64,
    /// Sum of the response times of reads.
    pub read_response_ns: u64,
    /// Sum of the response times of writes.
    pub write_response_ns: u64,
    /// Requests completed, by [`IoClass`] in the order of its variants.
    pub by_class: [u64; IoClass::COUNT],
    /// Requests that ended because the disk failed.
    pub lost: u64,
    /// Reads that met sectors which cannot be read.
    pub media_errors: u64,
    /// Sectors that were read and disagreed with their checksums.
    pub checksum_errors: u64,
    /// Sum of the times in the station of requests that were lost.
    pub lost_response_ns: u64,
    /// Integral over time of the number of requests in the station.
    pub number_integral_ns: u64,
    /// Time with at least one request in the station.
    pub busy_ns: u64,
    /// Requests in the station now.
    pub inside: u32,
    /// Sum of the arrival times of the requests inside now, modulo 2^64.
    arrivals_ns: u64,
    /// When something last arrived or left.
    last_change_ns: u64,
}

/// An invariant of a station's counters that does not hold: the model has an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StationInvariantError {
    /// Little's law at the station.
    #[error(
        "Little's law does not hold at station {station}: the integral of the number inside is \
         {number_integral_ns} ns, the time spent inside adds up to {inside_time_ns} ns"
    )]
    Little {
        /// Number of the station.
        station: usize,
        /// Integral of the number inside.
        number_integral_ns: u64,
        /// Time spent inside by those that left and those still there.
        inside_time_ns: u64,
    },
    /// The station holds another number of requests than it counts.
    #[error("station {station} counts {counted} requests inside and holds {held}")]
    Conservation {
        /// Number of the station.
        station: usize,
        /// By arrivals and departures.
        counted: u64,
        /// By its queues and its disk.
        held: u64,
    },
    /// An invariant of the disk.
    #[error("station {station}: {violation}")]
    Disk {
        /// Number of the station.
        station: usize,
        /// The disk's own diagnostic.
        violation: crate::disk::InvariantError,
    },
}

impl StationCounters {
    /// Reads and writes completed since the model started.
    pub fn completed(&self) -> u64 {
        self.reads + self.writes
    }

    /// Mean time in the station of completed requests, nanoseconds.
    pub fn mean_response_ns(&self) -> f64 {
        let sum_ns = self.read_response_ns + self.write_response_ns;
        sum_ns as f64 / self.completed().max(1) as f64
    }

    /// Brings the integrals to `now_ns`.
    #[inline]
    fn pass_time(&mut self, now_ns: u64) {
        let passed_ns = now_ns - self.last_change_ns;
        self.number_integral_ns += passed_ns * u64::from(self.inside);
        if self.inside > 0 {
            self.busy_ns += passed_ns;
        }
        self.last_change_ns = now_ns;
    }

    #[inline]
    pub(super) fn arrive(&mut self, now_ns: u64) {
        self.pass_time(now_ns);
        self.inside += 1;
        self.arrivals_ns = self.arrivals_ns.wrapping_add(now_ns);
    }

    #[inline]
    fn leave(&mut self, now_ns: u64, arrived_ns: u64) -> u64 {
        self.pass_time(now_ns);
        self.inside -= 1;
        self.arrivals_ns = self.arrivals_ns.wrapping_sub(arrived_ns);
        now_ns - arrived_ns
    }

    #[inline]
    pub(super) fn complete(
        &mut self,
        now_ns: u64,
        arrived_ns: u64,
        direction: Direction,
        class: IoClass,
        sectors: u32,
    ) {
        let response_ns = self.leave(now_ns, arrived_ns);
        self.by_class[class as usize] += 1;
        match direction {
            Direction::Read => {
                self.reads += 1;
                self.read_sectors += u64::from(sectors);
                self.read_response_ns += response_ns;
            }
            Direction::Write => {
                self.writes += 1;
                self.written_sectors += u64::from(sectors);
                self.write_response_ns += response_ns;
            }
        }
    }

    pub(super) fn lose(&mut self, now_ns: u64, arrived_ns: u64) {
        let response_ns = self.leave(now_ns, arrived_ns);
        self.lost += 1;
        self.lost_response_ns += response_ns;
    }

    /// Little's law, exactly: the integral of the number inside is the sum of the times spent
    /// inside.
    pub(super) fn check_little(&self, station: usize) -> Result<(), StationInvariantError> {
        let so_far_ns = u64::from(self.inside)
            .wrapping_mul(self.last_change_ns)
            .wrapping_sub(self.arrivals_ns);
        let left_ns = self.read_response_ns + self.write_response_ns + self.lost_response_ns;
        let inside_time_ns = left_ns.wrapping_add(so_far_ns);
        if self.number_integral_ns == inside_time_ns {
            return Ok(());
        }
        Err(StationInvariantError::Little {
            station,
            number_integral_ns: self.number_integral_ns,
            inside_time_ns,
        })
    }
}
