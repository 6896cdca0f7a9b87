//! Probes: short loads whose figures say something of the storage they run on.

use std::ops::RangeInclusive;

use crate::figures::Figures;

/// What a job does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access {
    /// Reads at random places.
    RandomRead,
    /// Writes at random places.
    RandomWrite,
    /// Reads from the beginning on, again and again.
    SequentialRead,
    /// Writes from the beginning on, again and again.
    SequentialWrite,
}

impl Access {
    /// Whether the places are random.
    #[must_use]
    pub fn is_random(self) -> bool {
        matches!(self, Self::RandomRead | Self::RandomWrite)
    }

    /// Whether it writes.
    #[must_use]
    pub fn is_write(self) -> bool {
        matches!(self, Self::RandomWrite | Self::SequentialWrite)
    }

    /// What fio calls it: the value of `rw`.
    #[must_use]
    pub fn fio_word(self) -> &'static str {
        match self {
            Self::SequentialRead => "read",
            Self::SequentialWrite => "write",
            Self::RandomRead => "randread",
            Self::RandomWrite => "randwrite",
        }
    }
}

/// One of the loads of a probe that run at the same time. Every request follows the end of another one.
#[derive(Debug, Clone, PartialEq)]
pub struct Job {
    /// Reads or writes, at random or one after the other.
    pub access: Access,
    /// Sizes of the requests, bytes; each multiple of the least is as likely as the others.
    pub sizes: RangeInclusive<u64>,
    /// Requests outstanding at one time.
    pub outstanding: u32,
    /// Most bytes per second, if there is a limit.
    pub limit_bytes_per_s: Option<f64>,
}

impl Job {
    /// Requests that say enough of it, where so many say enough of a job without a limit: fewer where a
    /// limit decides the rate, and only response times are looked at.
    pub(crate) fn enough_requests(&self, without_limit: usize) -> usize {
        match self.limit_bytes_per_s {
            None => without_limit,
            Some(_) => without_limit / 50,
        }
    }
}

/// A load, and how long it runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Probe {
    /// What it is called in tables.
    pub name: String,
    /// What runs at the same time.
    pub jobs: Vec<Job>,
    /// The part of the storage that it uses, from its beginning, bytes.
    pub span_bytes: u64,
    /// How long it runs, nanoseconds.
    pub duration_ns: u64,
}

/// A probe, and what real storage did.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// The load that was put on the storage.
    pub probe: Probe,
    /// Figures of its jobs, in their order.
    pub figures: Vec<Figures>,
}

impl Measured {
    /// About how much work the probe makes until so many requests say enough of each job without a limit, by
    /// the rates that were measured: its requests, and one more for every 64 KiB.
    pub(crate) fn work_needed(&self, enough: usize) -> f64 {
        let pairs = self.probe.jobs.iter().zip(&self.figures);
        let seconds = pairs
            .map(|(job, figures)| job.enough_requests(enough) as f64 / figures.iops.max(1e-3))
            .fold(0.0, f64::max)
            .min(self.probe.duration_ns as f64 / 1e9);
        let per_second = |figures: &Figures| figures.iops + figures.bytes_per_s / 65_536.0;
        self.figures.iter().map(per_second).sum::<f64>() * seconds
    }
}
