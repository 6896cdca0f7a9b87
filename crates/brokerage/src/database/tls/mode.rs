//! When connections are encrypted.

/// Whether connections over TCP are encrypted, in libpq's words. Those over a Unix socket are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TlsMode {
    /// Connections are never encrypted.
    Disable,
    /// If the server offers it.
    #[default]
    Prefer,
    /// Always, with any certificate; with a root certificate, as [`VerifyCa`](Self::VerifyCa).
    Require,
    /// Always, with a certificate of a trusted authority.
    VerifyCa,
    /// Always, with a certificate of a trusted authority for the name of the host.
    VerifyFull,
}

impl TlsMode {
    /// The mode of a value of `sslmode`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        Some(match text {
            "disable" => Self::Disable,
            "prefer" => Self::Prefer,
            "require" => Self::Require,
            "verify-ca" => Self::VerifyCa,
            "verify-full" => Self::VerifyFull,
            _ => return None,
        })
    }
}
