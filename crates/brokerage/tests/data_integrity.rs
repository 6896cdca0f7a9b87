//! Committed work that is lost, repeated or changed is found: while a run is at work, and in a
//! database that waits for the next one.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

mod at_rest;
mod copies;
mod full_volume;
mod locks;
mod mid_run;
mod older_copy;
mod placement;
mod server_causes;
mod server_side;
mod updates;

use brokerage::database::Database;
use brokerage::database::owners::ServerProcess;
use brokerage::dataset::DataSet;
use brokerage::ledger::Ledger;
use brokerage::profile::{BrokerageProfile, CheckedRows};
use brokerage::run::full_volume::Volumes;
use brokerage::run::placement::Placement;
use brokerage::run::stages::RunParameters;
use brokerage::run::start::{self, PreparedRun};
use brokerage::run::volume::Volume;
use brokerage::run_plan::run_plan;
use brokerage::statement::Dialect;
use config::TimeSpan;
use measure::result::{AcknowledgedWork, RunResult, ServerResult};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use workload::controller::RunListener;
use workload::progress::{Phase, StopRequest};

/// The smallest data set.
fn smallest() -> DataSet {
    DataSet::new(1_000, 1, 7)
}

/// Notes that the load has begun.
struct Begun(Arc<AtomicBool>);

impl RunListener for Begun {
    fn begins(&mut self, phase: Phase) {
        let is_load = matches!(phase, Phase::WarmingUp | Phase::Measuring);
        self.0.fetch_or(is_load, Ordering::Relaxed);
    }
}

/// A run that lasts until it is stopped, and whose market answers at once.
struct Load {
    stop: StopRequest,
    begun: Arc<AtomicBool>,
    thread: std::thread::JoinHandle<RunResult>,
}

/// Where a run is, and what it examines.
struct Scope {
    volumes: Volumes,
    placement: Option<Placement>,
    rows: CheckedRows,
}

impl Default for Scope {
    fn default() -> Self {
        Self {
            volumes: Volumes::default(),
            placement: None,
            rows: CheckedRows::All,
        }
    }
}

impl Load {
    fn start(database: Arc<dyn Database>) -> Self {
        Self::with(database, Arc::new(|| {}))
    }

    /// A run on a database on these volumes.
    fn on(database: Arc<dyn Database>, volumes: Volumes) -> Self {
        let scope = Scope {
            volumes,
            ..Scope::default()
        };
        Self::start_with(database, Arc::new(|| {}), scope)
    }

    /// A run that examines where the files of its server are.
    fn placed(database: Arc<dyn Database>, placement: Placement) -> Self {
        let scope = Scope {
            placement: Some(placement),
            ..Scope::default()
        };
        Self::start_with(database, Arc::new(|| {}), scope)
    }

    /// A run that examines these rows.
    fn checking(database: Arc<dyn Database>, rows: CheckedRows) -> Self {
        let scope = Scope {
            rows,
            ..Scope::default()
        };
        Self::start_with(database, Arc::new(|| {}), scope)
    }

    /// The same on a server that is started again like this.
    fn with(database: Arc<dyn Database>, revive: Arc<dyn Fn() + Send + Sync>) -> Self {
        Self::start_with(database, revive, Scope::default())
    }

    fn start_with(
        database: Arc<dyn Database>,
        revive: Arc<dyn Fn() + Send + Sync>,
        scope: Scope,
    ) -> Self {
        let (stop, begun) = (StopRequest::new(), Arc::new(AtomicBool::new(false)));
        let (asked, begins) = (stop.clone(), Begun(Arc::clone(&begun)));
        let thread = std::thread::spawn(move || run(database, revive, scope, asked, begins));
        Self {
            stop,
            begun,
            thread,
        }
    }

    /// Waits until its load has begun.
    fn wait_for_load(&self) {
        while !self.begun.load(Ordering::Relaxed) && !self.thread.is_finished() {
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    }

    /// Stops it; returns its result.
    fn end(self) -> RunResult {
        self.stop.stop();
        self.thread.join().unwrap()
    }
}

fn run(
    database: Arc<dyn Database>,
    revive: Arc<dyn Fn() + Send + Sync>,
    scope: Scope,
    stop: StopRequest,
    mut begins: Begun,
) -> RunResult {
    let mut profile = BrokerageProfile::default();
    profile.brokerage.users = 4;
    profile.brokerage.checked_rows = scope.rows;
    profile.brokerage.think_time = TimeSpan::millis(5);
    profile.brokerage.market.price_period = TimeSpan::seconds(2);
    profile.brokerage.market.execution_delay = TimeSpan::millis(50);
    profile.brokerage.market.data_maintenance_interval = TimeSpan::millis(50);
    profile.brokerage.mix.trade_update_percent = 20.0;
    profile.brokerage.mix.market_watch_percent = 0.0;
    profile.run.warm_up.minimum = Some(TimeSpan::seconds(0));
    profile.run.duration = TimeSpan::seconds(600);
    profile.run.sample_interval = Some(TimeSpan::seconds(1));
    profile.run.steady_state.required = false;
    let mut plan = run_plan(&profile);
    plan.reuse = true;
    let server = database.server().unwrap();
    let sessions_process = match database.dialect() {
        Dialect::MariaDb => server.process.if_found(None),
        _ => ServerProcess::Unknown,
    };
    let parts = PreparedRun {
        data_set: smallest(),
        volume: Volume::unknown(),
        parameters: RunParameters {
            brokerage: profile.brokerage,
            is_built: Arc::new(|| ()),
            revive,
            sessions_process,
            volumes: scope.volumes,
            placement: scope.placement,
            keeps: true,
            transactions_per_second: None,
            loading_threads: 2,
        },
        ledger: Ledger::unnamed().unwrap(),
        run_lock: Some(database.lock().unwrap()),
        server: ServerResult {
            name: server.name,
            settings: server.settings.into_iter().collect(),
            ..ServerResult::default()
        },
        database,
    };
    start::run(plan, RunResult::new(), None, stop, &mut begins, parts)
}

fn acknowledged(result: &RunResult) -> &AcknowledgedWork {
    let server = result.server.as_ref().unwrap();
    let work = server.acknowledged.as_ref();
    work.unwrap_or_else(|| panic!("{:?} {:?}", result.verdict_reason, result.errors))
}
