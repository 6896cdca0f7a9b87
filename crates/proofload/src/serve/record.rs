//! The run directory of a served array: what its clients did and what the array did for them, sample by
//! sample, and the result at the end.

use std::time::{Duration, Instant};

use ::serve::{Client, Meter, Served, ServedVolume};
use array::ArrayCounters;
use execution::clock;
use execution::events::ignore;
use execution::recorder::Recorder;
use execution::{Error, results};
use jiff::Timestamp;
use measure::display::number::{count, latency};
use measure::headline;
use measure::result::{PhaseResult, RunKind, RunResult, Verdict};
use measure::sample::{Collector, Sample};
use measure::units;
use workload::controller::RunListener;
use workload::progress::{Phase, StopRequest};

use super::following::Following;
use super::{Prepared, ServeScenario};
use crate::predict::{self, ARRAY_FILE, ArrayDetails};
use crate::replay::{array_place, volume_row};
use crate::workloads::short_name;

/// Above this share of the average response time, answers that are late by as much on average are not the model's.
const MOST_LATENESS: f64 = 0.1;

/// Records what is served.
pub(super) struct ServeRecord {
    base: RunResult,
    recorder: Recorder,
    array_details: ArrayDetails,
    collector: Collector,
    client: Client,
    following: Following,
    interval: Duration,
    sampled: Instant,
    /// The time of the array from which samples and events count.
    start_ns: u64,
    /// What had ended before anything was counted, such as the requests of mkfs.
    before: Ended,
    /// What has ended so far.
    ended: Ended,
    from: ArrayCounters,
    until: ArrayCounters,
}

impl ServeRecord {
    /// Makes the run directory, and begins to count.
    pub(super) fn begin(
        prepared: &Prepared,
        client: Client,
        following: Following,
    ) -> Result<Option<Self>, Error> {
        let scenario = &prepared.scenario;
        let started = clock::timestamp();
        let name = short_name(scenario.array.registry, &scenario.array.array);
        let config = format!(
            "# Served by 'proofload serve {ARRAY_FILE} --volumes {} --seed {} ...'.\n",
            scenario.volumes, scenario.seed
        );
        let Some(directory) = results::open(&scenario.output, &name, started, &config, None)?
        else {
            return Ok(None);
        };
        predict::write_array(&directory, &prepared.description)?;
        let base = base(scenario, prepared, started);
        results::begin(Some(&directory), &base)?;
        let mut recorder =
            Recorder::new(ignore(), Some(directory), StopRequest::default()).sparing();
        recorder.phase(Phase::Measuring, None);
        let start_ns = following.start_ns();
        let volumes = prepared.volumes.clone();
        let begun = client.look(move |array, served| {
            let now = array.counters();
            let meter = Meter::new(&volumes, now.now_ns.saturating_sub(start_ns));
            let layout = meter.layout();
            served.meter = Some(meter);
            (now, layout, Ended::of(served))
        });
        let Some((from, layout, before)) = begun else {
            return Ok(None);
        };
        let interval = scenario.sample_interval;
        Ok(Some(Self {
            base,
            recorder,
            array_details: ArrayDetails::new(
                &prepared.planned.settings.title,
                &prepared.description,
                &prepared.planned.settings,
            ),
            collector: Collector::new(layout, 1, interval.as_secs_f64(), None),
            client,
            following,
            interval,
            sampled: Instant::now(),
            start_ns,
            ended: before.clone(),
            before,
            until: from.clone(),
            from,
        }))
    }

    /// Takes a sample if one is due.
    pub(super) fn poll(&mut self) {
        if self.sampled.elapsed() >= self.interval {
            self.sampled += self.interval;
            self.sample();
        }
    }

    /// Takes what is left, while the array is still there.
    pub(super) fn end(&mut self) {
        self.sample();
        for sample in self.collector.finish() {
            self.recorder.keep(&sample, None);
        }
    }

    fn sample(&mut self) {
        let start_ns = self.start_ns;
        let taken = self.client.look(move |array, served| {
            let now = array.counters();
            let meter = served.meter.as_mut();
            let part = meter.map(|meter| meter.take(now.now_ns.saturating_sub(start_ns)));
            (part, now, Ended::of(served))
        });
        let Some((Some(part), now, ended)) = taken else {
            return;
        };
        self.ended = ended;
        let mut inside = self.array_details.between(&self.until, &now);
        self.following.enter(&mut inside);
        self.until = now;
        for sample in self.collector.accept(part) {
            let sample = Sample {
                array: Some(inside.clone()),
                ..sample
            };
            let wants_result = self.recorder.wants_result();
            let so_far = wants_result.then(|| {
                let mut result = self.result();
                result.mark_unfinished();
                result
            });
            self.recorder.keep(&sample, so_far.as_ref());
        }
    }

    /// The result of what was served so far.
    fn result(&self) -> RunResult {
        let mut result = self.base.clone();
        self.collector.totals().fill(&mut result);
        result.wall_seconds = Some(self.until.now_ns.saturating_sub(self.from.now_ns) as f64 / 1e9);
        let requests = self.ended.requests - self.before.requests;
        result.host_requests = Some(requests);
        result.array = Some(self.array_details.between(&self.from, &self.until));
        self.following.complete(&mut result);
        result.phases = vec![PhaseResult {
            name: "measured".to_owned(),
            started: result.started.clone(),
            duration_s: result.wall_seconds.unwrap_or(0.0),
        }];
        let failed = match self.ended.failed - self.before.failed {
            0 => String::new(),
            failed => format!(", and {} failed", count(failed)),
        };
        result.set_verdict(
            Verdict::Pass,
            format!(
                "{} of programs ended{failed}. No service level is judged for an array that is served.",
                units::count(requests, "request")
            ),
        );
        lateness(&mut result, &self.ended);
        checksum_errors(&mut result);
        result
    }

    /// The result of what was served, written to its directory.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn finish(mut self) -> Result<execution::Outcome, Error> {
        let mut result = self.result();
        result.complete = true;
        result.headline = headline::compose(&result, None);
        for event in &result.events {
            self.recorder.note(&event.text);
        }
        let directory = self.recorder.finish(&mut result).1.complete()?;
        Ok(execution::Outcome {
            result,
            directory,
            unwritten: None,
            storage: None,
        })
    }
}

/// Requests that have ended.
#[derive(Debug, Clone)]
struct Ended {
    requests: u64,
    failed: u64,
    /// Mean time from a request to its answer; 0 without any.
    average_ms: f64,
    /// How much later than the model says answers were given: on average, at p99 and at most.
    late_ms: Option<[f64; 3]>,
}

impl Ended {
    fn of(served: &Served) -> Self {
        let all = [&served.reads, &served.writes, &served.flushes];
        let requests: u64 = all.iter().map(|one| one.count()).sum();
        let sums = all
            .iter()
            .filter_map(|one| Some(one.average_ms()? * one.count() as f64));
        let late = &served.lateness;
        Self {
            requests,
            failed: served.failed,
            average_ms: sums.sum::<f64>() / requests.max(1) as f64,
            late_ms: late.average_ms().map(|average_ms| {
                let longest_ms = late.longest_ns() as f64 / 1e6;
                [average_ms, late.quantile_ms(0.99), longest_ms]
            }),
        }
    }
}

/// What is known before anything is served.
fn base(scenario: &ServeScenario, prepared: &Prepared, started: Timestamp) -> RunResult {
    let settings = &prepared.planned.settings;
    let name = short_name(scenario.array.registry, &scenario.array.array);
    let mut result = RunResult::new();
    result.kind = RunKind::Served;
    result.workload.name = "programs".to_owned();
    result.workload.description =
        "What programs read and wrote while the array was served.".to_owned();
    result.host = measure::host::facts::<&str>(&[]);
    result.seed = scenario.seed;
    result.started = started.to_string();
    result.notes.extend(prepared.planned.notes.iter().cloned());
    result.warnings.extend(prepared.planned.warning());
    let volumes = prepared.volumes.iter();
    let row = |volume: &ServedVolume| {
        let on_array = &settings.volumes[usize::from(volume.id.0)];
        volume_row(&volume.name, &on_array.name, volume.size_bytes)
    };
    result.databases = volumes.map(row).collect();
    result.target.databases = vec![array_place(name, settings)];
    result
}

/// Says how many sectors disagreed with their checksums, and on which disks.
fn checksum_errors(result: &mut RunResult) {
    let disks = result.array.iter().flat_map(|array| &array.disks);
    let wrong = disks.filter_map(|disk| Some((disk.number, disk.checksum_errors?)));
    let wrong: Vec<(u64, u64)> = wrong.collect();
    if wrong.is_empty() {
        return;
    }
    let sectors = wrong.iter().map(|(_, sectors)| sectors).sum();
    let numbers = wrong.iter().map(|(number, _)| number.to_string());
    result.warnings.push(format!(
        "{} that disks gave back disagreed with their checksums (disk {}). What could be computed from other disks was.",
        units::count(sectors, "sector"),
        numbers.collect::<Vec<_>>().join(", ")
    ));
}

/// Says how late answers were, and whether that is much beside the times of the model.
fn lateness(result: &mut RunResult, ended: &Ended) {
    let Some([average_ms, p99_ms, longest_ms]) = ended.late_ms else {
        return;
    };
    let sentence = format!(
        "Answers were given {} later than the model says on average, {} at p99, {} at most.",
        latency(average_ms),
        latency(p99_ms),
        latency(longest_ms)
    );
    if average_ms > MOST_LATENESS * ended.average_ms {
        result.warnings.push(format!(
            "{sentence} That is more than a tenth of the average response time: the host was too slow or \
             too busy for this array."
        ));
    } else {
        result.notes.push(sentence);
    }
}
