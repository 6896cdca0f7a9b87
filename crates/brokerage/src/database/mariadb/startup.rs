//! The handshake with a MariaDB or MySQL server: capabilities and authentication.

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::failure::failure;
use super::wire::{Reader, Wire, put_counted};
use crate::database::target::Address;
use crate::error::DatabaseError;

/// Capability flags of the protocol: long flags, connect with a database, protocol 4.1,
/// transactions, 20-byte authentication, multi-statements, named authentication plugins; and
/// changes count the rows that were found, as in the other databases.
const CAPABILITIES: u32 = FOUND_ROWS
    | 0x0000_0005
    | WITH_DATABASE
    | 0x0000_0200
    | 0x0000_2000
    | 0x0000_8000
    | 0x0001_0000
    | 0x0002_0000
    | 0x0008_0000;
const FOUND_ROWS: u32 = 0x0000_0002;
const WITH_DATABASE: u32 = 0x0000_0008;

/// utf8mb4 with its general collation; the session sets its own afterwards.
const CHARACTERS: u8 = 45;

/// The largest packet that we accept.
const LARGEST_PACKET: u32 = 0x4000_0000;

const NATIVE: &str = "mysql_native_password";
const CACHING: &str = "caching_sha2_password";

/// Authenticates, and returns the server's version string.
pub(super) fn start(
    wire: &mut Wire,
    address: &Address,
    database: Option<&str>,
) -> Result<String, DatabaseError> {
    let greeting = wire.receive()?.to_vec();
    if greeting.first() == Some(&0xff) {
        return Err(failure(&greeting, "the start of a session"));
    }
    let mut reader = Reader::new(&greeting);
    if reader.number(1) != 10 {
        return Err(wire.unavailable("it does not speak the protocol of MariaDB and MySQL"));
    }
    let version = String::from_utf8_lossy(reader.until_zero()).into_owned();
    reader.skip(4);
    let mut nonce = reader.bytes(8).to_vec();
    reader.skip(1 + 2 + 1 + 2 + 2);
    let length = usize::try_from(reader.number(1)).unwrap_or_default();
    reader.skip(10);
    // Twelve bytes and a zero, whatever the length says.
    let rest = reader.bytes(length.saturating_sub(8).max(13));
    nonce.extend(rest.iter().take(12));
    let mut proof = String::from_utf8_lossy(reader.until_zero()).into_owned();
    if proof != CACHING {
        NATIVE.clone_into(&mut proof);
    }
    introduce(wire, address, database, &proof, &nonce)?;
    authenticate(wire, address, proof)?;
    // MariaDB prefixes its version with an old number for clients that are older than it.
    Ok(version
        .strip_prefix("5.5.5-")
        .unwrap_or(&version)
        .to_owned())
}

fn introduce(
    wire: &mut Wire,
    address: &Address,
    database: Option<&str>,
    proof: &str,
    nonce: &[u8],
) -> Result<(), DatabaseError> {
    let texts = [Some(address.user.as_str()), database];
    if texts.into_iter().flatten().any(|text| text.contains('\0')) {
        return Err(DatabaseError::Refused(
            "the name of the user or database is invalid".to_owned(),
        ));
    }
    let answer = answer(address, proof, nonce);
    let capabilities = match database {
        Some(_) => CAPABILITIES,
        None => CAPABILITIES & !WITH_DATABASE,
    };
    let packet = wire.packet();
    packet.extend_from_slice(&capabilities.to_le_bytes());
    packet.extend_from_slice(&LARGEST_PACKET.to_le_bytes());
    packet.push(CHARACTERS);
    packet.extend_from_slice(&[0; 23]);
    packet.extend_from_slice(address.user.as_bytes());
    packet.push(0);
    put_counted(packet, answer.len());
    packet.extend_from_slice(&answer);
    if let Some(database) = database {
        packet.extend_from_slice(database.as_bytes());
        packet.push(0);
    }
    packet.extend_from_slice(proof.as_bytes());
    packet.push(0);
    wire.send()
}

fn authenticate(
    wire: &mut Wire,
    address: &Address,
    mut proof: String,
) -> Result<(), DatabaseError> {
    loop {
        let packet = wire.receive()?.to_vec();
        let mut reader = Reader::new(&packet);
        match reader.number(1) {
            0x00 => return Ok(()),
            0xff => return Err(refused(&packet, address)),
            // AuthSwitchRequest: another plugin is requested.
            0xfe => {
                proof = String::from_utf8_lossy(reader.until_zero()).into_owned();
                let nonce = reader.until_zero().to_vec();
                if proof != NATIVE && proof != CACHING {
                    return Err(DatabaseError::Refused(format!(
                        "it requests the authentication plugin {proof} for user {}, which \
                         Proofload does not support; allow {NATIVE}",
                        address.user
                    )));
                }
                let answer = answer(address, &proof, &nonce);
                wire.packet().extend_from_slice(&answer);
                wire.send()?;
            }
            // More data for caching_sha2_password: 3 is success, 4 requests the plain password.
            0x01 if proof == CACHING && reader.rest() == [3] => {}
            0x01 if proof == CACHING && reader.rest() == [4] && wire.is_private() => {
                let password = address.password.as_ref();
                let password = password.map_or("", |password| password.reveal()).as_bytes();
                let packet = wire.packet();
                packet.extend_from_slice(password);
                packet.push(0);
                wire.send()?;
            }
            _ => {
                return Err(DatabaseError::Refused(format!(
                    "it requires an encrypted connection for the password of user {}; connect \
                     through its Unix socket, or allow {NATIVE}",
                    address.user
                )));
            }
        }
    }
}

fn refused(packet: &[u8], address: &Address) -> DatabaseError {
    match failure(packet, "the start of a session") {
        DatabaseError::Refused(why) if address.password.is_none() => DatabaseError::Refused(
            format!("{why}; a password is taken from the environment as MYSQL_PWD"),
        ),
        other => other,
    }
}

/// The authentication response: a hash of the password and the server's nonce.
fn answer(address: &Address, proof: &str, nonce: &[u8]) -> Vec<u8> {
    let Some(password) = &address.password else {
        return Vec::new();
    };
    let password = password.reveal().as_bytes();
    if proof == CACHING {
        let once = Sha256::digest(password);
        let twice = Sha256::digest(once);
        return mixed(
            &once,
            &Sha256::new()
                .chain_update(twice)
                .chain_update(nonce)
                .finalize(),
        );
    }
    let once = Sha1::digest(password);
    let twice = Sha1::digest(once);
    mixed(
        &once,
        &Sha1::new()
            .chain_update(nonce)
            .chain_update(twice)
            .finalize(),
    )
}

fn mixed(one: &[u8], other: &[u8]) -> Vec<u8> {
    one.iter()
        .zip(other)
        .map(|(one, other)| one ^ other)
        .collect()
}
