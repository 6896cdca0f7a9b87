//! The run's side: sends what was acknowledged, without making the run wait.

use crate::error::WitnessError;
use crate::message::{Message, RECORDS_PER_MESSAGE, Refusal};
use crate::record::{Record, RunId};
use crate::secret::Secret;
use crate::wire::Wire;
use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Records that wait to be sent, at most: 24 MiB.
const MOST_WAITING: usize = 1 << 20;
/// A witness of which nothing was heard for so long is asked whether it is there.
const IDLE: Duration = Duration::from_secs(15);
/// Wait before a connection is made again.
const BETWEEN_ATTEMPTS: Duration = Duration::from_secs(1);

/// What became of the records of a run.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Delivery {
    /// Transactions that the witness has acknowledged.
    pub acknowledged: u64,
    /// Transactions that it has not, which an audit knows nothing of.
    pub missed: u64,
    /// Times that the connection was lost or could not be made again.
    pub interruptions: u64,
    /// What went wrong last, as a part of a sentence.
    pub last_error: Option<String>,
}

struct State {
    queue: VecDeque<Record>,
    /// Number of the first record of the queue.
    first: u64,
    /// No more records come; the thread ends when the queue is empty, or at this time.
    closing: Option<Instant>,
    delivery: Delivery,
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
    started: Instant,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes records from the threads of a run. Clones share one queue.
#[derive(Clone)]
pub struct Sender(Arc<Shared>);

impl Sender {
    /// Notes a transaction that was acknowledged just now, or a fact about the run. Never waits for the
    /// witness: when too many records wait already, this one is only counted.
    pub fn send(&self, mut record: Record) {
        if record.is_transaction() {
            record.time_ms = self.0.started.elapsed().as_millis() as u32;
        }
        let mut state = self.0.state();
        if state.closing.is_some() || state.queue.len() >= MOST_WAITING {
            state.delivery.missed += u64::from(record.is_transaction());
            if state.delivery.last_error.is_none() {
                let last_error = "the witness was slower than the run";
                state.delivery.last_error = Some(last_error.to_owned());
            }
            return;
        }
        state.queue.push_back(record);
        let is_first = state.queue.len() == 1;
        drop(state);
        if is_first {
            self.0.changed.notify_all();
        }
    }
}

/// The connection of a run to its witness.
pub struct Client {
    shared: Arc<Shared>,
    thread: JoinHandle<()>,
    run: RunId,
}

impl Client {
    /// Connects to the witness at `address` and begins a new run. Later losses of the connection do not
    /// end anything: it is made again.
    ///
    /// # Errors
    /// If the witness is not reached, has another secret or refuses.
    pub fn connect(address: &str, secret: &Secret) -> Result<Self, WitnessError> {
        let run = RunId::random()?;
        let mut connection = Connection {
            address: address.to_owned(),
            secret: secret.clone(),
            begin: Message::Begin { run },
            wire: None,
        };
        connection.open(0)?;
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                queue: VecDeque::new(),
                first: 0,
                closing: None,
                delivery: Delivery::default(),
            }),
            changed: Condvar::new(),
            started: Instant::now(),
        });
        let works = Arc::clone(&shared);
        let builder = thread::Builder::new().name("proofload-witness".to_owned());
        let thread = builder.spawn(move || deliver(&works, connection))?;
        Ok(Self {
            shared,
            thread,
            run,
        })
    }

    /// The number by which the witness knows the run.
    #[must_use]
    pub fn run(&self) -> RunId {
        self.run
    }

    /// Takes records from the threads of the run.
    #[must_use]
    pub fn sender(&self) -> Sender {
        Sender(Arc::clone(&self.shared))
    }

    /// What has become of the records so far.
    #[must_use]
    pub fn delivery(&self) -> Delivery {
        self.shared.state().delivery.clone()
    }

    /// Ends the run: waits for the witness to acknowledge what is left, for `limit` at most.
    #[must_use]
    pub fn finish(self, limit: Duration) -> Delivery {
        let mut state = self.shared.state();
        state.closing = Some(Instant::now() + limit);
        drop(state);
        self.shared.changed.notify_all();
        // A panic of the thread leaves what it has not sent in the queue, to be counted.
        let _ = self.thread.join();
        let mut state = self.shared.state();
        let left = state.queue.iter().filter(|one| one.is_transaction());
        state.delivery.missed += left.count() as u64;
        state.delivery.clone()
    }
}

struct Connection {
    address: String,
    secret: Secret,
    begin: Message,
    wire: Option<Wire>,
}

impl Connection {
    /// Makes the connection if there is none; the number of the record that the witness expects.
    fn open(&mut self, first: u64) -> Result<(&mut Wire, u64), WitnessError> {
        let wire = match self.wire.take() {
            Some(wire) => return Ok((self.wire.insert(wire), first)),
            None => Wire::connect(&self.address, &self.secret)?,
        };
        let wire = self.wire.insert(wire);
        match wire.ask(&self.begin)? {
            Message::Stored { next } => Ok((wire, next)),
            _ => Err(WitnessError::Protocol("an unexpected answer")),
        }
    }
}

/// The thread: sends until the run has ended and everything is acknowledged.
fn deliver(shared: &Shared, mut connection: Connection) {
    loop {
        let Some((first, batch)) = next_batch(shared) else {
            return;
        };
        let sent = send(&mut connection, shared, first, batch);
        let Err(error) = sent else { continue };
        connection.wire = None;
        let is_final = matches!(
            error,
            WitnessError::LostRecords { .. } | WitnessError::Refused(Refusal::Sequence)
        );
        let mut state = shared.state();
        state.delivery.interruptions += 1;
        state.delivery.last_error = Some(error.to_string());
        if is_final {
            // Whatever is sent from now on would have a gap before it.
            while state.closing.is_none() {
                state = wait(shared, state, IDLE);
            }
            return;
        }
        let until = Instant::now() + BETWEEN_ATTEMPTS;
        while let Some(left) = until.checked_duration_since(Instant::now()) {
            if state.closing.is_some_and(|end| Instant::now() >= end) {
                return;
            }
            state = wait(shared, state, left);
        }
    }
}

fn wait<'a>(
    shared: &'a Shared,
    state: MutexGuard<'a, State>,
    at_most: Duration,
) -> MutexGuard<'a, State> {
    let waited = shared.changed.wait_timeout(state, at_most);
    waited.unwrap_or_else(PoisonError::into_inner).0
}

/// The records to be sent next, none if the witness is only to be asked whether it is there; `None`
/// when the run has ended and nothing is left, or no time.
fn next_batch(shared: &Shared) -> Option<(u64, Vec<Record>)> {
    let mut state = shared.state();
    let idle_until = Instant::now() + IDLE;
    loop {
        if let Some(end) = state.closing
            && (state.queue.is_empty() || Instant::now() >= end)
        {
            return None;
        }
        let left = idle_until.saturating_duration_since(Instant::now());
        if !state.queue.is_empty() || left.is_zero() {
            let records = state.queue.iter().take(RECORDS_PER_MESSAGE);
            return Some((state.first, records.copied().collect()));
        }
        state = wait(shared, state, left);
    }
}

fn send(
    connection: &mut Connection,
    shared: &Shared,
    first: u64,
    mut records: Vec<Record>,
) -> Result<(), WitnessError> {
    let (wire, next) = connection.open(first)?;
    if next < first {
        return Err(WitnessError::LostRecords {
            acknowledged: first,
            present: next,
        });
    }
    // Records whose acknowledgement was lost with the connection.
    let known = usize::try_from(next - first).unwrap_or(usize::MAX);
    if known > 0 {
        acknowledged(shared, next)?;
        records.drain(..known.min(records.len()));
        if records.is_empty() {
            return Ok(());
        }
    }
    let message = Message::Records {
        first: next,
        records,
    };
    match wire.ask(&message)? {
        Message::Stored { next } => acknowledged(shared, next),
        _ => Err(WitnessError::Protocol("an unexpected answer")),
    }
}

/// The witness has all records before `next`.
fn acknowledged(shared: &Shared, next: u64) -> Result<(), WitnessError> {
    let mut state = shared.state();
    let count = next.saturating_sub(state.first);
    if count > state.queue.len() as u64 {
        return Err(WitnessError::Protocol("it acknowledges what was not sent"));
    }
    let known = state.queue.drain(..count as usize);
    let transactions = known.filter(Record::is_transaction).count();
    state.delivery.acknowledged += transactions as u64;
    state.first += count;
    Ok(())
}
