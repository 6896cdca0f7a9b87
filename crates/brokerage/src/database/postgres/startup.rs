//! The handshake with a PostgreSQL server, and authentication.

use std::time::Duration;

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::failure::{failure, is_forbidden_by_rule};
use super::wire::Wire;
use crate::database::endpoint::Endpoint;
use crate::database::secret::Secret;
use crate::database::target::Address;
use crate::database::tls::FailedAttempt;
use crate::error::DatabaseError;

/// Connects and authenticates; returns the server's version string, too. `timeout` limits each step.
pub(super) fn connect(
    address: &Address,
    database: &str,
    timeout: Duration,
) -> Result<(Wire, String), DatabaseError> {
    address.tls.connect(&address.endpoint, |host| {
        let mut wire = Wire::connect(&address.endpoint, timeout)?;
        if let Some(host) = host {
            encrypt(&mut wire, address, host)?;
        }
        let version = start(&mut wire, address, database)?;
        Ok((wire, version))
    })
}

/// Asks the server to encrypt, and does so if it agrees.
fn encrypt(wire: &mut Wire, address: &Address, host: &str) -> Result<(), FailedAttempt> {
    frontend::ssl_request(&mut wire.outgoing);
    wire.send()?;
    match wire.receive_byte()? {
        b'S' => wire
            .encrypt(&address.tls, host)
            .map_err(|error| FailedAttempt {
                is_about_encryption: matches!(error, DatabaseError::Unusable(_)),
                error,
            }),
        b'N' => Ok(address.tls.not_offered(
            &address.endpoint,
            "ssl = on in postgresql.conf, and a certificate",
        )?),
        b'E' => Err(DatabaseError::unavailable(format!(
            "{}: it answered the request for encryption with an error",
            address.endpoint
        ))
        .into()),
        _ => Err(not_postgres(address).into()),
    }
}

/// Authenticates, and returns the server's version string.
fn start(wire: &mut Wire, address: &Address, database: &str) -> Result<String, FailedAttempt> {
    let parameters = [
        ("user", address.user.as_str()),
        ("database", database),
        ("application_name", "proofload"),
        ("client_encoding", "UTF8"),
    ];
    frontend::startup_message(parameters, &mut wire.outgoing).map_err(|error| {
        DatabaseError::Refused(format!(
            "the name of the user or database is invalid: {error}"
        ))
    })?;
    wire.send()?;
    authenticate(wire, address)?;
    let mut version = String::new();
    loop {
        match wire.receive()? {
            Message::ParameterStatus(body)
                if body.name().is_ok_and(|name| name == "server_version") =>
            {
                body.value().unwrap_or_default().clone_into(&mut version);
            }
            Message::ReadyForQuery(_) => return Ok(version),
            Message::ErrorResponse(body) => {
                return Err(failure(&body, "the start of a session").into());
            }
            _ => {}
        }
    }
}

/// Kinds of messages that may answer ours: authentication request, error, notice, protocol
/// negotiation.
const ANSWERS: &[u8] = b"RENv";

fn authenticate(wire: &mut Wire, address: &Address) -> Result<(), FailedAttempt> {
    loop {
        if !ANSWERS.contains(&wire.kind()?) {
            return Err(not_postgres(address).into());
        }
        match wire.receive()? {
            Message::AuthenticationOk => return Ok(()),
            Message::AuthenticationCleartextPassword => {
                let password = password(address)?.reveal().as_bytes();
                frontend::password_message(password, &mut wire.outgoing).map_err(|_| unusable())?;
                wire.send()?;
            }
            Message::AuthenticationMd5Password(body) => {
                let password = password(address)?.reveal().as_bytes();
                let hash = md5_hash(address.user.as_bytes(), password, body.salt());
                frontend::password_message(hash.as_bytes(), &mut wire.outgoing)
                    .map_err(|_| unusable())?;
                wire.send()?;
            }
            Message::AuthenticationSasl(body) => scram(wire, address, &body)?,
            Message::ErrorResponse(body) => {
                let error = failure(&body, "the start of a session");
                return Err(match is_forbidden_by_rule(&body) {
                    true => forbidden(wire, address, error),
                    false => error.into(),
                });
            }
            Message::AuthenticationGss
            | Message::AuthenticationGssContinue(_)
            | Message::AuthenticationKerberosV5
            | Message::AuthenticationScmCredential
            | Message::AuthenticationSspi => {
                return Err(DatabaseError::Refused(format!(
                    "it requests another authentication than a password for user {}; allow \
                     scram-sha-256 (pg_hba.conf)",
                    address.user
                ))
                .into());
            }
            _ => return Err(not_postgres(address).into()),
        }
    }
}

/// The rules of the server (pg_hba.conf) keep this connection out, perhaps because of its encryption.
fn forbidden(wire: &Wire, address: &Address, error: DatabaseError) -> FailedAttempt {
    let remedy = match (&address.endpoint, wire.is_private()) {
        (Endpoint::Socket(_), _) => "",
        (Endpoint::Tcp { .. }, false) => {
            "; if its rules (pg_hba.conf) want the connection encrypted, write sslmode=require"
        }
        (Endpoint::Tcp { .. }, true) => {
            "; if its rules (pg_hba.conf) want the connection not encrypted, write sslmode=disable"
        }
    };
    let error = match error {
        DatabaseError::Refused(why) => DatabaseError::Refused(format!("{why}{remedy}")),
        other => other,
    };
    FailedAttempt {
        error,
        is_about_encryption: true,
    }
}

/// Something other than a PostgreSQL server answered.
fn not_postgres(address: &Address) -> DatabaseError {
    DatabaseError::Unusable(format!(
        "the server at {} is not PostgreSQL: check host and port, and name a MariaDB or MySQL \
         server with mariadb://",
        address.endpoint
    ))
}

fn scram(
    wire: &mut Wire,
    address: &Address,
    body: &AuthenticationSaslBody,
) -> Result<(), DatabaseError> {
    let mut mechanisms = body.mechanisms();
    let mut is_known = false;
    while let Ok(Some(mechanism)) = mechanisms.next() {
        is_known |= mechanism == SCRAM_SHA_256;
    }
    if !is_known {
        return Err(DatabaseError::Refused(
            "it requires channel binding, which needs an encrypted connection; allow \
             scram-sha-256 (pg_hba.conf)"
                .to_owned(),
        ));
    }
    let password = password(address)?.reveal().as_bytes();
    let mut scram = ScramSha256::new(password, ChannelBinding::unsupported());
    frontend::sasl_initial_response(SCRAM_SHA_256, scram.message(), &mut wire.outgoing)
        .map_err(|_| unusable())?;
    wire.send()?;
    loop {
        match wire.receive()? {
            Message::AuthenticationSaslContinue(body) => {
                scram.update(body.data()).map_err(|_| server_unproved())?;
                frontend::sasl_response(scram.message(), &mut wire.outgoing)
                    .map_err(|_| unusable())?;
                wire.send()?;
            }
            Message::AuthenticationSaslFinal(body) => {
                return scram.finish(body.data()).map_err(|_| server_unproved());
            }
            Message::ErrorResponse(body) => return Err(failure(&body, "the start of a session")),
            _ => return Err(server_unproved()),
        }
    }
}

fn password(address: &Address) -> Result<&Secret, DatabaseError> {
    address.password.as_ref().ok_or_else(|| {
        DatabaseError::Refused(format!(
            "it asks user {} for a password: put it into the environment as PGPASSWORD, or into \
             ~/.pgpass (or the file that PGPASSFILE names), which nobody else may read",
            address.user
        ))
    })
}

fn unusable() -> DatabaseError {
    DatabaseError::Refused("the password holds an invalid character".to_owned())
}

/// The server did not prove that it knows the password (SCRAM).
fn server_unproved() -> DatabaseError {
    DatabaseError::Refused("it did not prove that it knows the password (SCRAM)".to_owned())
}
