//! Results of fio as probes: what `fio --output-format=json` writes, one file a test, and lists of such
//! tests in one file.

use std::collections::BTreeMap;

use serde::Deserialize;
use thiserror::Error;

use array::SECTOR_BYTES;

use crate::figures::{Figures, QUANTILES};
use crate::probe::{Access, Job, Measured, Probe};

/// What fio does when nothing is said.
const DEFAULT_BLOCK_BYTES: u64 = 4096;
const DEFAULT_RUNTIME_S: f64 = 60.0;
/// Requests outstanding at most; more than any device takes.
const MOST_OUTSTANDING: u32 = 65_536;
/// Engines that send a request when the one before it has ended, whatever `iodepth` says. The first one is
/// what fio uses when none is named.
const SYNCHRONOUS: [&str; 6] = ["psync", "sync", "vsync", "pvsync", "pvsync2", "mmap"];
/// Where neither the size of the file nor of the device is known.
const DEFAULT_SPAN_BYTES: u64 = 5 << 30;

/// Why a result of fio is no probe.
#[derive(Debug, Error)]
pub enum FioError {
    /// No JSON, or none that fio writes.
    #[error("This is no result of 'fio --output-format=json': {0}.")]
    Format(#[from] serde_json::Error),
    /// An option that a probe cannot have.
    #[error("The test '{test}' has {option}={value}, which no probe has.")]
    Option {
        /// Name of the test.
        test: String,
        /// Name of fio's option.
        option: &'static str,
        /// What it is set to.
        value: String,
    },
    /// A job that did nothing.
    #[error("The test '{test}' has a job without a request.")]
    Nothing {
        /// Name of the test.
        test: String,
    },
}

type Options = BTreeMap<String, String>;

#[derive(Deserialize)]
#[serde(untagged)]
enum FioFile {
    Tests { tests: Vec<FioTest> },
    Test(FioTest),
}

#[derive(Deserialize)]
struct FioTest {
    test: Option<String>,
    #[serde(default, alias = "global options")]
    global_options: Options,
    jobs: Vec<FioJob>,
}

#[derive(Deserialize)]
struct FioJob {
    jobname: Option<String>,
    #[serde(default, alias = "job options")]
    options: Options,
    #[serde(default)]
    read: Option<FioFigures>,
    #[serde(default)]
    write: Option<FioFigures>,
}

#[derive(Deserialize)]
struct FioFigures {
    #[serde(default)]
    iops: f64,
    /// Bytes per second.
    #[serde(alias = "bw_bytes")]
    bytes_per_s: Option<f64>,
    /// KiB per second, in place of `bytes_per_s` before fio 3.
    bw: Option<f64>,
    #[serde(default, alias = "total_ios")]
    requests: u64,
    latency_us: Option<BTreeMap<String, f64>>,
    lat_ns: Option<FioLatency>,
    clat_ns: Option<FioLatency>,
}

#[derive(Deserialize)]
struct FioLatency {
    #[serde(default)]
    mean: f64,
    #[serde(default)]
    percentile: BTreeMap<String, f64>,
}

/// The probes of a file. `name` is that of the file: a test without a name is called after it.
///
/// # Errors
/// A file that fio has not written, and options that a probe cannot have.
pub fn read(name: &str, text: &str) -> Result<Vec<Measured>, FioError> {
    let tests = match serde_json::from_str(text)? {
        FioFile::Tests { tests } => tests,
        FioFile::Test(test) => vec![test],
    };
    tests.into_iter().map(|test| measured(name, test)).collect()
}

fn measured(file: &str, test: FioTest) -> Result<Measured, FioError> {
    let name = test.test.or_else(|| test.jobs.first()?.jobname.clone());
    let name = name.unwrap_or_else(|| file.to_owned());
    let mut probe = Probe {
        name: name.clone(),
        jobs: Vec::new(),
        span_bytes: DEFAULT_SPAN_BYTES,
        duration_ns: (DEFAULT_RUNTIME_S * 1e9) as u64,
    };
    let mut figures = Vec::new();
    let names: Vec<Option<String>> = test.jobs.iter().map(|job| job.jobname.clone()).collect();
    for job in test.jobs {
        let entries = names.iter().filter(|name| **name == job.jobname).count();
        let options = OptionsOf {
            test: &name,
            of_job: &job.options,
            of_all: &test.global_options,
            entries,
        };
        if let Some(bytes) = options.bytes("size")? {
            probe.span_bytes = bytes;
        }
        if let Some(seconds) = options.seconds("runtime")? {
            probe.duration_ns = (seconds * 1e9) as u64;
        }
        let access = options.access()?;
        let of_job = match access.is_write() {
            true => job.write,
            false => job.read,
        };
        let Some(of_job) = of_job else { continue };
        if of_job.iops <= 0.0 {
            return Err(FioError::Nothing { test: name });
        }
        let (mut job, of_job) = (options.job(access)?, of_job.figures());
        job.limit_bytes_per_s = job
            .limit_bytes_per_s
            .or_else(|| unstated_limit(&job, &of_job));
        if *job.sizes.end() > probe.span_bytes {
            return Err(options.refused("bs"));
        }
        probe.jobs.push(job);
        figures.push(of_job);
    }
    if probe.jobs.is_empty() {
        return Err(FioError::Nothing { test: name });
    }
    Ok(Measured { probe, figures })
}

/// The limit of a job whose options do not show one, while Little's law says that it kept fewer requests
/// outstanding than it was asked to: something held it back to the rate it had.
fn unstated_limit(job: &Job, figures: &Figures) -> Option<f64> {
    let outstanding = figures.iops * figures.mean_us / 1e6;
    (outstanding < 0.7 * f64::from(job.outstanding)).then_some(figures.bytes_per_s)
}

impl FioFigures {
    fn figures(&self) -> Figures {
        let from_us = |key: &str| self.latency_us.as_ref()?.get(key).copied();
        let from_ns = |quantile: f64| {
            let percentile = &self.clat_ns.as_ref()?.percentile;
            let key = format!("{:.6}", quantile * 100.0);
            percentile.get(&key).map(|ns| ns / 1e3)
        };
        let mean_ns = self.lat_ns.as_ref().or(self.clat_ns.as_ref());
        let mean_us = from_us("mean").or(mean_ns.map(|latency| latency.mean / 1e3));
        Figures {
            iops: self.iops,
            bytes_per_s: self
                .bytes_per_s
                .or(self.bw.map(|kib| kib * 1024.0))
                .unwrap_or(0.0),
            requests: self.requests,
            mean_us: mean_us.unwrap_or(0.0),
            quantiles_us: QUANTILES.map(|quantile| {
                let percent = (quantile * 1e5).round() / 1e3;
                from_us(&format!("p{percent}")).or_else(|| from_ns(quantile))
            }),
        }
    }
}

/// The options of a job, over those of all jobs.
struct OptionsOf<'a> {
    test: &'a str,
    of_job: &'a Options,
    of_all: &'a Options,
    /// Entries with the name of this job: as many as `numjobs`, or one for all of them.
    entries: usize,
}

impl OptionsOf<'_> {
    fn text(&self, key: &str) -> Option<&str> {
        let found = self.of_job.get(key).or_else(|| self.of_all.get(key));
        found.map(String::as_str)
    }

    fn refused(&self, option: &'static str) -> FioError {
        FioError::Option {
            test: self.test.to_owned(),
            option,
            value: self.text(option).unwrap_or("").to_owned(),
        }
    }

    fn access(&self) -> Result<Access, FioError> {
        let word = self.text("rw").or_else(|| self.text("readwrite"));
        Ok(match word.unwrap_or("read") {
            "read" => Access::SequentialRead,
            "write" => Access::SequentialWrite,
            "randread" => Access::RandomRead,
            "randwrite" => Access::RandomWrite,
            _ => return Err(self.refused("rw")),
        })
    }

    fn job(&self, access: Access) -> Result<Job, FioError> {
        let text = self.text("bsrange").or_else(|| self.text("bs"));
        let sizes = match text {
            None => DEFAULT_BLOCK_BYTES..=DEFAULT_BLOCK_BYTES,
            Some(text) => {
                let (least, most) = text.split_once('-').unwrap_or((text, text));
                let (least, most) = (bytes_of(least), bytes_of(most));
                match (least, most) {
                    (Some(least), Some(most))
                        if least % SECTOR_BYTES == 0 && 0 < least && least <= most =>
                    {
                        least..=most
                    }
                    _ => return Err(self.refused("bs")),
                }
            }
        };
        Ok(Job {
            access,
            sizes,
            outstanding: self.outstanding()?,
            limit_bytes_per_s: self.bytes("rate")?.map(|bytes| bytes as f64),
        })
    }

    /// Requests outstanding of this entry.
    fn outstanding(&self) -> Result<u32, FioError> {
        let count = |key: &'static str| match self.text(key) {
            None => Ok(1),
            Some(text) => text
                .parse::<u32>()
                .ok()
                .filter(|count| (1..=MOST_OUTSTANDING).contains(count))
                .ok_or_else(|| self.refused(key)),
        };
        let engine = self.text("ioengine").unwrap_or(SYNCHRONOUS[0]);
        let depth = match SYNCHRONOUS.contains(&engine) {
            true => 1,
            false => count("iodepth")?,
        };
        let jobs = count("numjobs")?;
        let jobs = if self.entries >= jobs as usize {
            1
        } else {
            jobs
        };
        match depth.checked_mul(jobs) {
            Some(all) if all <= MOST_OUTSTANDING => Ok(all),
            _ => Err(self.refused("numjobs")),
        }
    }

    fn bytes(&self, key: &'static str) -> Result<Option<u64>, FioError> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        match bytes_of(text) {
            Some(bytes) if bytes > 0 => Ok(Some(bytes)),
            _ => Err(self.refused(key)),
        }
    }

    fn seconds(&self, key: &'static str) -> Result<Option<f64>, FioError> {
        let Some(text) = self.text(key) else {
            return Ok(None);
        };
        let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
        let factor = match &text[digits.len()..] {
            "" | "s" => 1.0,
            "ms" => 1e-3,
            "m" => 60.0,
            "h" => 3600.0,
            _ => return Err(self.refused(key)),
        };
        let number = digits.parse::<f64>().ok().filter(|number| *number > 0.0);
        Ok(Some(number.ok_or_else(|| self.refused(key))? * factor))
    }
}

/// A size as fio writes it, where `k` is 1,024.
fn bytes_of(text: &str) -> Option<u64> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_end_matches(|letter: char| letter.is_ascii_alphabetic());
    let shift = match &text[digits.len()..] {
        "" | "b" => 0,
        "k" | "kb" | "kib" => 10,
        "m" | "mb" | "mib" => 20,
        "g" | "gb" | "gib" => 30,
        "t" | "tb" | "tib" => 40,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_shl(shift)
}
