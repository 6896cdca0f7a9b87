//! What a rank knows of the others, shared by the thread that carries messages and those that wait.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::clock::ClockOffset;

/// How long a wait sleeps at most before it looks again.
const LONGEST_SLEEP: Duration = Duration::from_millis(100);

/// A rank of which nothing more is heard.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}", sentence(*rank, host, why))]
pub struct Lost {
    /// Number of the rank, from 0.
    pub rank: usize,
    /// The host it ran on; empty when it never said so.
    pub host: String,
    /// Why it counts as lost.
    pub why: String,
}

fn sentence(rank: usize, host: &str, why: &str) -> String {
    match host {
        "" => format!("Rank {rank} is lost: {why}"),
        host => format!("Rank {rank} on {host} is lost: {why}"),
    }
}

/// A rank whose part of the work ended before the others have ended theirs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Early {
    /// Number of the rank, from 0.
    pub rank: usize,
    /// Why, as a sentence.
    pub why: String,
}

/// One of the other ranks.
#[derive(Debug)]
pub struct Peer {
    pub heard: Instant,
    pub lost: Option<String>,
    pub has_left: bool,
    /// What it says of itself with each heartbeat.
    pub state: Vec<u8>,
}

/// Everything that is known.
#[derive(Debug)]
pub struct State {
    pub hosts: Vec<String>,
    /// Whether the hosts of all ranks are known.
    pub is_introduced: bool,
    pub peers: Vec<Peer>,
    pub offset: Option<ClockOffset>,
    /// Questions about the clock that are still to be asked.
    pub pings: u32,
    /// Rank 0: who is ready to pass a point.
    pub ready: BTreeMap<String, BTreeSet<usize>>,
    /// Points to pass, by the own clock.
    pub go: BTreeMap<String, u64>,
    pub early: Option<Early>,
    pub inbox: BTreeMap<(usize, String), VecDeque<Vec<u8>>>,
    /// What this rank says of itself with each heartbeat.
    pub own_state: Vec<u8>,
    /// Whether the carrier is not used any more.
    pub has_ended: bool,
}

impl State {
    pub fn new(size: usize) -> Self {
        let peer = |_| Peer {
            heard: Instant::now(),
            lost: None,
            has_left: false,
            state: Vec::new(),
        };
        Self {
            hosts: vec![String::new(); size],
            is_introduced: false,
            peers: (0..size).map(peer).collect(),
            offset: None,
            pings: 0,
            ready: BTreeMap::new(),
            go: BTreeMap::new(),
            early: None,
            inbox: BTreeMap::new(),
            own_state: Vec::new(),
            has_ended: false,
        }
    }

    pub fn lost(&self, rank: usize) -> Option<Lost> {
        let why = self.peers[rank].lost.clone()?;
        Some(Lost {
            rank,
            host: self.hosts[rank].clone(),
            why,
        })
    }

    pub fn take(&mut self, from: usize, topic: &str) -> Option<Vec<u8>> {
        self.inbox.get_mut(&(from, topic.to_owned()))?.pop_front()
    }
}

/// The state, and who waits for it to change.
#[derive(Debug)]
pub struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

impl Shared {
    pub fn new(size: usize) -> Self {
        Self {
            state: Mutex::new(State::new(size)),
            changed: Condvar::new(),
        }
    }

    pub fn lock(&self) -> MutexGuard<'_, State> {
        // The state is whole at any time.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn changed(&self) {
        self.changed.notify_all();
    }

    /// Waits until `answer` has one.
    pub fn wait<T>(&self, mut answer: impl FnMut(&mut State) -> Option<T>) -> T {
        let mut state = self.lock();
        loop {
            if let Some(answer) = answer(&mut state) {
                return answer;
            }
            let waited = self.changed.wait_timeout(state, LONGEST_SLEEP);
            state = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
