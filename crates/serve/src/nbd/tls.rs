//! Encrypted connections: a thread between the socket of a client and one of the server.

use std::io::{self, ErrorKind, IoSlice, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::event::{PollFd, PollFlags, poll};
use rustix::net::Shutdown;
use rustls::crypto::ring;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, pem};
use rustls::server::WebPkiClientVerifier;
use rustls::{RootCertStore, ServerConfig, ServerConnection};

use super::socket::{Socket, Waits};

/// The certificate of the server, with its chain; the names of these files are those of qemu and nbdkit.
const SERVER_CERTIFICATE: &str = "server-cert.pem";
const SERVER_KEY: &str = "server-key.pem";
/// The authority of clients.
const AUTHORITY: &str = "ca-cert.pem";
/// Bytes that are encrypted at once.
const MOST_BYTES: usize = 64 * 1024;

/// Why there is no certificate.
#[derive(Debug, thiserror::Error)]
pub enum CertificateError {
    /// A file cannot be read, or does not hold what it should.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        error: pem::Error,
    },
    /// The files do not fit together.
    #[error("{path}: {error}")]
    Unusable {
        /// Their directory.
        path: PathBuf,
        /// What is wrong with them.
        error: String,
    },
}

/// What the server shows clients, and what it wants to see of them.
#[derive(Clone)]
pub struct Certificate {
    config: Arc<ServerConfig>,
    verifies_clients: bool,
}

impl Certificate {
    /// Reads `server-cert.pem` and `server-key.pem` of a directory. If `ca-cert.pem` is there, too, clients must
    /// have a certificate of that authority.
    ///
    /// # Errors
    /// A file is missing or wrong.
    pub fn read(directory: &Path) -> Result<Self, CertificateError> {
        let unusable = |error: String| CertificateError::Unusable {
            path: directory.to_owned(),
            error,
        };
        let chain = certificates(&directory.join(SERVER_CERTIFICATE))?;
        let path = directory.join(SERVER_KEY);
        let key = PrivateKeyDer::from_pem_file(&path);
        let key = key.map_err(|error| CertificateError::File { path, error })?;
        let provider = Arc::new(ring::default_provider());
        let builder = ServerConfig::builder_with_provider(Arc::clone(&provider));
        let builder = builder
            .with_safe_default_protocol_versions()
            .map_err(|error| unusable(error.to_string()))?;
        let authority = directory.join(AUTHORITY);
        let verifies_clients = authority.exists();
        let builder = if verifies_clients {
            let mut roots = RootCertStore::empty();
            roots.add_parsable_certificates(certificates(&authority)?);
            let verifier = WebPkiClientVerifier::builder_with_provider(Arc::new(roots), provider);
            let verifier = verifier.build();
            let verifier = verifier.map_err(|error| unusable(error.to_string()))?;
            builder.with_client_cert_verifier(verifier)
        } else {
            builder.with_no_client_auth()
        };
        let config = builder.with_single_cert(chain, key);
        let config = config.map_err(|error| unusable(error.to_string()))?;
        Ok(Self {
            config: Arc::new(config),
            verifies_clients,
        })
    }

    /// Whether clients need a certificate.
    #[must_use]
    pub fn verifies_clients(&self) -> bool {
        self.verifies_clients
    }

    /// The server's end of a new connection.
    pub(super) fn connection(&self) -> io::Result<ServerConnection> {
        let connection = ServerConnection::new(Arc::clone(&self.config));
        connection.map_err(io::Error::other)
    }
}

fn certificates(path: &Path) -> Result<Vec<CertificateDer<'static>>, CertificateError> {
    let read = CertificateDer::pem_file_iter(path).and_then(Iterator::collect);
    read.map_err(|error| CertificateError::File {
        path: path.to_owned(),
        error,
    })
}

/// Carries bytes between a client, encrypted, and `plain`, until one of both has ended.
pub(super) fn encrypt(connection: ServerConnection, client: &Socket, plain: &Socket) {
    let mut between = Between {
        connection,
        client: Ciphertext(client),
        plain,
        decrypted: Vec::new(),
        client_ended: false,
        plain_ended: false,
    };
    // Whoever has ended it, the other end sees.
    let _ = between.carry();
    client.shut_down(Shutdown::Both);
    plain.shut_down(Shutdown::Both);
}

/// A socket with ciphertext; no call waits.
struct Ciphertext<'a>(&'a Socket);

impl Read for Ciphertext<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.0.receive(into, Waits::No)
    }
}

impl Write for Ciphertext<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.send(&[IoSlice::new(bytes)], Waits::No)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Between<'a> {
    connection: ServerConnection,
    client: Ciphertext<'a>,
    plain: &'a Socket,
    /// What the server has not taken yet.
    decrypted: Vec<u8>,
    client_ended: bool,
    plain_ended: bool,
}

impl Between<'_> {
    fn carry(&mut self) -> io::Result<()> {
        loop {
            self.send_to_client()?;
            self.send_to_server()?;
            let client_has_all = !self.connection.wants_write();
            let ends_early = self.client_ended && self.connection.is_handshaking();
            if (self.plain_ended && client_has_all) || ends_early {
                return Ok(());
            }
            let (from_client, from_server) = self.wait()?;
            if from_client {
                self.receive_of_client()?;
            }
            if from_server {
                self.receive_of_server()?;
            }
        }
    }

    /// Waits until something can go on; says from where something can be received. Nothing is received that
    /// cannot be passed on.
    fn wait(&self) -> io::Result<(bool, bool)> {
        let wants = |reads: bool, writes: bool| {
            let mut flags = PollFlags::empty();
            flags.set(PollFlags::IN, reads);
            flags.set(PollFlags::OUT, writes);
            flags
        };
        let writes_client = self.connection.wants_write();
        let reads_client = self.decrypted.is_empty() && !self.client_ended;
        let reads_plain = !writes_client && !self.plain_ended;
        let client = wants(reads_client, writes_client);
        let plain = wants(reads_plain, !self.decrypted.is_empty());
        // Of a socket from which nothing is wanted, the end would be reported again and again.
        let wanted = [(self.client.0, client), (self.plain, plain)];
        let wanted = wanted.iter().filter(|(_, flags)| !flags.is_empty());
        let mut sockets: Vec<PollFd<'_>> = wanted
            .map(|(socket, flags)| PollFd::new(*socket, *flags))
            .collect();
        match poll(&mut sockets, None) {
            // A call that receives nothing does no harm.
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok((reads_client, reads_plain)),
            Err(error) => Err(error.into()),
        }
    }

    fn send_to_client(&mut self) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(&mut self.client) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Ok(_) => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    fn send_to_server(&mut self) -> io::Result<()> {
        while !self.decrypted.is_empty() {
            let parts = [IoSlice::new(&self.decrypted)];
            match self.plain.send(&parts, Waits::No) {
                Ok(sent) => drop(self.decrypted.drain(..sent)),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        if self.client_ended {
            self.plain.shut_down(Shutdown::Write);
        }
        Ok(())
    }

    fn receive_of_client(&mut self) -> io::Result<()> {
        match self.connection.read_tls(&mut self.client) {
            Ok(0) => self.client_ended = true,
            Ok(_) => {}
            Err(error) if is_nothing(&error) => return Ok(()),
            Err(error) => return Err(error),
        }
        let state = match self.connection.process_new_packets() {
            Ok(state) => state,
            Err(error) => {
                // The client learns why, if it still listens.
                let _ = self.send_to_client();
                return Err(io::Error::new(ErrorKind::InvalidData, error));
            }
        };
        self.client_ended |= state.peer_has_closed();
        let mut received = vec![0; state.plaintext_bytes_to_read()];
        self.connection.reader().read_exact(&mut received)?;
        self.decrypted.append(&mut received);
        Ok(())
    }

    fn receive_of_server(&mut self) -> io::Result<()> {
        let mut bytes = [0; MOST_BYTES];
        match self.plain.receive(&mut bytes, Waits::No) {
            Ok(0) => {
                self.plain_ended = true;
                self.connection.send_close_notify();
                Ok(())
            }
            Ok(length) => self.connection.writer().write_all(&bytes[..length]),
            Err(error) if is_nothing(&error) => Ok(()),
            Err(error) => Err(error),
        }
    }
}

fn is_nothing(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted)
}
