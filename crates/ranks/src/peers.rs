//! The ranks of a run as the program sees them.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use crate::clock::{Clock, ClockOffset};
use crate::message::Head;
use crate::service::{Heartbeats, Order, Service};
use crate::state::{Early, Lost, Shared};
use crate::transport::{Transport, TransportError};

/// Questions about the clock of which the fastest counts.
const PINGS: u32 = 32;

/// Messages of the program that wait to be sent at most; who has a further one waits.
const MOST_WAITING: usize = 16;

/// A point in time that is so near is waited for, so that all pass it at the same moment.
const NEAR: Duration = Duration::from_millis(20);

/// How long the last rank waits for the others to leave.
const LONGEST_LEAVE: Duration = Duration::from_secs(10);

/// This process and the others of the run.
#[derive(Debug)]
pub struct Peers {
    rank: usize,
    size: usize,
    library: String,
    clock: Clock,
    shared: Arc<Shared>,
    orders: SyncSender<Order>,
    thread: Option<JoinHandle<()>>,
}

impl Peers {
    /// Connects to the other ranks. `connect` makes the carrier, on the thread that uses it from then on.
    /// Returns when all ranks have introduced themselves and the clocks were compared.
    ///
    /// # Errors
    /// The carrier cannot be made, or a rank did not introduce itself within the timeout.
    pub fn join<T: Transport>(
        host: String,
        heartbeats: Heartbeats,
        connect: impl FnOnce() -> Result<T, TransportError> + Send + 'static,
    ) -> Result<Self, JoinError> {
        let (orders, received) = sync_channel(MOST_WAITING);
        let (made, facts) = channel();
        let clock = Clock::start();
        let thread = std::thread::spawn(move || {
            let transport = match connect() {
                Ok(transport) => transport,
                Err(error) => {
                    let _ = made.send(Err(error));
                    return;
                }
            };
            let shared = Arc::new(Shared::new(transport.size()));
            let facts = (transport.rank(), transport.library(), Arc::clone(&shared));
            if made.send(Ok(facts)).is_ok() {
                Service::new(transport, shared, received, clock, heartbeats).run(&host);
            }
        });
        let facts = facts.recv();
        let facts =
            facts.unwrap_or_else(|_| Err(TransportError("its thread has ended".to_owned())));
        let (rank, library, shared) = facts.map_err(JoinError::Start)?;
        let size = shared.lock().peers.len();
        let peers = Self {
            rank,
            size,
            library,
            clock,
            shared,
            orders,
            thread: Some(thread),
        };
        peers.wait_for_introduction()?;
        peers.compare_clocks();
        Ok(peers)
    }

    fn wait_for_introduction(&self) -> Result<(), Lost> {
        let first_lost = |state: &crate::state::State| {
            let ranks = 0..state.peers.len();
            ranks.into_iter().find_map(|rank| state.lost(rank))
        };
        self.shared.wait(|state| match first_lost(state) {
            Some(lost) => Some(Err(lost)),
            None => state.is_introduced.then_some(Ok(())),
        })
    }

    /// The number of this process, from 0.
    #[must_use]
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// How many processes there are.
    #[must_use]
    pub fn size(&self) -> usize {
        self.size
    }

    /// Whether this is the rank that leads: it prints, and has the results.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.rank == 0
    }

    /// Name and version of what carries the messages.
    #[must_use]
    pub fn library(&self) -> &str {
        &self.library
    }

    /// The hosts of all ranks.
    #[must_use]
    pub fn hosts(&self) -> Vec<String> {
        self.shared.lock().hosts.clone()
    }

    /// Compares the clock with that of rank 0, and gives the most certain offset so far; that of rank 0 is
    /// nothing. An offset that cannot be measured, because rank 0 is lost or has left, is none.
    pub fn compare_clocks(&self) -> ClockOffset {
        if self.rank > 0 {
            {
                let mut state = self.shared.lock();
                state.pings = PINGS;
                state.offset = None;
            }
            self.order(Order::Send(0, Head::Ping { sent_ns: 0 }, Vec::new()));
            self.shared.wait(|state| {
                let first = &state.peers[0];
                let answers = first.lost.is_none() && !first.has_left && !state.has_ended;
                (state.pings == 0 || !answers).then_some(())
            });
        }
        self.offset()
    }

    /// How far the clock is from that of rank 0.
    #[must_use]
    pub fn offset(&self) -> ClockOffset {
        self.shared.lock().offset.unwrap_or(ClockOffset {
            even_ns: 0,
            time_of_day_ns: 0,
            uncertainty_ns: 0,
        })
    }

    /// The present time by the clock of rank 0, as far as it is known.
    #[must_use]
    pub fn now_of_first_ns(&self) -> u64 {
        self.offset().to_first_ns(self.clock.now_ns())
    }

    fn order(&self, order: Order) {
        // A thread that has ended has noted why nothing is heard any more.
        let _ = self.orders.send(order);
    }

    /// Sends a message.
    pub fn send(&self, to: usize, topic: &str, body: Vec<u8>) {
        let topic = topic.to_owned();
        self.order(Order::Send(to, Head::Program { topic }, body));
    }

    /// Sends a message to all others.
    pub fn send_to_all(&self, topic: &str, body: &[u8]) {
        for rank in (0..self.size).filter(|rank| *rank != self.rank) {
            self.send(rank, topic, body.to_vec());
        }
    }

    /// The next message of a rank about `topic`, if one has arrived.
    #[must_use]
    pub fn try_receive(&self, from: usize, topic: &str) -> Option<Vec<u8>> {
        self.shared.lock().take(from, topic)
    }

    /// The next message about `topic` of any rank, if one has arrived.
    #[must_use]
    pub fn try_receive_any(&self, topic: &str) -> Option<(usize, Vec<u8>)> {
        let mut state = self.shared.lock();
        (0..self.size).find_map(|rank| Some((rank, state.take(rank, topic)?)))
    }

    /// Waits for the next message of a rank about `topic`.
    ///
    /// # Errors
    /// When that rank is lost, or has left.
    pub fn receive(&self, from: usize, topic: &str) -> Result<Vec<u8>, Lost> {
        self.shared.wait(|state| {
            if let Some(body) = state.take(from, topic) {
                return Some(Ok(body));
            }
            if state.peers[from].has_left || state.has_ended {
                return Some(Err(Lost {
                    rank: from,
                    host: state.hosts[from].clone(),
                    why: "it has left.".to_owned(),
                }));
            }
            state.lost(from).map(Err)
        })
    }

    /// Rank 0 waits for a message of each other rank about `topic`, and gives them with its own; `None` for
    /// those that are lost. The others send theirs, and get nothing.
    pub fn gather(&self, topic: &str, own: Vec<u8>) -> Vec<Option<Vec<u8>>> {
        if self.rank > 0 {
            self.send(0, topic, own);
            return Vec::new();
        }
        let mut all = vec![Some(own)];
        all.extend((1..self.size).map(|rank| self.receive(rank, topic).ok()));
        all
    }

    /// Gives what rank 0 says to all ranks.
    ///
    /// # Errors
    /// When rank 0 is lost.
    pub fn from_first(&self, topic: &str, own: impl FnOnce() -> Vec<u8>) -> Result<Vec<u8>, Lost> {
        if self.rank > 0 {
            return self.receive(0, topic);
        }
        let body = own();
        self.send_to_all(topic, &body);
        Ok(body)
    }

    /// Says that this rank has come to a point that all pass together, and whether it may pass it: all have
    /// come, and the agreed moment is here. To be asked again until it may.
    #[must_use]
    pub fn may_pass(&self, point: &str) -> bool {
        let go = {
            let mut state = self.shared.lock();
            let go = state.go.get(point).copied();
            if go.is_none() && self.is_announced(&mut state, point) {
                return false;
            }
            go
        };
        let Some(at_ns) = go else {
            let point = point.to_owned();
            self.order(Order::Send(0, Head::Ready { point }, Vec::new()));
            return false;
        };
        let left = Duration::from_nanos(at_ns.saturating_sub(self.clock.now_ns()));
        if left > NEAR {
            return false;
        }
        std::thread::sleep(left);
        true
    }

    /// Whether the others know that this rank has come to a point; they will.
    fn is_announced(&self, state: &mut crate::state::State, point: &str) -> bool {
        // Rank 0 counts itself when its own message comes back to it.
        let key = format!("announced {point}");
        !state.ready.entry(key).or_default().insert(self.rank)
    }

    /// Says that this rank ends its part before the others.
    pub fn end_early(&self, why: &str) {
        let why = why.to_owned();
        self.order(Order::Send(0, Head::Ends { why }, Vec::new()));
    }

    /// The rank that has ended its part before the others, or was lost; the first of several.
    #[must_use]
    pub fn early(&self) -> Option<Early> {
        self.shared.lock().early.clone()
    }

    /// The ranks of which nothing more is heard.
    #[must_use]
    pub fn lost(&self) -> Vec<Lost> {
        let state = self.shared.lock();
        (0..self.size).filter_map(|rank| state.lost(rank)).collect()
    }

    /// For how long nothing was heard of each rank; nothing for this one and those that have left.
    #[must_use]
    pub fn silences(&self) -> Vec<Duration> {
        let state = self.shared.lock();
        let silence = |(rank, peer): (usize, &crate::state::Peer)| match peer.has_left {
            false if rank != self.rank => peer.heard.elapsed(),
            _ => Duration::ZERO,
        };
        state.peers.iter().enumerate().map(silence).collect()
    }

    /// Sets what this rank says of itself with each heartbeat.
    pub fn set_state(&self, state: Vec<u8>) {
        self.shared.lock().own_state = state;
    }

    /// What each rank has said of itself last; that of this one is what it would say.
    #[must_use]
    pub fn states(&self) -> Vec<Vec<u8>> {
        let state = self.shared.lock();
        let mut states: Vec<_> = state.peers.iter().map(|peer| peer.state.clone()).collect();
        states[self.rank].clone_from(&state.own_state);
        states
    }

    /// Ends the connection, when the others do. Nothing more is sent or received.
    pub fn leave(mut self) {
        self.end();
    }

    fn end(&mut self) {
        let Some(thread) = self.thread.take() else {
            return;
        };
        let own = self.rank;
        // Rank 0 leaves last, so that the others are not without it while they work.
        if own > 0 {
            self.order(Order::Send(0, Head::Leaves, Vec::new()));
        }
        let began = Instant::now();
        let others = || (0..self.size).filter(|rank| *rank != own && (own == 0 || *rank == 0));
        let all_have_left = self.shared.wait(|state| {
            let mut waited_for = others().filter(|rank| !state.peers[*rank].has_left);
            if waited_for.clone().next().is_none() {
                return Some(state.peers.iter().all(|peer| peer.lost.is_none()));
            }
            let is_hopeless = waited_for.all(|rank| state.peers[rank].lost.is_some());
            (is_hopeless || began.elapsed() > LONGEST_LEAVE).then_some(false)
        });
        if own == 0 {
            for rank in 1..self.size {
                self.order(Order::Send(rank, Head::Leaves, Vec::new()));
            }
        }
        self.order(Order::End { all_have_left });
        if all_have_left {
            // It has ended all it had to do.
            let _ = thread.join();
        } else {
            self.shared.wait(|state| {
                let is_over = state.has_ended || began.elapsed() > 2 * LONGEST_LEAVE;
                is_over.then_some(())
            });
        }
    }
}

impl Drop for Peers {
    fn drop(&mut self) {
        self.end();
    }
}

/// Why a process is no rank of a run.
#[derive(Debug, thiserror::Error)]
pub enum JoinError {
    /// The carrier cannot be made.
    #[error("{0}")]
    Start(TransportError),
    /// A rank has not introduced itself.
    #[error(transparent)]
    Lost(#[from] Lost),
}
