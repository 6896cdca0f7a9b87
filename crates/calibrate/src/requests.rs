//! What a job asks for, one request after the other: the same on a modelled array and on real storage.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::probe::{Job, Probe};

/// Share of the time at the beginning that is left out.
const WARM_UP_SHARE: f64 = 0.05;

/// From when on requests are counted in a probe that ends at `end_ns`: what begins on idle storage says
/// little of storage under load.
#[must_use]
pub fn counted_from_ns(end_ns: u64) -> u64 {
    (end_ns as f64 * WARM_UP_SHARE) as u64
}

/// The requests of a job. Which they are depends on nothing but the job, its number in the probe and the
/// seed; when they are asked for is the business of who asks.
#[derive(Debug, Clone)]
pub struct Requests {
    job: Job,
    random: Xoshiro256PlusPlus,
    span_bytes: u64,
    /// Where a sequential job goes on.
    next_byte: u64,
    /// Bytes asked for so far: what the limit counts.
    asked_bytes: u64,
}

impl Requests {
    /// Those of the job with this number in a probe.
    ///
    /// # Panics
    /// When the probe has no job with this number.
    #[must_use]
    pub fn new(probe: &Probe, number: usize, seed: u64) -> Self {
        let seed = seed ^ (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Self {
            job: probe.jobs[number].clone(),
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            span_bytes: probe.span_bytes,
            next_byte: 0,
            asked_bytes: 0,
        }
    }

    /// The load that these requests make up.
    #[must_use]
    pub fn job(&self) -> &Job {
        &self.job
    }

    /// The next request: its first byte and its size.
    pub fn next_request(&mut self) -> (u64, u64) {
        let (least, most) = (*self.job.sizes.start(), *self.job.sizes.end());
        let bytes = least * self.random.random_range(1..=most / least);
        let first = match self.job.access.is_random() {
            true => {
                least
                    * self
                        .random
                        .random_range(0..=(self.span_bytes - bytes) / least)
            }
            false if self.next_byte + bytes > self.span_bytes => 0,
            false => self.next_byte,
        };
        self.next_byte = first + bytes;
        self.asked_bytes += bytes;
        (first, bytes)
    }

    /// When the limit of the job lets the next request go, in nanoseconds since the probe began.
    #[must_use]
    pub fn allowed_ns(&self) -> u64 {
        self.job
            .limit_bytes_per_s
            .map_or(0, |limit| (self.asked_bytes as f64 / limit * 1e9) as u64)
    }
}
