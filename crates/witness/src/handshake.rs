//! How both sides prove that they know the secret, without sending it.
//!
//! The client says hello with a random number, the witness answers with one of its own. Then the client
//! sends a code of both numbers under the secret, and only when that is right does the witness send its
//! own. The keys of the frames are codes of the same numbers.

use crate::error::WitnessError;
use crate::frame::{CODE_BYTES, Key, Opener, Sealer, code};
use crate::secret::Secret;
use hmac::Mac;

/// Bytes that nothing else begins with.
const MAGIC: &[u8; 4] = b"PLDW";
/// The version of the protocol.
const VERSION: u16 = 1;

/// Bytes of a random number.
const NONCE_BYTES: usize = 32;

/// Bytes of the first message of each side.
pub(crate) const HELLO_BYTES: usize = 4 + 2 + NONCE_BYTES;

/// What the witness sends in the place of its proof when that of the client is wrong.
pub(crate) const DENIED: &[u8] = &[0];

/// A random number of one side.
pub(crate) type Nonce = [u8; NONCE_BYTES];

/// A random number that was never used before.
///
/// # Errors
/// If the system gives none.
pub(crate) fn nonce() -> Result<Nonce, WitnessError> {
    let mut nonce = [0; NONCE_BYTES];
    getrandom::fill(&mut nonce)?;
    Ok(nonce)
}

/// The first message of either side.
pub(crate) fn hello(nonce: &Nonce) -> Vec<u8> {
    [&MAGIC[..], &VERSION.to_le_bytes(), nonce].concat()
}

/// The random number in the first message of the other side.
///
/// # Errors
/// If it speaks another protocol or version.
pub(crate) fn read_hello(bytes: &[u8]) -> Result<Nonce, WitnessError> {
    let rest = bytes.strip_prefix(MAGIC);
    let rest = rest.ok_or(WitnessError::Protocol("another protocol"))?;
    let (version, nonce) = rest
        .split_first_chunk()
        .ok_or(WitnessError::Protocol("a message that was cut"))?;
    if u16::from_le_bytes(*version) != VERSION {
        return Err(WitnessError::Protocol("another version of the protocol"));
    }
    let nonce = nonce.try_into();
    nonce.map_err(|_| WitnessError::Protocol("a message that was cut"))
}

/// What both sides derive from the secret and their random numbers.
pub struct Keys {
    client_proof: Key,
    server_proof: Key,
    to_server: Key,
    to_client: Key,
}

impl Keys {
    /// The keys of a connection with these random numbers.
    #[must_use]
    pub fn new(secret: &Secret, client: &[u8; 32], server: &[u8; 32]) -> Self {
        let derive = |purpose: &[u8]| {
            let parts: [&[u8]; 4] = [MAGIC, &VERSION.to_le_bytes(), client, server];
            let mut mac = code(secret.bytes(), &parts);
            mac.update(purpose);
            mac.finalize().into_bytes().into()
        };
        Self {
            client_proof: derive(b"proof of the client"),
            server_proof: derive(b"proof of the witness"),
            to_server: derive(b"frames to the witness"),
            to_client: derive(b"frames to the client"),
        }
    }

    /// What the client proves itself by.
    pub(crate) fn client_proof(&self) -> [u8; CODE_BYTES] {
        proof(&self.client_proof)
    }

    /// What the witness proves itself by.
    pub(crate) fn server_proof(&self) -> [u8; CODE_BYTES] {
        proof(&self.server_proof)
    }

    /// Whether a client has proved that it knows the secret.
    pub(crate) fn is_client(&self, sent: &[u8]) -> bool {
        is_proof(&self.client_proof, sent)
    }

    /// Whether a witness has.
    pub(crate) fn is_server(&self, sent: &[u8]) -> bool {
        is_proof(&self.server_proof, sent)
    }

    /// The frames that a client sends and receives.
    #[must_use]
    pub fn of_client(&self) -> (Sealer, Opener) {
        (Sealer::new(self.to_server), Opener::new(self.to_client))
    }

    /// The frames that a witness sends and receives.
    #[must_use]
    pub fn of_server(&self) -> (Sealer, Opener) {
        (Sealer::new(self.to_client), Opener::new(self.to_server))
    }
}

fn proof(key: &Key) -> [u8; CODE_BYTES] {
    code(key, &[b"proof"]).finalize().into_bytes().into()
}

/// Compared in constant time.
fn is_proof(key: &Key, sent: &[u8]) -> bool {
    code(key, &[b"proof"]).verify_slice(sent).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(secret: &[u8], client: u8, server: u8) -> Keys {
        let secret = Secret::new(secret).unwrap();
        Keys::new(&secret, &[client; 32], &[server; 32])
    }

    const SECRET: &[u8] = b"sixteen bytes ..";

    #[test]
    fn only_who_knows_the_secret_has_the_proofs() {
        let here = keys(SECRET, 1, 2);
        let there = keys(SECRET, 1, 2);
        assert!(here.is_client(&there.client_proof()) && here.is_server(&there.server_proof()));
        // One's own proof sent back, another secret, and the proof of another connection.
        assert!(!here.is_client(&here.server_proof()) && !here.is_server(&here.client_proof()));
        for other in [
            keys(b"another secret !", 1, 2),
            keys(SECRET, 1, 3),
            keys(SECRET, 3, 2),
        ] {
            assert!(!here.is_client(&other.client_proof()));
            assert!(!here.is_server(&other.server_proof()));
        }
        assert!(!here.is_client(&[]) && !here.is_client(&there.client_proof()[..31]));
    }

    #[test]
    fn a_frame_sent_back_to_its_sender_is_refused() {
        let keys = keys(SECRET, 1, 2);
        let frame = keys.of_client().0.seal(&crate::Message::Stored { next: 1 });
        assert!(keys.of_client().1.open(&frame[4..]).is_err());
        assert!(keys.of_server().1.open(&frame[4..]).is_ok());
    }

    #[test]
    fn another_protocol_and_another_version_are_found() {
        let mut bytes = hello(&[5; 32]);
        assert_eq!(bytes.len(), HELLO_BYTES);
        assert_eq!(read_hello(&bytes).unwrap(), [5; 32]);
        assert!(read_hello(&bytes[..20]).is_err() && read_hello(b"GET / HTTP/1.1").is_err());
        bytes[4] = 2;
        let error = read_hello(&bytes).unwrap_err();
        assert!(error.to_string().contains("another version"), "{error}");
    }
}
