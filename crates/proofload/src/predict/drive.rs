//! Sets the twin of the workload going on the model, on one thread in simulated time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;

use array::Array;
use array::bridge::{ArrayHost, VolumeFiles};
use array::description::{DatabasePlacement, PlannedArray};
use measure::result::RunResult;
use measure::run_directory::RunDirectory;
use runtime::Runtime;
use workload::controller::plan::database_name;
use workload::controller::{RunPlan, run_on_virtual_clock};
use workload::mail::edb_host::DatabaseDirectories;
use workload::mail::twin::TwinHost;
use workload::profile::Profile;

use super::inside::Inside;
use super::listener::{Listener, Shared};
use crate::cli::PredictOptions;
use crate::failure::Failure;
use crate::run::{Recorder, results};
use crate::{interrupt, live};

/// Directories on a modelled volume.
type Files = VolumeFiles<(), Array<()>>;

/// The directories of every database and of its log.
type Places = BTreeMap<usize, (Files, Files)>;

/// Runs the prediction to its end and writes the result.
pub fn drive(
    options: &PredictOptions,
    profile: &Profile,
    planned: &PlannedArray,
    base: RunResult,
    directory: RunDirectory,
    inside: Inside,
) -> Result<RunResult, Failure> {
    let stop = interrupt::stop_on_signals()
        .map_err(|error| Failure::environment(format!("Signals cannot be caught: {error}."), ""))?;
    let model = Array::<()>::new(&planned.settings, profile.run.seed)
        .map_err(|error| Failure::usage(error.to_string(), ""))?;
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let host = ArrayHost::new(&handle, model);
    let places = places(&host, &planned.placement)?;
    let view = live::view(options.quiet);
    let recorder = Recorder::new(view, directory, stop.clone());
    let listener = Listener::new(recorder, host, inside);
    let shared = Rc::new(RefCell::new(listener));
    let heard = Shared(Rc::clone(&shared));
    let plan = RunPlan::new(profile, 1);
    let mut result = runtime.block_on(async move {
        let twin = {
            let handle = handle.clone();
            move |_: usize, plan: &Arc<RunPlan>| {
                TwinHost::new(handle.clone(), Arc::clone(plan), directories(&places))
            }
        };
        run_on_virtual_clock(handle, plan, base, stop, heard, twin).await
    });
    shared.borrow().complete(&mut result);
    drop(runtime);
    let Some(listener) = Rc::into_inner(shared).map(RefCell::into_inner) else {
        return Err(Failure::environment("The prediction did not end.", ""));
    };
    let (directory, trouble) = listener.finish();
    let written = directory.write_result(&result);
    match (trouble, written) {
        (Some(error), _) | (None, Err(error)) => Err(results::unwritable(&error)),
        (None, Ok(())) => Ok(result),
    }
}

/// The directories of every database. Those on one volume share its table of files.
fn places(
    host: &ArrayHost<(), Array<()>>,
    placement: &[DatabasePlacement],
) -> Result<Places, Failure> {
    let mut roots: BTreeMap<u16, Files> = BTreeMap::new();
    let mut places = Places::new();
    for (number, place) in placement.iter().enumerate() {
        for volume in [place.data, place.log] {
            if roots.contains_key(&volume.0) {
                continue;
            }
            let Some(opened) = host.volume(volume) else {
                return Err(Failure::usage("A database has no volume in the array.", ""));
            };
            roots.insert(volume.0, VolumeFiles::new(opened));
        }
        let name = database_name(number + 1);
        let data = roots[&place.data.0].directory(&name);
        let log = roots[&place.log.0].directory(&name);
        places.insert(number, (data, log));
    }
    Ok(places)
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
