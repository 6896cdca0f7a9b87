//! The rules: measured figures against limits.

use super::ServiceLevels;
use crate::display::number;
use crate::display::number::counted;
use crate::metric::IoMetric;
use crate::metric::Stream;
use crate::result::{
    Check, CheckId, ErrorCount, ErrorRecord, IntegrityClass, SlowSample, SteadyState, TestKind,
    by_column, has_measured_phase,
};
use crate::sample::{DatabaseTotals, RunTotals, SampleAverage};

/// Samples above its limit that a check lists at most.
const MOST_SLOW_SAMPLES: usize = 200;

/// What service levels are compared with.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    /// Totals of the measured phase.
    pub totals: &'a RunTotals,
    /// Length that was asked for, which decides between strict and lenient limits; `None` takes
    /// the measured length.
    pub planned_s: Option<f64>,
    /// What the workload asks for; `None` when no rate is asked for.
    pub target_iops: Option<f64>,
    /// Errors of storage and engine in any phase, checksum errors included: those that are listed.
    pub errors: &'a [ErrorRecord],
    /// All errors by database and class.
    pub error_counts: &'a [ErrorCount],
    /// After how many seconds a request counts as hung; `None` where nobody looks for them.
    pub hung_after_s: Option<f64>,
    /// Whether somebody stopped the run.
    pub interrupted: bool,
    /// The tests of the run, as in [`crate::result::RunResult::tests`]: without a measured phase errors
    /// alone are judged here, and the lenient limits are those of a stress test.
    pub tests: &'a [TestKind],
    /// Steadiness, when it is required.
    pub must_be_steady: Option<&'a SteadyState>,
}

/// Judges every service level, in the order in which people read them: latency of each database,
/// spikes, stalls, achieved rate, errors.
pub fn evaluate(levels: &ServiceLevels, measured: &Measured<'_>) -> Vec<Check> {
    let mut checks = Vec::new();
    if has_measured_phase(measured.tests) {
        checks.extend(of_measured_phase(levels, measured));
    }
    checks.push(errors(levels, measured));
    let hung_after_s = measured.hung_after_s;
    checks.extend(hung_after_s.map(|after_s| hung(levels, measured, after_s)));
    checks.retain(|c| c.limit.is_finite());
    checks
}

/// The levels of latency, stalls and rate.
fn of_measured_phase(levels: &ServiceLevels, measured: &Measured<'_>) -> Vec<Check> {
    let totals = measured.totals;
    let mut checks = Vec::new();
    let planned_s = measured.planned_s.unwrap_or(totals.measured_s());
    let is_stress = measured.tests.contains(&TestKind::Stress);
    let lenient = is_stress || planned_s > levels.lenient_above_s;
    for (name, database) in totals.databases() {
        for reading in readings(levels, lenient) {
            // A workload that writes nothing has no log writes to be judged.
            if reading.stream == Stream::LogWrite && !writes_anything(database) {
                continue;
            }
            let reading = reading.or_stand_in(database);
            checks.extend(reading.checks(levels, name, database, totals));
        }
    }
    for (name, database) in totals.databases() {
        checks.push(stalls(levels, name, database, totals));
    }
    checks.extend(levels.operations.checks(totals));
    checks.extend(
        measured
            .target_iops
            .map(|target| achieved(levels, target, totals)),
    );
    checks
}

/// The limits of one stream.
struct Reading {
    stream: Stream,
    /// The checks of the average, the 99th percentile and the highest sample.
    ids: [CheckId; 3],
    what: &'static str,
    average_ms: f64,
    p99_ms: f64,
    maximum_ms: f64,
    maximum_set: &'static str,
    /// What the rule says of whose latencies these are, when they are not those of `what` alone.
    among: &'static str,
}

fn readings(levels: &ServiceLevels, lenient: bool) -> [Reading; 2] {
    let choose = |strict, when_lenient| if lenient { when_lenient } else { strict };
    let maximum_set = choose("strict", "lenient");
    let choose = |strict: f64, when_lenient: f64| if lenient { when_lenient } else { strict };
    [
        Reading {
            stream: Stream::DatabaseRead,
            ids: [
                CheckId::DatabaseReadAverage,
                CheckId::DatabaseReadP99,
                CheckId::DatabaseReadMax,
            ],
            what: "database read",
            average_ms: levels.average_database_read_ms,
            p99_ms: levels.p99_database_read_ms,
            maximum_ms: choose(
                levels.maximum_database_read_strict_ms,
                levels.maximum_database_read_lenient_ms,
            ),
            maximum_set,
            among: "",
        },
        Reading {
            stream: Stream::LogWrite,
            ids: [
                CheckId::LogWriteAverage,
                CheckId::LogWriteP99,
                CheckId::LogWriteMax,
            ],
            what: "log write",
            average_ms: levels.average_log_write_ms,
            p99_ms: levels.p99_log_write_ms,
            maximum_ms: choose(
                levels.maximum_log_write_strict_ms,
                levels.maximum_log_write_lenient_ms,
            ),
            maximum_set,
            among: "",
        },
    ]
}

impl Reading {
    /// On a volume that shows averages only, log writes cannot be separated from other writes: then
    /// all writes are judged by the limits of the log.
    fn or_stand_in(self, database: &DatabaseTotals) -> Reading {
        let count = |stream| database.stream(stream).meter.count();
        if self.stream != Stream::LogWrite || count(Stream::LogWrite) > 0 {
            return self;
        }
        Reading {
            stream: Stream::DatabaseWrite,
            among: " (log writes could not be separated from others, so all writes are judged)",
            ..self
        }
    }

    fn checks(
        &self,
        levels: &ServiceLevels,
        name: &str,
        database: &DatabaseTotals,
        totals: &RunTotals,
    ) -> [Check; 3] {
        let latency = &database.stream(self.stream).meter.latency;
        let (what, count) = (self.what, number::count(latency.count()));
        let noun = if self.among.is_empty() { what } else { "write" };
        let of_all = format!(
            "over the {count} {noun}s of the measured phase{}",
            self.among
        );
        let [average, p99, _] = self.ids;
        [
            Check::of(
                average,
                name,
                self.average_ms,
                latency.average_ms(),
                format!(
                    "Sum of all latencies divided by their number, {of_all}. Allowed: {} ms.",
                    self.average_ms
                ),
            ),
            Check::of(
                p99,
                name,
                self.p99_ms,
                latency.figure(IoMetric::P99),
                format!(
                    "99 % of the latencies, {of_all}, are at most this long. Allowed: {} ms.",
                    self.p99_ms
                ),
            ),
            self.maximum(levels, name, database, totals),
        ]
    }

    /// The spike rule: with N samples allowed above the limit, the N+1st highest sample average
    /// must not exceed it.
    fn maximum(
        &self,
        levels: &ServiceLevels,
        name: &str,
        database: &DatabaseTotals,
        totals: &RunTotals,
    ) -> Check {
        let samples = &database.stream(self.stream).samples;
        let mut averages: Vec<f64> = samples
            .iter()
            .filter(|s| s.count > 0)
            .map(|s| f64::from(s.average_ms))
            .collect();
        averages.sort_by(|a, b| b.total_cmp(a));
        let allowed = levels.allowed_maximum_violations as usize;
        let above = averages
            .iter()
            .take_while(|&&a| a > self.maximum_ms)
            .count();
        let length = format!("{} s", totals.interval_s());
        let (limit, set) = (self.maximum_ms, self.maximum_set);
        let what = format!("{} latency{}", self.what, self.among);
        let all = number::count(averages.len() as u64);
        let rule = if allowed == 0 {
            format!(
                "Allowed: no sample ({length}) with an average {what} above the {set} limit of \
                 {limit} ms. Found: {above} of {all}."
            )
        } else {
            format!(
                "Allowed: at most {} ({length}) with an average {what} above the \
                 {set} limit of {limit} ms, so the value is number {} from the top. Found: {above} \
                 of {all}.",
                counted(allowed as u64, "sample"),
                allowed + 1
            )
        };
        let [.., id] = self.ids;
        let check = Check::of(id, name, limit, averages.get(allowed).copied(), rule);
        if check.passed == Some(false) {
            return Check {
                samples_above: above as u64,
                slow_samples: slow_samples(samples, limit, totals),
                ..check
            };
        }
        if averages.is_empty() || check.value.is_some() {
            return check;
        }
        // Where every sample may exceed the limit, nothing is judged. Where only those that have such requests
        // may, the level is met whatever they are.
        Check {
            passed: (totals.full_samples() > allowed).then_some(true),
            ..check
        }
    }
}

/// Samples above a limit, at most [`MOST_SLOW_SAMPLES`], in the order of time.
fn slow_samples(samples: &[SampleAverage], limit_ms: f64, totals: &RunTotals) -> Vec<SlowSample> {
    let is_above =
        |sample: &SampleAverage| sample.count > 0 && f64::from(sample.average_ms) > limit_ms;
    let pairs = samples.iter().zip(totals.surroundings());
    let mut slow: Vec<SlowSample> = pairs
        .filter(|(sample, _)| is_above(sample))
        .map(|(sample, around)| SlowSample {
            begins_s: around.begins_s,
            requests: u64::from(sample.count),
            average_ms: f64::from(sample.average_ms),
            host: by_column(&around.host),
            devices: around
                .devices
                .iter()
                .map(|(name, values)| (name.clone(), by_column(values)))
                .collect(),
        })
        .collect();
    slow.sort_by(|a, b| b.average_ms.total_cmp(&a.average_ms));
    slow.truncate(MOST_SLOW_SAMPLES);
    slow.sort_by(|a, b| a.begins_s.total_cmp(&b.begins_s));
    slow
}

fn writes_anything(database: &DatabaseTotals) -> bool {
    let count = |stream| database.stream(stream).meter.count();
    count(Stream::LogWrite) + count(Stream::DatabaseWrite) > 0
}

fn stalls(
    levels: &ServiceLevels,
    name: &str,
    database: &DatabaseTotals,
    totals: &RunTotals,
) -> Check {
    let limit = levels.page_fault_stalls_per_second;
    let measured_s = totals.measured_s();
    let rate = (measured_s > 0.0).then(|| database.page_fault_stalls as f64 / measured_s);
    let rule = format!(
        "Page faults that had to wait for a free page of the cache, over the whole measured phase. \
         Allowed: {limit} per second; more means that the cache is too small or writes back too \
         late."
    );
    Check::of(CheckId::PageFaultStalls, name, limit, rate, rule)
}

fn achieved(levels: &ServiceLevels, target: f64, totals: &RunTotals) -> Check {
    let margin = levels.achieved_margin_fraction;
    let measured = totals.measured_s() > 0.0;
    let rule = format!(
        "Database reads plus database writes per second, all databases, without log, maintenance \
         and header traffic. Required: the target of {} IOPS less a margin of {} %.",
        short(target),
        short(100.0 * margin)
    );
    let rate = measured.then(|| totals.achieved_iops());
    Check::of_run(CheckId::AchievedIops, target * (1.0 - margin), rate, rule)
}

/// A number for a sentence: whole from 1000 up, otherwise up to three significant digits.
fn short(value: f64) -> String {
    let magnitude = value.abs().max(1e-9).log10().floor();
    let decimals = (2.0 - magnitude).clamp(0.0, 9.0) as usize;
    let text = format!("{value:.decimals$}");
    if decimals == 0 {
        return text;
    }
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}

fn errors(levels: &ServiceLevels, measured: &Measured<'_>) -> Check {
    let rule = format!(
        "Failed requests, also for want of space, and pages with a wrong checksum, page number or \
         version, in all phases of the run. A page that is met again counts once. Allowed: {}.",
        number::count(levels.allowed_errors)
    );
    let limit = levels.allowed_errors as f64;
    let errors = Some(error_count(measured) as f64);
    Check::of_run(CheckId::Errors, limit, errors, rule)
}

/// Hung requests are errors, too: this check says how many of them there were.
fn hung(levels: &ServiceLevels, measured: &Measured<'_>, after_s: f64) -> Check {
    let rule = format!(
        "Requests that were not answered within {} s, in all phases of the run. They count as errors, \
         of which {} are allowed.",
        short(after_s),
        number::count(levels.allowed_errors)
    );
    let counts = measured.error_counts.iter();
    let hung = counts.filter(|count| count.class == Some(IntegrityClass::Hung));
    let hung: u64 = hung.map(|count| count.errors).sum();
    let limit = levels.allowed_errors as f64;
    Check::of_run(CheckId::HungRequests, limit, Some(hung as f64), rule)
}

/// Different errors that were reported and are of data; where nothing reports errors, failed requests that were
/// counted.
pub(super) fn error_count(measured: &Measured<'_>) -> u64 {
    let reported: u64 = measured.error_counts.iter().map(|one| one.errors).sum();
    let listed = measured.errors.iter();
    let listed = listed.filter(|error| error.kind.is_of_data()).count();
    let reported = reported.max(listed as u64);
    if reported > 0 {
        return reported;
    }
    let databases = measured.totals.databases();
    databases
        .flat_map(|(_, d)| Stream::ALL.map(|s| d.stream(s).meter.errors))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::short;

    #[test]
    fn numbers_in_sentences_are_short() {
        let shown = [
            0.046_566_128_730_773_926,
            5.000_000_000_000_001,
            19.25,
            1210.4,
            0.0,
        ]
        .map(short);
        assert_eq!(shown, ["0.0466", "5", "19.2", "1210", "0"]);
    }
}
