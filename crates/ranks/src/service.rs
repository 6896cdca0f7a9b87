//! The thread that carries the messages of a rank: heartbeats, clocks, points that all pass together.

use std::sync::Arc;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use crate::clock::{Clock, ClockOffset, unix_ns};
use crate::message::{Head, decode, encode};
use crate::state::{Early, Shared, State};
use crate::transport::{Transport, TransportError};

/// How long the thread sleeps when nothing has arrived.
const POLL: Duration = Duration::from_millis(1);

/// How long it goes on looking without sleep after a question about the clock.
const ATTENTIVE: Duration = Duration::from_millis(5);

/// Messages that are being sent at one time at most; further ones wait in the program.
const MOST_SENDING: usize = 32;

/// Time from "all are ready" until all pass a point: longer than the message takes to any of them.
const LEAD: Duration = Duration::from_millis(50);

/// How long a rank that ends waits for its last messages to be sent.
const LAST_MESSAGES: Duration = Duration::from_secs(2);

/// How the ranks look after each other.
#[derive(Debug, Clone, Copy)]
pub struct Heartbeats {
    /// A rank that is not heard for so long is lost.
    pub timeout: Duration,
}

impl Heartbeats {
    /// Time between two heartbeats: several go into the timeout.
    fn interval(self) -> Duration {
        (self.timeout / 8).clamp(Duration::from_millis(20), Duration::from_millis(250))
    }
}

/// What the program asks of the thread.
pub enum Order {
    /// Send a message to a rank.
    Send(usize, Head, Vec<u8>),
    /// End. `all_have_left`: no rank was lost, so that the carrier can be ended in order.
    End { all_have_left: bool },
}

/// The service of one rank.
pub struct Service<T> {
    transport: T,
    shared: Arc<Shared>,
    orders: Receiver<Order>,
    clock: Clock,
    heartbeats: Heartbeats,
    beaten: Option<Instant>,
    attentive_until: Instant,
}

impl<T: Transport> Service<T> {
    pub fn new(
        transport: T,
        shared: Arc<Shared>,
        orders: Receiver<Order>,
        clock: Clock,
        heartbeats: Heartbeats,
    ) -> Self {
        Self {
            transport,
            shared,
            orders,
            clock,
            heartbeats,
            beaten: None,
            attentive_until: Instant::now(),
        }
    }

    /// Carries messages until the program ends it.
    pub fn run(mut self, host: &str) {
        let rank = self.transport.rank();
        host.clone_into(&mut self.shared.lock().hosts[rank]);
        self.introduce(rank, host);
        let all_have_left = loop {
            let arrived = self.take_messages();
            if let Some(all_have_left) = self.follow_orders() {
                break all_have_left;
            }
            self.beat();
            self.look_for_lost();
            if !arrived && Instant::now() > self.attentive_until {
                std::thread::sleep(POLL);
            }
        };
        self.end(all_have_left);
    }

    fn introduce(&mut self, rank: usize, host: &str) {
        if rank > 0 {
            let host = host.to_owned();
            self.send(0, &Head::Hello { host }, &[]);
        } else if self.transport.size() == 1 {
            self.shared.lock().is_introduced = true;
        }
    }

    fn send(&mut self, to: usize, head: &Head, body: &[u8]) {
        if let Err(error) = self.transport.send(to, encode(head, body)) {
            self.lose(to, &format!("it cannot be reached ({error})."));
        }
    }

    /// Takes in what has arrived; whether anything has.
    fn take_messages(&mut self) -> bool {
        let mut has_arrived = false;
        loop {
            match self.transport.receive() {
                Ok(Some((from, frame))) => {
                    has_arrived = true;
                    if let Some((head, body)) = decode(frame) {
                        self.take_in(from, head, body);
                    }
                }
                Ok(None) => return has_arrived,
                Err(error) => {
                    self.fail(&error);
                    return has_arrived;
                }
            }
        }
    }

    /// Without a carrier the others are out of reach; who still has it names this rank.
    fn fail(&mut self, error: &TransportError) {
        let own = self.transport.rank();
        for rank in (0..self.transport.size()).filter(|rank| *rank != own) {
            self.lose(rank, &format!("messages cannot be received ({error})."));
        }
    }

    fn take_in(&mut self, from: usize, head: Head, body: Vec<u8>) {
        let shared = Arc::clone(&self.shared);
        let mut state = shared.lock();
        state.peers[from].heard = Instant::now();
        match head {
            Head::Hello { host } => {
                state.hosts[from] = host;
                if state.hosts.iter().all(|host| !host.is_empty()) {
                    state.is_introduced = true;
                    let hosts = state.hosts.clone();
                    drop(state);
                    self.send_to_all(&Head::Hosts { hosts }, &[]);
                }
            }
            Head::Hosts { hosts } => {
                state.hosts = hosts;
                state.is_introduced = true;
            }
            Head::Ping { sent_ns } => {
                drop(state);
                self.attentive_until = Instant::now() + ATTENTIVE;
                let (at_ns, unix_ns) = (self.clock.now_ns(), unix_ns());
                let head = Head::Pong {
                    sent_ns,
                    at_ns,
                    unix_ns,
                };
                self.send(from, &head, &[]);
            }
            Head::Pong {
                sent_ns,
                at_ns,
                unix_ns: answered_unix_ns,
            } => {
                let arrived = (sent_ns, self.clock.now_ns(), unix_ns());
                let offset = ClockOffset::of(arrived, (at_ns, answered_unix_ns));
                state.offset = Some(offset.better(state.offset));
                state.pings = state.pings.saturating_sub(1);
                let goes_on = state.pings > 0;
                drop(state);
                if goes_on {
                    self.ping();
                }
            }
            Head::Beat => state.peers[from].state = body,
            Head::Ready { point } => {
                drop(state);
                self.note_ready(from, point);
            }
            Head::Go { point, at_ns } => {
                let own_ns = state.offset.map_or(at_ns, |offset| offset.to_own_ns(at_ns));
                state.go.insert(point, own_ns);
            }
            Head::Ends { why } => {
                drop(state);
                self.end_early(from, &why, false);
            }
            Head::Ended { rank, why, lost } => {
                if lost && state.peers[rank].lost.is_none() {
                    state.peers[rank].lost = Some(why.clone());
                }
                state.early.get_or_insert(Early { rank, why });
            }
            Head::Leaves => {
                state.peers[from].has_left = true;
                if from == 0 {
                    // Rank 0 leaves last: who still works was given up by it.
                    let why = "it has ended the run.".to_owned();
                    state.early.get_or_insert(Early { rank: from, why });
                }
            }
            Head::Program { topic } => {
                let waiting = state.inbox.entry((from, topic)).or_default();
                waiting.push_back(body);
            }
        }
        shared.changed();
    }

    fn send_to_all(&mut self, head: &Head, body: &[u8]) {
        let own = self.transport.rank();
        for rank in 0..self.transport.size() {
            let is_there = {
                let state = self.shared.lock();
                state.peers[rank].lost.is_none() && !state.peers[rank].has_left
            };
            if rank != own && is_there {
                self.send(rank, head, body);
            }
        }
    }

    fn ping(&mut self) {
        self.attentive_until = Instant::now() + ATTENTIVE;
        let sent_ns = self.clock.now_ns();
        self.send(0, &Head::Ping { sent_ns }, &[]);
    }

    /// Rank 0: when all are ready, they are given the time at which they pass the point.
    fn note_ready(&mut self, from: usize, point: String) {
        let size = self.transport.size();
        let all_are_ready = {
            let mut state = self.shared.lock();
            let ready = state.ready.entry(point.clone()).or_default();
            ready.insert(from) && ready.len() == size
        };
        if all_are_ready {
            let at_ns = self.clock.now_ns() + u64::try_from(LEAD.as_nanos()).unwrap_or_default();
            self.shared.lock().go.insert(point.clone(), at_ns);
            self.send_to_all(&Head::Go { point, at_ns }, &[]);
        }
    }

    /// Rank 0 passes on that a rank has ended before the others; others keep it.
    fn end_early(&mut self, rank: usize, why: &str, lost: bool) {
        let why = why.to_owned();
        {
            let mut state = self.shared.lock();
            let why = why.clone();
            state.early.get_or_insert(Early { rank, why });
        }
        self.shared.changed();
        if self.transport.rank() == 0 {
            self.send_to_all(&Head::Ended { rank, why, lost }, &[]);
        }
    }

    fn lose(&mut self, rank: usize, why: &str) {
        {
            let mut state = self.shared.lock();
            let peer = &mut state.peers[rank];
            if peer.lost.is_some() || peer.has_left {
                return;
            }
            peer.lost = Some(why.to_owned());
        }
        self.end_early(rank, why, true);
    }

    /// What the program wants; `Some` when it wants the end.
    fn follow_orders(&mut self) -> Option<bool> {
        loop {
            match self.transport.sending() {
                Ok(sending) if sending >= MOST_SENDING => return None,
                Ok(_) => {}
                // The rank it was for is found by its silence.
                Err(_) => return None,
            }
            match self.orders.try_recv() {
                Ok(Order::Send(to, head, body)) if to == self.transport.rank() => {
                    self.take_in(to, head, body);
                }
                Ok(Order::Send(_, Head::Ping { .. }, _)) => self.ping(),
                Ok(Order::Send(to, head, body)) => self.send(to, &head, &body),
                Ok(Order::End { all_have_left }) => return Some(all_have_left),
                Err(TryRecvError::Empty) => return None,
                Err(TryRecvError::Disconnected) => return Some(false),
            }
        }
    }

    fn beat(&mut self) {
        let is_due = self
            .beaten
            .is_none_or(|at| at.elapsed() >= self.heartbeats.interval());
        if !is_due {
            return;
        }
        self.beaten = Some(Instant::now());
        let state = self.shared.lock().own_state.clone();
        match self.transport.rank() {
            0 => self.send_to_all(&Head::Beat, &[]),
            _ => self.send(0, &Head::Beat, &state),
        }
    }

    /// Rank 0 looks after all others, and each of them after rank 0.
    fn look_for_lost(&mut self) {
        let timeout = self.heartbeats.timeout;
        let watched = match self.transport.rank() {
            0 => 1..self.transport.size(),
            _ => 0..1,
        };
        let silent: Vec<usize> = {
            let state: &State = &self.shared.lock();
            let is_silent = |rank: &usize| {
                let peer = &state.peers[*rank];
                peer.lost.is_none() && !peer.has_left && peer.heard.elapsed() > timeout
            };
            watched.filter(is_silent).collect()
        };
        for rank in silent {
            let text = format!(
                "nothing was heard of it for {:.1} s.",
                timeout.as_secs_f64()
            );
            self.lose(rank, &text);
        }
    }

    /// Sends what is left, and ends the carrier unless it would wait for a rank that is gone.
    fn end(mut self, all_have_left: bool) {
        let began = Instant::now();
        while self.transport.sending().is_ok_and(|sending| sending > 0)
            && began.elapsed() < LAST_MESSAGES
        {
            std::thread::sleep(POLL);
        }
        if all_have_left {
            // What fails now has no consequence any more.
            let _ = self.transport.finish();
        }
        self.shared.lock().has_ended = true;
        self.shared.changed();
    }
}
