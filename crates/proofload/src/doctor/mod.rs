//! Examines places before a test: what they are, what will distort a test there, and what to change.
//!
//! [`examine`] looks at each place as a run would ([`storage::examine`]), at the block devices below it, at the
//! traffic of others on them (`noise`), and times some reads of a file without a name, or of the block device
//! (`trial`). Nothing is left behind, and a place that a run uses is named and left alone. `findings` says what
//! follows.

mod findings;
mod noise;
mod text;
mod trial;

#[cfg(test)]
mod findings_tests;

use std::path::PathBuf;
use std::time::Duration;

use measure::host::{
    BlockDevice, DeviceTraffic, Mount, Surroundings, block_stack, describe_target, facts,
    mount_under,
};
use measure::result::{TargetKind, TargetPath};
use runtime::{Runtime, WallClockOptions};
use serde::Serialize;
use storage::{Examination, ObstacleKind};

pub use findings::{Finding, FindingId, Severity};
pub use text::{json, text};
pub use trial::ReadLatency;

/// Name and version of the document that [`DoctorReport`] is written as.
pub const SCHEMA: &str = "proofload/doctor/1";

/// What is asked for.
#[derive(Clone, Debug)]
pub struct DoctorRequest {
    /// Directories and block devices to examine.
    pub places: Vec<PathBuf>,
    /// How long the traffic of others is watched.
    pub watch: Duration,
}

/// What was found out.
#[derive(Clone, Debug, Serialize)]
pub struct DoctorReport {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// Whether runs are possible on every place.
    pub suitable: bool,
    /// What was found out about the machine.
    pub host: HostReport,
    /// The places, in the order given.
    pub places: Vec<PlaceReport>,
}

/// The machine as a test finds it.
#[derive(Clone, Debug, Serialize)]
pub struct HostReport {
    /// Name of the host.
    pub name: String,
    /// Operating system as it names itself.
    pub operating_system: String,
    /// Release of the kernel.
    pub kernel: String,
    /// Model of the CPU.
    pub cpu_model: String,
    /// Logical CPUs that this process may use.
    pub cpus: u64,
    /// Memory and clock rate.
    #[serde(flatten)]
    pub surroundings: Surroundings,
    /// The I/O driver that runs get, `io-uring` or `threads`; null if they get none.
    pub io_driver: Option<&'static str>,
    /// Why it is not io_uring, or why there is none.
    pub io_driver_reason: Option<String>,
    /// What was found of the machine.
    pub findings: Vec<Finding>,
}

/// One place as a test finds it.
#[derive(Clone, Debug, Serialize)]
pub struct PlaceReport {
    /// The path as it was given.
    pub given: String,
    /// Path, kind, file system and room; null where the path leads to nothing.
    pub target: Option<TargetPath>,
    /// Where its file system is mounted and how; null for a block device.
    pub mount: Option<Mount>,
    /// The block devices that it lies on, the one at the top first.
    pub devices: Vec<BlockDevice>,
    /// Whether direct I/O works; null where it was not tried.
    pub direct_io: Option<bool>,
    /// Latency of reads, one at a time; empty where none were made.
    pub idle_reads: Vec<ReadLatency>,
    /// Traffic of others on the devices, while nothing was read here.
    pub foreign_traffic: Vec<DeviceTraffic>,
    /// What may distort a test, and what to change.
    pub findings: Vec<Finding>,
}

/// Examines places. `notify` gets what takes a while.
#[must_use]
pub fn examine(request: &DoctorRequest, notify: &mut dyn FnMut(&str)) -> DoctorReport {
    let host = host();
    let places = request.places.iter();
    let examined: Vec<(PlaceReport, Examination)> = places.map(|given| look(given)).collect();
    let mut places = noise::watch(examined, request.watch, notify);
    for (place, examination) in &mut places {
        if is_free(examination) {
            notify(&format!("timing reads at {}", place.given));
            trial::time_reads(place, examination);
        }
        place.findings = findings::of_place(place, examination);
    }
    let places: Vec<PlaceReport> = places.into_iter().map(|(place, _)| place).collect();
    let all = places.iter().flat_map(|place| &place.findings);
    let mut all = all.chain(&host.findings);
    DoctorReport {
        schema: SCHEMA,
        suitable: all.all(|finding| finding.severity != Severity::NotSuitable),
        host,
        places,
    }
}

/// Whether reads of ours disturb nobody and can be made.
fn is_free(examination: &Examination) -> bool {
    let in_the_way = [
        ObstacleKind::Path,
        ObstacleKind::InUse,
        ObstacleKind::ReadOnly,
        ObstacleKind::Permission,
        ObstacleKind::InMemory,
        ObstacleKind::NoDirectIo,
        ObstacleKind::NoSpace,
        ObstacleKind::TrialFailed,
        ObstacleKind::Inside,
    ];
    !in_the_way.into_iter().any(|kind| examination.has(kind))
}

fn host() -> HostReport {
    let machine = facts::<PathBuf>(&[]);
    let driver = Runtime::wall_clock(&WallClockOptions::default());
    let (io_driver, io_driver_reason) = match driver.map(|runtime| runtime.handle().io_driver()) {
        Ok(Some(driver)) => (Some(driver.driver.id()), driver.fallback_reason),
        Ok(None) => (None, None),
        Err(error) => (None, Some(error.to_string())),
    };
    let mut host = HostReport {
        name: machine.name,
        operating_system: machine.operating_system,
        kernel: machine.kernel,
        cpu_model: machine.cpu_model,
        cpus: machine.cpus,
        surroundings: Surroundings::now(),
        io_driver,
        io_driver_reason,
        findings: Vec::new(),
    };
    host.findings = findings::of_host(&host);
    host
}

fn look(given: &std::path::Path) -> (PlaceReport, Examination) {
    let examination = storage::examine(given);
    let target = examination.target.as_ref();
    let path = target.map(|target| target.path.as_path());
    let direct_io = match is_free(&examination) {
        true => Some(true),
        false => examination.has(ObstacleKind::NoDirectIo).then_some(false),
    };
    let described = path.map(describe_target);
    let is_directory = described
        .as_ref()
        .is_some_and(|one| one.kind == TargetKind::Directory);
    let place = PlaceReport {
        given: given.display().to_string(),
        mount: path.filter(|_| is_directory).and_then(mount_under),
        target: described,
        devices: path.map_or_else(Vec::new, block_stack),
        direct_io,
        idle_reads: Vec::new(),
        foreign_traffic: Vec::new(),
        findings: Vec::new(),
    };
    (place, examination)
}
