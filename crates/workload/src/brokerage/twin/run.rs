//! Sets a twin going: one shard, conducted like every other run, on a virtual clock.

use super::shard::Shard;
use crate::controller::conductor::Conductor;
use crate::controller::link::{Inbox, LOOK_NS, Orders};
use crate::controller::{RunListener, RunPlan};
use crate::progress::StopRequest;
use measure::result::RunResult;
use runtime::{Directory, Handle};
use std::sync::Arc;

/// Where the files of a brokerage's database lie.
pub struct Places<D> {
    /// The directory of each data file.
    pub data: Vec<D>,
    /// The directory of the log.
    pub log: D,
}

/// Runs the plan of a brokerage on a twin of its database. One seed is one run.
///
/// `base` holds what the caller knows already (workload, target, seed, time of start); the result
/// is `base` with everything that the run found out.
pub async fn run_on_virtual_clock<D: Directory>(
    handle: Handle,
    plan: RunPlan,
    base: RunResult,
    stop: StopRequest,
    mut listener: impl RunListener,
    places: Places<D>,
) -> RunResult {
    let plan = Arc::new(plan);
    let orders = Orders::new(Conductor::tick_ns(&plan));
    let inbox = Inbox::default();
    let mut conductor = Conductor::new(
        Arc::clone(&plan),
        vec![Arc::clone(&orders)],
        inbox.clone(),
        None,
        base,
        stop,
    );
    let shard = Shard::new(handle.clone(), plan, places, orders, inbox);
    drop(handle.spawn(shard.run()));
    conductor.begin(handle.now_ns(), &mut listener);
    while !conductor.step(handle.now_ns(), &mut listener) {
        handle.sleep_ns(LOOK_NS).await;
    }
    conductor.finish(handle.now_ns(), &mut listener)
}
