//! The requests of a trace in the order in which they are due.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use trace::{TraceError, TraceRequest};

/// When requests are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Discipline {
    /// When they arrive, at most so many at once inside the array.
    Open { queue_limit: usize },
    /// When one of so many clients has thought.
    Closed { clients: usize },
}

/// A request that is due at a time of the replay.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Due {
    /// When it arrives, or when its client sends it; ns.
    pub at_ns: u64,
    /// Its number in the trace, from 0.
    pub number: u64,
    pub request: TraceRequest,
}

/// Where requests come from: the next one, or none at the end.
pub trait Requests {
    /// The next request.
    ///
    /// # Errors
    /// As the trace says.
    fn next_request(&mut self) -> Result<Option<TraceRequest>, TraceError>;
}

/// Requests on their way from the trace to the array.
pub struct Line<S> {
    requests: S,
    discipline: Discipline,
    /// Times are divided by it.
    speed: f64,
    until_ns: Option<u64>,
    taken: u64,
    is_at_end: bool,
    /// Open: the next arrival. Closed: clients that think, the next to send first.
    waiting: BinaryHeap<Reverse<Waiting>>,
    inside: usize,
}

#[derive(Debug)]
struct Waiting(Due);

impl PartialEq for Waiting {
    fn eq(&self, other: &Self) -> bool {
        self.key() == other.key()
    }
}

impl Eq for Waiting {}

impl PartialOrd for Waiting {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Waiting {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key().cmp(&other.key())
    }
}

impl Waiting {
    /// Those of one time go in the order of the trace.
    fn key(&self) -> (u64, u64) {
        (self.0.at_ns, self.0.number)
    }
}

impl<S: Requests> Line<S> {
    /// A line that begins at time zero. With `until_ns` it ends before the first request that is
    /// due then or later.
    ///
    /// # Errors
    /// As the trace says.
    pub fn new(
        requests: S,
        discipline: Discipline,
        speed: f64,
        until_ns: Option<u64>,
    ) -> Result<Self, TraceError> {
        let mut line = Self {
            requests,
            discipline,
            speed,
            until_ns,
            taken: 0,
            is_at_end: false,
            waiting: BinaryHeap::new(),
            inside: 0,
        };
        let first = match discipline {
            Discipline::Open { .. } => 1,
            Discipline::Closed { clients } => clients,
        };
        for _ in 0..first {
            line.fetch(0)?;
        }
        Ok(line)
    }

    /// When the next request may go in; `None` while nothing may.
    pub fn next_ns(&self) -> Option<u64> {
        let next = self.waiting.peek()?;
        let Discipline::Open { queue_limit } = self.discipline else {
            return Some(next.0.0.at_ns);
        };
        (self.inside < queue_limit).then_some(next.0.0.at_ns)
    }

    /// Takes the next request out, which now goes into the array.
    ///
    /// # Errors
    /// As the trace says.
    pub fn take(&mut self) -> Result<Option<Due>, TraceError> {
        let Some(Reverse(Waiting(due))) = self.waiting.pop() else {
            return Ok(None);
        };
        self.inside += 1;
        if matches!(self.discipline, Discipline::Open { .. }) {
            self.fetch(0)?;
        }
        Ok(Some(due))
    }

    /// A request that was inside has ended at `now_ns`: a client goes on to the next one.
    ///
    /// # Errors
    /// As the trace says.
    pub fn ended(&mut self, now_ns: u64) -> Result<(), TraceError> {
        self.inside -= 1;
        match self.discipline {
            Discipline::Open { .. } => Ok(()),
            Discipline::Closed { .. } => self.fetch(now_ns),
        }
    }

    /// Requests inside the array.
    pub fn inside(&self) -> usize {
        self.inside
    }

    /// Whether requests only wait for their time, so that the ends of others change nothing.
    pub fn is_open(&self) -> bool {
        match self.discipline {
            Discipline::Open { queue_limit } => self.inside < queue_limit,
            Discipline::Closed { .. } => false,
        }
    }

    /// Whether everything has gone in and come out.
    pub fn is_over(&self) -> bool {
        self.is_at_end && self.waiting.is_empty() && self.inside == 0
    }

    fn fetch(&mut self, now_ns: u64) -> Result<(), TraceError> {
        if self.is_at_end {
            return Ok(());
        }
        let Some(request) = self.requests.next_request()? else {
            self.is_at_end = true;
            return Ok(());
        };
        let at_ns = match self.discipline {
            Discipline::Open { .. } => self.scaled(request.arrival_ns.unwrap_or(0)),
            Discipline::Closed { .. } => now_ns.saturating_add(self.scaled(request.think_ns)),
        };
        if self.until_ns.is_some_and(|until_ns| at_ns >= until_ns) {
            // In an open trace everything behind is later still; clients stop one by one.
            self.is_at_end = matches!(self.discipline, Discipline::Open { .. });
            return Ok(());
        }
        let number = self.taken;
        self.taken += 1;
        let due = Due {
            at_ns,
            number,
            request,
        };
        self.waiting.push(Reverse(Waiting(due)));
        Ok(())
    }

    fn scaled(&self, ns: u64) -> u64 {
        if self.speed == 1.0 {
            return ns;
        }
        (ns as f64 / self.speed).round() as u64
    }
}
