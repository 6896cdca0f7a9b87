//! Starts the simulation of the workload on the model, on one thread in simulated time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use array::Array;
use array::bridge::{ArrayHost, VolumeFiles};
use jiff::Timestamp;
use measure::result::RunResult;
use runtime::Runtime;

use workload::controller::{NoListener, RunListener, SharedListener};
use workload::progress::StopRequest;
use workload::{SimulatedFiles, SimulatedPlace, Simulation};

use super::array_details::ArrayDetails;
use super::array_sampler::ArraySampler;
use super::growth::Growth;
use super::plan::Plan;
use super::settle;
use super::watch::Watch;
use crate::scenario::Scenario;
use execution::{Error, conclude};

/// Runs a plan to its end, or until somebody asks it to `stop`, on the calling thread; the parameter sets of
/// a calibrated array on up to `jobs` threads. Gives the result, with the inside of the array in it, and the
/// listener, which has heard everything.
///
/// Nothing is printed or written: that is up to the listener. Any number of predictions may run at
/// once, each on a thread of its own.
///
/// # Errors
/// When the array cannot be built.
pub fn run<L: RunListener + 'static>(
    plan: &Plan,
    started: Timestamp,
    stop: &StopRequest,
    listener: L,
    jobs: usize,
) -> Result<(RunResult, L), Error> {
    let (mut result, mut listener) = simulate(plan, started, stop.clone(), listener)?;
    if let Some(sets) = plan.parameter_sets() {
        let one = |scenario: &Scenario| {
            let simulated = simulate(&Plan::check(scenario)?, started, stop.clone(), NoListener);
            simulated.map(|(result, _)| result)
        };
        sets.enter(&mut result, jobs, stop, &mut listener, one)?;
    }
    conclude(&mut result, &*plan.profile);
    Ok((result, listener))
}

/// The same with one parameter set, and without the last word on the result.
fn simulate<L: RunListener + 'static>(
    plan: &Plan,
    started: Timestamp,
    stop: StopRequest,
    listener: L,
) -> Result<(RunResult, L), Error> {
    let model = Array::<()>::new(&plan.planned.settings, plan.profile.run().seed)
        .map_err(|error| Error::usage(error.to_string(), ""))?;
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let host = ArrayHost::new(&handle, model);
    let places = places(&host, plan)?;
    let array_details = ArrayDetails::new(&plan.array, &plan.description, &plan.planned.settings);
    let shared = Rc::new(RefCell::new(ArraySampler::new(
        listener,
        host,
        array_details,
        Watch::new(&plan.planned),
        Growth::new(plan),
    )));
    let base = plan.base(started);
    let mut result = runtime.block_on(plan.profile.simulate(Simulation {
        handle,
        places,
        base,
        stop,
        listener: Rc::clone(&shared) as SharedListener,
    }));
    shared.borrow_mut().complete(&mut result);
    let unsettled = settle::warnings(plan, &result);
    result.warnings.extend(unsettled);
    drop(runtime);
    match Rc::into_inner(shared).map(RefCell::into_inner) {
        Some(array_sampler) => Ok((result, array_sampler.into_listener())),
        None => Err(Error::environment("The prediction did not end.", "")),
    }
}

/// The directories of every demand of the workload. Those on one volume share its table of files.
fn places(host: &ArrayHost<(), Array<()>>, plan: &Plan) -> Result<Vec<SimulatedPlace>, Error> {
    let planned = &plan.planned;
    let demands = plan.profile.volume_demands();
    let mut roots: BTreeMap<u16, SimulatedFiles> = BTreeMap::new();
    let mut places = Vec::new();
    for (demand, place) in demands.iter().zip(&planned.placement) {
        for volume in [place.data, place.log] {
            if roots.contains_key(&volume.0) {
                continue;
            }
            let Some(opened) = host.volume(volume) else {
                return Err(Error::usage("A database has no volume in the array.", ""));
            };
            let settings = &planned.settings.volumes[usize::from(volume.0)];
            let files = VolumeFiles::in_partition(opened, settings.policy.partition_offset_sectors);
            roots.insert(volume.0, files);
        }
        let data = roots[&place.data.0].directory(&demand.name);
        let log = roots[&place.log.0].directory(&demand.name);
        places.push(SimulatedPlace { data, log });
    }
    Ok(places)
}
