//! Which certificates of servers are accepted.

use std::path::Path;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{
    CryptoProvider, WebPkiSupportedAlgorithms, ring, verify_tls12_signature, verify_tls13_signature,
};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, DigitallySignedStruct, Error, RootCertStore, SignatureScheme};

use super::mode::TlsMode;
use crate::error::DatabaseError;

/// The configuration of a client in this mode, with the certificates of a file or of the system.
pub(super) fn config(
    mode: TlsMode,
    file: Option<&Path>,
) -> Result<Arc<ClientConfig>, DatabaseError> {
    let provider = Arc::new(ring::default_provider());
    let verifier = Verifier {
        trusted: match mode {
            TlsMode::VerifyCa | TlsMode::VerifyFull => Some(Trusted::read(file)?),
            TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => None,
        },
        checks_name: mode == TlsMode::VerifyFull,
        algorithms: provider.signature_verification_algorithms,
    };
    client(provider, verifier).map_err(|error| {
        DatabaseError::Unusable(format!("encrypted connections are not possible: {error}"))
    })
}

fn client(provider: Arc<CryptoProvider>, verifier: Verifier) -> Result<Arc<ClientConfig>, Error> {
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Certificates that are trusted.
#[derive(Debug)]
struct Trusted {
    authorities: RootCertStore,
    /// Those of the named file, any of which may be the server's own.
    named: Vec<CertificateDer<'static>>,
}

impl Trusted {
    fn read(file: Option<&Path>) -> Result<Self, DatabaseError> {
        let Some(file) = file else {
            return Self::of_the_system();
        };
        let unusable = |why: String| {
            DatabaseError::Unusable(format!(
                "the file {} of sslrootcert {why}: name one with certificates in PEM",
                file.display()
            ))
        };
        let read = CertificateDer::pem_file_iter(file).and_then(Iterator::collect);
        let named: Vec<_> = read.map_err(|error| unusable(format!("cannot be read ({error})")))?;
        let mut authorities = RootCertStore::empty();
        let (added, _) = authorities.add_parsable_certificates(named.iter().cloned());
        if added == 0 {
            return Err(unusable("has no certificate".to_owned()));
        }
        Ok(Self { authorities, named })
    }

    fn of_the_system() -> Result<Self, DatabaseError> {
        let mut authorities = RootCertStore::empty();
        let found = rustls_native_certs::load_native_certs().certs;
        authorities.add_parsable_certificates(found);
        if authorities.is_empty() {
            return Err(DatabaseError::Unusable(
                "no certificates of authorities are installed on this system: install the package \
                 ca-certificates, or name a file with sslrootcert"
                    .to_owned(),
            ));
        }
        Ok(Self {
            authorities,
            named: Vec::new(),
        })
    }
}

/// Checks a server's certificate as far as the mode asks for.
#[derive(Debug)]
struct Verifier {
    /// `None` if any certificate is accepted.
    trusted: Option<Trusted>,
    checks_name: bool,
    algorithms: WebPkiSupportedAlgorithms,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, Error> {
        let Some(trusted) = &self.trusted else {
            return Ok(ServerCertVerified::assertion());
        };
        let parsed = ParsedCertificate::try_from(end_entity)?;
        // A certificate that signs itself is its own authority, which a chain of certificates does
        // not allow for: the one that was named is accepted as it is.
        if !trusted.named.iter().any(|named| named == end_entity) {
            verify_server_cert_signed_by_trust_anchor(
                &parsed,
                &trusted.authorities,
                intermediates,
                now,
                self.algorithms.all,
            )?;
        }
        if self.checks_name {
            verify_server_name(&parsed, server_name)?;
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trusted {
            Some(_) => verify_tls12_signature(message, certificate, signature, &self.algorithms),
            None => Ok(any_signature()),
        }
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, Error> {
        match self.trusted {
            Some(_) => verify_tls13_signature(message, certificate, signature, &self.algorithms),
            None => Ok(any_signature()),
        }
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.algorithms.supported_schemes()
    }
}

/// Where any certificate is accepted, the signature proves nothing: whoever is in between signs with
/// one of his own. And certificates of version 1, which many servers have, could not be parsed.
fn any_signature() -> HandshakeSignatureValid {
    HandshakeSignatureValid::assertion()
}
