//! The run plan of a brokerage profile.

use crate::operation;
use crate::profile::BrokerageProfile;
use crate::simulation::trees;
use std::sync::Arc;
use workload::Profile;
use workload::controller::load::{Loop, Pause};
use workload::controller::plan::{SteadyBy, Tests};
use workload::controller::{RunPlan, Together};
use workload::pacing::turns::Division;
use workload::profile::Tuning;
use workload::progress::Clients;

/// Users have their own think time, and a target rate is kept by the users of the database server.
const NO_PAUSE: Pause = Pause {
    fixed_ns: 0,
    factor: 0.0,
};

/// The plan of a run: one database on one thread.
#[must_use]
pub fn run_plan(profile: &BrokerageProfile) -> RunPlan {
    let brokerage = &profile.brokerage;
    RunPlan {
        layout: Arc::new(operation::layout()),
        shards: vec![vec![0]],
        clients: Clients {
            noun: "user",
            operations: Some("database transactions"),
        },
        how: Loop::Closed(NO_PAUSE),
        operations_per_transaction: 1,
        division: Division::default(),
        held_transactions_per_second: None,
        fixed_sessions: Some(brokerage.users),
        target_iops: 0.0,
        database_bytes: trees::bytes_of(brokerage, trees::scale(brokerage)),
        page_bytes: brokerage.database.page_size.bytes(),
        reuse: false,
        restored_from: None,
        build_only: false,
        warm_up: profile.warm_up_in_prediction(),
        steady_by: SteadyBy::Rate,
        tests: Tests::default(),
        together: Together::default(),
        interrupted: None,
        run: profile.run.clone(),
        tuning: Tuning::default(),
        service_levels: profile.service_levels.with(operation::levels(brokerage)),
    }
}
