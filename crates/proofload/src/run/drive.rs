//! Sets the workload going on real storage, one thread per processor.

use measure::host::HostMonitor;
use measure::result::RunResult;
use measure::run_directory::RunDirectory;
use workload::controller::{RunPlan, run_on_threads};
use workload::profile::Profile;

use super::listener::Recorder;
use super::{kept, results, storage};
use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::target::Layout;
use crate::{interrupt, live};

/// The plan of a run. Kept databases that it cannot run on are refused before anything is done.
pub fn plan(options: &RunOptions, profile: &Profile, layout: &Layout) -> Result<RunPlan, Failure> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut plan = RunPlan::new(profile, processors);
    plan.build_only = options.build_only;
    plan.reuse = options.reuse;
    if options.reuse {
        plan.data_seed = kept::seed(layout, &plan)?;
    }
    Ok(plan)
}

/// Runs a plan to its end and writes the result.
pub fn drive(
    options: &RunOptions,
    plan: RunPlan,
    layout: &Layout,
    base: RunResult,
    directory: RunDirectory,
) -> Result<RunResult, Failure> {
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let devices = base.host.devices.iter().map(|device| device.name.clone());
    let monitor = HostMonitor::new(devices);
    let view = live::view(options.quiet);
    let mut recorder = Recorder::new(view, directory, stop.clone());
    let fresh = !options.reuse;
    let result = run_on_threads(
        plan,
        base,
        Some(monitor),
        stop,
        &mut recorder,
        |shard, plan| storage::host(shard, plan, layout, fresh),
    );
    let (directory, trouble) = recorder.finish();
    let written = directory.write_result(&result);
    match (trouble, written) {
        (Some(error), _) | (None, Err(error)) => Err(results::unwritable(&error)),
        (None, Ok(())) => Ok(result),
    }
}
