//! The account of a run: phases, failures, checks, and in the end the result document.

use super::load::Loop;
use super::load_control::LoadControl;
use super::plan::{RunPlan, SteadyBy};
use crate::failure::{Failure, FailureKind};
use measure::display::number::percent;
use measure::metric::Stream;
use measure::result::{Check, ErrorRecord, PhaseResult, RunResult, SteadyState, Verdict};
use measure::sample::RunTotals;
use measure::service_level::{Judgement, Measured, evaluate, judge};
use std::time::Duration;

/// The phases that the result lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    /// Databases that are missing are built.
    Build,
    /// Databases are opened, and recovered when needed.
    Open,
    /// Sessions run until the caches are warm.
    WarmUp,
    /// The number of sessions is searched.
    Tuning,
    /// The load that is judged.
    Measured,
    /// Databases are closed, their caches written.
    Close,
    /// Every page is verified.
    Checksum,
}

impl Span {
    fn name(self) -> &'static str {
        match self {
            Self::Build => "build",
            Self::Open => "open",
            Self::WarmUp => "warm-up",
            Self::Tuning => "tuning",
            Self::Measured => "measured",
            Self::Close => "close",
            Self::Checksum => "checksum",
        }
    }
}

/// What is known about a run besides its counts.
pub struct Account {
    base: RunResult,
    spans: Vec<(Span, u64, u64)>,
    open_span: Option<(Span, u64)>,
    errors: Vec<ErrorRecord>,
    /// Why simulated time does not advance, if it does not.
    zero_delay_loop: Option<String>,
    interrupted: bool,
    warnings: Vec<String>,
    notes: Vec<String>,
    checks: Vec<Check>,
}

impl Account {
    /// An account that begins with what the caller knows.
    #[must_use]
    pub fn new(base: RunResult) -> Self {
        Self {
            base,
            spans: Vec::new(),
            open_span: None,
            errors: Vec::new(),
            zero_delay_loop: None,
            interrupted: false,
            warnings: Vec::new(),
            notes: Vec::new(),
            checks: Vec::new(),
        }
    }

    /// Notes the time at which a phase begins.
    pub fn begin_span(&mut self, span: Span, now_ns: u64) {
        self.open_span = Some((span, now_ns));
    }

    /// The present phase, if any, ends.
    pub fn end_span(&mut self, now_ns: u64) {
        if let Some((span, begun_ns)) = self.open_span.take() {
            self.spans.push((span, begun_ns, now_ns));
        }
    }

    /// Notes a failure that ends the run. A zero-delay loop says nothing against the storage, so it
    /// is no error of it.
    pub fn fail(&mut self, failure: &Failure, now_ns: u64) {
        if failure.kind == FailureKind::ZeroDelayLoop {
            self.zero_delay_loop
                .get_or_insert_with(|| failure.error.clone());
            return;
        }
        self.errors.push(ErrorRecord {
            at_s: now_ns as f64 / 1e9,
            kind: failure.kind.into(),
            file: failure.file.clone(),
            page: failure.page,
            operation: failure.operation.clone(),
            error: failure.error.clone(),
        });
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
        self.zero_delay_loop.is_some() || !self.errors.is_empty()
    }

    /// Whether the run ends before its time.
    #[must_use]
    pub fn was_cut_short(&self) -> bool {
        self.interrupted || self.has_failed()
    }

    /// Judges the levels with the totals so far.
    pub fn judge(&mut self, plan: &RunPlan, totals: &RunTotals) {
        if totals.measured_s() > 0.0 {
            let levels = &plan.service_levels;
            self.checks = evaluate(levels, &self.measured(plan, totals, None));
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
        must_be_steady: Option<&'a SteadyState>,
    ) -> Measured<'a> {
        Measured {
            totals,
            planned_s: Some(plan.run.duration.as_seconds()),
            target_iops: plan.rate_to_reach(),
            errors: &self.errors,
            interrupted: self.interrupted,
            must_be_steady,
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
        result.phases = self.phases();
        result.throughput.target_iops = plan.rate_to_reach();
        result.throughput.threads = Some(u64::from(load_control.sessions()));
        if let Loop::Open { .. } = plan.how {
            result.throughput.rate_iops = plan.run.held_rate;
        }
        totals.fill(&mut result);
        result.tuning = load_control.tuning_result();
        result.errors.clone_from(&self.errors);
        result.warnings.extend(self.warnings.iter().cloned());
        result.notes.extend(self.notes.iter().cloned());
        if shed > 0 {
            result.warnings.push(format!(
                "{shed} transactions were due and never began, because more than {:.0} s of them \
                 waited already: the storage cannot keep this rate.",
                super::plan::BACKLOG_S
            ));
        }
        let rule = plan.run.steady_state.rule();
        let interval_s = plan.run.sample_interval.as_seconds();
        let steady = match plan.steady_by {
            SteadyBy::Rate => {
                let variable = "database reads and writes per second";
                rule.judge(variable, totals.iops_by_sample(), interval_s)
            }
            SteadyBy::ReadLatency => {
                let variable = "the average database read latency in ms";
                let samples = totals.average_ms_by_sample(Stream::DatabaseRead);
                rule.judge(variable, &samples, interval_s)
            }
        };
        let levels = &plan.service_levels;
        let measured = self.measured(plan, totals, rule.required.then_some(&steady));
        let checks = evaluate(levels, &measured);
        let judgement = judge(levels, &measured, &checks);
        if plan.build_only && complete && judgement.verdict != Verdict::Error && !self.interrupted {
            result.set_verdict(Verdict::Built, "The databases were built.");
            return result;
        }
        enter(judgement, checks, &mut result, totals);
        if let Some(reason) = &self.zero_delay_loop {
            match result.verdict {
                Verdict::Pass | Verdict::Inconclusive => {
                    result.set_verdict(Verdict::Inconclusive, reason.clone());
                }
                _ => result.warnings.push(reason.clone()),
            }
        }
        if !complete {
            result.mark_unfinished();
        }
        if steady.steady == Some(false) && !rule.required {
            result.warnings.push(format!(
                "The run was not steady: {} has a range of {} % over five rounds.",
                steady.variable,
                percent(steady.range_fraction)
            ));
        }
        result.steady_state = Some(steady);
        result
    }

    fn phases(&self) -> Vec<PhaseResult> {
        let start: Option<jiff::Timestamp> = self.base.started.parse().ok();
        let phase = |&(span, begun_ns, ended_ns): &(Span, u64, u64)| PhaseResult {
            name: span.name().to_owned(),
            started: start
                .and_then(|start| start.checked_add(Duration::from_nanos(begun_ns)).ok())
                .map(|at| at.to_string())
                .unwrap_or_default(),
            duration_s: (ended_ns - begun_ns) as f64 / 1e9,
        };
        self.spans.iter().map(phase).collect()
    }
}

/// A run that ended before anything was measured has nothing to judge but its end.
fn enter(judgement: Judgement, checks: Vec<Check>, result: &mut RunResult, totals: &RunTotals) {
    if totals.measured_s() > 0.0 || judgement.verdict == Verdict::Error {
        judgement.enter(checks, result);
    } else if judgement.verdict == Verdict::Interrupted {
        result.set_verdict(judgement.verdict, "Stopped before anything was measured.");
    } else {
        result.set_verdict(Verdict::Inconclusive, "Nothing has been measured yet.");
    }
}
