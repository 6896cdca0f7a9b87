//! One load from several processes, usually one on each host: each runs databases of its own, all begin
//! and end the load together, and rank 0 has one result.
//!
//! - [`Prepared`] has every rank check its own part; nothing is written unless all can run.
//! - `coordinator` lets the phases begin together; `watcher` ends the run of all when one rank ends early or
//!   is lost.
//! - `view` is what is shown: rank 0 shows the sums of all, the others show nothing.
//! - `shipping` brings the run directories of the others to rank 0; `outcome` makes the whole of them.
//! - [`RankHelpers`] and [`help`] spread the predictions of a sweep or a study over the ranks.
//! - [`examine`] says what is wrong with a launch.
//! - `placeholders` are the words of paths that differ from rank to rank.
//!
//! Nothing here knows MPI: what carries the messages is a [`Transport`](::ranks::Transport).

mod coordinator;
mod doctor;
mod figures;
mod helpers;
mod join;
mod outcome;
mod placeholders;
mod shipping;
mod view;
mod watcher;

pub use ::ranks::Peers;
pub use doctor::{LaunchFinding, LaunchReport, RankFacts, Severity, TargetFacts, examine};
pub use helpers::{RankHelpers, help};
pub use join::{LAUNCH_REMEDY, host_name, is_launched, join};
pub use placeholders::alone;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use execution::events::Observer;
use execution::{Error, Outcome, Output, RunOptions, results};
use jiff::Timestamp;
use measure::run_directory::DEFAULT_PARENT;
use serde::{Deserialize, Serialize};
use workload::ErrorClass;
use workload::controller::Together;
use workload::progress::StopRequest;

use crate::run;
use crate::scenario::Scenario;
use crate::workloads;
use coordinator::Coordinator;
use watcher::Watcher;

/// Where the run directories of the ranks are, below that of the whole.
const RANKS_DIRECTORY: &str = "ranks";

/// Why a rank has no result.
#[derive(Debug)]
pub enum RankError {
    /// What is wrong; rank 0 reports it for all.
    Error(Error),
    /// Rank 0 reports it, or has the result.
    Elsewhere,
}

impl From<Error> for RankError {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

/// A rank that is gone, and nothing of the run goes on without it.
fn lost(lost: &::ranks::Lost) -> Error {
    Error::environment(
        lost.to_string(),
        "See what its host and the launcher say; 'proofload doctor --mpi' checks the launch.",
    )
}

/// A run on several ranks that can begin.
pub struct Prepared {
    peers: Arc<Peers>,
    coordinator: Arc<Coordinator>,
    own: run::Prepared,
    workload: String,
    /// The directory of the whole run, on the host of rank 0.
    directory: PathBuf,
    /// Rank 0: what each rank would do, as text.
    descriptions: Vec<String>,
    /// Rank 0: what is doubtful about the launch, as sentences.
    doubts: Vec<String>,
}

/// What a rank says when it has checked its part.
#[derive(Debug, Serialize, Deserialize)]
struct Checked {
    facts: RankFacts,
    settings: String,
    description: String,
    error: Option<Refused>,
}

/// An error on its way to rank 0.
#[derive(Debug, Serialize, Deserialize)]
struct Refused {
    status: u8,
    message: String,
    help: String,
}

impl Prepared {
    /// Checks the part of this rank, and waits for what the others have found. Writes nothing.
    ///
    /// # Errors
    /// On rank 0 what is in the way of any rank; elsewhere only when rank 0 is lost.
    pub fn new(peers: Peers, scenario: &Scenario, options: &RunOptions) -> Result<Self, RankError> {
        let peers = Arc::new(peers);
        let directory = directory(&peers, scenario)?;
        let coordinator = Arc::new(Coordinator::new(Arc::clone(&peers)));
        let mut scenario = scenario.clone();
        scenario.output = Output::Directory(own_directory(&directory, &peers, peers.rank()));
        let mut options = placeholders::fill(options, &peers);
        options.together = Together::with(Arc::clone(&coordinator) as _);
        let vacant = match peers.is_first() {
            true => results::check(&Output::Directory(directory.clone())),
            false => Ok(()),
        };
        let own = vacant.and_then(|()| run::Prepared::new(&scenario, &options));
        let described = own.as_ref().ok().map(run::Prepared::describe);
        let (description, error) = match (described.transpose(), own.as_ref().err()) {
            (_, Some(error)) => (String::new(), Some(refused(error))),
            (Err(error), None) => (String::new(), Some(refused(&error))),
            (Ok(description), None) => (description.unwrap_or_default(), None),
        };
        let checked = Checked {
            facts: doctor::own_facts(&peers, None, &options),
            settings: own.as_ref().map_or(String::new(), run::Prepared::settings),
            description,
            error,
        };
        let all = peers.gather("checked", encoded(&checked));
        let all: Vec<Option<Checked>> = all.iter().map(|one| decoded(one.as_deref())).collect();
        let found = first_obstacle(&peers, &all);
        let go_on = peers.from_first("go on", || vec![u8::from(found.is_none())]);
        if peers.is_first()
            && let Some(error) = found
        {
            return Err(match own {
                // Its own error names the line of a file.
                Err(own) if all[0].as_ref().is_some_and(|one| one.error.is_some()) => own.into(),
                _ => error.into(),
            });
        }
        let may_go_on = go_on.map_err(|one| lost(&one))?;
        match own {
            Ok(own) if may_go_on == [1] => Ok(Self {
                peers,
                coordinator,
                own,
                workload: workloads::short_name(scenario.registry, &scenario.workload),
                directory,
                doubts: doubts(&all),
                descriptions: all
                    .into_iter()
                    .flatten()
                    .map(|one| one.description)
                    .collect(),
            }),
            _ => Err(RankError::Elsewhere),
        }
    }

    /// Whether this is the rank that prints.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.peers.is_first()
    }

    /// What each rank would do, as text: once where it is the same.
    #[must_use]
    pub fn describe(&self) -> String {
        let mut text = String::new();
        let hosts = self.peers.hosts();
        for (rank, description) in self.descriptions.iter().enumerate() {
            text.push_str(&format!("Rank {rank} on {}:\n", hosts[rank]));
            for line in description.lines() {
                text.push_str(&format!("  {line}\n"));
            }
        }
        text
    }

    /// What is doubtful about the launch, as sentences.
    #[must_use]
    pub fn doubts(&self) -> &[String] {
        &self.doubts
    }

    /// The phases of the run of each rank with their times, as text.
    ///
    /// # Errors
    /// When kept databases cannot be read.
    pub fn schedule(&self) -> Result<String, Error> {
        let ranks = self.peers.size();
        Ok(format!("{ranks} ranks, each:\n{}", self.own.schedule()?))
    }

    /// What this run cannot give, known before hours are spent on it.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        self.own.warning()
    }

    /// Runs the part of this rank. Rank 0 gives the outcome of the whole.
    ///
    /// # Errors
    /// On rank 0 when nothing of the run can be written; elsewhere only when rank 0 is lost.
    pub fn run(
        self,
        observer: Box<dyn Observer>,
        stop: &StopRequest,
    ) -> Result<Outcome, RankError> {
        let Self {
            peers,
            coordinator,
            own,
            workload,
            directory,
            doubts,
            ..
        } = self;
        let whole = peers.is_first().then(|| {
            outcome::Whole::begin(
                &directory,
                &workload,
                &own.config(),
                &peers,
                Timestamp::now(),
            )
        });
        let whole = whole
            .transpose()
            .map(|whole| whole.map(|whole| Arc::new(Mutex::new(whole))));
        let is_ready = peers.from_first("ready", || vec![u8::from(whole.is_ok())]);
        let whole = whole?;
        if is_ready.map_err(|one| lost(&one))? != [1] {
            return Err(RankError::Elsewhere);
        }
        let observer = view::of_rank(Arc::clone(&peers), whole.clone(), observer);
        let watcher = Watcher::begin(Arc::clone(&peers), whole.clone(), stop.clone());
        let ended = own.run(observer, stop);
        watcher.end();
        if let Err(error) = &ended {
            peers.end_early(&error.to_string());
        }
        let own_directory = own_directory(&directory, &peers, peers.rank());
        let facts = coordinator.facts(ended.as_ref().err().map(ToString::to_string));
        match whole {
            Some(whole) => Ok(outcome::gather(&whole, &peers, &facts, ended, doubts)),
            None => {
                let shipped = shipping::send(&peers, &own_directory, &facts);
                shipped
                    .map_err(|one| stranded(&one, &own_directory).into())
                    .and(Err(RankError::Elsewhere))
            }
        }
    }
}

/// Rank 0 is gone: what this rank has measured stays where it is.
fn stranded(one: &::ranks::Lost, directory: &Path) -> Error {
    Error::environment(
        format!(
            "{one} What this rank has measured is in {}.",
            directory.display()
        ),
        "",
    )
}

/// The directory of the whole run, which rank 0 names.
fn directory(peers: &Peers, scenario: &Scenario) -> Result<PathBuf, RankError> {
    let named = || {
        let named = scenario.output.named().map(Path::to_owned);
        let named = named.unwrap_or_else(|| {
            let workload = workloads::short_name(scenario.registry, &scenario.workload);
            let now = Timestamp::now().strftime("%Y%m%dT%H%M%SZ");
            Path::new(DEFAULT_PARENT).join(format!("{workload}-{now}"))
        });
        named.display().to_string().into_bytes()
    };
    let named = peers.from_first("directory", named);
    let named = named.map_err(|one| lost(&one))?;
    Ok(PathBuf::from(String::from_utf8_lossy(&named).into_owned()))
}

/// The run directory of a rank below that of the whole.
fn own_directory(whole: &Path, peers: &Peers, rank: usize) -> PathBuf {
    whole.join(directory_name(&peers.hosts()[rank], rank))
}

/// Its path below that of the whole, with nothing of the host in it that a path might not have.
fn directory_name(host: &str, rank: usize) -> String {
    let plain = |letter: char| match letter {
        letter if letter.is_ascii_alphanumeric() || "-_.".contains(letter) => letter,
        _ => '-',
    };
    let host: String = host.chars().map(plain).collect();
    format!("{RANKS_DIRECTORY}/{rank:04}-{host}")
}

/// Rank 0: what is in the way of the first rank that cannot run.
fn first_obstacle(peers: &Peers, all: &[Option<Checked>]) -> Option<Error> {
    let hosts = peers.hosts();
    let first = all.first()?.as_ref()?;
    for (rank, checked) in all.iter().enumerate() {
        let name = format!("Rank {rank} on {}", hosts[rank]);
        let Some(checked) = checked else {
            let lost_rank = peers.lost().into_iter().find(|one| one.rank == rank);
            return Some(lost_rank.map_or_else(
                || Error::environment(format!("{name} did not answer."), ""),
                |one| lost(&one),
            ));
        };
        if let Some(refused) = &checked.error {
            return Some(refused.to_error(&name));
        }
        if checked.settings != first.settings {
            return Some(Error::usage(
                format!("{name} has other settings of the workload than rank 0."),
                "Give all ranks the same profile: put it where all hosts see the same file.",
            ));
        }
    }
    let facts: Vec<RankFacts> = all.iter().flatten().map(|one| one.facts.clone()).collect();
    let mut findings = doctor::findings(&facts).into_iter();
    let first = findings
        .next()
        .filter(|one| one.severity == Severity::Blocking)?;
    Some(Error::usage(first.text, first.remedy))
}

/// What would make the run measure something else than was meant, as sentences.
fn doubts(all: &[Option<Checked>]) -> Vec<String> {
    let facts: Vec<RankFacts> = all.iter().flatten().map(|one| one.facts.clone()).collect();
    let found = doctor::findings(&facts).into_iter();
    let faults = found.filter(|one| one.severity == Severity::Fault);
    faults
        .map(|one| format!("{} {}", one.text, one.remedy))
        .collect()
}

fn refused(error: &Error) -> Refused {
    let (status, help) = match error {
        Error::Refused(refusal) => (refusal.class, refusal.help.clone()),
        other => (other.class(), String::new()),
    };
    Refused {
        status: match status {
            ErrorClass::Usage => 2,
            ErrorClass::Environment => 3,
            ErrorClass::Integrity => 4,
        },
        message: error.to_string(),
        help,
    }
}

impl Refused {
    fn to_error(&self, name: &str) -> Error {
        let message = format!("{name}: {}", self.message);
        match self.status {
            2 => Error::usage(message, &self.help),
            4 => Error::integrity(message, &self.help),
            _ => Error::environment(message, &self.help),
        }
    }
}

/// Plain data for a message.
fn encoded(value: &impl Serialize) -> Vec<u8> {
    // Only texts and numbers are sent so; a number that is none becomes null.
    serde_json::to_vec(value).unwrap_or_default()
}

fn decoded<T: for<'a> Deserialize<'a>>(body: Option<&[u8]>) -> Option<T> {
    serde_json::from_slice(body?).ok()
}
