//! A plan for tests of the run controller.

use super::coordination::Together;
use super::load::{Loop, Pause};
use super::plan::{RunPlan, SteadyBy, Tests};
use crate::pacing::turns::Division;
use crate::profile::{Run, Tuning};
use crate::progress::Clients;
use measure::sample::Layout;
use measure::service_level::{Levels, OperationLevels};
use std::sync::Arc;

/// One session on one database.
pub fn plan() -> RunPlan {
    let run = Run::default();
    RunPlan {
        restored_from: None,
        warm_up: run.warm_up.on_storage(),
        run,
        tuning: Tuning::default(),
        service_levels: Levels::default().with(OperationLevels::default()),
        layout: Arc::new(Layout::new(["db1"], ["read"])),
        shards: vec![vec![0]],
        clients: Clients::THREADS,
        how: Loop::Closed(Pause {
            fixed_ns: 0,
            factor: 0.0,
        }),
        operations_per_transaction: 1,
        division: Division::default(),
        held_transactions_per_second: None,
        fixed_sessions: Some(1),
        target_iops: 0.0,
        database_bytes: 1 << 20,
        page_bytes: 32_768,
        reuse: false,
        build_only: false,
        steady_by: SteadyBy::Rate,
        tests: Tests::default(),
        together: Together::default(),
        interrupted: None,
    }
}
