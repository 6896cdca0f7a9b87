//! A run of the page-level simulation on a virtual clock.

use super::shard::{Places, Shard};
use crate::profile::BrokerageProfile;
use measure::result::RunResult;
use runtime::{Directory, Handle};
use std::sync::Arc;
use workload::controller::{RunPlan, SharedListener, run_shards_on_virtual_clock};
use workload::progress::StopRequest;

/// Runs a plan on a simulated database. The same seed gives the same run.
///
/// `base` holds what the caller knows already (workload, target, seed, start time); the result is
/// `base` with the results of the run.
pub async fn run_on_virtual_clock<D: Directory>(
    handle: Handle,
    profile: BrokerageProfile,
    plan: RunPlan,
    base: RunResult,
    stop: StopRequest,
    listener: SharedListener,
    places: Places<D>,
) -> RunResult {
    let plan = Arc::new(plan);
    let (clock, plan_of_shard) = (handle.clone(), Arc::clone(&plan));
    let spawn = move |_, orders, inbox| {
        let (handle, plan) = (clock.clone(), Arc::clone(&plan_of_shard));
        let shard = Shard::new(handle, profile.clone(), plan, places.clone(), orders, inbox);
        drop(clock.spawn(shard.run()));
    };
    run_shards_on_virtual_clock(handle, plan, base, stop, listener, spawn).await
}
