//! `proofload run`: from the command line to the verdict.
//!
//! Everything that can be refused is refused before anything is written: the profile, the targets,
//! the kernel, the directory of the results. Then the targets are claimed, the workload runs, and
//! the targets are given back.

mod dry;
mod listener;
mod results;
mod storage;

use std::io::IsTerminal;

use jiff::Timestamp;
use measure::host::HostMonitor;
use measure::result::{RunResult, Verdict};
use measure::run_directory::RunDirectory;
use report::{Run, Style};
use runtime::Runtime;
use workload::controller::{RunPlan, run_on_threads};
use workload::mail::store::{Failure as StoreFailure, FailureKind};
use workload::profile::Profile;

use crate::cli::RunOptions;
use crate::commands::print;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::target::{self, Claim, Layout};
use crate::{interrupt, live, workloads};
use listener::Recorder;

/// Runs a workload and says how it ended.
pub fn run(options: &RunOptions) -> Result<ExitStatus, Failure> {
    let profile = workloads::resolve(options)?;
    let layout = target::survey(&target::Request {
        on: &options.on,
        log_on: &options.log_on,
        profile: &profile,
        reuse: options.reuse,
        erase_device: options.erase_device,
    })?;
    if options.dry_run {
        return print(&dry::describe(&options.workload, &profile, &layout));
    }
    check_kernel()?;
    let started = Timestamp::now();
    let directory = results::open(options, &profile, &layout, started)?;
    let base = results::base(options, &profile, &layout, started);
    let claim = if options.reuse {
        Claim::reuse(layout)
    } else {
        Claim::make(layout, &base.workload.name, options.erase_device)?
    };
    let (result, directory) = drive(options, &profile, claim.layout(), base, directory)?;
    settle(options, claim, &result)?;
    tell(options, &result, &directory)?;
    Ok(ExitStatus::from(result.verdict))
}

/// The kernel must let us use io_uring; better said now than from every thread.
fn check_kernel() -> Result<(), Failure> {
    Runtime::wall_clock(&runtime::UringOptions::default())
        .map(drop)
        .map_err(|error| Failure::environment(format!("The run cannot begin: {error}."), ""))
}

/// Runs the workload on one thread per processor.
fn drive(
    options: &RunOptions,
    profile: &Profile,
    layout: &Layout,
    base: RunResult,
    directory: RunDirectory,
) -> Result<(RunResult, RunDirectory), Failure> {
    let stop = interrupt::stop_on_signals().map_err(|error| {
        Failure::environment(format!("Signals cannot be caught: {error}."), "")
    })?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let plan = RunPlan::new(profile, processors);
    let devices = base.host.devices.iter().map(|device| device.name.clone());
    let monitor = HostMonitor::new(devices);
    let view = live::view(options.quiet);
    let mut recorder = Recorder::new(view, directory, stop.clone());
    let result = run_on_threads(plan, base, Some(monitor), stop, &mut recorder, |shard, plan| {
        host(shard, plan, layout, !options.reuse)
    });
    let (directory, trouble) = recorder.finish();
    directory.write_result(&result).map_err(|error| results::unwritable(&error))?;
    match trouble {
        Some(error) => Err(results::unwritable(&error)),
        None => Ok((result, directory)),
    }
}
