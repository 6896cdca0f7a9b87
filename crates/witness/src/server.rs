//! The side of the second machine: takes records, keeps them, gives them back.

use crate::error::WitnessError;
use crate::journal::{Journal, JournalReader};
use crate::message::{Message, RECORDS_PER_MESSAGE, Refusal};
use crate::record::RunId;
use crate::secret::Secret;
use crate::wire::{ANSWER, Wire};
use std::collections::BTreeMap;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

/// Connections at one time at most; further ones are closed at once.
const MOST_CONNECTIONS: usize = 64;
/// A client that has sent nothing for so long is gone: it asks every 15 seconds whether the witness is
/// there.
const IDLE: Duration = Duration::from_secs(60);
/// Wait after a connection that the system could not accept.
const AFTER_FAILURE: Duration = Duration::from_millis(100);

/// A witness that listens.
pub struct Server {
    listener: TcpListener,
    shared: Arc<Shared>,
    /// Locked while the witness uses the directory.
    _directory: File,
}

struct Shared {
    secret: Secret,
    directory: PathBuf,
    runs: Mutex<BTreeMap<RunId, Arc<Mutex<Run>>>>,
    notice: Box<dyn Fn(&str) + Send + Sync>,
}

/// A run whose records are taken.
struct Run {
    journal: Journal,
    /// Raised when the run goes on over another connection.
    connection: u64,
}

impl Server {
    /// Listens at `address`, host and port, and keeps records in `directory`, which is made if it is not
    /// there. `notice` is called with a sentence for each event that an administrator wants to see.
    ///
    /// # Errors
    /// If the address cannot be listened at, or the directory cannot be used.
    pub fn bind(
        address: &str,
        secret: Secret,
        directory: &Path,
        notice: impl Fn(&str) + Send + Sync + 'static,
    ) -> Result<Self, WitnessError> {
        let failed = |error| WitnessError::File {
            path: directory.to_owned(),
            error,
        };
        fs::create_dir_all(directory).map_err(failed)?;
        let opened = File::open(directory).map_err(failed)?;
        match opened.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(WitnessError::InUse(directory.to_owned()));
            }
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let listener = TcpListener::bind(address);
        let listener = listener.map_err(|error| WitnessError::Listen {
            address: address.to_owned(),
            error,
        })?;
        Ok(Self {
            listener,
            shared: Arc::new(Shared {
                secret,
                directory: directory.to_owned(),
                runs: Mutex::default(),
                notice: Box::new(notice),
            }),
            _directory: opened,
        })
    }

    /// The address that it listens at.
    ///
    /// # Errors
    /// If the system does not say.
    pub fn address(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Answers clients, each on a thread of its own, without end.
    pub fn serve(&self) -> ! {
        let open = Arc::new(());
        loop {
            let Ok((stream, peer)) = self.listener.accept() else {
                thread::sleep(AFTER_FAILURE);
                continue;
            };
            if Arc::strong_count(&open) > MOST_CONNECTIONS {
                continue; // Dropped, and so closed.
            }
            let (shared, held) = (Arc::clone(&self.shared), Arc::clone(&open));
            let builder = thread::Builder::new().name("proofload-client".to_owned());
            let spawned = builder.spawn(move || {
                let _held = held;
                shared.answer(stream, peer);
            });
            if spawned.is_err() {
                thread::sleep(AFTER_FAILURE);
            }
        }
    }
}

/// What a connection is used for.
#[derive(Default)]
struct Session {
    /// The run whose records are taken, and the number of this connection in it.
    run: Option<(RunId, Arc<Mutex<Run>>, u64)>,
    reader: Option<JournalReader>,
}

impl Shared {
    fn answer(&self, stream: TcpStream, peer: SocketAddr) {
        let mut wire = match Wire::accept(stream, &self.secret) {
            Ok(wire) => wire,
            Err(error @ (WitnessError::WrongSecret | WitnessError::Protocol(_))) => {
                return (self.notice)(&format!("{peer} was refused: {error}."));
            }
            Err(_) => return,
        };
        let mut session = Session::default();
        let ended = loop {
            let answer = match wire.receive(IDLE) {
                Ok(message) => self.act(message, &mut session, peer),
                Err(error) => break error,
            };
            if let Err(error) = wire.send(&answer, ANSWER) {
                break error;
            }
        };
        if let Some((id, ..)) = session.run {
            (self.notice)(&format!("{peer} has ended sending for run {id}: {ended}."));
        }
    }

    fn act(&self, message: Message, session: &mut Session, peer: SocketAddr) -> Message {
        let done = match message {
            Message::Begin { run } => self.begin(run, session, peer),
            Message::Records { first, records } => {
                let Some((_, run, connection)) = &session.run else {
                    return Message::Refused(Refusal::Unexpected);
                };
                let mut run = lock(run);
                if run.connection != *connection {
                    return Message::Refused(Refusal::Superseded);
                }
                if first != run.journal.next() {
                    return Message::Refused(Refusal::Sequence);
                }
                let next = first + records.len() as u64;
                run.journal
                    .append(&records)
                    .map(|()| Message::Stored { next })
            }
            Message::Fetch { run, from } => self.fetch(run, from, session),
            Message::Stored { .. }
            | Message::Fetched { .. }
            | Message::Unreadable(_)
            | Message::Refused(_) => {
                return Message::Refused(Refusal::Unexpected);
            }
        };
        done.unwrap_or_else(|error| match error {
            WitnessError::UnknownRun(_) => Message::Refused(Refusal::UnknownRun),
            error => {
                (self.notice)(&format!("{error}."));
                Message::Refused(match error.is_damage() {
                    true => Refusal::Damaged,
                    false => Refusal::Storage,
                })
            }
        })
    }

    fn begin(
        &self,
        id: RunId,
        session: &mut Session,
        peer: SocketAddr,
    ) -> Result<Message, WitnessError> {
        let mut runs = lock(&self.runs);
        // Runs that no connection uses any more need no open file.
        runs.retain(|_, run| Arc::strong_count(run) > 1);
        let run = match runs.get(&id) {
            Some(run) => Arc::clone(run),
            None => {
                let journal = Journal::open(&self.directory, id)?;
                let connection = 0;
                let run = Arc::new(Mutex::new(Run {
                    journal,
                    connection,
                }));
                runs.insert(id, Arc::clone(&run));
                run
            }
        };
        drop(runs);
        let mut state = lock(&run);
        state.connection += 1;
        let (next, connection) = (state.journal.next(), state.connection);
        drop(state);
        session.run = Some((id, run, connection));
        (self.notice)(&format!(
            "{peer} sends for run {id}, from record {next} on."
        ));
        Ok(Message::Stored { next })
    }

    fn fetch(&self, run: RunId, from: u64, session: &mut Session) -> Result<Message, WitnessError> {
        let kept = session.reader.take();
        let kept = kept.filter(|reader| reader.run == run && reader.position() <= from);
        let mut reader = match kept {
            Some(reader) => reader,
            None => JournalReader::open(&self.directory, run)?,
        };
        let path = reader.path.clone();
        let failed = |error| WitnessError::File {
            path: path.clone(),
            error,
        };
        while reader.position() < from {
            let before = from - reader.position();
            let most = RECORDS_PER_MESSAGE.min(usize::try_from(before).unwrap_or(usize::MAX));
            if reader.records(most).map_err(failed)?.is_empty() {
                break;
            }
        }
        let records = reader.records(RECORDS_PER_MESSAGE);
        let records = records.or_else(|error| match error.kind() {
            ErrorKind::InvalidData => Ok(Vec::new()),
            _ => Err(failed(error)),
        })?;
        let unread = match records.is_empty() {
            true => reader.unread().map_err(failed)?,
            false => None,
        };
        session.reader = Some(reader);
        Ok(match unread {
            Some(unread) => {
                (self.notice)(&format!(
                    "{}: from record {} on, its last {} bytes are damaged or incomplete.",
                    path.display(),
                    unread.from,
                    unread.bytes
                ));
                Message::Unreadable(unread)
            }
            None => Message::Fetched { records },
        })
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
