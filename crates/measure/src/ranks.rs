//! Many runs that went on at the same time, one on each rank, as one result.
//!
//! [`combine`] makes the result of the whole from those of the ranks and from what their samples add up to.
//! The run itself and its verification call it, so the whole can be worked out again from the run
//! directories of the ranks.
//!
//! - The verdict is the first that holds of any rank: error, interrupted, fail, inconclusive. A rank that was
//!   lost makes it interrupted, unless another one has an error.
//! - Latencies and rates of the whole are those of all requests of all ranks.
//! - Of each service level the worst check of all ranks is kept, and each one that was not met.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use crate::display::number::counted;
use crate::metric::Stream;
use crate::result::{Check, CheckId, RankResult, RunResult, Verdict};
use crate::sample::{RankTotals, RunTotals};
use crate::units;

/// Errors that are listed at most.
const MOST_ERRORS: usize = 500;
/// Warnings and notes of ranks that are kept at most.
const MOST_SENTENCES: usize = 100;

/// What is known of a rank.
#[derive(Debug, Clone, Default)]
pub struct Part {
    /// What is in no result document: host, clocks, whether it was lost. The rest is filled in.
    pub rank: RankResult,
    /// Its result document, if there is one.
    pub result: Option<RunResult>,
    /// What its samples add up to, if there are any.
    pub totals: Option<RunTotals>,
}

/// The result of the whole, from the parts in the order of their ranks. One part is looked at after the
/// other, and what it counted is not kept.
#[must_use]
pub fn combine(parts: impl IntoIterator<Item = Part>) -> RunResult {
    let mut whole = Whole::default();
    for part in parts {
        whole.add(part);
    }
    whole.finish()
}

/// What the parts come to so far.
#[derive(Default)]
struct Whole {
    result: RunResult,
    ranks: Vec<RankResult>,
    totals: Option<RankTotals>,
    checks: Checks,
    operations_per_second: f64,
    /// Ranks that have nothing of a verification, as they are called.
    without_verification: Vec<String>,
}

impl Whole {
    fn add(&mut self, mut part: Part) {
        fill_rank(&mut part);
        if let Some(own) = &part.totals {
            let totals = self
                .totals
                .get_or_insert_with(|| RankTotals::new(own.interval_s()));
            totals.add(own);
        }
        if let Some(own) = &part.result {
            if self.result.schema.is_empty() {
                begin(&mut self.result, own);
            }
            add(&mut self.result, &part.rank, own);
            self.checks.add(part.rank.rank, &own.checks);
            // Which operations count is not in the samples.
            self.operations_per_second += own.throughput.operations_per_second;
        }
        if !add_verification(&mut self.result, &part) {
            self.without_verification.push(part.rank.name());
        }
        self.ranks.push(part.rank);
    }

    fn finish(self) -> RunResult {
        let mut result = self.result;
        if result.schema.is_empty() {
            result = RunResult::new();
        }
        if let Some(totals) = &self.totals {
            totals.fill(&mut result);
        }
        result.throughput.operations_per_second = self.operations_per_second;
        if let (Some(verification), Some(first)) =
            (&mut result.verification, self.without_verification.first())
        {
            let count = counted(self.without_verification.len() as u64, "rank");
            let text = format!("{count} verified nothing: {first} is the first.");
            also(&mut verification.not_verified, &text);
        }
        let ranks = counted(self.ranks.len() as u64, "rank");
        result.workload.question = format!("{ranks}, each {}", result.workload.question);
        result.host.name = hosts(&self.ranks);
        judge(&mut result, &self.ranks, self.checks.count);
        result.checks = self.checks.kept();
        result.ranks = self.ranks;
        result
    }
}

/// The hosts, each once: all of a few, else how many.
fn hosts(ranks: &[RankResult]) -> String {
    const MOST: usize = 8;
    let mut hosts: Vec<&str> = ranks.iter().map(|rank| rank.host.as_str()).collect();
    hosts.sort_unstable();
    hosts.dedup();
    match hosts.len() {
        ..=MOST => hosts.join(", "),
        many => counted(many as u64, "host"),
    }
}

/// Takes over what the result of a rank says of it.
fn fill_rank(part: &mut Part) {
    let Some(result) = &part.result else {
        part.rank.verdict = Verdict::Interrupted;
        if part.rank.verdict_reason.is_empty() {
            part.rank.verdict_reason = "Nothing of its results has arrived.".to_owned();
        }
        return;
    };
    let rank = &mut part.rank;
    rank.complete = result.complete;
    rank.verdict = result.verdict;
    rank.verdict_reason.clone_from(&result.verdict_reason);
    rank.causes.clone_from(&result.causes);
    rank.cpus = result.host.cpus;
    rank.memory_bytes = result.host.memory_bytes;
    rank.databases = result.databases.len() as u64;
    rank.duration_s = result.duration_s;
    rank.achieved_iops = result.throughput.achieved_iops;
    rank.target_iops = result.throughput.target_iops;
    rank.worst_average_database_read_ms = result.worst_average_ms(Stream::DatabaseRead);
    rank.worst_average_log_write_ms = result.worst_average_ms(Stream::LogWrite);
    rank.document_sha256.clone_from(&result.document_sha256);
}

/// Begins with what all ranks have in common, as the first one that left a result has it.
fn begin(result: &mut RunResult, first: &RunResult) {
    *result = RunResult::new();
    result.version.clone_from(&first.version);
    result.workload = first.workload.clone();
    result.seed = first.seed;
    result.started.clone_from(&first.started);
    result.phases.clone_from(&first.phases);
    result.target.array_cache_bytes = first.target.array_cache_bytes;
    result.target.allow_cached = first.target.allow_cached;
    result
        .host
        .operating_system
        .clone_from(&first.host.operating_system);
    result.host.kernel.clone_from(&first.host.kernel);
}

/// Adds what can be added up of a rank to the whole. Names get the number of the rank before them.
fn add(result: &mut RunResult, rank: &RankResult, own: &RunResult) {
    let number = rank.rank;
    let throughput = &mut result.throughput;
    let sum = |a: Option<f64>, b: Option<f64>| b.map(|b| b + a.unwrap_or(0.0)).or(a);
    throughput.target_iops = sum(throughput.target_iops, own.throughput.target_iops);
    throughput.rate_iops = sum(throughput.rate_iops, own.throughput.rate_iops);
    throughput.threads = match (throughput.threads, own.throughput.threads) {
        (Some(a), Some(b)) => Some(a + b),
        (a, b) => a.or(b),
    };
    let fills = [
        throughput.cache_fill_fraction,
        own.throughput.cache_fill_fraction,
    ];
    throughput.cache_fill_fraction = fills.into_iter().flatten().reduce(f64::min);
    let sizes = [
        throughput.cache_size_fraction,
        own.throughput.cache_size_fraction,
    ];
    throughput.cache_size_fraction = sizes.into_iter().flatten().reduce(f64::min);
    result
        .databases
        .extend(own.databases.iter().map(|database| {
            let mut database = database.clone();
            database.name = placed(number, &database.name);
            database
        }));
    for (to, from) in [
        (&mut result.target.databases, &own.target.databases),
        (&mut result.target.logs, &own.target.logs),
    ] {
        to.extend(from.iter().map(|target| {
            let mut target = target.clone();
            target.path = format!("{}:{}", rank.host, target.path);
            // Devices stand in the results of the ranks.
            target.device = None;
            target
        }));
    }
    let total = |a: Option<u64>, b: Option<u64>| b.map(|b| b + a.unwrap_or(0)).or(a);
    let (all, target) = (&mut result.target, &own.target);
    all.engine_cache_bytes = total(all.engine_cache_bytes, target.engine_cache_bytes);
    all.engine_cache_least_bytes = total(
        all.engine_cache_least_bytes,
        target.engine_cache_least_bytes,
    );
    let room = MOST_ERRORS.saturating_sub(result.errors.len());
    result
        .errors
        .extend(own.errors.iter().take(room).map(|error| {
            let mut error = error.clone();
            error.database = placed(number, &error.database);
            error
        }));
    result
        .error_counts
        .extend(own.error_counts.iter().map(|count| {
            let mut count = count.clone();
            count.database = placed(number, &count.database);
            count
        }));
    let name = rank.name();
    let said = |sentences: &mut Vec<String>, own: &[String]| {
        let room = MOST_SENTENCES.saturating_sub(sentences.len());
        let own = own.iter().take(room);
        sentences.extend(own.map(|sentence| format!("{name}: {sentence}")));
    };
    said(&mut result.warnings, &own.warnings);
    said(&mut result.notes, &own.notes);
}

/// Adds what was verified of a rank to the whole; false where nothing was.
fn add_verification(result: &mut RunResult, part: &Part) -> bool {
    let own = part
        .result
        .as_ref()
        .and_then(|own| own.verification.as_ref());
    let Some(own) = own else { return false };
    let whole = result.verification.get_or_insert_default();
    let number = part.rank.rank;
    whole.databases.extend(own.databases.iter().map(|database| {
        let mut database = database.clone();
        database.name = placed(number, &database.name);
        database
    }));
    if !own.not_verified.is_empty() {
        let text = format!("{}: {}", part.rank.name(), own.not_verified);
        also(&mut whole.not_verified, &text);
    }
    true
}

/// Puts a sentence behind those that are there.
fn also(text: &mut String, sentence: &str) {
    if !text.is_empty() {
        text.push(' ');
    }
    text.push_str(sentence);
}

/// The name of something of a rank among those of all ranks: `2/mail-001`.
fn placed(rank: u64, name: &str) -> String {
    format!("{rank}/{name}")
}

/// Of each service level the worst check, and each one that was not met.
#[derive(Default)]
struct Checks {
    /// Those of all ranks.
    count: usize,
    failed: Vec<Check>,
    worst: BTreeMap<(usize, String), Check>,
}

/// The place of a level among those that people read.
fn order(check: &Check) -> usize {
    let mut ids = CheckId::ALL.iter();
    let place = ids.position(|id| *id == check.id);
    place.unwrap_or(CheckId::ALL.len())
}

impl Checks {
    fn add(&mut self, rank: u64, checks: &[Check]) {
        self.count += checks.len();
        for check in checks {
            let mut check = check.clone();
            check.place = placed(rank, &check.place);
            if check.passed == Some(false) {
                self.failed.push(check);
                continue;
            }
            let key = (order(&check), check.subject.clone());
            match self.worst.get_mut(&key) {
                Some(known) if by_weight(known, &check) != Ordering::Less => {}
                Some(known) => *known = check,
                None => drop(self.worst.insert(key, check)),
            }
        }
    }

    fn kept(self) -> Vec<Check> {
        let mut kept = self.failed;
        let failed: Vec<_> = kept
            .iter()
            .map(|one| (one.id, one.subject.clone()))
            .collect();
        let others = self.worst.into_values();
        kept.extend(others.filter(|one| !failed.contains(&(one.id, one.subject.clone()))));
        kept.sort_by(|a, b| {
            order(a)
                .cmp(&order(b))
                .then(b.excess().total_cmp(&a.excess()))
        });
        kept
    }
}

/// What could not be judged weighs more than what passed; of what passed, the one nearest to its limit.
fn by_weight(a: &Check, b: &Check) -> Ordering {
    let judged = |check: &Check| check.passed.is_none();
    judged(a)
        .cmp(&judged(b))
        .then(a.excess().total_cmp(&b.excess()))
}

/// Which verdict of a rank decides first.
const DECIDING: [Verdict; 4] = [
    Verdict::Error,
    Verdict::Interrupted,
    Verdict::Fail,
    Verdict::Inconclusive,
];

/// Gives the verdict of the whole, of so many checks.
fn judge(result: &mut RunResult, ranks: &[RankResult], checks: usize) {
    let lost: Vec<&RankResult> = ranks.iter().filter(|rank| !rank.lost.is_empty()).collect();
    result.complete = lost.is_empty() && ranks.iter().all(|rank| rank.complete);
    result.warnings.extend(lost.iter().map(|rank| loss(rank)));
    let of = |verdict: Verdict| ranks.iter().filter(move |rank| rank.verdict == verdict);
    let deciding = DECIDING
        .into_iter()
        .find(|verdict| of(*verdict).next().is_some());
    let all = counted(ranks.len() as u64, "rank");
    let (verdict, reason) = match (deciding, lost.first()) {
        (Some(verdict), lost) if verdict == Verdict::Error || lost.is_none() => {
            let first = of(verdict).find(|rank| rank.lost.is_empty());
            let text = first.map_or(String::new(), |rank| {
                format!("{}: {}", units::sentence(&rank.name()), rank.verdict_reason)
            });
            let of_all = match of(verdict).count() {
                1 => String::new(),
                count => format!(" ({count} of {all} are {verdict}.)"),
            };
            (verdict, format!("{text}{of_all}"))
        }
        (_, Some(rank)) => (Verdict::Interrupted, loss(rank)),
        _ if of(Verdict::Built).next().is_some() => (
            Verdict::Built,
            format!("The databases of {all} were built."),
        ),
        _ => {
            let checks = counted(checks as u64, "check");
            (Verdict::Pass, format!("All {checks} of {all} passed."))
        }
    };
    result.set_verdict(verdict, reason);
}

fn loss(rank: &RankResult) -> String {
    format!("{} is lost: {}", units::sentence(&rank.name()), rank.lost)
}
