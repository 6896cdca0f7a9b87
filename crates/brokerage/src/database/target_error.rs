//! The servers that have addresses, and what can be wrong with an address.

/// Why a text names no database. No message repeats a piece of the text: any piece may be that of a
/// password with a character that should have been percent-encoded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// Neither a keyword nor a known scheme.
    #[error(
        "--database names no database: write \"auto\", \"sqlite\", \
         \"postgres://user@host:port/database\" or \"mariadb://user@host:port/database\""
    )]
    Unknown,
    /// The port is no number.
    #[error(
        "--database has a port that is not a number from 1 to 65535; \
         characters such as / ? @ : in a password are written %2F %3F %40 %3A"
    )]
    Port,
    /// A percent sign without two digits, or bytes that are no text.
    #[error(
        "--database has a % that two hexadecimal digits of a text do not follow; % itself is %25"
    )]
    PercentCode,
    /// An unknown query parameter.
    #[error(
        "--database has a parameter that is not known after its ?; known are host, socket, port, \
         user, password, dbname, sslmode and sslrootcert"
    )]
    Parameter,
    /// An `sslmode` that is none of the known values.
    #[error(
        "--database has an sslmode that is not known; known are disable, prefer, require, \
         verify-ca and verify-full, for MariaDB as for PostgreSQL (or PGSSLMODE has it)"
    )]
    TlsMode,
    /// A root certificate where none is checked.
    #[error(
        "--database has an sslrootcert, which has no effect with sslmode=disable or prefer: give \
         sslmode=verify-full, or verify-ca if its certificate is not for the name of the host"
    )]
    UncheckedCertificate,
    /// No user is named.
    #[error("--database names no user: write it as in postgres://user@host/database")]
    NoUser,
}

/// Servers that have addresses.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    PostgreSql,
    MariaDb,
}

impl Kind {
    pub(super) fn port(self) -> u16 {
        match self {
            Self::PostgreSql => 5432,
            Self::MariaDb => 3306,
        }
    }

    /// The environment variable that holds a password for clients of this server.
    pub(super) fn password_variable(self) -> &'static str {
        match self {
            Self::PostgreSql => "PGPASSWORD",
            Self::MariaDb => "MYSQL_PWD",
        }
    }
}
