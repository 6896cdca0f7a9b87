//! A probe on a modelled array: in simulated time, the same bits for the same seed.

use array::description::{Description, TracedVolume};
use array::{Array, ArrayError, FirstWrite, HostCompletion, HostError, HostOperation, HostRequest};
use array::{SECTOR_BYTES, VolumeId};
use config::ConfigError;
use thiserror::Error;

use crate::figures::Figures;
use crate::probe::Probe;
use crate::requests::{Requests, counted_from_ns};

/// How a probe runs on a modelled array.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ModelOptions {
    /// Seed of all that is random.
    pub seed: u64,
    /// Where its span begins, as a share of the capacity that it leaves free; only on an array that is
    /// one disk.
    pub start_share: f64,
    /// Requests of a job that say enough of it: the probe ends when each job has so many, or its time is
    /// over.
    pub enough_requests: usize,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            seed: 1,
            start_share: 0.0,
            enough_requests: 20_000,
        }
    }
}

/// Why a probe cannot run on a modelled array.
#[derive(Debug, Error)]
pub enum ModelError {
    /// The description breaks rules.
    #[error(transparent)]
    Description(#[from] ConfigError),
    /// The array cannot be built.
    #[error(transparent)]
    Array(#[from] ArrayError),
    /// The probe needs more room than the array has.
    #[error("The probe {probe} uses {span_bytes} bytes, and they cannot be laid out: {source}")]
    Room {
        /// Name of the probe.
        probe: String,
        /// Bytes of storage that the probe uses.
        span_bytes: u64,
        /// What the array says.
        source: HostError,
    },
    /// A request was refused.
    #[error("A request of the probe {probe} failed: {source}")]
    Request {
        /// Name of the probe.
        probe: String,
        /// What the array says.
        source: HostError,
    },
    /// A job did nothing.
    #[error("The probe {probe} is too short: a job of it has ended no request.")]
    TooShort {
        /// Name of the probe.
        probe: String,
    },
}

/// What a probe does on a modelled array: the figures of its jobs, in their order.
///
/// # Errors
/// Everything of [`ModelError`].
pub fn run(
    description: &Description,
    probe: &Probe,
    options: ModelOptions,
) -> Result<Vec<Figures>, ModelError> {
    let volumes = volumes(description, probe, options.start_share);
    let (planned, volumes) = description.plan_for_trace(&volumes, None, None)?;
    let mut array = Array::new(&planned.settings, options.seed)?;
    let volume = volumes[volumes.len() - 1];
    let sectors = probe.span_bytes / SECTOR_BYTES;
    array
        .lay_out(volume, 0, sectors, FirstWrite::Sequential)
        .map_err(|source| ModelError::Room {
            probe: probe.name.clone(),
            span_bytes: probe.span_bytes,
            source,
        })?;
    let jobs = (0..probe.jobs.len()).map(|number| Running::new(probe, number, options));
    let run = Run {
        probe,
        array,
        volume,
        jobs: jobs.collect(),
        waiting: Vec::new(),
        outstanding: Vec::new(),
        free_tags: Vec::new(),
    };
    run.finish()
}

/// The volume of the probe, which comes last, and before it one that is as large as what lies before.
fn volumes(description: &Description, probe: &Probe, start_share: f64) -> Vec<TracedVolume> {
    let volume = |name: &str, reach_bytes| TracedVolume {
        name: name.to_owned(),
        reach_bytes,
    };
    let free_bytes = description
        .one_disk_bytes()
        .map_or(0, |bytes| bytes.saturating_sub(probe.span_bytes));
    let before_bytes = (free_bytes as f64 * start_share) as u64 >> 20 << 20;
    let before = (before_bytes > 0).then(|| volume("before", before_bytes));
    before
        .into_iter()
        .chain([volume("probe", probe.span_bytes)])
        .collect()
}

/// The job of a request, and its bytes.
#[derive(Debug, Clone, Copy)]
struct Outstanding {
    job: usize,
    bytes: u64,
}

/// A request that has ended.
#[derive(Debug, Clone, Copy)]
struct Response {
    end_ns: u64,
    time_us: f64,
    bytes: u64,
}

struct Running {
    requests: Requests,
    enough_requests: usize,
    responses: Vec<Response>,
}

impl Running {
    fn new(probe: &Probe, number: usize, options: ModelOptions) -> Self {
        Self {
            requests: Requests::new(probe, number, options.seed),
            enough_requests: probe.jobs[number].enough_requests(options.enough_requests),
            responses: Vec::new(),
        }
    }

    fn has_enough(&self) -> bool {
        self.responses.len() >= self.enough_requests
    }

    fn figures(&self, end_ns: u64) -> Option<Figures> {
        let begin_ns = counted_from_ns(end_ns);
        let counted = self.responses.iter().filter(|one| one.end_ns > begin_ns);
        let bytes = counted.clone().map(|one| one.bytes).sum();
        let mut responses_us: Vec<f64> = counted.map(|one| one.time_us).collect();
        let seconds = (end_ns - begin_ns) as f64 / 1e9;
        Figures::of_responses(&mut responses_us, bytes, seconds)
    }
}

struct Run<'a> {
    probe: &'a Probe,
    array: Array<()>,
    volume: VolumeId,
    jobs: Vec<Running>,
    /// Requests that the limit of their job holds back: when they may go, and the job.
    waiting: Vec<(u64, usize)>,
    /// By the tags of the requests.
    outstanding: Vec<Outstanding>,
    free_tags: Vec<usize>,
}

impl Run<'_> {
    fn finish(mut self) -> Result<Vec<Figures>, ModelError> {
        for job in 0..self.jobs.len() {
            for _ in 0..self.probe.jobs[job].outstanding {
                self.next(0, job);
            }
        }
        let mut now_ns = 0;
        let mut completed = Vec::new();
        while now_ns < self.probe.duration_ns && !self.jobs.iter().all(Running::has_enough) {
            let allowed_ns = self.waiting.iter().map(|&(at_ns, _)| at_ns).min();
            let next_ns = self.array.next_event_ns().into_iter().chain(allowed_ns);
            let Some(next_ns) = next_ns.min() else { break };
            now_ns = next_ns.max(now_ns);
            self.array.advance_to(now_ns, &mut completed);
            for end in completed.drain(..) {
                self.end(&end)?;
            }
            while let Some(place) = self.waiting.iter().position(|&(at_ns, _)| at_ns <= now_ns) {
                let (_, job) = self.waiting.swap_remove(place);
                // Another request of the job may have taken the turn.
                self.next(now_ns, job);
            }
        }
        let figures = self.jobs.iter().map(|job| job.figures(now_ns));
        figures
            .collect::<Option<_>>()
            .ok_or_else(|| ModelError::TooShort {
                probe: self.probe.name.clone(),
            })
    }

    fn end(&mut self, end: &HostCompletion<()>) -> Result<(), ModelError> {
        end.result.map_err(|source| ModelError::Request {
            probe: self.probe.name.clone(),
            source,
        })?;
        let tag = end.tag as usize;
        let Outstanding { job, bytes } = self.outstanding[tag];
        self.free_tags.push(tag);
        self.jobs[job].responses.push(Response {
            end_ns: end.completed_ns,
            time_us: (end.completed_ns - end.submitted_ns) as f64 / 1e3,
            bytes,
        });
        self.next(end.completed_ns, job);
        Ok(())
    }

    /// Sends the next request of a job, or lets it wait until its limit allows it.
    fn next(&mut self, now_ns: u64, job: usize) {
        let allowed_ns = self.jobs[job].requests.allowed_ns();
        match allowed_ns > now_ns {
            true => self.waiting.push((allowed_ns, job)),
            false => self.submit(now_ns, job),
        }
    }

    fn submit(&mut self, now_ns: u64, job: usize) {
        let (first_byte, bytes) = self.jobs[job].requests.next_request();
        let tag = self.free_tags.pop().unwrap_or(self.outstanding.len());
        let entry = Outstanding { job, bytes };
        match self.outstanding.get_mut(tag) {
            Some(place) => *place = entry,
            None => self.outstanding.push(entry),
        }
        let operation = match self.probe.jobs[job].access.is_write() {
            true => HostOperation::Write,
            false => HostOperation::Read,
        };
        let request = HostRequest {
            tag: tag as u64,
            volume: self.volume,
            operation,
            first_sector: first_byte / SECTOR_BYTES,
            sectors: (bytes / SECTOR_BYTES) as u32,
            payload: (),
        };
        self.array.submit(now_ns, request);
    }
}
