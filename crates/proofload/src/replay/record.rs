//! What is counted of a replay, shown while it goes on, and kept.

use std::sync::Arc;
use std::time::Duration;

use array::HostOperation;
use array::{Array, ArrayCounters};
use measure::metric::Stream;
use measure::result::{ErrorKind, ErrorRecord, RunResult};
use measure::sample::{Collector, Layout, Phase, Recorder as Counts, Sample};
use trace::Comparison;
use workload::controller::RunListener;
use workload::progress::{Clients, LiveSample, Phase as LivePhase, Sessions};

use super::arrivals::Due;
use super::outcome::{self, Counted, Ended};
use super::plan::Plan;
use super::responses::{Responses, Row, word};
use crate::predict::{ArrayDetails, Watch};
use execution::Error;
use execution::clock::Stopwatch;
use execution::events::Event;
use execution::recorder::Recorder;

/// Errors that are described one by one.
const ERRORS_LISTED: usize = 20;

/// Counts and keeps what a replay does.
pub struct Record {
    base: RunResult,
    recorder: Recorder,
    responses: Responses,
    array_details: ArrayDetails,
    watch: Watch,
    names: Vec<String>,
    counts: Counts,
    collector: Collector,
    comparison: Comparison,
    counted: Counted,
    errors: Vec<ErrorRecord>,
    interval_ns: u64,
    next_sample_ns: u64,
    from: ArrayCounters,
    until: ArrayCounters,
    /// The time integral of the requests that have arrived and not ended, ns.
    waited_ns: u128,
    total: u64,
    span: Option<Duration>,
    began: Stopwatch,
}

impl Record {
    pub fn new(
        plan: &Plan,
        base: RunResult,
        mut recorder: Recorder,
        mut responses: Responses,
    ) -> Self {
        let names: Vec<String> = plan.volumes.iter().map(|one| one.name.clone()).collect();
        responses.name_volumes(names.iter().cloned());
        let layout = Arc::new(Layout::new(names.iter().cloned(), Vec::<String>::new()));
        let interval_ns = plan.sample_interval_ns;
        let collector = Collector::new(Arc::clone(&layout), 1, interval_ns as f64 / 1e9, None);
        let span = plan.span_ns().map(Duration::from_nanos);
        recorder.phase(LivePhase::Measuring, span);
        Self {
            base,
            recorder,
            responses,
            array_details: plan.array_details(),
            watch: Watch::new(&plan.planned),
            names,
            counts: Counts::new(layout, 0, Phase::Measured, 0),
            collector,
            comparison: Comparison::default(),
            counted: Counted::new(plan),
            errors: Vec::new(),
            interval_ns,
            next_sample_ns: interval_ns,
            from: ArrayCounters::default(),
            until: ArrayCounters::default(),
            waited_ns: 0,
            total: plan.survey.requests,
            span,
            began: Stopwatch::start(),
        }
    }

    /// The clock starts; counters are taken relative to this moment.
    pub fn begin(&mut self, array: &mut Array<()>) {
        self.watch.begin(array, 0);
        self.from = array.counters();
        self.until = self.from.clone();
    }

    /// When the present sample ends.
    pub fn next_sample_ns(&self) -> u64 {
        self.next_sample_ns
    }

    /// A request goes into the array, in which there are `inside` with it.
    pub fn sent(&mut self, due: &Due, now_ns: u64, inside: usize) {
        self.counted.sent += 1;
        self.counted.largest_queue_depth = self.counted.largest_queue_depth.max(inside as u64);
        self.counted.held_back += u64::from(now_ns > due.at_ns);
        let widened = due.request.operation.has_stretch() && !due.request.is_aligned();
        self.counted.widened += u64::from(widened);
    }

    /// A request was wrapped to the start of its volume.
    pub fn wrapped(&mut self) {
        self.counted.wrapped += 1;
    }

    /// A request has ended.
    pub fn ended(&mut self, row: Row, now_ns: u64) -> Result<(), Error> {
        let Due { at_ns, request, .. } = row.due;
        self.counted.ended += 1;
        self.waited_ns += u128::from(now_ns - at_ns);
        let volume = request.volume as usize;
        let stream = stream_of(request.operation);
        match row.ended {
            Ok(ended_ns) => {
                let took_ns = ended_ns - at_ns;
                self.counts.io(volume, stream, request.size_bytes, took_ns);
                if let Some(measured_ns) = request.measured_ns {
                    self.comparison.add(request.operation, measured_ns, took_ns);
                }
            }
            Err(error) => {
                self.counted.failed += 1;
                self.counts.io_error(volume, stream);
                if self.errors.len() < ERRORS_LISTED {
                    self.errors.push(ErrorRecord {
                        at_s: now_ns as f64 / 1e9,
                        last_at_s: now_ns as f64 / 1e9,
                        times: 1,
                        kind: ErrorKind::Io,
                        file: self.names[volume].clone(),
                        operation: format!("{} (line {})", request.operation.name(), request.line),
                        error: format!("{} ({error})", word(error)),
                        ..ErrorRecord::default()
                    });
                }
            }
        }
        self.responses.add(row)
    }

    /// A sample ends at `now_ns`.
    pub fn end_sample(&mut self, array: &mut Array<()>, now_ns: u64) {
        self.next_sample_ns = now_ns + self.interval_ns;
        for text in self.watch.poll(array) {
            self.recorder.note(&text);
        }
        let now = array.counters();
        let mut inside = self.array_details.between(&self.until, &now);
        self.watch.enter(&mut inside);
        self.until = now;
        let part = self.counts.take(now_ns);
        for mut sample in self.collector.accept(part) {
            sample.array = Some(inside.clone());
            let live = self.live(&sample, now_ns);
            let wants_result = self.recorder.wants_result();
            let so_far = wants_result.then(|| self.result(now_ns, None));
            self.recorder.live(&live);
            self.recorder.keep(&sample, so_far.as_ref());
        }
        self.recorder.pass_on(Event::Replayed {
            requests: self.counted.ended,
            of: self.total,
            elapsed: Duration::from_nanos(now_ns),
            span: self.span,
        });
    }

    fn live(&self, sample: &Sample, now_ns: u64) -> LiveSample {
        let outstanding = self.counted.sent - self.counted.ended;
        LiveSample {
            elapsed: Duration::from_nanos(now_ns),
            iops: sample.iops(),
            target_iops: None,
            database_read_ms: sample.average_ms(Stream::DatabaseRead),
            log_write_ms: None,
            sessions: Sessions {
                clients: Clients::THREADS,
                count: outstanding.min(u64::from(u32::MAX)) as u32,
                operations_per_second: 0.0,
            },
            failing: Vec::new(),
            estimate: None,
            without_service: None,
            hung: None,
        }
    }

    /// The result so far, or (`ended`) of the whole replay.
    fn result(&self, now_ns: u64, ended: Option<Ended>) -> RunResult {
        let mut result = self.base.clone();
        self.collector.totals().fill(&mut result);
        result.errors.clone_from(&self.errors);
        result.simulated_seconds = Some(now_ns as f64 / 1e9);
        result.wall_seconds = Some(self.began.elapsed().as_secs_f64());
        result.host_requests = Some(self.counted.sent);
        result.array = Some(self.array_details.between(&self.from, &self.until));
        self.watch.complete(&mut result);
        let waited = self.waited_ns as f64 / now_ns.max(1) as f64;
        outcome::complete(&mut result, &self.counted, waited, ended);
        result
    }

    /// Ends the record and gives the result, which is written when `complete` has added what it has to.
    pub fn finish(
        mut self,
        ended: Ended,
        complete: impl FnOnce(&mut RunResult, &mut Recorder) -> Result<(), Error>,
    ) -> Result<RunResult, Error> {
        self.responses.finish()?;
        for sample in self.collector.finish() {
            let wants_result = self.recorder.wants_result();
            let so_far = wants_result.then(|| self.result(ended.at_ns, None));
            self.recorder.keep(&sample, so_far.as_ref());
        }
        let mut result = self.result(ended.at_ns, Some(ended));
        if let Some(trace) = &mut result.trace {
            trace.demerits = self.comparison.demerits();
        }
        complete(&mut result, &mut self.recorder)?;
        for line in outcome::final_lines(&result) {
            self.recorder.note(&line);
        }
        self.recorder.finish(&mut result).1.complete()?;
        Ok(result)
    }
}

fn stream_of(operation: HostOperation) -> Stream {
    match operation {
        HostOperation::Read => Stream::DatabaseRead,
        HostOperation::Write => Stream::DatabaseWrite,
        HostOperation::Flush | HostOperation::Trim => Stream::OtherWrite,
    }
}
