//! Runs a plan on mailbox databases: on threads by the wall clock, or on the virtual clock.

use crate::host::{MailHost, StoreHost};
use crate::plan::MailPlan;
use measure::host::HostMonitor;
use measure::result::RunResult;
use runtime::{Handle, Runtime};
use std::sync::Arc;
use workload::controller::{self, RunListener, SharedListener};
use workload::failure::Failure;
use workload::progress::StopRequest;

/// Runs a plan with one thread for each shard, on the wall clock. `make` gives a shard its runtime
/// and its stores, on its thread. `base` and the result are those of
/// [`controller::run_on_threads`].
pub fn run_on_threads<H, F>(
    plan: MailPlan,
    base: RunResult,
    monitor: Option<HostMonitor>,
    stop: StopRequest,
    listener: &mut dyn RunListener,
    make: F,
) -> RunResult
where
    H: StoreHost,
    F: Fn(usize, &Arc<MailPlan>) -> Result<(Runtime, H), Failure> + Send + Sync + 'static,
{
    let run = plan.run.clone();
    let plan = Arc::new(plan);
    controller::run_on_threads(run, base, monitor, stop, listener, move |shard| {
        let (runtime, stores) = make(shard, &plan)?;
        let host = MailHost::new(runtime.handle(), Arc::clone(&plan), stores);
        Ok((runtime, host))
    })
}

/// Runs a plan with all shards on one runtime with a virtual clock, so that one seed is one run.
/// `make` gives each shard its stores.
pub async fn run_on_virtual_clock<H, F>(
    handle: Handle,
    plan: MailPlan,
    base: RunResult,
    stop: StopRequest,
    listener: SharedListener,
    make: F,
) -> RunResult
where
    H: StoreHost,
    F: Fn(usize, &Arc<MailPlan>) -> H,
{
    let run = plan.run.clone();
    let plan = Arc::new(plan);
    let clock = handle.clone();
    let make = |shard| MailHost::new(clock.clone(), Arc::clone(&plan), make(shard, &plan));
    controller::run_on_virtual_clock(handle, run, base, stop, listener, make).await
}
