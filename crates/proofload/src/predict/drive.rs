//! Sets the twin of the workload going on the model, on one thread in simulated time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use array::Array;
use array::bridge::{ArrayHost, VolumeFiles};
use array::description::PlannedArray;
use jiff::Timestamp;
use measure::result::RunResult;
use runtime::Runtime;
use workload::brokerage::twin as brokerage;
use workload::controller::plan::{SteadyBy, database_name};
use workload::controller::{RunListener, RunPlan, run_on_virtual_clock};
use workload::mail::edb_host::DatabaseDirectories;
use workload::mail::twin::TwinHost;
use workload::profile::Kind;
use workload::progress::StopRequest;

use super::growth::Growth;
use super::inside::Inside;
use super::inspector::{Inspector, Shared};
use super::plan::Plan;
use super::settle;
use super::watch::Watch;
use crate::failure::Failure;

/// Directories on a modelled volume.
type Files = VolumeFiles<(), Array<()>>;

/// The directories of every database and of its log.
type Places = BTreeMap<usize, (Files, Files)>;

/// Runs a plan to its end, or until somebody asks it to `stop`, on the calling thread. Gives the
/// result, with the inside of the array in it, and the listener, which has heard everything.
///
/// Nothing is printed or written: that is up to the listener. Any number of predictions may run at
/// once, each on a thread of its own.
///
/// # Errors
/// When the array cannot be built.
pub fn run<L: RunListener + 'static>(
    plan: &Plan,
    started: Timestamp,
    stop: StopRequest,
    listener: L,
) -> Result<(RunResult, L), Failure> {
    let model = Array::<()>::new(&plan.planned.settings, plan.profile.run.seed)
        .map_err(|error| Failure::usage(error.to_string(), ""))?;
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let host = ArrayHost::new(&handle, model);
    let places = places(&host, &plan.planned)?;
    let inside = Inside::new(&plan.array, &plan.description, &plan.planned.settings);
    let shared = Rc::new(RefCell::new(Inspector::new(
        listener,
        host,
        inside,
        Watch::new(&plan.planned),
        Growth::new(plan),
    )));
    let heard = Shared(Rc::clone(&shared));
    let mut run_plan = RunPlan::new(&plan.profile, 1);
    if plan.profile.run.held_rate.is_some() {
        run_plan.steady_by = SteadyBy::ReadLatency;
    }
    let base = plan.base(started);
    let of_brokerage = plan.profile.kind == Kind::Brokerage;
    let mut result = runtime.block_on(async move {
        if of_brokerage {
            let places = of_one_database(&places);
            return brokerage::run_on_virtual_clock(handle, run_plan, base, stop, heard, places)
                .await;
        }
        let twin = {
            let handle = handle.clone();
            move |_: usize, plan: &Arc<RunPlan>| {
                TwinHost::new(handle.clone(), Arc::clone(plan), directories(&places))
            }
        };
        run_on_virtual_clock(handle, run_plan, base, stop, heard, twin).await
    });
    shared.borrow_mut().complete(&mut result);
    let unsettled = settle::warnings(plan, &result);
    result.warnings.extend(unsettled);
    drop(runtime);
    match Rc::into_inner(shared).map(RefCell::into_inner) {
        Some(inspector) => Ok((result, inspector.into_listener())),
        None => Err(Failure::environment("The prediction did not end.", "")),
    }
}

/// The directories of every database. Those on one volume share its table of files.
fn places(host: &ArrayHost<(), Array<()>>, planned: &PlannedArray) -> Result<Places, Failure> {
    let mut roots: BTreeMap<u16, Files> = BTreeMap::new();
    let mut places = Places::new();
    for (number, place) in planned.placement.iter().enumerate() {
        for volume in [place.data, place.log] {
            if roots.contains_key(&volume.0) {
                continue;
            }
            let Some(opened) = host.volume(volume) else {
                return Err(Failure::usage("A database has no volume in the array.", ""));
            };
            let settings = &planned.settings.volumes[usize::from(volume.0)];
            let files = VolumeFiles::in_partition(opened, settings.partition_offset_sectors);
            roots.insert(volume.0, files);
        }
        let name = database_name(number + 1);
        let data = roots[&place.data.0].directory(&name);
        let log = roots[&place.log.0].directory(&name);
        places.insert(number, (data, log));
    }
    Ok(places)
}

/// The directories of the data files of one database, and that of its log, which is the first's.
fn of_one_database(places: &Places) -> brokerage::Places<Files> {
    brokerage::Places {
        data: places.values().map(|(data, _)| data.clone()).collect(),
        log: places[&0].1.clone(),
    }
}

fn directories(places: &Places) -> BTreeMap<usize, DatabaseDirectories<Files>> {
    let opened = places.iter().map(|(number, (data, log))| {
        let directories = DatabaseDirectories {
            data: data.clone(),
            log: log.clone(),
        };
        (*number, directories)
    });
    opened.collect()
}
