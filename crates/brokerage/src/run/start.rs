//! Runs a plan on a real database.

use super::arrivals::BACKLOG_S;
use super::monitor::bottleneck::{Observations, find_bottleneck};
use super::shard_link::{ONLY_SHARD, ShardLink, run_stages};
use super::stages::{BrokerageRun, Findings, RunParameters};
use super::volume::Volume;
use crate::database::{Database, RunLock};
use crate::dataset::DataSet;
use crate::guarantees;
use crate::ledger::Ledger;
use crate::operation::{Operation, business_transactions_per_second};
use crate::profile::Brokerage;
use crate::report::{CUSTOMERS, TRADE_DAYS, tables};
use measure::host::HostMonitor;
use measure::metric::Metric;
use measure::result::{Bottleneck, Check, CheckId, ErrorKind, RunResult, ServerResult, Verdict};
use measure::sample::{Phase, Recorder};
use measure::service_level::add_checks;
use measure::units;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use workload::controller::link::{Inbox, Orders, POLL_NS};
use workload::controller::run_controller::RunController;
use workload::controller::{RunListener, RunPlan};
use workload::progress::StopRequest;

/// Everything that a run needs.
pub struct PreparedRun {
    /// The database that holds the data set.
    pub database: Arc<dyn Database>,
    /// The data set in it.
    pub data_set: DataSet,
    /// Measures the I/O of the database's volume.
    pub volume: Volume,
    /// Parameters in addition to the plan.
    pub parameters: RunParameters,
    /// Takes what the database acknowledges.
    pub ledger: Ledger,
    /// The lock on a database that is there already; the lock on a new one is taken when it is
    /// created.
    pub run_lock: Option<Box<dyn RunLock>>,
    /// Name, version, origin and settings of the server.
    pub server: ServerResult,
}

/// Runs a plan to its end. `base` holds what the caller knows; the result is `base` with the
/// results of the run.
pub fn run(
    plan: RunPlan,
    base: RunResult,
    monitor: Option<HostMonitor>,
    stop: StopRequest,
    listener: &mut dyn RunListener,
    parts: PreparedRun,
) -> RunResult {
    let plan = Arc::new(plan);
    let started = Instant::now();
    let now_ns = || started.elapsed().as_nanos() as u64;
    let orders = Orders::new(RunController::tick_ns(&plan));
    let inbox = Inbox::default();
    let mut run_controller = RunController::new(
        Arc::clone(&plan),
        vec![Arc::clone(&orders)],
        inbox.clone(),
        monitor,
        base,
        stop,
    );
    let recorder = Recorder::new(Arc::clone(&plan.layout), ONLY_SHARD, Phase::Build, now_ns());
    let link = Arc::new(ShardLink::new(orders, inbox, recorder, started));
    let parameters = parts.parameters.clone();
    let server = ServerResult {
        scale: [
            (CUSTOMERS, parts.data_set.customers()),
            (TRADE_DAYS, parts.data_set.trade_days()),
        ]
        .map(|(name, number)| (name.to_owned(), number.into()))
        .into(),
        ..parts.server
    };
    let business = BrokerageRun::new(
        link,
        Arc::clone(&plan),
        parts.parameters,
        parts.database,
        parts.data_set,
        parts.volume,
        parts.ledger,
    )
    .holding(parts.run_lock);
    thread::scope(|scope| {
        scope.spawn(|| run_stages(&business));
        run_controller.begin(now_ns(), listener);
        while !run_controller.step(now_ns(), listener) {
            thread::sleep(Duration::from_nanos(POLL_NS));
        }
    });
    let mut result = run_controller.finish(now_ns(), listener);
    let margin_fraction = plan.service_levels.achieved_margin_fraction;
    let rate_check = parameters
        .transactions_per_second
        .map(|target| rate_check(&result, target, margin_fraction));
    let findings = business.findings();
    enter(&parameters, server, findings, rate_check, &mut result);
    result
}

/// Adds the results of the database to those of the coordinator.
fn enter(
    parameters: &RunParameters,
    server: ServerResult,
    findings: Findings,
    rate_check: Option<Check>,
    result: &mut RunResult,
) {
    let doubts = doubts(&parameters.brokerage, &findings, &server);
    let not_guaranteed = not_guaranteed(&findings, &server);
    result.warnings.extend(findings.warnings);
    result.warnings.extend(findings.files.unknown);
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
        .iter()
        .copied()
        .filter(|one| !matches!(one, Operation::MarketFeed | Operation::Ticker));
    let ended: u64 = in_total.map(count).sum();
    let users = parameters.brokerage.users;
    let cpus = result.host.cpus.max(1) as f64;
    let of_all_cpus = |percent_of_core: f64| percent_of_core / cpus;
    let observations = Observations {
        waits: &findings.waits,
        users,
        processors_busy_percent: average(result, Metric::CpuBusy),
        own_percent: average(result, Metric::ProcessCpu).map(of_all_cpus),
        server_percent: findings.cpu_percent.map(of_all_cpus),
        average_read_ms: result.totals.reads.latency.map(|one| one.average_ms),
        rate_reached,
        downtime_share: without_service / result.duration_s.max(1.0),
    };
    // Wait events of a run without measured time mean nothing.
    let (bottleneck, explanation) = match result.duration_s > 0.0 {
        true => find_bottleneck(&observations),
        false => (Bottleneck::Unknown, String::new()),
    };
    let mut transactions = findings.transactions;
    transactions.committed = ended.saturating_sub(rolled_back);
    transactions.intentional_rollbacks = rolled_back;
    let server = ServerResult {
        not_guaranteed,
        files_elsewhere: findings.files.elsewhere.into_iter().collect(),
        other_io: findings.other_io,
        cpu_percent: findings.cpu_percent,
        size_begin_bytes: findings.built_bytes,
        size_end_bytes: findings.ended_bytes,
        transactions,
        waits: findings.waits.shares(),
        io: findings.counted.io,
        file_io: findings.counted.file_io,
        log: findings.counted.log,
        checkpoints: findings.counted.checkpoints,
        volume_measured_by: findings.volume_measured_by,
        downtime_s: without_service,
        outages: findings.outages,
        bottleneck,
        explanation,
        consistency_checks: findings.consistency_checks,
        acknowledged: findings.acknowledged,
        checked_rows: findings.coverage,
        ..server
    };
    // What was planned are the data of a prediction; a server's differ in size and days.
    if server.size_begin_bytes > 0 {
        result.workload.question = tables::data(&server);
    }
    result.server = Some(server);
    // What the server did by itself says nothing about the storage.
    if let Some(error) = result.errors.first()
        && error.kind == ErrorKind::ServerSide
        && result.verdict == Verdict::Error
    {
        let (doing, why) = (error.operation.clone(), error.error.clone());
        let reason = format!("The run ended early while {doing}: {why}.");
        result.set_verdict(Verdict::Inconclusive, reason);
    }
    for doubt in doubts {
        set_inconclusive(result, &doubt);
    }
}

/// What the server does not guarantee: by its settings when the run began, and, like tables that were altered, at some
/// moment of the load.
fn not_guaranteed(findings: &Findings, server: &ServerResult) -> Vec<String> {
    let mut missing = guarantees::missing(&server.settings);
    let later = findings.not_guaranteed.iter();
    let later = later.filter(|one| !missing.contains(one));
    let later: Vec<String> = later
        .map(|one| format!("{one} for a part of the run"))
        .collect();
    missing.extend(later);
    missing.extend(guarantees::of_tables(&findings.altered_tables));
    missing
}

/// What forbids a pass although every check passed, in sentences.
fn doubts(brokerage: &Brokerage, findings: &Findings, server: &ServerResult) -> Vec<String> {
    let mut doubts = Vec::new();
    let missing = not_guaranteed(findings, server);
    if !missing.is_empty() {
        doubts.push(format!(
            "The server does not guarantee that committed work survives a crash: {}. Latencies of \
             log writes are not those of durable commits.",
            missing.join(", ")
        ));
    }
    let (log_writes, unflushed) = findings.log_writes;
    if unflushed * 2 > log_writes {
        doubts.push(format!(
            "The device has a volatile write cache, and {unflushed} of {log_writes} log writes were \
             not followed by a flush: their latencies are not those of durable commits."
        ));
    }
    if let Some(log) = &findings.unmeasured_log {
        doubts.push(format!(
            "Log writes were not measured: the storage of {} has no block device of its own. Name a \
             directory on a local file system with --log-on.",
            log.display()
        ));
    }
    let limit_percent = brokerage.limits.other_io_percent;
    let other_io = findings.other_io.as_ref();
    if let Some(other) = other_io.filter(|other| other.share_percent > limit_percent) {
        doubts.push(format!(
            "Other processes ({}) made {} % of the {} of the volume, which disturbs the \
             database's: {limit_percent} % are allowed (brokerage.service_levels.other_io_percent).",
            other.processes.join(", "),
            units::figure(other.share_percent),
            match other.requests {
                Some(_) => "requests",
                None => "bytes",
            }
        ));
    }
    let databases = findings.other_databases.as_ref();
    if let Some(others) = databases.filter(|others| others.share_percent > limit_percent) {
        doubts.push(format!(
            "Other databases of the server ({}) read and changed {} % of the blocks and rows, which \
             disturbs this one: {limit_percent} % are allowed (brokerage.service_levels.other_io_percent).",
            others.names.join(", "),
            units::figure(others.share_percent),
        ));
    }
    let acknowledged = findings.acknowledged.as_ref();
    if let Some(why) = acknowledged.and_then(|work| work.not_compared.as_ref()) {
        doubts.push(format!(
            "Acknowledged transactions could not be compared with the database: {why}."
        ));
    }
    doubts
}

/// A run that passed is inconclusive for this reason, and one that was so already for this one, too; any other
/// is only warned about it.
fn set_inconclusive(result: &mut RunResult, reason: &str) {
    match result.verdict {
        Verdict::Pass => result.set_verdict(Verdict::Inconclusive, reason),
        Verdict::Inconclusive => {
            let both = format!("{} {reason}", result.verdict_reason);
            result.set_verdict(Verdict::Inconclusive, both);
        }
        _ => result.warnings.push(reason.to_owned()),
    }
}

fn average(result: &RunResult, metric: Metric) -> Option<f64> {
    let counter = result.host.counter(metric)?;
    Some(counter.average).filter(|value| value.is_finite())
}

/// The check that users completed the target rate, less a margin.
fn rate_check(result: &RunResult, target: f64, margin_fraction: f64) -> Check {
    let rate = business_transactions_per_second(result);
    let rule = format!(
        "Business transactions that users complete per second. Required: the target of {target} \
         less a margin of {} %. Up to {BACKLOG_S:.0} s of arrivals may wait.",
        (margin_fraction * 1e4).round() / 1e2
    );
    let limit = target * (1.0 - margin_fraction);
    Check::of_run(CheckId::TransactionRate, limit, Some(rate), rule)
}

/// The check that the server was up all the time.
fn service_check(without_service_s: f64) -> Check {
    let rule = "The database is up all the time: no session is refused or lost, and its volume is \
                not full. Allowed: 0 s of downtime.";
    let downtime_s = Some(without_service_s);
    Check::of_run(CheckId::Downtime, 0.0, downtime_s, rule.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{OperationResult, OtherIo};

    #[test]
    fn the_margin_decides_whether_a_rate_was_achieved() {
        let mut result = RunResult::new();
        result.operations = vec![
            OperationResult {
                name: Operation::TradeStatus.name().to_owned(),
                per_second: 90.0,
                ..OperationResult::default()
            },
            OperationResult {
                name: Operation::TradeOrderRolledBack.name().to_owned(),
                per_second: 4.0,
                ..OperationResult::default()
            },
            // What the market does is not what users were asked for.
            OperationResult {
                name: Operation::TradeResult.name().to_owned(),
                per_second: 50.0,
                ..OperationResult::default()
            },
        ];
        for (margin_fraction, passes) in [(0.05, false), (0.06, true), (0.1, true)] {
            let check = rate_check(&result, 100.0, margin_fraction);
            assert_eq!(check.passed, Some(passes), "{check:?}");
        }
        let rule = rate_check(&result, 100.0, 0.07).rule;
        assert!(rule.contains("a margin of 7 %"), "{rule}");
    }

    #[test]
    fn log_writes_that_were_not_measured_are_a_doubt() {
        let findings = Findings {
            unmeasured_log: Some("/mnt/log".into()),
            ..Findings::default()
        };
        let found = doubts(&Brokerage::default(), &findings, &ServerResult::default());
        assert!(
            found.len() == 1 && found[0].contains("/mnt/log"),
            "{found:?}"
        );
    }

    #[test]
    fn the_limit_of_other_io_decides_whether_it_is_a_doubt() {
        let findings = Findings {
            other_io: Some(OtherIo {
                share_percent: 7.5,
                processes: vec!["rsync".to_owned()],
                ..OtherIo::default()
            }),
            ..Findings::default()
        };
        let doubts = |other_io_percent| {
            let mut brokerage = Brokerage::default();
            brokerage.limits.other_io_percent = other_io_percent;
            doubts(&brokerage, &findings, &ServerResult::default())
        };
        assert_eq!(doubts(7.5), [""; 0]);
        let found = doubts(7.0);
        assert!(
            found.len() == 1 && found[0].contains("(rsync) made 7.50 % of the bytes"),
            "{found:?}"
        );
    }
}
