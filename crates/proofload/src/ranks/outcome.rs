//! The whole of a run on several ranks: its directory, and what the ranks have brought.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ::ranks::Peers;
use execution::{Error, Outcome, results};
use jiff::Timestamp;
use measure::headline;
use measure::ranks::{Part, combine};
use measure::recompute::load_part;
use measure::result::{RankResult, RunResult, Verdict};
use measure::run_directory::RunDirectory;

use super::coordinator::Facts;
use super::figures::Figures;
use super::{decoded, directory_name, shipping};
use measure::display::number::figure;
use measure::units;

/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;

/// The directory of the whole run, on rank 0.
pub struct Whole {
    directory: RunDirectory,
    path: PathBuf,
    base: RunResult,
    written: Instant,
}

/// Time between two documents of a run that goes on.
const PAUSE: Duration = Duration::from_secs(1);

/// A rank that was silent for so long when the run is stopped is named: several heartbeats were missing.
const NOTABLE_SILENCE: Duration = Duration::from_millis(800);

impl Whole {
    /// Makes the directory, with a document that says that nothing was measured yet.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn begin(
        path: &Path,
        workload: &str,
        config: &str,
        peers: &Peers,
        started: Timestamp,
    ) -> Result<Self, Error> {
        let directory = RunDirectory::create(Some(path), workload, started, config);
        let directory = directory.map_err(|error| results::refusal(&error))?;
        let mut base = RunResult::new();
        base.workload.name = workload.to_owned();
        base.started = started.to_string();
        base.ranks = (0..peers.size()).map(|rank| entry(peers, rank)).collect();
        results::begin(Some(&directory), &base)?;
        Ok(Self {
            directory,
            path: path.to_owned(),
            base,
            written: Instant::now(),
        })
    }

    /// Writes what the ranks have said of themselves so far, at most once a second: what stays when the
    /// launcher kills all of them.
    pub fn write_interim(&mut self, peers: &Peers) {
        if self.written.elapsed() >= PAUSE {
            self.write_now(peers);
        }
    }

    /// The same at once, with the ranks that are silent.
    pub fn write_now(&mut self, peers: &Peers) {
        self.written = Instant::now();
        let mut interim = self.base.clone();
        let mut silent = Vec::new();
        for (rank, silence) in peers.silences().into_iter().enumerate() {
            let known = &mut interim.ranks[rank];
            let phase = enter_last_figures(peers, rank, known);
            known.verdict = Verdict::Interrupted;
            known.verdict_reason =
                format!("The run did not finish, or is still running ({phase}).");
            if silence > NOTABLE_SILENCE {
                known.lost = format!(
                    "nothing was heard of it for {:.1} s.",
                    silence.as_secs_f64()
                );
                silent.push(format!(
                    "{}: {}",
                    units::sentence(&known.name()),
                    known.lost
                ));
            }
            interim.throughput.achieved_iops += known.achieved_iops;
        }
        interim.warnings.clone_from(&silent);
        interim.verdict_reason = match silent.first() {
            Some(first) => first.clone(),
            None => {
                "the figures are those that the ranks have said last; what each has measured is in \
                 its own directory."
                    .to_owned()
            }
        };
        interim.mark_unfinished();
        // The next one may succeed; the last one reports what is in the way.
        let _ = self.directory.write_result(&interim);
    }
}

/// The ranks that are silent.
pub fn silent_ranks(peers: &Peers) -> Vec<usize> {
    let silences = peers.silences().into_iter().enumerate();
    let silent = silences.filter(|(_, silence)| *silence > NOTABLE_SILENCE);
    silent.map(|(rank, _)| rank).collect()
}

/// The document of the whole is complete at any time.
pub fn lock(whole: &Mutex<Whole>) -> MutexGuard<'_, Whole> {
    whole.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What is known of a rank without its results.
fn entry(peers: &Peers, rank: usize) -> RankResult {
    let host = peers.hosts()[rank].clone();
    RankResult {
        rank: rank as u64,
        directory: directory_name(&host, rank),
        host,
        ..RankResult::default()
    }
}

/// Takes what all ranks have, and makes the whole of it. `own` is what became of the run of rank 0.
pub fn gather(
    whole: &Mutex<Whole>,
    peers: &Peers,
    own_facts: &Facts,
    own: Result<Outcome, Error>,
    doubts: Vec<String>,
) -> Outcome {
    let mut whole = lock(whole);
    let mut notes = doubts;
    let mut storage = Vec::new();
    // An error is the reason of its verdict.
    if let Ok(outcome) = own {
        storage.extend(outcome.storage);
        notes.extend(outcome.unwritten);
    }
    if let Some(early) = peers.early() {
        let known = entry(peers, early.rank);
        let name = units::sentence(&known.name());
        notes.push(format!("{name} ended the run of all: {}", early.why));
    }
    let parts = (0..peers.size()).map(|rank| take(&whole, peers, rank, own_facts, &mut notes));
    let mut result = combine(parts);
    result.headline = headline::compose(&result, None);
    result.warnings.extend(notes);
    let logged = whole.directory.log(&results::end_line(&result));
    let written = logged.and_then(|()| whole.directory.write_final_result(&mut result));
    Outcome {
        result,
        directory: Some(whole.path.clone()),
        unwritten: written
            .err()
            .map(|error| results::unwritable(&error).to_string()),
        storage: (!storage.is_empty()).then(|| format!("Rank 0: {}", storage.join(" "))),
    }
}

/// Takes what a rank has. `notes` get what is in the way, as sentences.
fn take(
    whole: &Whole,
    peers: &Peers,
    rank: usize,
    own_facts: &Facts,
    notes: &mut Vec<String>,
) -> Part {
    let mut known = entry(peers, rank);
    let directory = whole.path.join(&known.directory);
    let facts = match rank {
        0 => Some(own_facts.clone()),
        rank => match shipping::receive(peers, rank, &directory) {
            Ok(received) => {
                notes.extend(received.trouble);
                Some(received.facts)
            }
            Err(lost) => {
                known.lost = last_heard(peers, rank, &lost.why, &mut known);
                None
            }
        },
    };
    if let Some(facts) = facts {
        known.verdict_reason = facts.error.clone().unwrap_or_default();
        enter(&mut known, &facts, own_facts.measured_ns);
    }
    let part = load_part(known.clone(), &directory);
    let mut part = part.unwrap_or_else(|error| {
        notes.push(format!("{}: {error}.", known.name()));
        Part {
            rank: known,
            ..Part::default()
        }
    });
    if part.result.is_none() {
        part.rank.directory.clear();
    }
    part
}

/// Takes over what the rank has said of itself.
fn enter(known: &mut RankResult, facts: &Facts, first_ns: Option<u64>) {
    let ms = |ns: i64| ns as f64 / NS_PER_MS;
    known.clock_offset_ms = Some(ms(facts.offset_begin_ns));
    known.clock_offset_end_ms = Some(ms(facts.offset_end_ns));
    known.clock_uncertainty_ms = Some(facts.uncertainty_ns as f64 / NS_PER_MS);
    let skew = |(own, first): (u64, u64)| (own as f64 - first as f64) / NS_PER_MS;
    known.start_skew_ms = facts.measured_ns.zip(first_ns).map(skew);
}

/// Why a rank is lost, and the figures that it has said last.
fn last_heard(peers: &Peers, rank: usize, why: &str, known: &mut RankResult) -> String {
    let phase = enter_last_figures(peers, rank, known);
    match phase.as_str() {
        "" => why.to_owned(),
        phase => format!(
            "{why} Its last figures came while {phase}: {} IOPS.",
            figure(known.achieved_iops)
        ),
    }
}

/// Takes over the figures that a rank has said last; gives the phase that it was in.
fn enter_last_figures(peers: &Peers, rank: usize, known: &mut RankResult) -> String {
    let state = peers.states().swap_remove(rank);
    let figures = decoded::<Figures>(Some(&state)).unwrap_or_default();
    known.achieved_iops = figures.iops;
    known.target_iops = figures.target_iops;
    known.worst_average_database_read_ms = figures.database_read_ms;
    known.worst_average_log_write_ms = figures.log_write_ms;
    figures.phase
}
