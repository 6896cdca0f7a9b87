//! Takes connections, each with threads of its own, and ends them all.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use rustix::net::Shutdown;

use super::connection::Service;
use super::export::Export;
use super::listener::{Acceptor, Listener};
use super::socket::Socket;
use super::tls::Certificate;
use crate::client::Client;
use crate::volume::ServedVolume;

/// Connections at one time at most; further ones are closed at once.
const MOST_CONNECTIONS: usize = 64;
/// Wait after a connection that the system could not accept.
const AFTER_FAILURE: Duration = Duration::from_millis(100);
/// What requests that are under way at the end have to be answered in.
const AT_THE_END: Duration = Duration::from_secs(5);

/// Volumes that clients use by NBD until this is dropped.
pub struct NbdServer {
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Its socket in the file system goes with it.
    listener: Listener,
}

struct Shared {
    service: Service,
    /// Connections that there have been so far.
    opened: AtomicU64,
    /// Sockets of the clients.
    open: Mutex<BTreeMap<u64, Arc<Socket>>>,
    closed: Condvar,
}

impl NbdServer {
    /// Serves each volume as an export by its name. `description` is what clients show people.
    ///
    /// # Errors
    /// There is no thread.
    pub fn start(
        listener: Listener,
        client: Client,
        volumes: Vec<ServedVolume>,
        description: &str,
        certificate: Option<Certificate>,
    ) -> io::Result<Self> {
        let exports = volumes.iter().map(|volume| Export {
            name: volume.name.clone(),
            size_bytes: volume.size_bytes,
            description: description.to_owned(),
        });
        let service = Service {
            exports: exports.collect(),
            client,
            volumes,
            certificate,
            stops: AtomicBool::new(false),
        };
        let shared = Arc::new(Shared {
            service,
            opened: AtomicU64::new(0),
            open: Mutex::default(),
            closed: Condvar::new(),
        });
        let threads = listener.acceptors.iter().map(|acceptor| {
            let (shared, acceptor) = (Arc::clone(&shared), Arc::clone(acceptor));
            let accepts = thread::Builder::new().name("nbd-accept".to_owned());
            accepts.spawn(move || shared.accept(&acceptor))
        });
        let threads = threads.collect::<io::Result<Vec<_>>>()?;
        Ok(Self {
            shared,
            threads,
            listener,
        })
    }
}

impl Drop for NbdServer {
    /// Takes no more requests, answers those under way, and closes all connections.
    fn drop(&mut self) {
        self.shared.service.stops.store(true, Ordering::Relaxed);
        for acceptor in &self.listener.acceptors {
            acceptor.stop();
        }
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
        self.shared.end_connections(Shutdown::Read);
        // A client that does not take its replies, or one whose handshake has not ended.
        self.shared.end_connections(Shutdown::Both);
    }
}

/// A connection that counts until it is dropped.
struct Opened {
    shared: Arc<Shared>,
    number: u64,
    socket: Arc<Socket>,
}

impl Drop for Opened {
    fn drop(&mut self) {
        self.socket.shut_down(Shutdown::Both);
        self.shared.lock().remove(&self.number);
        self.shared.closed.notify_all();
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<u64, Arc<Socket>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn accept(self: &Arc<Self>, acceptor: &Acceptor) {
        while !self.service.stops.load(Ordering::Relaxed) {
            let Ok(socket) = acceptor.accept() else {
                // Such as no descriptor left; at the end it is how this loop is woken.
                if !self.service.stops.load(Ordering::Relaxed) {
                    thread::sleep(AFTER_FAILURE);
                }
                continue;
            };
            self.open(Arc::new(socket));
        }
    }

    /// Serves a client on a thread of its own.
    fn open(self: &Arc<Self>, socket: Arc<Socket>) {
        let mut open = self.lock();
        if open.len() >= MOST_CONNECTIONS {
            return; // Dropped, and so closed.
        }
        let number = self.opened.fetch_add(1, Ordering::Relaxed);
        open.insert(number, Arc::clone(&socket));
        drop(open);
        let opened = Opened {
            shared: Arc::clone(self),
            number,
            socket,
        };
        let serves = thread::Builder::new().name("nbd".to_owned());
        // Whatever ends a connection ends nothing else; without a thread it is dropped, and so closed.
        let _ = serves.spawn(move || opened.shared.service.serve(&opened.socket));
    }

    /// Ends connections, and gives them some time to close.
    fn end_connections(&self, how: Shutdown) {
        let open = self.lock();
        for socket in open.values() {
            socket.shut_down(how);
        }
        let any = |open: &mut BTreeMap<u64, Arc<Socket>>| !open.is_empty();
        drop(self.closed.wait_timeout_while(open, AT_THE_END, any));
    }
}
