//! The parts of the address of a server, as in `postgres://user@host:port/database?name=value`.

use std::path::PathBuf;

use super::endpoint::Endpoint;
use super::target_error::{Kind, TargetError};
use super::tls::TlsMode;

/// The pieces of an address before decoding. It has no `Debug`: one of them is the password.
#[derive(Default)]
pub(super) struct UrlParts {
    pub user: Option<String>,
    pub password: Option<String>,
    pub host: Option<String>,
    pub socket: Option<String>,
    pub port: Option<u16>,
    pub database: Option<String>,
    pub tls_mode: Option<TlsMode>,
    /// As it was written, `system` included.
    pub root_certificates: Option<String>,
}

impl UrlParts {
    pub fn split(rest: &str) -> Result<Self, TargetError> {
        let (body, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = body.split_once('/').unwrap_or((body, ""));
        let mut parts = Self::default();
        let server = match authority.rsplit_once('@') {
            Some((who, server)) => {
                let (user, password) = match who.split_once(':') {
                    Some((user, password)) => (user, Some(password)),
                    None => (who, None),
                };
                parts.user = some_text(user)?;
                parts.password = password.map(percent_decoded).transpose()?;
                server
            }
            None => authority,
        };
        let port = match server.strip_prefix('[') {
            Some(six) => {
                let (host, after) = six.split_once(']').ok_or(TargetError::Port)?;
                parts.host = Some(host.to_owned());
                after.strip_prefix(':')
            }
            None => {
                let (host, port) = match server.split_once(':') {
                    Some((host, port)) => (host, Some(port)),
                    None => (server, None),
                };
                parts.host = some_text(host)?;
                port
            }
        };
        if let Some(port) = port.filter(|port| !port.is_empty()) {
            parts.port = Some(port_number(port)?);
        }
        parts.database = some_text(path)?;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            parts.parameter(pair)?;
        }
        Ok(parts)
    }

    fn parameter(&mut self, pair: &str) -> Result<(), TargetError> {
        let (name, value) = pair.split_once('=').ok_or(TargetError::Parameter)?;
        let value = percent_decoded(value)?;
        match name {
            "host" => self.host = Some(value),
            "socket" => self.socket = Some(value),
            "port" => self.port = Some(port_number(&value)?),
            "user" => self.user = Some(value),
            "password" => self.password = Some(value),
            "dbname" => self.database = Some(value),
            "sslmode" => self.tls_mode = Some(tls_mode(&value)?),
            "sslrootcert" => self.root_certificates = Some(value),
            _ => return Err(TargetError::Parameter),
        }
        Ok(())
    }

    pub fn endpoint(self, kind: Kind) -> Endpoint {
        let port = self.port.unwrap_or(kind.port());
        if let Some(socket) = self.socket {
            return Endpoint::Socket(PathBuf::from(socket));
        }
        match self.host {
            // As in libpq: a host with a slash is the directory of the socket.
            Some(host) if host.starts_with('/') && kind == Kind::PostgreSql => {
                Endpoint::Socket(PathBuf::from(host).join(format!(".s.PGSQL.{port}")))
            }
            Some(host) if host.starts_with('/') => Endpoint::Socket(PathBuf::from(host)),
            Some(host) => Endpoint::Tcp { host, port },
            None => Endpoint::Tcp {
                host: "localhost".to_owned(),
                port,
            },
        }
    }
}

pub(super) fn tls_mode(text: &str) -> Result<TlsMode, TargetError> {
    TlsMode::parse(text).ok_or(TargetError::TlsMode)
}

fn port_number(text: &str) -> Result<u16, TargetError> {
    let port = text.parse().ok().filter(|port| *port > 0);
    port.ok_or(TargetError::Port)
}

fn some_text(text: &str) -> Result<Option<String>, TargetError> {
    let text = percent_decoded(text)?;
    Ok(Some(text).filter(|text| !text.is_empty()))
}

fn percent_decoded(text: &str) -> Result<String, TargetError> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first != b'%' {
            bytes.push(first);
            rest = after;
            continue;
        }
        let digits = after.get(..2).ok_or(TargetError::PercentCode)?;
        let digits = str::from_utf8(digits).map_err(|_| TargetError::PercentCode)?;
        if !digits.bytes().all(|digit| digit.is_ascii_hexdigit()) {
            return Err(TargetError::PercentCode);
        }
        bytes.push(u8::from_str_radix(digits, 16).map_err(|_| TargetError::PercentCode)?);
        rest = &after[2..];
    }
    String::from_utf8(bytes).map_err(|_| TargetError::PercentCode)
}
