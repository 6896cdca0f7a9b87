//! Sets the workload going on real storage, one thread per processor.

use mail::drive::run_on_threads;
use mail::plan::MailPlan;
use mail::profile::MailProfile;
use measure::host::HostMonitor;
use measure::result::RunResult;
use workload::progress::StopRequest;

use super::device_watch::DeviceWatch;
use super::{kept, storage_under_test};
use crate::error::Error;
use crate::events::Observer;
use crate::options::RunOptions;
use crate::recorder::{Recorded, Recorder};
use storage::Claim;

/// The plan of a run, on databases that were `kept` if there are any. Those that it cannot run on are
/// refused before anything is done.
pub fn plan(
    options: &RunOptions,
    profile: &MailProfile,
    kept: Option<&Claim>,
) -> Result<MailPlan, Error> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let mut plan = MailPlan::new(profile, processors);
    plan.run.build_only = options.build_only;
    plan.run.reuse = options.reuse;
    if let Some(claim) = kept {
        plan.data_seed = kept::seed(claim, &plan)?;
    }
    Ok(plan)
}

/// Runs a plan to its end and writes the result. `fresh` makes block devices empty directories
/// first.
pub fn drive(
    plan: MailPlan,
    claim: &Claim,
    fresh: bool,
    base: RunResult,
    mut recorder: Recorder,
    stop: StopRequest,
) -> (Box<dyn Observer>, Recorded, RunResult) {
    let devices = base.host.devices.iter().map(|device| device.name.clone());
    let monitor = HostMonitor::new(devices);
    let sites = storage_under_test::sites(claim);
    let watch = DeviceWatch::begin(&base);
    let mut result = run_on_threads(
        plan,
        base,
        Some(monitor),
        stop,
        &mut recorder,
        move |shard, plan| storage_under_test::host(shard, plan, &sites, fresh),
    );
    watch.finish(&mut result);
    let (observer, recorded) = recorder.finish(&result);
    (observer, recorded, result)
}
