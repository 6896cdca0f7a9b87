//! Sets the workload going on real storage, one thread per processor.

use measure::host::HostMonitor;
use measure::result::RunResult;
use measure::run_directory::RunDirectory;
use workload::controller::{RunPlan, run_on_threads};
use workload::profile::Profile;

use super::listener::Recorder;
use super::{results, storage};
use crate::cli::RunOptions;
use crate::failure::Failure;
use crate::target::Layout;
use crate::{interrupt, live};

/// The seed that kept databases were built with, whatever the profile says. Refuses databases that
/// are not those of the plan, before anything is done to them.
fn kept_seed(layout: &Layout, plan: &RunPlan) -> Result<u64, Failure> {
    let states = storage::kept_states(layout)?;
    let marked = layout.built_seed();
    let seed = marked.or_else(|| states.iter().flatten().next().map(|state| state.seed));
    let seed = seed.unwrap_or(plan.data_seed);
    for (state, place) in states.iter().zip(&layout.databases) {
        let Some(state) = state else {
            continue;
        };
        let data = place.data.path().display();
        let (built_rows, wanted) = (state.population.built_rows, plan.built_rows);
        if state.seed != seed {
            return Err(Failure::usage(
                format!(
                    "The database in {data} was built with seed {}, others with {seed}.",
                    state.seed
                ),
                "Name with --on only what was built together.",
            ));
        }
        if built_rows != wanted {
            return Err(Failure::usage(
                format!(
                    "The database in {data} was built with {built_rows} mail items, but the \
                     profile asks for {wanted}."
                ),
                "Give the same options as when it was built.",
            ));
        }
    }
    Ok(seed)
}

/// Runs the workload to its end and writes the result.
pub fn drive(
    options: &RunOptions,
    profile: &Profile,
    layout: &Layout,
    base: RunResult,
    directory: RunDirectory,
) -> Result<RunResult, Failure> {
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut plan = RunPlan::new(profile, processors);
    plan.build_only = options.build_only;
    if options.reuse {
        plan.data_seed = kept_seed(layout, &plan)?;
    }
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
