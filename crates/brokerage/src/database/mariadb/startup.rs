//! The handshake with a MariaDB or MySQL server: capabilities and authentication.

use std::time::Duration;

use sha1::Sha1;
use sha2::{Digest, Sha256};

use super::failure::failure;
use super::wire::{Reader, Wire, put_counted};
use crate::database::target::Address;
use crate::database::tls::FailedAttempt;
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
/// The connection is encrypted after the greeting.
const ENCRYPTED: u32 = 0x0000_0800;

/// utf8mb4 with its general collation; the session sets its own afterwards.
const CHARACTERS: u8 = 45;

/// The largest packet that we accept.
const LARGEST_PACKET: u32 = 0x4000_0000;

const NATIVE: &str = "mysql_native_password";
const CACHING: &str = "caching_sha2_password";

/// Connects and authenticates; returns the server's version string, too. `timeout` limits each step.
pub(super) fn connect(
    address: &Address,
    database: Option<&str>,
    timeout: Duration,
) -> Result<(Wire, String), DatabaseError> {
    address.tls.connect(&address.endpoint, |host| {
        let mut wire = Wire::connect(&address.endpoint, timeout)?;
        let version = start(&mut wire, address, database, host)?;
        Ok((wire, version))
    })
}

/// Authenticates, and returns the server's version string. Encrypts for the name of a host, if one
/// is given and the server offers it.
fn start(
    wire: &mut Wire,
    address: &Address,
    database: Option<&str>,
    host: Option<&str>,
) -> Result<String, FailedAttempt> {
    let greeting = wire.receive()?.to_vec();
    if greeting.first() == Some(&0xff) {
        return Err(failure(&greeting, "the start of a session").into());
    }
    let mut reader = Reader::new(&greeting);
    if reader.number(1) != 10 {
        let why = "it does not speak the protocol of MariaDB and MySQL";
        return Err(wire.unavailable(why).into());
    }
    let version = String::from_utf8_lossy(reader.until_zero()).into_owned();
    reader.skip(4);
    let mut nonce = reader.bytes(8).to_vec();
    reader.skip(1);
    let offered = reader.number(2);
    reader.skip(1 + 2 + 2);
    let length = usize::try_from(reader.number(1)).unwrap_or_default();
    reader.skip(10);
    // Twelve bytes and a zero, whatever the length says.
    let rest = reader.bytes(length.saturating_sub(8).max(13));
    nonce.extend(rest.iter().take(12));
    let mut proof = String::from_utf8_lossy(reader.until_zero()).into_owned();
    if proof != CACHING {
        NATIVE.clone_into(&mut proof);
    }
    if let Some(host) = host {
        if offered & u64::from(ENCRYPTED) == 0 {
            let how = "ssl_cert and ssl_key in its configuration";
            address.tls.not_offered(&address.endpoint, how)?;
        } else {
            encrypt(wire, address, database, host)?;
        }
    }
    introduce(wire, address, database, &proof, &nonce)?;
    authenticate(wire, address, proof)?;
    // MariaDB prefixes its version with an old number for clients that are older than it.
    Ok(version
        .strip_prefix("5.5.5-")
        .unwrap_or(&version)
        .to_owned())
}

/// Asks the server to encrypt, and does so.
fn encrypt(
    wire: &mut Wire,
    address: &Address,
    database: Option<&str>,
    host: &str,
) -> Result<(), FailedAttempt> {
    put_capabilities(wire.packet(), capabilities(database) | ENCRYPTED);
    wire.send()?;
    let encrypted = wire.encrypt(&address.tls, host);
    encrypted.map_err(|error| FailedAttempt {
        is_about_encryption: matches!(error, DatabaseError::Unusable(_)),
        error,
    })
}

fn capabilities(database: Option<&str>) -> u32 {
    match database {
        Some(_) => CAPABILITIES,
        None => CAPABILITIES & !WITH_DATABASE,
    }
}

/// The part of our introduction that is sent before the connection is encrypted, too.
fn put_capabilities(packet: &mut Vec<u8>, capabilities: u32) {
    packet.extend_from_slice(&capabilities.to_le_bytes());
    packet.extend_from_slice(&LARGEST_PACKET.to_le_bytes());
    packet.push(CHARACTERS);
    packet.extend_from_slice(&[0; 23]);
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
    let encrypted = match wire.is_encrypted() {
        true => ENCRYPTED,
        false => 0,
    };
    let packet = wire.packet();
    put_capabilities(packet, capabilities(database) | encrypted);
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
            0xff => return Err(refused(wire, &packet, address)),
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
                    "it requires an encrypted connection for the password of user {}; write \
                     sslmode=require, connect through its Unix socket, or allow {NATIVE}",
                    address.user
                )));
            }
        }
    }
}

fn refused(wire: &Wire, packet: &[u8], address: &Address) -> DatabaseError {
    let why = match failure(packet, "the start of a session") {
        DatabaseError::Refused(why) => why,
        other => return other,
    };
    let password = match &address.password {
        Some(_) => "",
        None => "; a password is taken from the environment as MYSQL_PWD",
    };
    // The server does not say that this is the reason.
    let encryption = match wire.is_private() {
        true => "",
        false => "; for a user with REQUIRE SSL write sslmode=require",
    };
    DatabaseError::Refused(format!("{why}{password}{encryption}"))
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
