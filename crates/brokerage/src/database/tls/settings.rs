//! What an address asks for.

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use rustls::ClientConfig;

use super::certificates;
use super::mode::TlsMode;
use crate::database::endpoint::Endpoint;
use crate::error::DatabaseError;

/// The encryption of the connections to a server.
#[derive(Clone, Default)]
pub struct TlsSettings {
    /// When connections are encrypted.
    pub mode: TlsMode,
    /// A file with the certificates of trusted authorities (PEM); those of the system if `None`.
    pub root_certificates: Option<PathBuf>,
    /// Read once for all connections.
    config: Arc<OnceLock<Arc<ClientConfig>>>,
}

impl TlsSettings {
    /// Settings whose certificates are not yet read.
    #[must_use]
    pub fn new(mode: TlsMode, root_certificates: Option<PathBuf>) -> Self {
        Self {
            mode,
            root_certificates,
            config: Arc::default(),
        }
    }

    /// The mode in which certificates are checked.
    pub(super) fn effective_mode(&self) -> TlsMode {
        match self.mode {
            TlsMode::Require if self.root_certificates.is_some() => TlsMode::VerifyCa,
            mode => mode,
        }
    }

    /// The configuration of a client with these settings.
    ///
    /// # Errors
    /// There are no certificates to trust.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, DatabaseError> {
        if let Some(config) = self.config.get() {
            return Ok(Arc::clone(config));
        }
        let mode = self.effective_mode();
        let config = certificates::config(mode, self.root_certificates.as_deref())?;
        Ok(Arc::clone(self.config.get_or_init(|| config)))
    }
}

/// An attempt to connect that has failed.
pub(in crate::database) struct FailedAttempt {
    /// Why the attempt failed.
    pub error: DatabaseError,
    /// Whether another one without encryption may succeed.
    pub is_about_encryption: bool,
}

impl From<DatabaseError> for FailedAttempt {
    fn from(error: DatabaseError) -> Self {
        Self {
            error,
            is_about_encryption: false,
        }
    }
}

impl TlsSettings {
    /// Connects by an attempt that encrypts for the name of a host, if the mode asks for it; in the
    /// mode `prefer` by another one without, if encryption was in the way. While a server is down,
    /// that another attempt has failed says nothing, so the mode stays what it was.
    pub(in crate::database) fn connect<T>(
        &self,
        endpoint: &Endpoint,
        attempt: impl Fn(Option<&str>) -> Result<T, FailedAttempt>,
    ) -> Result<T, DatabaseError> {
        let host = match endpoint {
            Endpoint::Tcp { host, .. } if self.mode != TlsMode::Disable => Some(host.as_str()),
            Endpoint::Tcp { .. } | Endpoint::Socket(_) => None,
        };
        let failed = match attempt(host) {
            Ok(connected) => return Ok(connected),
            Err(failed) => failed,
        };
        if host.is_some() && self.mode == TlsMode::Prefer && failed.is_about_encryption {
            return attempt(None).map_err(|_| failed.error);
        }
        Err(failed.error)
    }

    /// What follows when a server offers no encryption: an error, if it must be encrypted.
    pub(in crate::database) fn not_offered(
        &self,
        endpoint: &Endpoint,
        how: &str,
    ) -> Result<(), DatabaseError> {
        if matches!(self.mode, TlsMode::Disable | TlsMode::Prefer) {
            return Ok(());
        }
        Err(DatabaseError::Unusable(format!(
            "the server at {endpoint} does not offer encrypted connections: switch them on there \
             ({how}), or connect without with sslmode=prefer"
        )))
    }
}

impl PartialEq for TlsSettings {
    fn eq(&self, other: &Self) -> bool {
        (self.mode, &self.root_certificates) == (other.mode, &other.root_certificates)
    }
}

impl Eq for TlsSettings {}

impl std::fmt::Debug for TlsSettings {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter
            .debug_struct("TlsSettings")
            .field("mode", &self.mode)
            .field("root_certificates", &self.root_certificates)
            .finish_non_exhaustive()
    }
}
