//! The layer between the buffers of a protocol and the socket.

use std::fmt::Display;
use std::io::{self, ErrorKind, Read, Write};

use rustls::pki_types::ServerName;
use rustls::{AlertDescription, CertificateError, ClientConnection, Error, ProtocolVersion};

use super::mode::TlsMode;
use super::settings::TlsSettings;
use crate::error::DatabaseError;

/// An encrypted connection, without its socket.
pub(in crate::database) struct TlsLayer {
    connection: ClientConnection,
    mode: TlsMode,
}

impl TlsLayer {
    /// Shakes hands with a server that has agreed to encrypt. `host` is the name by which it is
    /// known.
    ///
    /// # Errors
    /// It has no acceptable certificate, or does not answer.
    pub fn start(
        settings: &TlsSettings,
        host: &str,
        socket: &mut (impl Read + Write),
        lost: impl Fn(&io::Error) -> DatabaseError,
    ) -> Result<Self, DatabaseError> {
        let config = settings.config()?;
        let name = ServerName::try_from(host.to_owned()).map_err(|_| {
            DatabaseError::Unusable(format!(
                "{host} is no name for which a server can have a certificate: give its DNS name or \
                 its IP address"
            ))
        })?;
        let connection = ClientConnection::new(config, name);
        let connection = connection.map_err(|error| refused(host, &error))?;
        let mode = settings.effective_mode();
        let mut layer = Self { connection, mode };
        loop {
            layer.flush(socket).map_err(|error| lost(&error))?;
            if !layer.connection.is_handshaking() {
                return Ok(layer);
            }
            match layer.receive(socket) {
                Ok(Some(0)) => {
                    return Err(DatabaseError::unavailable(format!(
                        "{host}: it closed the connection while it was being encrypted"
                    )));
                }
                Ok(_) => {}
                Err(error) => match error.downcast::<Error>() {
                    Ok(error) => {
                        // The server learns why, if it still listens.
                        let _ = layer.flush(socket);
                        return Err(refused(host, &error));
                    }
                    Err(error) => return Err(lost(&error)),
                },
            }
        }
    }

    /// Takes what has been decrypted; `None` if more has to be received first, 0 at the end.
    pub fn take(&mut self, into: &mut [u8]) -> io::Result<Option<usize>> {
        match self.connection.reader().read(into) {
            Ok(length) => Ok(Some(length)),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(None),
            // It ended without a word, as many servers do.
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(Some(0)),
            Err(error) => Err(error),
        }
    }

    /// Whether something has been decrypted.
    pub fn has_plain_bytes(&mut self) -> bool {
        // What came was processed then; an error comes back with the next read.
        let state = self.connection.process_new_packets();
        state.is_ok_and(|state| state.plaintext_bytes_to_read() > 0)
    }

    /// Reads once from the socket, and decrypts. Returns how many bytes came; `None` if the read was
    /// interrupted.
    pub fn receive(&mut self, socket: &mut (impl Read + Write)) -> io::Result<Option<usize>> {
        let length = match self.connection.read_tls(socket) {
            Ok(length) => length,
            Err(error) if error.kind() == ErrorKind::Interrupted => return Ok(None),
            Err(error) => return Err(error),
        };
        let processed = self.connection.process_new_packets();
        processed.map_err(|error| io::Error::new(ErrorKind::InvalidData, error))?;
        // Such as an answer to new keys.
        if !self.connection.is_handshaking() {
            self.flush(socket)?;
        }
        Ok(Some(length))
    }

    /// Encrypts and sends all bytes.
    pub fn write_all(&mut self, mut bytes: &[u8], socket: &mut impl Write) -> io::Result<()> {
        while !bytes.is_empty() {
            let taken = self.connection.writer().write(bytes)?;
            bytes = &bytes[taken..];
            self.flush(socket)?;
        }
        Ok(())
    }

    fn flush(&mut self, socket: &mut impl Write) -> io::Result<()> {
        while self.connection.wants_write() {
            match self.connection.write_tls(socket) {
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                Err(error) if error.kind() != ErrorKind::Interrupted => return Err(error),
                Ok(_) | Err(_) => {}
            }
        }
        Ok(())
    }

    /// Protocol, cipher, and what is known of the server's certificate.
    pub fn describe(&self) -> String {
        let version = match self.connection.protocol_version() {
            Some(ProtocolVersion::TLSv1_3) => "TLS 1.3",
            Some(ProtocolVersion::TLSv1_2) => "TLS 1.2",
            _ => "TLS",
        };
        let cipher = self.connection.negotiated_cipher_suite();
        let cipher = cipher.and_then(|cipher| cipher.suite().as_str());
        let checked = match self.mode {
            TlsMode::VerifyFull => "certificate and host name verified",
            TlsMode::VerifyCa => "certificate verified, host name not",
            TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => "certificate not verified",
        };
        format!("{version} ({}), {checked}", cipher.unwrap_or_default())
    }
}

/// Why no encrypted connection was made, with the remedy.
fn refused(host: &str, error: &Error) -> DatabaseError {
    let why = match error {
        Error::InvalidCertificate(error) => certificate(host, error),
        Error::AlertReceived(
            AlertDescription::ProtocolVersion | AlertDescription::HandshakeFailure,
        )
        | Error::PeerIncompatible(_) => format!(
            "the server at {host} has no protocol or cipher in common with Proofload, which has \
             those of TLS 1.2 and 1.3 ({error}): update the server or its settings of TLS"
        ),
        error => format!("no encrypted connection to the server at {host} was made: {error}"),
    };
    DatabaseError::Unusable(why)
}

fn certificate(host: &str, error: &CertificateError) -> String {
    match error {
        CertificateError::UnknownIssuer => format!(
            "the certificate of the server at {host} is of no authority that is trusted here: name \
             the authority's certificate with sslrootcert=FILE, or take any certificate with \
             sslmode=require without sslrootcert"
        ),
        CertificateError::NotValidForName => not_for(host, "another name"),
        CertificateError::NotValidForNameContext { presented, .. } if presented.is_empty() => {
            not_for(host, "no name (it has no subjectAltName)")
        }
        CertificateError::NotValidForNameContext { presented, .. } => {
            let names: Vec<_> = presented.iter().map(|name| plain_name(name)).collect();
            not_for(host, &names.join(", "))
        }
        CertificateError::Expired | CertificateError::ExpiredContext { .. } => format!(
            "the certificate of the server at {host} has expired: renew it, or see whether the \
             clock of this system is right"
        ),
        CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => format!(
            "the certificate of the server at {host} is not valid yet: see whether the clock of \
             this system is right"
        ),
        CertificateError::Other(error) => unverified(host, error),
        error => unverified(host, error),
    }
}

fn unverified(host: &str, error: &dyn Display) -> String {
    format!(
        "the certificate of the server at {host} cannot be verified ({error}): if it signs itself, \
         name it with sslrootcert=FILE; if not, make one of X.509 version 3 for the server, with its \
         name as subjectAltName, or take any certificate with sslmode=require"
    )
}

fn not_for(host: &str, names: &str) -> String {
    format!(
        "the certificate of the server at {host} is for {names}: connect by a name that it has, or \
         leave the name unchecked with sslmode=verify-ca"
    )
}

/// A name without the kind that rustls writes around it, as in `DnsName("localhost")`.
fn plain_name(name: &str) -> &str {
    let inner = name.split_once('(').map_or(name, |(_, inner)| inner);
    inner.trim_end_matches(')').trim_matches('"')
}
