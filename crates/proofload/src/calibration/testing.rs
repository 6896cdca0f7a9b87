//! Tests on real storage from the claim to the release: lay-out, one probe after the other.

use std::sync::Arc;
use std::time::Duration;

use ::storage::{Claim, PROBES_FILE, ProbeSite};
use calibrate::{Figures, Probe};
use execution::Error;
use measure::units;
use runtime::host::{CreatedFiles, DirectoryHandle};
use runtime::raw::FormatOptions;
use runtime::{
    Directory, Handle, HostDirectory, HostFile, IoError, IoFailure, RawDirectory, Runtime,
    WallClockOptions,
};
use workload::progress::StopRequest;

use super::about::zeros_notice;
use super::lay_out::{Area, LayOut, zero_share};
use super::probing::Probing;

/// How often somebody who waits hears of it, and a request to stop is looked at.
const TICK_NS: u64 = 100_000_000;

/// What is being done on real storage.
#[derive(Debug, Clone, Copy)]
pub enum Doing<'a> {
    /// Random bytes are written.
    LayingOut {
        /// Bytes that are written.
        done_bytes: u64,
        /// Bytes of the whole.
        of_bytes: u64,
    },
    /// A test runs.
    Testing {
        /// Name of the test, such as `random reads of 4 KiB, depth 8`.
        name: &'a str,
        /// Its number, from 1.
        number: usize,
        /// Number of tests in all.
        of: usize,
        /// Time of the tests so far.
        elapsed: Duration,
        /// Time of all tests.
        span: Duration,
    },
    /// Something to be known.
    Notice(&'a str),
}

/// What is to be done on a site.
pub(super) struct Testing<'a> {
    pub(super) probes: &'a [Probe],
    pub(super) span_bytes: u64,
    pub(super) seed: u64,
    pub(super) site: &'a ProbeSite,
}

/// What came of it.
pub(super) struct Figured {
    /// Of each probe those of its jobs.
    pub(super) figures: Vec<Vec<Figures>>,
    /// Of a device that was not written, the share of blocks that hold zeros only.
    pub(super) zero_share: Option<f64>,
}

/// Where the probes go: what a claim holds.
enum Opening {
    Directory(DirectoryHandle, Arc<CreatedFiles>),
    Device { erased: bool },
}

impl Testing<'_> {
    /// Claims the site, does everything and gives the site back; `None` when it was stopped.
    pub(super) fn run(
        &self,
        site: ProbeSite,
        doing: &mut dyn FnMut(Doing<'_>),
        stop: &StopRequest,
    ) -> Result<Option<Figured>, Error> {
        let claim = Claim::make_for_probes(site)?;
        let done = self.opening(&claim).and_then(|opening| {
            let runtime = Runtime::wall_clock(&WallClockOptions::default()).map_err(undriven)?;
            self.on_runtime(&runtime, opening, doing, stop)
        });
        // The runtime is gone, and with it the last request.
        match claim.release() {
            Ok(left) => {
                for path in left {
                    let path = path.display();
                    doing(Doing::Notice(&format!(
                        "{path} was left: these tests did not make it."
                    )));
                }
            }
            // What was measured is good, and what failed before says more.
            Err(refusal) => doing(Doing::Notice(&format!(
                "{} {}",
                refusal.message, refusal.help
            ))),
        }
        done
    }

    fn opening(&self, claim: &Claim) -> Result<Opening, Error> {
        match claim.directory(self.site.place()) {
            None => Ok(Opening::Device {
                erased: self.site.writes(),
            }),
            Some(directory) => {
                let handle = directory.handle().duplicate();
                let handle = handle.map_err(|error| self.unopened(&error))?;
                Ok(Opening::Directory(handle, Arc::clone(directory.created())))
            }
        }
    }

    fn on_runtime(
        &self,
        runtime: &Runtime,
        opening: Opening,
        doing: &mut dyn FnMut(Doing<'_>),
        stop: &StopRequest,
    ) -> Result<Option<Figured>, Error> {
        let area = Area {
            file: self.open(runtime, opening)?,
            first_byte: self.site.first_byte(),
        };
        let mut share = None;
        if self.site.writes() {
            if !self.lay_out(runtime, &area, doing, stop)? {
                return Ok(None);
            }
        } else {
            let sampled = zero_share(runtime, &area, self.span_bytes, self.seed);
            let sampled = sampled.map_err(|error| failed("Reading the device", &error))?;
            if let Some(notice) = zeros_notice(sampled) {
                doing(Doing::Notice(&notice));
            }
            share = Some(sampled);
        }
        let figures = self.probe_all(runtime, &area, doing, stop)?;
        Ok(figures.map(|figures| Figured {
            figures,
            zero_share: share,
        }))
    }

    /// A new file, or the device with our label on it if it is overwritten.
    fn open(&self, runtime: &Runtime, opening: Opening) -> Result<HostFile, Error> {
        let (handle, path) = (runtime.handle(), self.site.path());
        match opening {
            Opening::Directory(directory, created) => {
                let directory = HostDirectory::at(&handle, directory, created);
                let directory = directory.map_err(|error| self.unopened(&error))?;
                let file = runtime.block_on(async move { directory.create(PROBES_FILE).await });
                file.map_err(|error| failed("Making the file", &error))
            }
            Opening::Device { erased: false } => {
                let device = HostFile::open_device_for_reading(&handle, &path);
                device.map_err(|error| self.unopened(&error))
            }
            Opening::Device { erased: true } => {
                let device = HostFile::open_device(&handle, &path);
                let device = device.map_err(|error| self.unopened(&error))?;
                let labelled = device.clone();
                // By its label the device is known as ours, should this process be killed.
                let options = FormatOptions {
                    files_max: 1,
                    ..FormatOptions::new(identity())
                };
                let formatted =
                    runtime.block_on(async move { RawDirectory::format(labelled, &options).await });
                formatted.map_err(|error| self.unopened(&error))?;
                Ok(device)
            }
        }
    }

    /// Whether it was done, and not stopped.
    fn lay_out(
        &self,
        runtime: &Runtime,
        area: &Area,
        doing: &mut dyn FnMut(Doing<'_>),
        stop: &StopRequest,
    ) -> Result<bool, Error> {
        let grows = !self.site.is_device();
        let lay_out = LayOut::begin(&runtime.handle(), area, self.span_bytes, grows, self.seed);
        while !lay_out.is_done() {
            tick(runtime, TICK_NS);
            doing(Doing::LayingOut {
                done_bytes: lay_out.done_bytes(),
                of_bytes: self.span_bytes,
            });
            if stop.is_stopped() {
                lay_out.stop();
            }
        }
        match lay_out.failure() {
            Some(error) => Err(failed("The lay-out", &error)),
            None => Ok(!stop.is_stopped()),
        }
    }

    /// The figures of all probes; `None` when it was stopped.
    fn probe_all(
        &self,
        runtime: &Runtime,
        area: &Area,
        doing: &mut dyn FnMut(Doing<'_>),
        stop: &StopRequest,
    ) -> Result<Option<Vec<Vec<Figures>>>, Error> {
        let span_ns: u64 = self.probes.iter().map(|probe| probe.duration_ns).sum();
        let mut before_ns = 0;
        let mut all = Vec::new();
        for (place, probe) in self.probes.iter().enumerate() {
            let trouble = |error: &IoError| failed(&format!("The test {}", probe.name), error);
            let probing = Probing::begin(&runtime.handle(), area, probe, self.seed);
            let probing = probing.map_err(|error| {
                Error::environment(
                    format!("The test {} gets no memory: {error}.", probe.name),
                    "Stop other programs, or raise the limit on memory ('ulimit -v').",
                )
            })?;
            while !probing.is_done() {
                tick(runtime, probing.left_ns().clamp(TICK_NS / 20, TICK_NS));
                let elapsed_ns = before_ns + probing.elapsed_ns().min(probe.duration_ns);
                doing(Doing::Testing {
                    name: &probe.name,
                    number: place + 1,
                    of: self.probes.len(),
                    elapsed: Duration::from_nanos(elapsed_ns),
                    span: Duration::from_nanos(span_ns),
                });
                if stop.is_stopped() {
                    probing.stop();
                }
            }
            if let Some(error) = probing.failure() {
                return Err(trouble(&error));
            }
            if stop.is_stopped() {
                return Ok(None);
            }
            if probe.jobs.iter().any(|job| job.access.is_write()) {
                let file = area.file.clone();
                let synced = runtime.block_on(async move { runtime::File::sync(&file).await });
                synced.map_err(|error| trouble(&error))?;
            }
            let figures = probing.figures().ok_or_else(|| {
                Error::environment(
                    format!(
                        "In the test {} a job ended no request within {:.1} s.",
                        probe.name,
                        probe.duration_ns as f64 / 1e9
                    ),
                    "Give more --time, or see why the storage is so slow ('iostat -x', 'dmesg').",
                )
            })?;
            all.push(figures);
            before_ns += probe.duration_ns;
        }
        Ok(Some(all))
    }

    fn unopened(&self, error: &dyn std::fmt::Display) -> Error {
        Error::environment(
            units::end_sentence(format!(
                "{} cannot be used: {error}",
                self.site.path().display()
            )),
            "See whether the storage is there and well ('dmesg' shows I/O errors).",
        )
    }
}

/// Lets the tasks run for a while.
fn tick(runtime: &Runtime, for_ns: u64) {
    let handle: Handle = runtime.handle();
    runtime.block_on(async move { handle.sleep_ns(for_ns).await });
}

/// A number that no other formatted device has: the time in nanoseconds, and the process.
fn identity() -> u128 {
    let now = jiff::Timestamp::now().as_nanosecond().unsigned_abs();
    now << 32 | u128::from(std::process::id())
}

/// What failed, with the place and what the system said.
fn failed(what: &str, error: &IoError) -> Error {
    let message = units::end_sentence(format!("{what} failed: {error}"));
    match error.failure {
        IoFailure::OutOfSpace => {
            Error::environment(message, "Make room, or use less of it with --target-size.")
        }
        IoFailure::NoDirectIo | IoFailure::PermissionDenied | IoFailure::ReadOnly => {
            Error::environment(
                message,
                "Name another target, or run as a user who may use it.",
            )
        }
        _ => Error::integrity(message, "Check the device ('dmesg' shows I/O errors)."),
    }
}

pub(super) fn undriven(error: impl std::fmt::Display) -> Error {
    Error::environment(format!("The tests cannot begin: {error}."), "")
}
