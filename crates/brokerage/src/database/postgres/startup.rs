//! The handshake with a server.

use fallible_iterator::FallibleIterator;
use postgres_protocol::authentication::md5_hash;
use postgres_protocol::authentication::sasl::{ChannelBinding, SCRAM_SHA_256, ScramSha256};
use postgres_protocol::message::backend::{AuthenticationSaslBody, Message};
use postgres_protocol::message::frontend;

use super::failure::failure;
use super::wire::Wire;
use crate::database::secret::Secret;
use crate::database::target::Address;
use crate::error::DatabaseError;

/// Introduces us to a server, proves who we are, and gives the version it says it has.
pub(super) fn start(
    wire: &mut Wire,
    address: &Address,
    database: &str,
) -> Result<String, DatabaseError> {
    let parameters = [
        ("user", address.user.as_str()),
        ("database", database),
        ("application_name", "proofload"),
        ("client_encoding", "UTF8"),
    ];
    frontend::startup_message(parameters, &mut wire.outgoing).map_err(|error| {
        DatabaseError::Refused(format!(
            "the name of the user or database is no name: {error}"
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
            Message::ErrorResponse(body) => return Err(failure(&body, "the start of a session")),
            _ => {}
        }
    }
}

/// The messages with which a server answers our first one: a question for a proof, an error, a
/// notice, another version of the protocol.
const ANSWERS: &[u8] = b"RENv";

fn authenticate(wire: &mut Wire, address: &Address) -> Result<(), DatabaseError> {
    loop {
        if !ANSWERS.contains(&wire.kind()?) {
            return Err(no_postgres(address));
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
            Message::ErrorResponse(body) => return Err(failure(&body, "the start of a session")),
            Message::AuthenticationGss
            | Message::AuthenticationGssContinue(_)
            | Message::AuthenticationKerberosV5
            | Message::AuthenticationScmCredential
            | Message::AuthenticationSspi => {
                return Err(DatabaseError::Refused(format!(
                    "it asks user {} for a proof other than a password; \
                     let it take scram-sha-256 from us (pg_hba.conf)",
                    address.user
                )));
            }
            _ => return Err(no_postgres(address)),
        }
    }
}

/// Whatever answers there, it is no PostgreSQL server.
fn no_postgres(address: &Address) -> DatabaseError {
    DatabaseError::InTheWay(format!(
        "what answers at {} is no PostgreSQL server: see whether host and port are right, and name \
         a MariaDB or MySQL server with mariadb://",
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
            "it wants a proof that needs an encrypted connection; \
             let it take scram-sha-256 from us (pg_hba.conf)"
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
                scram.update(body.data()).map_err(|_| unproved())?;
                frontend::sasl_response(scram.message(), &mut wire.outgoing)
                    .map_err(|_| unusable())?;
                wire.send()?;
            }
            Message::AuthenticationSaslFinal(body) => {
                return scram.finish(body.data()).map_err(|_| unproved());
            }
            Message::ErrorResponse(body) => return Err(failure(&body, "the start of a session")),
            _ => return Err(unproved()),
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
    DatabaseError::Refused("the password holds a character that no password can".to_owned())
}

/// The server did not show that it knows the password too.
fn unproved() -> DatabaseError {
    DatabaseError::Refused("it did not prove that it is the server that knows us".to_owned())
}
