//! Sets a house and the conductor of its run going.

use super::arrivals::BACKLOG_S;
use super::line::{FIRST, Line, follow};
use super::stages::{Business, Findings, Wanted};
use super::volume::Volume;
use super::watch::attribution::{Facts, attribute};
use crate::database::Database;
use crate::house::House;
use measure::host::HostMonitor;
use measure::result::{Bound, Check, CheckKind, RunResult, Scope, ServerResult};
use measure::sample::{Phase, Recorder};
use measure::service_level::add_checks;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use workload::brokerage::kinds::Operation;
use workload::controller::conductor::Conductor;
use workload::controller::link::{Inbox, LOOK_NS, Orders, WITHOUT_SERVICE};
use workload::controller::{RunListener, RunPlan};
use workload::progress::StopRequest;

/// A house that is ready to run.
pub struct Parts {
    /// Where its books are.
    pub database: Arc<dyn Database>,
    /// Who and what there is in them.
    pub house: House,
    /// What the database's volume is watched by.
    pub volume: Volume,
    /// What was asked for beside the plan.
    pub wanted: Wanted,
    /// What is known of the server: name, version, origin, settings.
    pub server: ServerResult,
}

/// Runs a plan on a real database. `base` holds what the caller knows already; the result is `base`
/// with everything that the run found out.
pub fn run(
    plan: RunPlan,
    base: RunResult,
    monitor: Option<HostMonitor>,
    stop: StopRequest,
    listener: &mut dyn RunListener,
    parts: Parts,
) -> RunResult {
    let plan = Arc::new(plan);
    let begun = Instant::now();
    let now_ns = || begun.elapsed().as_nanos() as u64;
    let orders = Orders::new(Conductor::tick_ns(&plan));
    let inbox = Inbox::default();
    let mut conductor = Conductor::new(
        Arc::clone(&plan),
        vec![Arc::clone(&orders)],
        inbox.clone(),
        monitor,
        base,
        stop,
    );
    let recorder = Recorder::new(Arc::clone(&plan.layout), FIRST, Phase::Build, now_ns());
    let line = Arc::new(Line::new(orders, inbox, recorder, begun));
    let wanted = parts.wanted.clone();
    let server = ServerResult {
        customers: u64::from(parts.house.customers()),
        trade_days: u64::from(parts.house.trade_days()),
        ..parts.server
    };
    let business = Business::new(
        line,
        Arc::clone(&plan),
        parts.wanted,
        parts.database,
        parts.house,
        parts.volume,
    );
    thread::scope(|scope| {
        scope.spawn(|| follow(&business));
        conductor.begin(now_ns(), listener);
        while !conductor.step(now_ns(), listener) {
            thread::sleep(Duration::from_nanos(LOOK_NS));
        }
    });
    let mut result = conductor.finish(now_ns(), listener);
    enter(&plan, &wanted, server, business.findings(), &mut result);
    result
}

/// Enters what the house has found out.
fn enter(
    plan: &RunPlan,
    wanted: &Wanted,
    server: ServerResult,
    findings: Findings,
    result: &mut RunResult,
) {
    result.warnings.extend(findings.warnings);
    let rate_check = wanted
        .transactions_per_second
        .map(|wanted| rate_check(result, wanted));
    let rate_reached = rate_check.as_ref().map(|check| check.passed == Some(true));
    let lengths = findings.outages.iter().map(|one| one.length_s);
    let without_service = lengths.fold(0.0, |sum, length_s| sum + length_s);
    if result.duration_s > 0.0 {
        let service_check = service_check(without_service);
        add_checks(
            result,
            rate_check.into_iter().chain([service_check]).collect(),
        );
    }
    let count = |operation: Operation| {
        let found = result.operations.iter();
        let mut found = found.filter(|one| one.name == operation.name());
        found.next().map_or(0, |one| one.count)
    };
    let rolled_back = count(Operation::TradeOrderRolledBack);
    let in_total = Operation::ALL
        .into_iter()
        .filter(|one| !matches!(one, Operation::MarketFeed | Operation::Ticker));
    let ended: u64 = in_total.map(count).sum();
    let users = plan.profile.brokerage.users;
    let facts = Facts {
        waits: &findings.waits,
        users,
        processors_busy_percent: processors_busy(result),
        average_read_ms: result.totals.reads.latency.map(|one| one.average_ms),
        rate_reached,
        out_of_service: without_service / result.duration_s.max(1.0),
    };
    // The waits of a run that came to no measured time say nothing.
    let (held_back_by, explanation) = match result.duration_s > 0.0 {
        true => attribute(&facts),
        false => ("unknown", String::new()),
    };
    let mut transactions = findings.transactions;
    transactions.committed = ended - rolled_back;
    transactions.rolled_back_on_purpose = rolled_back;
    result.server = Some(ServerResult {
        built_bytes: findings.built_bytes,
        ended_bytes: findings.ended_bytes,
        transactions,
        waits: findings.waits.shares(),
        io: findings.counted.io,
        log: findings.counted.log,
        checkpoints: findings.counted.checkpoints,
        volume_seen_by: findings.volume_seen_by,
        seconds_without_service: without_service,
        outages: findings.outages,
        held_back_by: held_back_by.to_owned(),
        explanation,
        books: findings.books,
        ..server
    });
}

fn processors_busy(result: &RunResult) -> Option<f64> {
    let counters = result.host.counters.iter();
    let busy = counters.filter(|one| one.name.contains("all processors"));
    busy.map(|one| one.average).next()
}

/// Whether users began as many transactions as was asked for.
fn rate_check(result: &RunResult, wanted: f64) -> Check {
    let by_users = workload::brokerage::kinds::BY_USERS;
    let names = by_users
        .iter()
        .copied()
        .chain([Operation::TradeOrderRolledBack]);
    let rate: f64 = names
        .filter_map(|operation| {
            let found = result
                .operations
                .iter()
                .find(|one| one.name == operation.name());
            found.map(|one| one.per_second)
        })
        .sum();
    /// What chance takes from the arrivals of a short run.
    const SHARE: f64 = 0.98;
    let limit = wanted * SHARE;
    Check {
        name: "transactions begun by users".to_owned(),
        kind: CheckKind::Throughput,
        scope: Scope::Run,
        place: "run".to_owned(),
        bound: Bound::AtLeast,
        limit,
        value: Some(rate),
        unit: "1/s".to_owned(),
        passed: Some(rate >= limit),
        rule: format!(
            "Users complete at least 98 % of the {wanted} transactions per second that are due. Up \
             to {BACKLOG_S:.0} s of them may wait."
        ),
    }
}

/// Whether the server served all the time.
fn service_check(without_service_s: f64) -> Check {
    Check {
        name: WITHOUT_SERVICE.to_owned(),
        kind: CheckKind::Service,
        scope: Scope::Run,
        place: "run".to_owned(),
        bound: Bound::AtMost,
        limit: 0.0,
        value: Some(without_service_s),
        unit: "s".to_owned(),
        passed: Some(without_service_s <= 0.0),
        rule: "The database serves at any time: no session is refused or lost, and there is room \
               on its volume."
            .to_owned(),
    }
}
