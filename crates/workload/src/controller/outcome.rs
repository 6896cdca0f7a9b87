//! The account of a run: phases, failures, checks, and in the end the result document.

use super::error_log::{Entry, ErrorLog};
use super::load_control::LoadControl;
use super::phase_spans::PhaseSpans;
use super::plan::{BackupPlan, RecoveryPlan, ReplicationPlan, RunPlan, SteadyBy};
use super::warnings::{not_steady, shrunk_caches};
use crate::failure::{Failure, FailureKind};
use crate::progress::Phase;
use measure::display::number::{bounded, count, percent};
use measure::display::{interruption, tuning_outcome};
use measure::metric::{Stream, Unit};
use measure::recompute::InterruptedRun;
use measure::result::{
    BackupResult, Check, CheckId, ErrorCount, GoneOnDatabase, IntegrityClass, RecoveryResult,
    ReplicationResult, RestoreResult, RunResult, SteadyState, Verdict, VerificationResult,
    VerifiedDatabase,
};
use measure::sample::{Layout, RunTotals, Sample};
use measure::service_level::{Judgement, Measured, add_checks, checks_of_tests, evaluate, judge};
use measure::steady::SteadyRule;
use measure::units::sentence;
use std::sync::Arc;

/// Before a warning of the part of a run that was interrupted, which is not made again.
const BEFORE_INTERRUPTION: &str = "Before the interruption: ";

/// What is known about a run besides its counts.
#[derive(Default)]
pub struct Account {
    base: RunResult,
    spans: PhaseSpans,
    errors: ErrorLog,
    /// What kind of failure ended the run, if one did.
    ended_by: Option<FailureKind>,
    /// Why a run whose databases should have been verified cannot pass; the first reason.
    unverified: Option<String>,
    /// Whether sessions have run, or a backup.
    was_loaded: bool,
    /// Whether the load was ended because there were too many errors.
    load_was_ended: bool,
    verification: Option<VerificationResult>,
    backup: Option<BackupResult>,
    recovery: Option<RecoveryResult>,
    replication: Option<ReplicationResult>,
    log_written_s: f64,
    hung_after_s: Option<f64>,
    cache_fill_fraction: Option<f64>,
    cache_size_fraction: Option<f64>,
    /// Why simulated time does not advance, if it does not.
    zero_delay_loop: Option<String>,
    interrupted: bool,
    warnings: Vec<String>,
    notes: Vec<String>,
    checks: Vec<Check>,
}

impl Account {
    /// An account that begins with what the caller knows, of databases with these names.
    #[must_use]
    pub fn new(base: RunResult, layout: Arc<Layout>) -> Self {
        Self {
            base,
            errors: ErrorLog::new(layout),
            ..Self::default()
        }
    }

    /// Takes over what a run that was interrupted had come to know, so that it can go on by the same rule.
    pub fn go_on(&mut self, run: &InterruptedRun, rule: &SteadyRule) {
        let earlier = &run.result;
        self.was_loaded = true;
        self.spans.go_on(run);
        self.errors.go_on(&earlier.errors, &earlier.error_counts);
        self.cache_fill_fraction = earlier.throughput.cache_fill_fraction;
        self.cache_size_fraction = earlier.throughput.cache_size_fraction;
        self.notes.clone_from(&earlier.notes);
        // These are made again.
        let before = earlier.interruptions.iter().map(interruption);
        let steady = earlier.steady_state.iter();
        let before = before.chain(steady.map(|state| not_steady(state, rule)));
        let verification = earlier.verification.iter();
        let before = before.chain(verification.map(|one| one.not_verified.clone()));
        let before = before.chain(shrunk_caches(earlier.throughput.cache_size_fraction));
        let before: Vec<String> = before.collect();
        let warnings = earlier.warnings.iter().filter(|one| !before.contains(one));
        let warnings = warnings.map(|warning| {
            let is_marked = warning.starts_with(BEFORE_INTERRUPTION);
            let mark = if is_marked { "" } else { BEFORE_INTERRUPTION };
            format!("{mark}{warning}")
        });
        for warning in warnings {
            if !self.warnings.contains(&warning) {
                self.warnings.push(warning);
            }
        }
        let interruptions = self.base.interruptions.iter().map(interruption);
        self.warnings.extend(interruptions);
    }

    /// Notes the time at which a phase begins.
    pub fn begin_span(&mut self, span: Phase, now_ns: u64) {
        self.was_loaded |= matches!(
            span,
            Phase::WarmingUp | Phase::BackingUp | Phase::WritingLog
        );
        self.spans.begin(span, now_ns);
    }

    /// The present phase, if any, ends.
    pub fn end_span(&mut self, now_ns: u64) {
        self.spans.end(now_ns);
    }

    /// Notes the time that a sample covers.
    pub fn note_sample(&mut self, sample: &Sample) {
        self.spans.note_sample(sample);
    }

    /// Notes a failure that ends the run. A zero-delay loop says nothing against the storage, so it
    /// is no error of it.
    pub fn fail(&mut self, failure: &Failure, now_ns: u64) {
        if failure.kind == FailureKind::ZeroDelayLoop {
            self.zero_delay_loop
                .get_or_insert_with(|| failure.error.clone());
            return;
        }
        self.ended_by.get_or_insert(failure.kind);
        self.errors.add_ending(failure.database, failure, now_ns);
    }

    /// Counts an error after which the run goes on.
    pub fn count(
        &mut self,
        database: Option<usize>,
        failure: &Failure,
        times: u64,
        now_ns: u64,
    ) -> Entry {
        self.errors.add(database, failure, times, now_ns)
    }

    /// Counts a wrong page that whoever met it has not listed.
    pub fn count_unlisted_page(
        &mut self,
        database: usize,
        (page, class): (u64, IntegrityClass),
        now_ns: u64,
    ) {
        self.errors.add_unlisted_page(database, class, page, now_ns);
    }

    /// Counts errors that whoever met them has not listed.
    pub fn count_unlisted(&mut self, database: usize, class: IntegrityClass, errors: u64) {
        self.errors.add_unlisted(database, class, errors);
    }

    /// From now on there is a check of requests that were not answered within this time.
    pub fn judge_hung_requests(&mut self, after_ns: u64) {
        self.hung_after_s = Some(after_ns as f64 / 1e9);
    }

    /// Notes how full the least full cache is when measuring begins.
    pub fn note_cache_fill(&mut self, fraction: f64) {
        self.cache_fill_fraction = Some(fraction);
    }

    /// Notes the size of a cache that can shrink, of the largest it may have, at a moment of the measured phase.
    pub fn note_cache_size(&mut self, fraction: f64) {
        let least = self.cache_size_fraction.unwrap_or(fraction);
        self.cache_size_fraction = Some(least.min(fraction));
    }

    /// Different errors so far.
    #[must_use]
    pub fn errors(&self) -> u64 {
        self.errors.errors()
    }

    /// Notes that the load ends early because there are too many errors; `text` says so.
    pub fn end_load(&mut self, text: String) {
        self.load_was_ended = true;
        self.warn(text);
    }

    /// Notes what the pass over a closed database has read.
    pub fn verified(&mut self, database: VerifiedDatabase) {
        let verification = self.verification.get_or_insert_default();
        verification.databases.push(database);
        verification.databases.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// Notes that the build of a database went on.
    pub fn build_goes_on(&mut self, database: GoneOnDatabase) {
        let build = self.base.resumed_build.get_or_insert_default();
        build.gone_on.push(database);
        build.gone_on.sort_by(|a, b| a.name.cmp(&b.name));
    }

    /// What was restored so far, begun when nothing was there yet.
    pub fn restore_mut(&mut self, from: &str) -> &mut RestoreResult {
        self.base.restore.get_or_insert_with(|| RestoreResult {
            from: from.to_owned(),
            ..RestoreResult::default()
        })
    }

    /// What the backup has read so far, begun when nothing was there yet.
    pub fn backup_mut(&mut self, plan: &BackupPlan) -> &mut BackupResult {
        self.backup.get_or_insert_with(|| BackupResult {
            under_load: plan.under_load,
            copied_to: plan.copied_to.clone(),
            ..BackupResult::default()
        })
    }

    /// What soft recovery has replayed so far, begun when nothing was there yet.
    pub fn recovery_mut(&mut self, plan: &RecoveryPlan) -> &mut RecoveryResult {
        self.recovery.get_or_insert_with(|| RecoveryResult {
            wanted_log_files: u64::from(plan.log_files),
            written_s: self.log_written_s,
            ..RecoveryResult::default()
        })
    }

    /// What is known of the passive copies so far, begun when nothing was there yet.
    pub fn replication_mut(&mut self, plan: &ReplicationPlan) -> &mut ReplicationResult {
        self.replication.get_or_insert_with(|| ReplicationResult {
            copied_to: plan.copied_to.clone(),
            ..ReplicationResult::default()
        })
    }

    /// Notes how long it took to write the log files that are to be replayed.
    pub fn note_log_written(&mut self, taken_ns: u64) {
        self.log_written_s = taken_ns as f64 / 1e9;
    }

    /// Notes why databases are not verified, or not to the end. The first reason stays.
    pub fn not_verified(&mut self, why: &str) {
        let verification = self.verification.get_or_insert_default();
        if verification.not_verified.is_empty() {
            verification.not_verified = why.to_owned();
        }
    }

    /// Notes that a database could not be verified: the run does not pass, however many errors are allowed.
    pub fn cannot_verify(&mut self, why: &str) {
        self.not_verified(why);
        self.unverified.get_or_insert_with(|| why.to_owned());
    }

    /// Why the closed databases cannot be verified, as a sentence; `None` when they can. After an error
    /// of the storage they are: whoever returns it wants to know how much is wrong.
    #[must_use]
    pub fn why_not_to_verify(&self) -> Option<String> {
        let because = |why: &str| Some(format!("The databases were not verified, because {why}."));
        if self.interrupted {
            return because("the run was stopped");
        }
        if self.zero_delay_loop.is_some() {
            return because("the run had to end early");
        }
        match self.ended_by {
            _ if !self.was_loaded => because("the run ended before its load began"),
            None | Some(FailureKind::Halted | FailureKind::Io | FailureKind::Integrity) => None,
            Some(FailureKind::OutOfSpace) => because("no space was left"),
            Some(_) => because("an error ended the run"),
        }
    }

    /// Notes that somebody stopped the run.
    pub fn interrupt(&mut self) {
        self.interrupted = true;
    }

    /// Notes something that may spoil the result.
    pub fn warn(&mut self, text: String) {
        self.warnings.push(text);
    }

    /// Notes something worth knowing.
    pub fn note(&mut self, text: String) {
        self.notes.push(text);
    }

    /// Whether a failure has ended the run.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.zero_delay_loop.is_some() || self.ended_by.is_some()
    }

    /// Judges the levels with the totals so far.
    pub fn judge(&mut self, plan: &RunPlan, totals: &RunTotals, target_iops: Option<f64>) {
        if totals.measured_s() > 0.0 {
            let (levels, counts) = (&plan.service_levels, self.errors.counts());
            let measured = self.measured(plan, totals, &counts);
            let measured = Measured {
                target_iops,
                ..measured
            };
            self.checks = evaluate(levels, &measured);
        }
    }

    /// Names of the levels that do not hold at present.
    #[must_use]
    pub fn failing(&self) -> Vec<String> {
        let failed = self
            .checks
            .iter()
            .filter(|check| check.passed == Some(false));
        let mut names: Vec<String> = failed.map(|check| check.name.clone()).collect();
        names.dedup();
        names
    }

    fn measured<'a>(
        &'a self,
        plan: &RunPlan,
        totals: &'a RunTotals,
        counts: &'a [ErrorCount],
    ) -> Measured<'a> {
        Measured {
            totals,
            planned_s: Some(plan.run.duration.as_seconds()),
            target_iops: None,
            errors: self.errors.records(),
            error_counts: counts,
            hung_after_s: self.hung_after_s,
            interrupted: self.interrupted,
            tests: &self.base.tests,
            must_be_steady: None,
        }
    }

    /// The result document of the run so far.
    #[must_use]
    pub fn result(
        &self,
        plan: &RunPlan,
        totals: &RunTotals,
        load_control: &LoadControl,
        shed: u64,
        complete: bool,
    ) -> RunResult {
        let mut result = self.base.clone();
        result.complete = complete;
        let second = plan.run.second_sample_interval;
        result.samples.second_interval_s = second.map(config::TimeSpan::as_seconds);
        result.phases = self.spans.results(&self.base.started);
        let target_iops = load_control.rate_to_reach(plan);
        result.throughput.target_iops = target_iops;
        result.throughput.threads = Some(u64::from(load_control.sessions()));
        result.throughput.cache_fill_fraction = self.cache_fill_fraction;
        result.throughput.cache_size_fraction = self.cache_size_fraction;
        result.throughput.rate_iops = load_control.held_iops();
        totals.fill(&mut result);
        result.tuning = load_control.tuning_result();
        result.errors = self.errors.records().to_vec();
        result.error_counts = self.errors.counts();
        result.verification.clone_from(&self.verification);
        result.backup.clone_from(&self.backup);
        result.recovery.clone_from(&self.recovery);
        result.replication.clone_from(&self.replication);
        let not_verified = self.verification.iter().map(|one| &one.not_verified);
        let not_verified = not_verified.filter(|why| !why.is_empty());
        result.warnings.extend(not_verified.cloned());
        result
            .warnings
            .extend(shrunk_caches(self.cache_size_fraction));
        result.warnings.extend(self.warnings.iter().cloned());
        result.notes.extend(self.notes.iter().cloned());
        if shed > 0 {
            result.warnings.push(format!(
                "{} transactions were due and never began, because more than {:.0} s of them waited \
                 already: the rate was not held.",
                count(shed),
                super::plan::BACKLOG_S
            ));
        }
        let rule = plan.run.steady_state.rule();
        let steady = steady_state(plan, totals);
        let levels = &plan.service_levels;
        let counts = self.errors.counts();
        let required = rule.required.then_some(&steady);
        let measured = Measured {
            target_iops,
            must_be_steady: required,
            ..self.measured(plan, totals, &counts)
        };
        let mut checks = evaluate(levels, &measured);
        checks.extend(checks_of_tests(&result));
        let judgement = judge(levels, &measured, &checks);
        if plan.build_only && complete && judgement.verdict != Verdict::Error && !self.interrupted {
            result.set_verdict(Verdict::Built, "The databases were built.");
            return result;
        }
        enter(judgement, checks, &mut result, totals);
        if let Some(check) = transaction_rate(plan, &result) {
            add_checks(&mut result, vec![check]);
        }
        say_what_was_found(&mut result);
        if let Some(reason) = &self.zero_delay_loop {
            match result.verdict {
                Verdict::Pass | Verdict::Inconclusive => {
                    result.set_verdict(Verdict::Inconclusive, reason.clone());
                }
                _ => result.warnings.push(reason.clone()),
            }
        }
        if let (Some(reason), Verdict::Pass) = (&self.unverified, result.verdict) {
            result.set_verdict(Verdict::Inconclusive, reason.clone());
        }
        if !complete {
            result.mark_unfinished();
        }
        if steady.steady == Some(false) && !rule.required {
            result.warnings.push(not_steady(&steady, &rule));
        }
        result.steady_state = result.has_measured_phase().then_some(steady);
        result
    }
}

/// Whether the measured phase was steady so far.
pub(super) fn steady_state(plan: &RunPlan, totals: &RunTotals) -> SteadyState {
    let rule = plan.run.steady_state.rule();
    let interval_s = plan.run.sample_interval().as_seconds();
    match plan.steady_by {
        SteadyBy::Rate => {
            let variable = "the rate of database reads and writes in IOPS";
            rule.judge(variable, totals.iops_by_sample(), interval_s)
        }
        SteadyBy::ReadLatency => {
            let variable = "the average database read latency in ms";
            let samples = totals.average_ms_by_sample(Stream::DatabaseRead);
            rule.judge(variable, &samples, interval_s)
        }
    }
}

/// Puts what a search for the load has come to before the reason of the verdict.
fn say_what_was_found(result: &mut RunResult) {
    if !matches!(
        result.verdict,
        Verdict::Pass | Verdict::Fail | Verdict::Inconclusive
    ) {
        return;
    }
    let outcome = result.tuning.as_ref().and_then(tuning_outcome);
    let outcome = outcome.or_else(|| rate_not_carried(result));
    if let Some(outcome) = outcome {
        let reason = format!("{}. {}", sentence(&outcome), result.verdict_reason);
        result.verdict_reason = reason;
    }
}

/// Transactions against the rate of them that is held.
fn transaction_rate(plan: &RunPlan, result: &RunResult) -> Option<Check> {
    let held = plan.held_transactions_per_second?;
    let margin = plan.service_levels.achieved_margin_fraction;
    let rule = format!(
        "Transactions per second, all databases. Required: the held rate of {} less a margin of {} %.",
        bounded(held, Unit::TransactionsPerSecond),
        percent(margin)
    );
    let operations = f64::from(plan.operations_per_transaction);
    let rate = result.throughput.operations_per_second / operations;
    let rate = (result.duration_s > 0.0).then_some(rate);
    let limit = held * (1.0 - margin);
    Some(Check::of_run(CheckId::TransactionRate, limit, rate, rule))
}

/// What is said of a rate that was asked for and not achieved.
fn rate_not_carried(result: &RunResult) -> Option<String> {
    let held = result.throughput.rate_iops?;
    let mut failed = result.failed_checks();
    failed.find(|check| check.id == CheckId::AchievedIops)?;
    Some(format!(
        "the target of {} was not reached (--find max-iops finds the highest rate that keeps every level)",
        bounded(held, Unit::Iops)
    ))
}

/// A run that ended before anything was measured has nothing to judge but its end.
fn enter(judgement: Judgement, checks: Vec<Check>, result: &mut RunResult, totals: &RunTotals) {
    let is_judged = totals.measured_s() > 0.0 || !result.has_measured_phase() && result.complete;
    if is_judged || result.ended_by().is_some() || judgement.verdict == Verdict::Error {
        judgement.enter(checks, result);
    } else if judgement.verdict == Verdict::Interrupted {
        result.set_verdict(judgement.verdict, "Stopped before anything was measured.");
    } else {
        result.set_verdict(Verdict::Inconclusive, "Nothing has been measured yet.");
    }
}

#[cfg(test)]
mod tests;
