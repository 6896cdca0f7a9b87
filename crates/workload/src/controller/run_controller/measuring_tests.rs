use super::*;
use crate::controller::listener::NoListener;
use crate::controller::testing::plan;
use measure::sample::Recorder;

const MS: u64 = 1_000_000;

/// When the order to end a measured phase of 10 s is given, in ms after the one to begin it, with shards
/// that begin so much later; one without a time never does.
fn length_ms(begun_ms: [Option<u64>; 2]) -> u64 {
    let mut plan = plan();
    plan.shards = vec![vec![0], vec![]];
    plan.run.duration = TimeSpan::seconds(10);
    let layout = Arc::clone(&plan.layout);
    let mut recorders =
        [0, 1].map(|shard| Recorder::new(Arc::clone(&layout), shard, SamplePhase::WarmUp, 0));
    let orders = vec![Orders::new(1_000 * MS), Orders::new(1_000 * MS)];
    let inbox = Inbox::default();
    let mut controller = RunController::new(
        Arc::new(plan),
        orders.clone(),
        inbox.clone(),
        None,
        RunResult::new(),
        StopRequest::new(),
    );
    controller.next_stages = [Stage::Close, Stage::End].into();
    controller.enter(Stage::Measure, 0, &mut NoListener);
    for now_ms in (0..20_000).step_by(10) {
        for (shard, begun_ms) in begun_ms.into_iter().enumerate() {
            if begun_ms == Some(now_ms) {
                let counts = recorders[shard].begin_phase(SamplePhase::Measured, now_ms * MS);
                inbox.report(shard, ShardMessage::Counts(Box::new(counts)));
            }
        }
        controller.step(now_ms * MS, &mut NoListener);
        if orders[0].stage(1) == Some(Stage::Close) {
            return now_ms;
        }
    }
    panic!("it never ends");
}

#[test]
fn the_measured_phase_ends_as_late_as_the_last_shard_has_begun_it() {
    assert_eq!(length_ms([Some(0), Some(0)]), 10_000);
    assert_eq!(length_ms([Some(10), Some(20)]), 10_000, "that is usual");
    assert_eq!(length_ms([Some(10), Some(500)]), 10_480);
    assert_eq!(length_ms([Some(500), Some(10)]), 10_480);
}

#[test]
fn a_shard_that_never_begins_keeps_nobody_waiting() {
    assert_eq!(length_ms([Some(10), None]), 10_000);
}
