//! A connection, from its handshake to its end.

use std::io::{self, BufReader};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::net::Shutdown;

use super::budget::Budget;
use super::execute::{Execution, Reply};
use super::export::Export;
use super::handshake::{Agreed, Encryption, Handshake, Step};
use super::outgoing::Outgoing;
use super::reply::Answered;
use super::request::Request;
use super::socket::{Socket, Until};
use super::tls::{Certificate, encrypt};
use crate::client::Client;
use crate::volume::ServedVolume;

/// Time for the whole handshake.
const HANDSHAKE: Duration = Duration::from_secs(60);
/// Small requests that are received with one call.
const BUFFER_BYTES: usize = 64 * 1024;

/// What connections have in common.
pub(super) struct Service {
    pub client: Client,
    /// In the order of the exports.
    pub volumes: Vec<ServedVolume>,
    pub exports: Arc<[Export]>,
    pub certificate: Option<Certificate>,
    /// Whether no more requests are taken.
    pub stops: AtomicBool,
}

impl Service {
    /// Serves a client until one of both ends it.
    ///
    /// # Errors
    /// The connection does not work any more.
    pub fn serve(&self, socket: &Arc<Socket>) -> io::Result<()> {
        let encryption = match self.certificate {
            Some(_) => Encryption::Required,
            None => Encryption::Unavailable,
        };
        let deadline = Instant::now() + HANDSHAKE;
        let mut handshake = Handshake::new(Arc::clone(&self.exports), encryption);
        match handshake.begin(&mut Until { socket, deadline })? {
            Step::Use(agreed) => self.transmit(socket, agreed),
            Step::StartTls => self.serve_encrypted(socket, handshake, deadline),
            Step::Continue | Step::End => Ok(()),
        }
    }

    /// Goes on with a socket behind which a thread encrypts.
    fn serve_encrypted(
        &self,
        socket: &Arc<Socket>,
        mut handshake: Handshake,
        deadline: Instant,
    ) -> io::Result<()> {
        let Some(certificate) = &self.certificate else {
            return Ok(());
        };
        socket.set_time_limit(None)?;
        let (plain, plain_end) = Socket::pair()?;
        let plain = Arc::new(plain);
        let connection = certificate.connection()?;
        thread::scope(|scope| {
            let encrypts = thread::Builder::new().name("nbd-tls".to_owned());
            encrypts.spawn_scoped(scope, || encrypt(connection, socket, &plain_end))?;
            let stream = &mut Until {
                socket: &plain,
                deadline,
            };
            let served = match handshake.go_on_encrypted(stream) {
                Ok(Step::Use(agreed)) => self.transmit(&plain, agreed),
                ended => ended.map(drop),
            };
            plain.shut_down(Shutdown::Both);
            served
        })
    }

    /// Takes requests, and waits at the end until all of them are answered.
    fn transmit(&self, socket: &Arc<Socket>, agreed: Agreed) -> io::Result<()> {
        socket.set_time_limit(None)?;
        let outgoing = Arc::new(Outgoing::new(Arc::clone(socket)));
        let writer = Arc::clone(&outgoing);
        let writes = thread::Builder::new().name("nbd-writer".to_owned());
        let writes = writes.spawn(move || writer.write())?;
        let budget = Arc::new(Budget::default());
        let ended = self.take_requests(socket, agreed, &outgoing, &budget);
        budget.wait_until_free();
        outgoing.end();
        let _ = writes.join();
        ended
    }

    fn take_requests(
        &self,
        socket: &Arc<Socket>,
        agreed: Agreed,
        outgoing: &Arc<Outgoing>,
        budget: &Arc<Budget>,
    ) -> io::Result<()> {
        let volume = &self.volumes[agreed.export];
        // After a power cut the client has to connect again.
        let client = self.client.opened_at(self.client.power_cuts());
        let mut stream = BufReader::with_capacity(BUFFER_BYTES, &**socket);
        while let Some(request) = Request::read(&mut stream)? {
            let permit = budget.take(request.held_bytes());
            // Many requests may have been received by now that are not begun yet.
            if outgoing.is_broken() || self.stops.load(Ordering::Relaxed) {
                break;
            }
            let answered = Answered {
                cookie: request.cookie,
                structured: agreed.structured,
            };
            let payload = request.read_payload(&mut stream)?;
            let reply = Reply::new(answered, Arc::clone(outgoing), permit);
            if let Some((number, message)) = request.refusal(volume.size_bytes, agreed) {
                reply.error(number, message);
                continue;
            }
            let execution = Execution {
                client: &client,
                volume,
                request,
                reply,
            };
            execution.begin(payload);
        }
        Ok(())
    }
}
