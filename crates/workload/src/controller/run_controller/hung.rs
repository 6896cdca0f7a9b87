//! Requests that hang, as the run controller takes them: what is said of them, and when the run waits for
//! them no longer.

use super::RunController;
use crate::controller::hung::{HungReport, HungRequest};
use crate::controller::listener::RunListener;
use crate::failure::{Failure, FailureKind, IntegrityFinding};
use crate::progress::HungRequests;
use measure::metric::Stream;
use measure::result::IntegrityClass;
use measure::sample::ShardSample;
use std::collections::BTreeMap;
use std::time::Duration;

/// A load of which nothing was answered for so many times the time after which a request is hung has
/// come to its end.
const DEAD_AFTER: u64 = 10;
/// The controller checks every few milliseconds; after a pause of so long it was suspended itself.
const SUSPENDED_NS: u64 = 2_000_000_000;

/// What is known of hung requests, by shard.
pub(super) struct Hung {
    after_ns: u64,
    /// Whether time is that of the clock, where a thread may be stuck in the kernel.
    by_the_clock: bool,
    hanging: Vec<Vec<HungRequest>>,
    /// When each shard sent its last message.
    last_message_ns: Vec<u64>,
    /// When a request of any shard was answered last.
    answered_ns: u64,
    last_check_ns: u64,
    gave_up: bool,
}

impl Hung {
    /// Nothing hangs yet, in so many shards.
    pub(super) fn new(shards: usize, after_ns: u64) -> Self {
        Self {
            after_ns,
            by_the_clock: false,
            hanging: vec![Vec::new(); shards],
            last_message_ns: vec![0; shards],
            answered_ns: 0,
            last_check_ns: 0,
            gave_up: false,
        }
    }

    /// The requests that hang at present.
    pub(super) fn now(&self) -> Option<HungRequests> {
        let all = self.hanging.iter().flatten();
        let longest_ns = all.map(|one| one.outstanding_ns).max()?;
        Some(HungRequests {
            count: self.hanging.iter().map(Vec::len).sum(),
            longest: Duration::from_nanos(longest_ns),
        })
    }

    /// A shard has sent a message.
    pub(super) fn note_message(&mut self, shard: usize, now_ns: u64) {
        self.last_message_ns[shard] = now_ns;
    }

    /// The counts of a shard: whether the storage answers at all.
    pub(super) fn count(&mut self, counts: &ShardSample, now_ns: u64) {
        let is_answered = counts.databases.iter().any(|database| {
            let streams = Stream::ALL
                .into_iter()
                .filter_map(|stream| database.stream(stream));
            streams.map(measure::sample::IoMeter::count).sum::<u64>() > 0
        });
        if is_answered {
            self.answered_ns = now_ns;
        }
    }

    /// A pause of the controller itself says nothing about shards and storage.
    fn allow_for_pause(&mut self, now_ns: u64) {
        let pause_ns = now_ns.saturating_sub(self.last_check_ns);
        if pause_ns > SUSPENDED_NS {
            for last_message_ns in &mut self.last_message_ns {
                *last_message_ns += pause_ns;
            }
            self.answered_ns += pause_ns;
        }
        self.last_check_ns = now_ns;
    }

    /// Whether a shard hangs: it has a request that was to be answered long ago, or sends no messages.
    fn is_stuck(&self, shard: usize, now_ns: u64) -> bool {
        let longest_ns = self.hanging[shard]
            .iter()
            .map(|one| one.outstanding_ns)
            .max();
        let is_silent =
            self.by_the_clock && now_ns > self.last_message_ns[shard] + 2 * self.after_ns;
        longest_ns.is_some_and(|length_ns| length_ns >= 2 * self.after_ns) || is_silent
    }

    /// Whether nothing at all has been answered for very long, while something hangs.
    fn is_dead(&self, now_ns: u64) -> bool {
        let limit_ns = DEAD_AFTER * self.after_ns;
        let hangs = self
            .hanging
            .iter()
            .flatten()
            .any(|one| one.outstanding_ns >= limit_ns);
        hangs && now_ns > self.answered_ns + limit_ns
    }

    /// The files with their numbers of requests that hang, in words.
    fn describe(&self) -> String {
        let mut files: BTreeMap<&str, (usize, u64)> = BTreeMap::new();
        for one in self.hanging.iter().flatten() {
            let (count, longest_ns) = files.entry(&one.request.file).or_default();
            *count += 1;
            *longest_ns = one.outstanding_ns.max(*longest_ns);
        }
        let parts = files.iter().take(10).map(|(file, (count, longest_ns))| {
            let noun = if *count == 1 { "request" } else { "requests" };
            format!(
                "{file} ({count} {noun}, the oldest for {} s)",
                longest_ns / 1_000_000_000
            )
        });
        parts.collect::<Vec<_>>().join(", ")
    }
}

impl RunController {
    /// From now on requests are judged by the clock, and a shard that is not heard of is missed.
    pub fn watch_by_the_clock(&mut self, now_ns: u64) {
        self.hung.by_the_clock = true;
        self.hung.last_message_ns.fill(now_ns);
        self.hung.last_check_ns = now_ns;
        self.account.judge_hung_requests(self.hung.after_ns);
    }

    /// Whether the run has ended without its shards, which hang.
    #[must_use]
    pub fn gave_up(&self) -> bool {
        self.hung.gave_up
    }

    /// Takes in the requests of a shard that hang, and those that did.
    pub(super) fn enter_hung(
        &mut self,
        shard: usize,
        report: HungReport,
        now_ns: u64,
        listener: &mut dyn RunListener,
    ) {
        for one in &report.hanging {
            let is_new = !self.hung.hanging[shard]
                .iter()
                .any(|known| known.request == one.request);
            let failure = failure_of(one, false);
            let times = u64::from(is_new);
            self.account.count(one.database, &failure, times, now_ns);
            if is_new {
                self.note_error(&failure, now_ns, listener);
            }
        }
        for one in &report.answered {
            let failure = failure_of(one, true);
            self.account.count(one.database, &failure, 0, now_ns);
            listener.note(&failure.to_string());
        }
        self.hung.hanging[shard] = report.hanging;
    }

    /// Ends a load whose storage answers nothing any more, and a run that waits for shards that hang.
    pub(super) fn report_hung(&mut self, now_ns: u64, listener: &mut dyn RunListener) {
        self.hung.allow_for_pause(now_ns);
        let is_load = self.stage.is_load();
        if is_load {
            if !self.is_failing && self.hung.is_dead(now_ns) {
                let text = format!(
                    "The load was ended, because the storage has answered no request for {} s.",
                    DEAD_AFTER * self.hung.after_ns / 1_000_000_000
                );
                listener.note(&text);
                self.account.end_load(text);
                self.is_failing = true;
            }
            return;
        }
        let has_waited = now_ns >= self.stage_begun_ns + self.hung.after_ns;
        let waits_for = (0..self.orders.len()).filter(|shard| !self.has_ended[*shard]);
        let mut stuck = waits_for.filter(|shard| self.hung.is_stuck(*shard, now_ns));
        if has_waited && stuck.next().is_some() {
            self.give_up(now_ns, listener);
        }
    }

    /// Ends the run without the shards that have not ended.
    fn give_up(&mut self, now_ns: u64, listener: &mut dyn RunListener) {
        let which = match self.hung.describe() {
            which if which.is_empty() => "a call of the kernel has not returned".to_owned(),
            which => format!("these requests have not been answered: {which}"),
        };
        let text = format!("The run waits no longer for the storage: {which}.");
        listener.note(&text);
        let failure = Failure {
            integrity: Some(Box::new(IntegrityFinding::of_class(IntegrityClass::Hung))),
            ..Failure::new(FailureKind::Io, "", "waiting for the storage", which)
        };
        self.account.fail(&failure, now_ns);
        self.account.warn(text);
        if self.plan.run.verify_after_run && !self.plan.build_only {
            let why = "Not every database was verified, because requests to the storage hang.";
            self.account.not_verified(why);
        }
        for shard in 0..self.orders.len() {
            if !self.has_ended[shard] {
                self.end_shard(shard, listener);
            }
        }
        self.hung.gave_up = true;
    }
}

/// The error that a hung request is.
fn failure_of(one: &HungRequest, is_answered: bool) -> Failure {
    let request = &one.request;
    let seconds = (one.outstanding_ns + 500_000_000) / 1_000_000_000;
    let what = match request.length_bytes {
        0 => "the request".to_owned(),
        length => format!(
            "the request ({length} bytes at offset {})",
            request.offset_bytes
        ),
    };
    let error = match is_answered {
        true => format!("{what} was answered after {seconds} s"),
        false => format!("{what} has not been answered for {seconds} s"),
    };
    Failure {
        integrity: Some(Box::new(IntegrityFinding {
            offset_bytes: Some(request.offset_bytes),
            outstanding_ns: Some(one.outstanding_ns),
            answered: Some(is_answered),
            ..IntegrityFinding::of_class(IntegrityClass::Hung)
        })),
        ..Failure::new(FailureKind::Io, &request.file, request.operation, error)
    }
}
