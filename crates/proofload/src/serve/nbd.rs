//! The volumes by NBD: where clients connect to, and what may be wrong with that.

use std::io;
use std::path::PathBuf;

use ::serve::nbd::{Address, Certificate, CertificateError, ListenError, Listener, NbdServer};
use ::serve::{Client, ServedVolume};

use execution::Error;

/// Where volumes are served by NBD.
#[derive(Debug, Clone)]
pub struct NbdScenario {
    /// `unix:PATH` or `HOST:PORT`.
    pub address: String,
    /// A directory with certificates; without one connections are not encrypted.
    pub certificates: Option<PathBuf>,
}

/// What listens already, and nobody is served yet.
pub(super) struct PreparedNbd {
    address: Address,
    certificate: Option<Certificate>,
    listener: Listener,
}

impl PreparedNbd {
    /// Reads the certificates, and listens.
    pub fn new(scenario: &NbdScenario) -> Result<Self, Error> {
        let address = Address::parse(&scenario.address).ok_or_else(|| {
            Error::usage(
                format!("{} is no address to listen at.", scenario.address),
                "Name a socket as unix:PATH, or an address as HOST:PORT, with --nbd.",
            )
        })?;
        let certificate = scenario.certificates.as_deref().map(Certificate::read);
        let certificate = certificate
            .transpose()
            .map_err(|error| no_certificate(&error))?;
        let listener = Listener::bind(&address, certificate.is_some());
        Ok(Self {
            address,
            certificate,
            listener: listener.map_err(|error| not_listening(&error))?,
        })
    }

    /// Serves clients.
    pub fn start(
        self,
        client: Client,
        volumes: &[ServedVolume],
        title: &str,
    ) -> io::Result<NbdServer> {
        let volumes = volumes.to_vec();
        NbdServer::start(self.listener, client, volumes, title, self.certificate)
    }

    /// Where clients find the volumes, in a few lines.
    pub fn describe(&self, volumes: &[ServedVolume]) -> String {
        let mut text = "Clients of NBD find the volumes at:".to_owned();
        for volume in volumes {
            text.push_str(&format!("\n  {}", self.uri(&volume.name)));
        }
        match &self.certificate {
            None => {}
            Some(certificate) if certificate.verifies_clients() => {
                text.push_str("\nConnections are encrypted. Clients need a certificate by the authority in ca-cert.pem.");
            }
            Some(_) => text.push_str(
                "\nConnections are encrypted. Without ca-cert.pem, clients need no certificate.",
            ),
        }
        text
    }

    /// The address of a volume as libnbd and qemu take it.
    fn uri(&self, name: &str) -> String {
        let scheme = match self.certificate {
            Some(_) => "nbds",
            None => "nbd",
        };
        match &self.address {
            Address::Unix(path) => format!("{scheme}+unix:///{name}?socket={}", path.display()),
            Address::Tcp(text) => {
                let host = text
                    .rsplit_once(':')
                    .map_or(text.as_str(), |(host, _)| host);
                let port = self.listener.port().unwrap_or_default();
                format!("{scheme}://{host}:{port}/{name}")
            }
        }
    }
}

fn no_certificate(error: &CertificateError) -> Error {
    Error::usage(
        format!("There is no certificate for --nbd: {error}."),
        "Name a directory with server-cert.pem and server-key.pem, and with ca-cert.pem where clients are to \
         have certificates, too, with --nbd-certificates.",
    )
}

fn not_listening(error: &ListenError) -> Error {
    match error {
        ListenError::Exposed(address) => Error::usage(
            format!("Other machines can reach {address}, and connections would not be encrypted."),
            "Name a directory with certificates with --nbd-certificates, or listen at 127.0.0.1 or unix:PATH.",
        ),
        ListenError::InUse(address) => Error::environment(
            format!("Another program listens at {address}."),
            "End it, or name another address with --nbd.",
        ),
        ListenError::NoSocket(path) => Error::usage(
            format!("{} is there already, and is no socket.", path.display()),
            "Name another path with --nbd.",
        ),
        ListenError::Unresolved(address, error) => Error::environment(
            format!("{address} is not known: {error}."),
            "Name an address of this machine with --nbd.",
        ),
        ListenError::System(address, error) => Error::environment(
            format!("Nothing can listen at {address}: {error}."),
            "Name an address of this machine, or a path in a directory that you may write, with --nbd.",
        ),
    }
}
