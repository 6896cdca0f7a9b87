//! Sweeps and studies on several ranks: rank 0 hands out one prediction after the other, as each is done.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use ::ranks::Peers;
use execution::Error;
use measure::result::Verdict;
use measure::run_directory::load_result;
use serde::{Deserialize, Serialize};
use workload::progress::StopRequest;

use super::{Refused, decoded, encoded, refused, shipping};
use crate::workers::{self, Helpers};

/// The topics of a slot: what is to be computed, and what came of it.
fn task(slot: usize) -> String {
    format!("task {slot}")
}

fn answer(slot: usize) -> String {
    format!("answer {slot}")
}

/// What came of a prediction.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Answer {
    /// It was stopped before its end.
    stopped: bool,
    error: Option<Refused>,
}

/// The other ranks as rank 0 uses them.
pub struct RankHelpers {
    peers: Arc<Peers>,
    /// Rank of each slot, and its number there.
    slots: Vec<(usize, usize)>,
}

impl RankHelpers {
    /// Rank 0 learns how many predictions each other rank computes at once.
    #[must_use]
    pub fn lead(peers: Arc<Peers>) -> Self {
        let offers = peers.gather("slots", encoded(&0));
        let mut slots = Vec::new();
        for (rank, offer) in offers.iter().enumerate().skip(1) {
            let count: usize = decoded(offer.as_deref()).unwrap_or(0);
            slots.extend((0..count).map(|slot| (rank, slot)));
        }
        Self { peers, slots }
    }

    /// Nothing more is to be computed.
    pub fn end(self) {
        for (rank, slot) in self.slots {
            self.peers.send(rank, &task(slot), Vec::new());
        }
    }
}

impl Helpers for RankHelpers {
    fn slots(&self) -> usize {
        self.slots.len()
    }

    fn compute(&self, slot: usize, name: &str, directory: &Path) -> Result<bool, Error> {
        let (rank, slot) = self.slots[slot];
        self.peers.send(rank, &task(slot), name.as_bytes().to_vec());
        let Ok(body) = self.peers.receive(rank, &answer(slot)) else {
            return Ok(false);
        };
        let answer: Answer = decoded(Some(&body)).unwrap_or_default();
        if let Some(error) = answer.error {
            return Err(error.to_error(&format!("Rank {rank}")));
        }
        if answer.stopped {
            return Ok(false);
        }
        match shipping::receive_directory(&self.peers, rank, directory, &slot.to_string()) {
            Ok(None) => Ok(true),
            Ok(Some(trouble)) => Err(Error::environment(trouble, "")),
            Err(_) => {
                // What has arrived of it would be in the way of computing it here.
                let _ = std::fs::remove_dir_all(directory);
                Ok(false)
            }
        }
    }
}

/// Computes what rank 0 asks for, until nothing more is to be done. `compute` predicts the item of a name into
/// a directory.
pub fn help(
    peers: &Peers,
    jobs: Option<usize>,
    stop: &StopRequest,
    compute: impl Fn(&str, &Path) -> Result<(), Error> + Sync,
) {
    let slots = jobs.unwrap_or_else(|| slots_of(peers));
    peers.gather("slots", encoded(&slots));
    std::thread::scope(|scope| {
        for slot in 0..slots {
            let compute = &compute;
            scope.spawn(move || help_in(peers, slot, stop, compute));
        }
    });
}

/// Its share of the CPUs of its host.
fn slots_of(peers: &Peers) -> usize {
    let hosts = peers.hosts();
    let own = &hosts[peers.rank()];
    let beside = hosts.iter().filter(|host| *host == own).count();
    (workers::cpus() / beside.max(1)).max(1)
}

fn help_in(
    peers: &Peers,
    slot: usize,
    stop: &StopRequest,
    compute: &(impl Fn(&str, &Path) -> Result<(), Error> + Sync),
) {
    while let Ok(name) = peers.receive(0, &task(slot)) {
        if name.is_empty() {
            return;
        }
        let name = String::from_utf8_lossy(&name);
        let place = place_of(slot);
        let computed = compute(&name, &place);
        let stopped = stop.is_stopped() || was_interrupted(&place);
        let error = computed.err().as_ref().map(refused);
        let is_whole = error.is_none() && !stopped;
        peers.send(0, &answer(slot), encoded(&Answer { stopped, error }));
        if is_whole && shipping::send_directory(peers, &place, &slot.to_string()).is_err() {
            return;
        }
        // It was made here, and rank 0 has it.
        let _ = std::fs::remove_dir_all(&place);
    }
}

/// Where a prediction is written until rank 0 has it.
fn place_of(slot: usize) -> PathBuf {
    let name = format!("proofload-{}-{slot}", std::process::id());
    std::env::temp_dir().join(name)
}

fn was_interrupted(place: &Path) -> bool {
    load_result(place).is_ok_and(|result| result.verdict == Verdict::Interrupted)
}
