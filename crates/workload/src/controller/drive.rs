//! Sets shards and run controller going: threads on the wall clock, or tasks on the virtual one.

use super::host::DatabaseHost;
use super::link::{Inbox, Orders, POLL_NS, ShardMessage, Stage};
use super::listener::{RunListener, SharedListener};
use super::plan::RunPlan;
use super::run_controller::RunController;
use super::shard::Shard;
use crate::failure::Failure;
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
    F: Fn(usize) -> Result<(Runtime, H), Failure> + Send + Sync + 'static,
{
    let plan = Arc::new(plan);
    let tick_ns = RunController::tick_ns(&plan);
    let orders: Vec<_> = plan.shards.iter().map(|_| Orders::new(tick_ns)).collect();
    let inbox = Inbox::default();
    let begun = Instant::now();
    // The clock of a run that goes on counts since its first start.
    let resumed_at_s = base
        .interruptions
        .last()
        .map_or(0.0, |one| one.resumed_at_s);
    let before_ns = (resumed_at_s * 1e9) as u64;
    let now_ns = move || before_ns + begun.elapsed().as_nanos() as u64;
    let mut run_controller = RunController::new(
        Arc::clone(&plan),
        orders.clone(),
        inbox.clone(),
        monitor,
        base,
        stop,
    );
    run_controller.watch_by_the_clock(now_ns());
    let make = Arc::new(make);
    let spawn = |(number, orders): (usize, &Arc<Orders>)| {
        let (plan, orders, inbox) = (Arc::clone(&plan), Arc::clone(orders), inbox.clone());
        let make = Arc::clone(&make);
        std::thread::spawn(move || {
            let _ends = EndsInAnyCase {
                number,
                inbox: inbox.clone(),
            };
            match make(number) {
                Ok((runtime, host)) => {
                    let handle = runtime.handle();
                    let offset_ns = now_ns().saturating_sub(handle.now_ns());
                    let shard = Shard::new(number, handle, host, plan, orders, inbox, offset_ns);
                    runtime.block_on(shard.run());
                }
                Err(failure) => refuse(number, failure, &orders, &inbox),
            }
        })
    };
    let threads: Vec<_> = orders.iter().enumerate().map(spawn).collect();
    run_controller.begin(now_ns(), listener);
    while !run_controller.step(now_ns(), listener) {
        std::thread::sleep(Duration::from_nanos(POLL_NS));
    }
    // A thread whose storage does not answer may never end; the others close their files.
    if !run_controller.gave_up() {
        for thread in threads {
            // One that panicked has reported that itself.
            let _ = thread.join();
        }
    }
    run_controller.finish(now_ns(), listener)
}

/// Runs a plan with all shards on one runtime with a virtual clock, so that one seed is one run.
/// `make` gives each shard its host.
pub async fn run_on_virtual_clock<H, F>(
    handle: Handle,
    plan: RunPlan,
    base: RunResult,
    stop: StopRequest,
    listener: SharedListener,
    make: F,
) -> RunResult
where
    H: DatabaseHost,
    F: Fn(usize) -> H,
{
    let plan = Arc::new(plan);
    let (clock, plan_of_shards) = (handle.clone(), Arc::clone(&plan));
    let spawn = move |number, orders, inbox| {
        let (handle, plan) = (clock.clone(), Arc::clone(&plan_of_shards));
        let shard = Shard::new(number, handle, make(number), plan, orders, inbox, 0);
        drop(clock.spawn(shard.run()));
    };
    run_shards_on_virtual_clock(handle, plan, base, stop, listener, spawn).await
}

/// Conducts shards of any make on one runtime with a virtual clock. `spawn` starts the shard of
/// that number, which follows these orders and reports to this inbox.
pub async fn run_shards_on_virtual_clock(
    handle: Handle,
    plan: Arc<RunPlan>,
    base: RunResult,
    stop: StopRequest,
    listener: SharedListener,
    spawn: impl Fn(usize, Arc<Orders>, Inbox),
) -> RunResult {
    let tick_ns = RunController::tick_ns(&plan);
    let orders = |_| Orders::in_simulated_time(tick_ns, stop.clone());
    let orders: Vec<_> = plan.shards.iter().map(orders).collect();
    let inbox = Inbox::default();
    let mut run_controller =
        RunController::new(plan, orders.clone(), inbox.clone(), None, base, stop);
    for (number, orders) in orders.into_iter().enumerate() {
        spawn(number, orders, inbox.clone());
    }
    run_controller.begin(handle.now_ns(), &mut *listener.borrow_mut());
    while !run_controller.step(handle.now_ns(), &mut *listener.borrow_mut()) {
        handle.sleep_ns(POLL_NS).await;
    }
    run_controller.finish(handle.now_ns(), &mut *listener.borrow_mut())
}

/// A shard without a host: it says why and follows the orders without doing anything.
fn refuse(number: usize, failure: Failure, orders: &Orders, inbox: &Inbox) {
    inbox.report(number, ShardMessage::Failed(failure));
    for stage_number in 0.. {
        let stage = loop {
            match orders.stage(stage_number) {
                Some(stage) => break stage,
                None => std::thread::sleep(Duration::from_nanos(POLL_NS)),
            }
        };
        inbox.report(number, ShardMessage::Done(stage));
        if stage == Stage::End {
            return inbox.report(number, ShardMessage::Ended);
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
            let failure = Failure::of_panic("running a shard");
            self.inbox
                .report(self.number, ShardMessage::Failed(failure));
            self.inbox.report(self.number, ShardMessage::Ended);
        }
    }
}
