//! The stages of a run in their order, as its tests need them.

use super::link::Stage;
use super::plan::{LoadSearch, RunPlan};
use std::collections::VecDeque;

/// The stages of the run, the first of them included.
pub(super) fn stages(plan: &RunPlan) -> VecDeque<Stage> {
    if plan.build_only {
        return [Stage::Build, Stage::End].into();
    }
    let is_restored = plan.restored_from.is_some();
    let tests = &plan.tests;
    let is_measured = !tests.without_measured_phase && plan.measured_length().as_ns() > 0;
    let under_load = tests.backup.as_ref().is_some_and(|one| one.under_load);
    let is_loaded = is_measured || under_load;
    let is_tuned = is_measured && plan.search() != LoadSearch::None;
    // A recovery opens the databases itself; a run that was interrupted may have left them open.
    let is_opened = is_loaded || tests.backup.is_some() || plan.interrupted.is_some();
    let with_copies = tests
        .backup
        .as_ref()
        .is_some_and(|one| !one.copied_to.is_empty());
    let is_replicated = tests.replication.is_some();
    let has_recovery = tests.recovery.is_some();
    let all = [
        (Stage::Restore, is_restored),
        (Stage::Build, true),
        (Stage::Open, is_opened),
        (Stage::Seed, is_replicated),
        (Stage::WarmUp, is_loaded),
        (Stage::Tune, is_tuned),
        (Stage::Measure, is_measured),
        (Stage::Backup, tests.backup.is_some()),
        (Stage::Close, is_opened),
        (Stage::CompareCopies, is_replicated),
        (Stage::WriteLog, has_recovery),
        (Stage::Leave, has_recovery),
        (Stage::Replay, has_recovery),
        (Stage::Close, has_recovery),
        (Stage::Verify, true),
        (Stage::CheckCopies, with_copies),
        (Stage::End, true),
    ];
    all.into_iter()
        .filter(|(_, is_part)| *is_part)
        .map(|(stage, _)| stage)
        .collect()
}

/// What follows on a stage that was cut short, which may have databases open.
pub(super) fn stages_after_cut(stage: Stage) -> VecDeque<Stage> {
    match stage {
        Stage::Verify | Stage::CheckCopies => [Stage::End].into(),
        Stage::CompareCopies => [Stage::Verify, Stage::End].into(),
        _ => [Stage::Close, Stage::Verify, Stage::End].into(),
    }
}
