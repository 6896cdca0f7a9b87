//! Which probes show what a disk is like, and how long each of them runs.

use thiserror::Error;

use crate::probe::{Access, Job, Probe};

/// What is to be probed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PlanRequest {
    /// Whether it is a hard disk; if not, a solid-state disk.
    pub is_hard_disk: bool,
    /// The part of the storage that is used, bytes.
    pub span_bytes: u64,
    /// The smallest request that the storage takes, bytes.
    pub least_request_bytes: u64,
    /// Whether probes may write.
    pub with_writes: bool,
    /// How long all probes run together, nanoseconds.
    pub time_ns: u64,
}

/// The shortest time of a probe, nanoseconds.
pub const LEAST_PROBE_NS: u64 = 1_000_000_000;

/// The smallest part of the storage that can be probed, bytes.
pub const LEAST_SPAN_BYTES: u64 = 64 << 20;

/// Why there are no probes.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum PlanError {
    /// Too little time for so many probes.
    #[error("{probes} probes take {} s at least.", .probes * (LEAST_PROBE_NS / 1_000_000_000) as usize)]
    TooShort {
        /// How many probes there are.
        probes: usize,
    },
    /// The storage is too small for the tests.
    #[error("Probes take {} MiB of storage at least.", LEAST_SPAN_BYTES >> 20)]
    TooSmall,
}

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

/// Requests below a page of memory are read only: a disk reads the rest of its sector before it writes one.
const LEAST_WRITE_BYTES: u64 = 4 * KIB;

/// Of the storage that random reads over a short stroke use: one part in so many.
const SHORT_STROKE: u64 = 16;

/// One kind of load: what, how large, how many outstanding.
type Load = (Access, u64, u32);

/// The probes of a plan in the order in which they run: those that read first, because writes leave something
/// to do behind them.
///
/// One probe in five is held out, by its place in the list (see [`crate::Calibrator::parts`]). The lists are in
/// such an order that it is none of the ends of a ladder of sizes or depths.
///
/// # Errors
/// Too little time or storage.
pub fn probes(request: &PlanRequest) -> Result<Vec<Probe>, PlanError> {
    if request.span_bytes < LEAST_SPAN_BYTES {
        return Err(PlanError::TooSmall);
    }
    let mut probes = reads(request);
    if request.with_writes {
        probes.extend(writes(request));
    }
    let count = probes.len() as u64;
    let each_ns = request.time_ns / count;
    if each_ns < LEAST_PROBE_NS {
        return Err(PlanError::TooShort {
            probes: probes.len(),
        });
    }
    for probe in &mut probes {
        probe.duration_ns = each_ns;
    }
    // Together they take the time that was given, to the nanosecond.
    if let Some(last) = probes.last_mut() {
        last.duration_ns += request.time_ns - each_ns * count;
    }
    Ok(probes)
}

fn reads(request: &PlanRequest) -> Vec<Probe> {
    use Access::{RandomRead, SequentialRead};
    let alone = |loads: &[Load]| -> Vec<Probe> {
        let fitting = loads
            .iter()
            .filter(|load| load.1 >= request.least_request_bytes);
        fitting.map(|load| request.probe(&[*load], None)).collect()
    };
    let random = |sizes: &[u64], depth: u32| -> Vec<Probe> {
        let loads: Vec<Load> = sizes
            .iter()
            .map(|&size| (RandomRead, size, depth))
            .collect();
        alone(&loads)
    };
    let ladder = |depths: &[u32]| -> Vec<Probe> {
        let loads: Vec<Load> = depths
            .iter()
            .map(|&depth| (RandomRead, 4 * KIB, depth))
            .collect();
        alone(&loads)
    };
    let beside = (RandomRead, 4 * KIB, 4);
    match request.is_hard_disk {
        true => {
            let mut probes = ladder(&[1, 2, 4, 8, 16, 32]);
            let sizes = [512, 16 * KIB, 64 * KIB, 256 * KIB, MIB];
            probes.extend(random(&sizes, 4));
            probes.push(request.short_stroke());
            probes.extend(random(&[64 * KIB], 1));
            probes.extend(alone(&[
                (SequentialRead, 64 * KIB, 1),
                (SequentialRead, MIB, 4),
            ]));
            let stream = (SequentialRead, MIB, 1);
            probes.push(request.probe(&[stream, beside], Some(20e6)));
            probes
        }
        false => {
            let mut probes = ladder(&[1, 2, 4, 8, 16, 32, 128, 64]);
            let small = [512, KIB, 2 * KIB];
            let large = [8 * KIB, 16 * KIB, 32 * KIB, MIB, 128 * KIB];
            probes.extend(random(&[&small[..], &large[..]].concat(), 8));
            probes.extend(random(&[64 * KIB], 1));
            probes.extend(alone(&[
                (SequentialRead, 64 * KIB, 4),
                (SequentialRead, MIB, 8),
            ]));
            let stream = (SequentialRead, MIB, 1);
            probes.push(request.probe(&[stream, beside], Some(100e6)));
            probes
        }
    }
}

fn writes(request: &PlanRequest) -> Vec<Probe> {
    use Access::{RandomRead, RandomWrite, SequentialWrite};
    let alone = [
        (SequentialWrite, MIB, 4),
        (SequentialWrite, 64 * KIB, 1),
        (RandomWrite, 16 * KIB, 4),
        (RandomWrite, 4 * KIB, 4),
        (RandomWrite, 4 * KIB, 1),
        (RandomWrite, 4 * KIB, 16),
        (RandomWrite, 64 * KIB, 4),
    ];
    let mixed = [(RandomRead, 4 * KIB, 4), (RandomWrite, 4 * KIB, 4)];
    let mut probes: Vec<Probe> = alone
        .iter()
        .map(|load| request.probe(&[*load], None))
        .collect();
    probes.push(request.probe(&mixed, None));
    debug_assert!(alone.iter().all(|load| load.1 >= LEAST_WRITE_BYTES));
    probes
}

impl PlanRequest {
    /// A probe of these loads at once; the limit, bytes per second, is that of the first one.
    fn probe(&self, loads: &[Load], limit_bytes_per_s: Option<f64>) -> Probe {
        let jobs = loads.iter().enumerate();
        let jobs: Vec<Job> = jobs
            .map(|(number, &(access, bytes, outstanding))| Job {
                access,
                sizes: bytes..=bytes,
                outstanding,
                limit_bytes_per_s: limit_bytes_per_s.filter(|_| number == 0),
            })
            .collect();
        let names: Vec<String> = loads.iter().map(name).collect();
        Probe {
            name: names.join("+"),
            jobs,
            span_bytes: self.span_bytes,
            duration_ns: 0,
        }
    }

    /// Random reads that need no long seeks.
    fn short_stroke(&self) -> Probe {
        let whole = self.probe(&[(Access::RandomRead, 4 * KIB, 1)], None);
        Probe {
            name: format!("{}-short", whole.name),
            span_bytes: (self.span_bytes / SHORT_STROKE) >> 20 << 20,
            ..whole
        }
    }
}

/// The name of a load, in fio's words: `randread-4k-qd8`.
fn name(&(access, bytes, outstanding): &Load) -> String {
    let size = match bytes {
        bytes if bytes >= MIB => format!("{}m", bytes / MIB),
        bytes if bytes >= KIB => format!("{}k", bytes / KIB),
        bytes => bytes.to_string(),
    };
    format!("{}-{size}-qd{outstanding}", access.fio_word())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::{Calibrator, Figures, Measured, Part};

    fn requests() -> Vec<PlanRequest> {
        let mut requests = Vec::new();
        for is_hard_disk in [false, true] {
            for with_writes in [false, true] {
                for least_request_bytes in [512, 4_096] {
                    requests.push(PlanRequest {
                        is_hard_disk,
                        span_bytes: 1 << 30,
                        least_request_bytes,
                        with_writes,
                        time_ns: 600_000_000_007,
                    });
                }
            }
        }
        requests
    }

    #[test]
    fn the_probes_take_the_time_that_was_given() {
        for request in requests() {
            let probes = probes(&request).expect("a plan");
            let sum: u64 = probes.iter().map(|probe| probe.duration_ns).sum();
            assert_eq!(sum, request.time_ns);
            let least_ns = probes.len() as u64 * LEAST_PROBE_NS;
            let exact = PlanRequest {
                time_ns: least_ns,
                ..request
            };
            assert!(super::probes(&exact).is_ok());
            let short = PlanRequest {
                time_ns: least_ns - 1,
                ..request
            };
            let probes = probes.len();
            assert_eq!(super::probes(&short), Err(PlanError::TooShort { probes }));
        }
    }

    #[test]
    fn every_probe_fits_the_storage_and_has_a_name_of_its_own() {
        for request in requests() {
            let probes = probes(&request).expect("a plan");
            let names: BTreeSet<&str> = probes.iter().map(|probe| probe.name.as_str()).collect();
            assert_eq!(names.len(), probes.len());
            for probe in &probes {
                assert!(probe.span_bytes <= request.span_bytes);
                assert_eq!(probe.span_bytes % MIB, 0, "{}", probe.name);
                for job in &probe.jobs {
                    assert!(*job.sizes.start() >= request.least_request_bytes);
                    assert!(*job.sizes.end() * u64::from(job.outstanding) <= probe.span_bytes);
                    assert!(!job.access.is_write() || *job.sizes.start() >= LEAST_WRITE_BYTES);
                }
            }
        }
        let small = PlanRequest {
            span_bytes: LEAST_SPAN_BYTES - 1,
            ..requests()[0]
        };
        assert_eq!(probes(&small), Err(PlanError::TooSmall));
    }

    #[test]
    fn writes_come_last_and_only_where_they_are_allowed() {
        for request in requests() {
            let probes = probes(&request).expect("a plan");
            let writes = |probe: &Probe| probe.jobs.iter().any(|job| job.access.is_write());
            let first = probes.iter().position(writes);
            assert_eq!(first.is_some(), request.with_writes);
            if let Some(first) = first {
                assert!(probes[first..].iter().all(writes));
            }
        }
    }

    #[test]
    fn the_ends_of_the_ladders_are_fitted() {
        for request in requests() {
            let probes = probes(&request).expect("a plan");
            let figures = |job: &Job| Figures {
                iops: 100.0,
                bytes_per_s: 100.0 * *job.sizes.end() as f64,
                requests: 1_000,
                mean_us: 1e4,
                quantiles_us: [None; 4],
            };
            let measured: Vec<Measured> = probes
                .into_iter()
                .map(|probe| Measured {
                    figures: probe.jobs.iter().map(figures).collect(),
                    probe,
                })
                .collect();
            let calibrator = Calibrator {
                sources: Vec::new(),
                parameters: Vec::new(),
                probes: &measured,
                requests: 2_000,
                search: crate::search::SearchSettings {
                    population: 2,
                    cooling: 1,
                    sampling: 1,
                    threads: 1,
                    seed: 1,
                },
            };
            let parts = calibrator.parts();
            let named = |part: Part| -> BTreeSet<&str> {
                let pairs = measured.iter().zip(&parts);
                pairs
                    .filter(|(_, own)| **own == part)
                    .map(|(one, _)| one.probe.name.as_str())
                    .collect()
            };
            let (fitted, held_out) = (named(Part::Fitted), named(Part::HeldOut));
            assert!(held_out.len() >= 2, "{held_out:?}");
            let mut ends = vec!["randread-4k-qd1", "randread-4k-qd32", "read-1m-qd4"];
            if !request.is_hard_disk {
                ends = vec!["randread-4k-qd1", "randread-4k-qd128", "read-1m-qd8"];
                ends.push("randread-1m-qd8");
            }
            if request.with_writes {
                ends.extend(["randwrite-4k-qd1", "randwrite-4k-qd16", "write-1m-qd4"]);
            }
            for end in ends {
                assert!(fitted.contains(end), "{end}: {held_out:?}");
            }
        }
    }
}
