//! Parsing the option `--database`.

use super::endpoint::Endpoint;
use super::passfile;
use super::secret::Secret;
use super::target_error::{Kind, TargetError};
use super::tls::{TlsMode, TlsSettings};
use super::url::{UrlParts, tls_mode};

/// Which database to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// A PostgreSQL server of our own on the storage under test if its programs are found, or else
    /// SQLite there.
    Auto,
    /// An SQLite file on the storage under test.
    Sqlite,
    /// A running PostgreSQL server.
    PostgreSql(Address),
    /// A running MariaDB or MySQL server.
    MariaDb(Address),
}

/// The address of a server, with user and password.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// User name on the server.
    pub user: String,
    /// Its password, if any.
    pub password: Option<Secret>,
    /// Host or socket of the server.
    pub endpoint: Endpoint,
    /// The database that was named.
    pub database: Option<String>,
    /// Encryption of its connections.
    pub tls: TlsSettings,
}

/// The database of a PostgreSQL server that we connect to when none is named.
pub(super) const ENTRY_DATABASE: &str = "postgres";

/// The server's message for a named database that does not exist, with the remedy.
pub(super) fn no_such_database(message: &str) -> String {
    format!(
        "{message}: leave its name out of --database, so that Proofload creates one of its own, \
         or create it empty"
    )
}

impl Target {
    /// Parses the value of `--database`. A missing password or user is taken from the environment
    /// (`PGPASSWORD` and `PGUSER`, or `MYSQL_PWD`), or for PostgreSQL from the password file
    /// (`PGPASSFILE`, or `~/.pgpass`); for PostgreSQL also a missing `sslmode` or `sslrootcert`
    /// (`PGSSLMODE`, `PGSSLROOTCERT`).
    ///
    /// # Errors
    /// The text names no database.
    pub fn parse(text: &str) -> Result<Self, TargetError> {
        Self::parse_with(text, &|name| std::env::var(name).ok())
    }

    /// As [`parse`](Self::parse), with a given environment.
    ///
    /// # Errors
    /// The text names no database.
    pub fn parse_with(
        text: &str,
        environment: &dyn Fn(&str) -> Option<String>,
    ) -> Result<Self, TargetError> {
        match text {
            "sqlite" => return Ok(Self::Sqlite),
            "auto" => return Ok(Self::Auto),
            _ => {}
        }
        let (kind, rest) = kind_and_rest(text).ok_or(TargetError::Unknown)?;
        let mut parts = UrlParts::split(rest)?;
        let from_environment = |name: &str| environment(name).filter(|text| !text.is_empty());
        if parts.user.is_none() && kind == Kind::PostgreSql {
            parts.user = from_environment("PGUSER");
        }
        if parts.password.is_none() {
            parts.password = from_environment(kind.password_variable());
        }
        let tls = tls_settings(kind, &parts, &from_environment)?;
        let mut address = Address {
            user: parts.user.take().ok_or(TargetError::NoUser)?,
            password: parts.password.take().map(Secret::new),
            database: parts.database.take(),
            endpoint: parts.endpoint(kind),
            tls,
        };
        if address.password.is_none() && kind == Kind::PostgreSql {
            address.password = kept_password(&address, &from_environment);
        }
        Ok(match kind {
            Kind::PostgreSql => Self::PostgreSql(address),
            Kind::MariaDb => Self::MariaDb(address),
        })
    }

    /// If a text contains a password: the text without it, the environment variable in which the
    /// password can be passed on, and the password. A program that was started with a password can
    /// so execute itself again before it does anything else, and disappear from the process list
    /// with it.
    #[must_use]
    pub fn take_password(text: &str) -> Option<(String, &'static str, Secret)> {
        let (kind, rest) = kind_and_rest(text)?;
        let password = UrlParts::split(rest).ok()?.password?;
        let scheme = &text[..text.len() - rest.len()];
        let (body, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (authority, path) = body.split_at(body.find('/').unwrap_or(body.len()));
        let mut clean = String::from(scheme);
        if let Some((who, host)) = authority.rsplit_once('@') {
            clean.push_str(who.split(':').next().unwrap_or_default());
            clean.push('@');
            clean.push_str(host);
        } else {
            clean.push_str(authority);
        }
        clean.push_str(path);
        let kept: Vec<_> = query
            .split('&')
            .filter(|pair| !pair.is_empty() && !pair.starts_with("password="))
            .collect();
        if !kept.is_empty() {
            clean.push('?');
            clean.push_str(&kept.join("&"));
        }
        Some((clean, kind.password_variable(), Secret::new(password)))
    }
}

fn tls_settings(
    kind: Kind,
    parts: &UrlParts,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Result<TlsSettings, TargetError> {
    let from_environment = |name| {
        Some(name)
            .filter(|_| kind == Kind::PostgreSql)
            .and_then(environment)
    };
    let mode = match (parts.tls_mode, from_environment("PGSSLMODE")) {
        (Some(mode), _) => mode,
        (None, Some(text)) => tls_mode(&text)?,
        (None, None) => TlsMode::default(),
    };
    let is_checked = !matches!(mode, TlsMode::Disable | TlsMode::Prefer);
    if parts.root_certificates.is_some() && !is_checked {
        return Err(TargetError::UncheckedCertificate);
    }
    let file = parts.root_certificates.clone();
    let file = file.or_else(|| from_environment("PGSSLROOTCERT"));
    // As in libpq: those of the system.
    let file = file.filter(|file| is_checked && file != "system");
    Ok(TlsSettings::new(mode, file.map(Into::into)))
}

/// The password in the user's password file.
fn kept_password(
    address: &Address,
    environment: &dyn Fn(&str) -> Option<String>,
) -> Option<Secret> {
    let file = passfile::path(environment)?;
    let database = address.database.as_deref().unwrap_or(ENTRY_DATABASE);
    passfile::password_for(&file, &address.endpoint, database, &address.user).map(Secret::new)
}

fn kind_and_rest(text: &str) -> Option<(Kind, &str)> {
    [
        ("postgres://", Kind::PostgreSql),
        ("postgresql://", Kind::PostgreSql),
        ("mariadb://", Kind::MariaDb),
        ("mysql://", Kind::MariaDb),
    ]
    .into_iter()
    .find_map(|(scheme, kind)| Some((kind, text.strip_prefix(scheme)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Target, TargetError> {
        Target::parse_with(text, &|_| None)
    }

    fn address(text: &str) -> Address {
        match parse(text) {
            Ok(Target::PostgreSql(address) | Target::MariaDb(address)) => address,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn keywords_and_addresses_are_parsed() {
        assert_eq!(parse("sqlite"), Ok(Target::Sqlite));
        assert_eq!(parse("auto"), Ok(Target::Auto));
        let full = address("postgres://ann:p%40ss@db.example:5555/trades");
        assert_eq!(full.user, "ann");
        assert_eq!(full.password.unwrap().reveal(), "p@ss");
        assert_eq!(full.endpoint.to_string(), "db.example:5555");
        assert_eq!(full.database.as_deref(), Some("trades"));
        let socket = address("postgresql://ann@/trades?host=/run/postgresql&sslmode=prefer");
        assert_eq!(
            socket.endpoint,
            Endpoint::Socket("/run/postgresql/.s.PGSQL.5432".into())
        );
        assert_eq!(
            address("mysql://ann@[::1]").endpoint.to_string(),
            "::1:3306"
        );
        let socket = address("mariadb://ann@localhost/trades?socket=/run/mysqld/mysqld.sock");
        assert_eq!(
            socket.endpoint,
            Endpoint::Socket("/run/mysqld/mysqld.sock".into())
        );
    }

    #[test]
    fn encryption_is_asked_for_as_in_libpq() {
        let tls = |text: &'static str| address(text).tls;
        assert_eq!(tls("mariadb://ann@host"), TlsSettings::default());
        for (text, mode) in [
            ("disable", TlsMode::Disable),
            ("prefer", TlsMode::Prefer),
            ("require", TlsMode::Require),
            ("verify-ca", TlsMode::VerifyCa),
            ("verify-full", TlsMode::VerifyFull),
        ] {
            for scheme in ["postgres", "mariadb"] {
                let text = format!("{scheme}://ann@host/x?sslmode={text}");
                assert_eq!(address(&text).tls, TlsSettings::new(mode, None));
            }
        }
        let file = tls("postgres://ann@host?sslmode=verify-full&sslrootcert=/etc/my%20root.pem");
        let root = Some("/etc/my root.pem".into());
        assert_eq!(file, TlsSettings::new(TlsMode::VerifyFull, root));
        let system = tls("postgres://ann@host?sslmode=verify-full&sslrootcert=system");
        assert_eq!(system, TlsSettings::new(TlsMode::VerifyFull, None));
        let environment = |name: &str| match name {
            "PGSSLMODE" => Some("verify-ca".to_owned()),
            "PGSSLROOTCERT" => Some("root.pem".to_owned()),
            _ => None,
        };
        let of = |text| match Target::parse_with(text, &environment).unwrap() {
            Target::PostgreSql(address) | Target::MariaDb(address) => address.tls,
            other => panic!("{other:?}"),
        };
        let kept = TlsSettings::new(TlsMode::VerifyCa, Some("root.pem".into()));
        assert_eq!(of("postgres://ann@host"), kept);
        let given = of("postgres://ann@host?sslmode=prefer");
        assert_eq!(given, TlsSettings::default());
        assert_eq!(of("mariadb://ann@host"), TlsSettings::default());
    }

    #[test]
    fn a_missing_password_comes_from_the_environment() {
        let environment = |name: &str| (name == "PGPASSWORD").then(|| "hush".to_owned());
        let Ok(Target::PostgreSql(address)) =
            Target::parse_with("postgres://ann@host", &environment)
        else {
            panic!("an address");
        };
        assert_eq!(address.password.unwrap().reveal(), "hush");
    }

    #[test]
    fn a_missing_password_comes_from_the_file_of_passwords() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("pass");
        std::fs::write(&file, "host:5432:postgres:ann:hush\n").unwrap();
        let private = std::fs::Permissions::from_mode(0o600);
        std::fs::set_permissions(&file, private).unwrap();
        let file = file.to_str().unwrap().to_owned();
        let environment = |name: &str| (name == "PGPASSFILE").then(|| file.clone());
        let password = |text| match Target::parse_with(text, &environment).unwrap() {
            Target::PostgreSql(address) | Target::MariaDb(address) => address.password,
            other => panic!("{other:?}"),
        };
        let found = password("postgres://ann@host").unwrap();
        assert_eq!(found.reveal(), "hush");
        assert_eq!(password("postgres://ann@other"), None);
        assert_eq!(password("mariadb://ann@host"), None);
    }

    #[test]
    fn what_can_be_written_is_listed_in_full() {
        let text = parse("postgres").unwrap_err().to_string();
        for value in ["\"auto\"", "\"sqlite\"", "\"postgres://", "\"mariadb://"] {
            assert!(text.contains(value), "{text}");
        }
    }

    #[test]
    fn bad_texts_are_refused_without_a_piece_of_the_password() {
        for (text, error) in [
            ("oracle://ann@host", TargetError::Unknown),
            ("postgres://ann:hu/sh@host/trades", TargetError::Port),
            ("postgres://ann:hush@host:port", TargetError::Port),
            ("postgres://ann:hush@host:0", TargetError::Port),
            ("postgres://ann:hu%sh@host", TargetError::PercentCode),
            ("postgres://ann:hu?sh@host", TargetError::Port),
            ("postgres://ann?hush=1", TargetError::Parameter),
            ("postgres://host/trades", TargetError::NoUser),
            (
                "postgres://ann:hush@host/x?sslmode=always",
                TargetError::TlsMode,
            ),
            (
                "mysql://ann:hush@host/x?ssl-mode=VERIFY_CA",
                TargetError::Parameter,
            ),
            (
                "mysql://ann:hush@host/x?sslrootcert=hush.pem",
                TargetError::UncheckedCertificate,
            ),
        ] {
            assert_eq!(parse(text), Err(error), "{text}");
            assert!(!error.to_string().contains("hu"), "{error}");
        }
        let shown = format!("{:?}", parse("postgres://ann:hush@host").unwrap());
        assert!(!shown.contains("hush"), "{shown}");
    }

    #[test]
    fn a_password_can_be_taken_out_of_the_text() {
        let take = |text| Target::take_password(text).unwrap();
        let (clean, variable, password) = take("postgres://ann:hush@host:1/trades?sslmode=prefer");
        assert_eq!(clean, "postgres://ann@host:1/trades?sslmode=prefer");
        assert_eq!((variable, password.reveal()), ("PGPASSWORD", "hush"));
        let (clean, variable, password) = take("mariadb://ann@host/trades?password=hush");
        assert_eq!(clean, "mariadb://ann@host/trades");
        assert_eq!((variable, password.reveal()), ("MYSQL_PWD", "hush"));
        assert!(Target::take_password("postgres://ann@host").is_none());
        assert!(Target::take_password("sqlite").is_none());
    }
}
