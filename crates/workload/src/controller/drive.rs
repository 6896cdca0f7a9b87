//! Sets shards and conductor going: threads on the wall clock, or tasks on the virtual one.

use super::conductor::Conductor;
use super::host::DatabaseHost;
use super::link::{Inbox, LOOK_NS, News, Orders, Stage};
use super::listener::RunListener;
use super::plan::RunPlan;
use super::shard::Shard;
use crate::mail::store::{Failure, FailureKind};
use crate::progress::StopRequest;
use measure::host::HostMonitor;
use measure::result::RunResult;
use runtime::{Handle, Runtime};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Runs a plan with one thread for each shard, on the wall clock. `make` gives a shard its runtime
/// and its host, on its thread.
///
/// `base` holds what the caller knows already (workload, target, host, seed, time of start); the
/// result is `base` with everything that the run found out.
pub fn run_on_threads<H, F>(
    plan: RunPlan,
    base: RunResult,
    monitor: Option<HostMonitor>,
    stop: StopRequest,
    listener: &mut dyn RunListener,
    make: F,
) -> RunResult
where
    H: DatabaseHost,
    F: Fn(usize, &Arc<RunPlan>) -> Result<(Runtime, H), Failure> + Sync,
{
    let plan = Arc::new(plan);
    let orders = new_orders(&plan);
    let inbox = Inbox::default();
    let begun = Instant::now();
    let now_ns = move || begun.elapsed().as_nanos() as u64;
    let mut conductor = Conductor::new(
        Arc::clone(&plan),
        orders.clone(),
        inbox.clone(),
        monitor,
        base,
        stop,
    );
    std::thread::scope(|scope| {
        for (number, orders) in orders.iter().enumerate() {
            let (plan, orders, inbox) = (Arc::clone(&plan), Arc::clone(orders), inbox.clone());
            let make = &make;
            scope.spawn(move || {
                let _ends = EndsInAnyCase {
                    number,
                    inbox: inbox.clone(),
                };
                match make(number, &plan) {
                    Ok((runtime, host)) => {
                        let handle = runtime.handle();
                        let offset_ns = now_ns().saturating_sub(handle.now_ns());
                        let shard =
                            Shard::new(number, handle, host, plan, orders, inbox, offset_ns);
                        runtime.block_on(shard.run());
                    }
                    Err(failure) => refuse(number, failure, &orders, &inbox),
                }
            });
        }
        conductor.begin(now_ns(), listener);
        while !conductor.step(now_ns(), listener) {
            std::thread::sleep(Duration::from_nanos(LOOK_NS));
        }
    });
    conductor.finish(now_ns(), listener)
}

/// Runs a plan with all shards on one runtime with a virtual clock, so that one seed is one run.
/// `make` gives each shard its host.
pub async fn run_on_virtual_clock<H, F>(
    handle: Handle,
    plan: RunPlan,
    base: RunResult,
    stop: StopRequest,
    mut listener: impl RunListener,
    make: F,
) -> RunResult
where
    H: DatabaseHost,
    F: Fn(usize, &Arc<RunPlan>) -> H,
{
    let plan = Arc::new(plan);
    let orders = new_orders(&plan);
    let inbox = Inbox::default();
    let mut conductor = Conductor::new(
        Arc::clone(&plan),
        orders.clone(),
        inbox.clone(),
        None,
        base,
        stop,
    );
    for (number, orders) in orders.into_iter().enumerate() {
        let host = make(number, &plan);
        let (plan, inbox) = (Arc::clone(&plan), inbox.clone());
        let shard = Shard::new(number, handle.clone(), host, plan, orders, inbox, 0);
        handle.spawn(shard.run());
    }
    conductor.begin(handle.now_ns(), &mut listener);
    while !conductor.step(handle.now_ns(), &mut listener) {
        handle.sleep_ns(LOOK_NS).await;
    }
    conductor.finish(handle.now_ns(), &mut listener)
}

fn new_orders(plan: &RunPlan) -> Vec<Arc<Orders>> {
    let tick_ns = Conductor::tick_ns(plan);
    plan.shards.iter().map(|_| Orders::new(tick_ns)).collect()
}

/// A shard without a host: it says why and follows the orders without doing anything.
fn refuse(number: usize, failure: Failure, orders: &Orders, inbox: &Inbox) {
    inbox.report(number, News::Failed(failure));
    for stage_number in 0.. {
        let stage = loop {
            match orders.stage(stage_number) {
                Some(stage) => break stage,
                None => std::thread::sleep(Duration::from_nanos(LOOK_NS)),
            }
        };
        inbox.report(number, News::Done(stage));
        if stage == Stage::End {
            return inbox.report(number, News::Ended);
        }
    }
}

/// Reports the end of a thread that panicked, so that nobody waits for it.
struct EndsInAnyCase {
    number: usize,
    inbox: Inbox,
}

impl Drop for EndsInAnyCase {
    fn drop(&mut self) {
        if std::thread::panicking() {
            let failure = Failure {
                kind: FailureKind::Internal,
                file: String::new(),
                page: None,
                operation: "running a shard".to_owned(),
                error: "a thread of the run ended by a panic; this is a bug of the program".into(),
            };
            self.inbox.report(self.number, News::Failed(failure));
            self.inbox.report(self.number, News::Ended);
        }
    }
}
