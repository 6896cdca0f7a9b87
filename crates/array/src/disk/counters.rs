//! What a disk counts, and the invariants of its counters.

use crate::Direction;
use crate::disk::DiskRequest;

/// What the time of one request was spent on, nanoseconds. Parts that a kind of disk does not have
/// are zero.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ServiceParts {
    /// Decoding the command and sending the status.
    pub overhead_ns: u64,
    /// Moving the arm, with settling.
    pub seek_ns: u64,
    /// Waiting for the sector to come round.
    pub rotation_ns: u64,
    /// Moving the bytes: under the head, or over the interface.
    pub transfer_ns: u64,
}

impl ServiceParts {
    /// The time of all parts together, ns.
    pub fn total_ns(&self) -> u64 {
        self.overhead_ns + self.seek_ns + self.rotation_ns + self.transfer_ns
    }
}

/// Counters of one disk since the model started. All only grow, except `inside` and `arrivals_ns`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DiskCounters {
    /// Reads completed since the model started.
    pub reads: u64,
    /// Writes completed since the model started.
    pub writes: u64,
    /// Sectors of the reads completed.
    pub read_sectors: u64,
    /// Sectors of the writes completed.
    pub written_sectors: u64,
    /// Reads answered from the on-board buffer and writes taken into an on-board write cache,
    /// without positioning.
    pub buffer_hits: u64,
    /// Time with at least one request inside.
    pub busy_ns: u64,
    /// Sum over completed requests of the time from being started to completion. Divided by the
    /// elapsed time it is the mean number in service.
    pub service_ns: u64,
    /// Sum over completed requests of the time from submission to completion.
    pub response_ns: u64,
    /// What of `service_ns` went into which part.
    pub parts: ServiceParts,
    /// Integral over time of the number inside (queued or in service).
    pub queue_integral_ns: u64,
    /// Requests in the on-board queue or being served now.
    pub inside: u32,
    /// Sum of the submission times of the requests inside now, modulo 2^64.
    pub arrivals_ns: u64,
    /// When something last arrived or left; the integrals run up to this time.
    pub last_change_ns: u64,
}

/// An invariant that does not hold: the model of the disk has an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvariantError {
    /// Little's law does not hold for the disk's queue.
    #[error(
        "Little's law does not hold: the integral of the number inside is {queue_integral_ns} ns, \
         the time spent inside adds up to {inside_time_ns} ns"
    )]
    Little {
        /// Integral of the number inside.
        queue_integral_ns: u64,
        /// Response times of those that left plus the time so far of those inside.
        inside_time_ns: u64,
    },
    /// The utilisation law: with one server, time busy is the sum of the service times.
    #[error(
        "the utilisation law does not hold: busy for {busy_ns} ns, service times add up to \
         {service_ns} ns"
    )]
    Utilisation {
        /// Time with something inside.
        busy_ns: u64,
        /// Sum of service times.
        service_ns: u64,
    },
    /// Parts of service times add up to more than the service times.
    #[error("parts of service add up to {parts_ns} ns, more than the {service_ns} ns of service")]
    Parts {
        /// Sum of the parts.
        parts_ns: u64,
        /// Sum of service times.
        service_ns: u64,
    },
}

impl DiskCounters {
    /// Reads and writes completed since the model started.
    pub fn completed(&self) -> u64 {
        self.reads + self.writes
    }

    /// Mean response time, nanoseconds; zero before the first completion.
    pub fn mean_response_ns(&self) -> f64 {
        self.response_ns as f64 / self.completed().max(1) as f64
    }

    /// Brings the integrals to `now_ns`, with nothing arriving or leaving.
    #[inline]
    pub(crate) fn pass_time(&mut self, now_ns: u64) {
        assert!(now_ns >= self.last_change_ns, "time ran backwards");
        let passed_ns = now_ns - self.last_change_ns;
        self.queue_integral_ns += passed_ns * u64::from(self.inside);
        if self.inside > 0 {
            self.busy_ns += passed_ns;
        }
        self.last_change_ns = now_ns;
    }

    /// A request has been submitted.
    #[inline]
    pub(crate) fn arrive(&mut self, now_ns: u64) {
        self.pass_time(now_ns);
        self.inside += 1;
        self.arrivals_ns = self.arrivals_ns.wrapping_add(now_ns);
    }

    /// A request that was submitted and started at those times leaves.
    #[inline]
    pub(crate) fn leave(
        &mut self,
        now_ns: u64,
        submitted_ns: u64,
        started_ns: u64,
        request: &DiskRequest,
        parts: ServiceParts,
    ) {
        self.pass_time(now_ns);
        self.inside -= 1;
        self.arrivals_ns = self.arrivals_ns.wrapping_sub(submitted_ns);
        self.response_ns += now_ns - submitted_ns;
        self.service_ns += now_ns - started_ns;
        self.parts.overhead_ns += parts.overhead_ns;
        self.parts.seek_ns += parts.seek_ns;
        self.parts.rotation_ns += parts.rotation_ns;
        self.parts.transfer_ns += parts.transfer_ns;
        match request.direction {
            Direction::Read => {
                self.reads += 1;
                self.read_sectors += u64::from(request.sectors);
            }
            Direction::Write => {
                self.writes += 1;
                self.written_sectors += u64::from(request.sectors);
            }
        }
    }

    /// Little's law, exactly, at any moment: the integral of the number inside is the sum of the
    /// response times of those that left and of the time so far of those inside. The parts of
    /// service stay within service.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), InvariantError> {
        let so_far_ns = u64::from(self.inside)
            .wrapping_mul(self.last_change_ns)
            .wrapping_sub(self.arrivals_ns);
        let inside_time_ns = self.response_ns.wrapping_add(so_far_ns);
        if self.queue_integral_ns != inside_time_ns {
            return Err(InvariantError::Little {
                queue_integral_ns: self.queue_integral_ns,
                inside_time_ns,
            });
        }
        if self.parts.total_ns() > self.service_ns {
            return Err(InvariantError::Parts {
                parts_ns: self.parts.total_ns(),
                service_ns: self.service_ns,
            });
        }
        Ok(())
    }

    /// The invariants of [`DiskCounters::check_invariants`], and the utilisation law of a single server that
    /// is never idle with work inside: once empty, the time busy is the sum of the service times.
    /// Commands served from the buffer are served beside the server, so with any of them the time busy
    /// is at most that sum. It does not apply to a drive that empties a write cache, which is work
    /// of its own beside that of commands.
    ///
    /// # Errors
    ///
    /// The invariant that does not hold.
    pub fn check_single_server_invariants(&self) -> Result<(), InvariantError> {
        self.check_invariants()?;
        let is_broken = if self.buffer_hits == 0 {
            self.busy_ns != self.service_ns
        } else {
            self.busy_ns > self.service_ns
        };
        if self.inside == 0 && is_broken {
            return Err(InvariantError::Utilisation {
                busy_ns: self.busy_ns,
                service_ns: self.service_ns,
            });
        }
        Ok(())
    }
}
