//! Encrypted connections to real servers, with certificates made for the test.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

use crate::common;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::mariadb::TIMEOUT;
use brokerage::database::mariadb::MariaDb;
use brokerage::database::postgres::{Cluster, Connection, Postgres};
use brokerage::database::{Address, Database, Endpoint, Secret, TlsMode, TlsSettings, mariadb};
use brokerage::error::DatabaseError;

/// An address of this host that is this test program's alone.
fn host() -> String {
    let [.., one, two] = std::process::id().to_be_bytes();
    format!("127.77.{one}.{two}")
}

/// Files of certificates and keys.
struct Certificates {
    directory: PathBuf,
}

impl Certificates {
    /// An authority, and certificates by it for `localhost` and for another name; `None` and a
    /// message without openssl.
    fn make(directory: &Path) -> Option<Self> {
        if Command::new("openssl").arg("version").output().is_err() {
            test_support::skip("openssl is not installed");
            return None;
        }
        std::fs::create_dir(directory).unwrap();
        let certificates = Self {
            directory: directory.to_owned(),
        };
        certificates.sign_itself("root");
        certificates.sign_itself("stranger");
        certificates.sign("server", Some(&format!("DNS:localhost,IP:{}", host())));
        certificates.sign("elsewhere", Some("DNS:db.example"));
        // As the manuals of PostgreSQL and MariaDB have it: version 1, no alternative name.
        certificates.sign("old", None);
        Some(certificates)
    }

    fn file(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }

    fn openssl(&self, arguments: &[&str]) {
        let output = Command::new("openssl")
            .args(arguments)
            .current_dir(&self.directory)
            .output()
            .unwrap();
        assert!(output.status.success(), "{output:?}");
    }

    fn sign_itself(&self, name: &str) {
        let (key, certificate) = (format!("{name}.key"), format!("{name}.crt"));
        let subject = format!("/CN={name}");
        self.openssl(&[
            "req",
            "-new",
            "-x509",
            "-nodes",
            "-days",
            "30",
            "-newkey",
            "rsa:2048",
            "-subj",
            &subject,
            "-addext",
            "subjectAltName=DNS:localhost",
            "-keyout",
            &key,
            "-out",
            &certificate,
        ]);
    }

    fn sign(&self, name: &str, alternative_name: Option<&str>) {
        let (key, request) = (format!("{name}.key"), format!("{name}.csr"));
        let (certificate, extension) = (format!("{name}.crt"), format!("{name}.ext"));
        self.openssl(&[
            "req",
            "-new",
            "-nodes",
            "-newkey",
            "rsa:2048",
            "-subj",
            "/CN=localhost",
            "-keyout",
            &key,
            "-out",
            &request,
        ]);
        let mut arguments = vec![
            "x509",
            "-req",
            "-in",
            &request,
            "-days",
            "30",
            "-CA",
            "root.crt",
            "-CAkey",
            "root.key",
            "-CAcreateserial",
            "-out",
            &certificate,
        ];
        if let Some(name) = alternative_name {
            std::fs::write(self.file(&extension), format!("subjectAltName={name}\n")).unwrap();
            arguments.extend(["-extfile", &extension]);
        }
        self.openssl(&arguments);
    }
}

/// Copies a file for the owner of a directory, who alone may read it.
fn hand_over(from: &Path, to: &Path) {
    std::fs::copy(from, to).unwrap();
    let owner = std::fs::metadata(to.parent().unwrap()).unwrap();
    let _ = std::os::unix::fs::chown(to, Some(owner.uid()), Some(owner.gid()));
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o600)).unwrap();
}

/// The address of a server that listens on TCP.
fn over_tcp(mut address: Address, host: &str, port: u16) -> Address {
    address.endpoint = Endpoint::Tcp {
        host: host.to_owned(),
        port,
    };
    address
}

fn with(address: &Address, mode: TlsMode, root: Option<PathBuf>) -> Address {
    Address {
        tls: TlsSettings::new(mode, root),
        ..address.clone()
    }
}

const MODES: [TlsMode; 5] = [
    TlsMode::Disable,
    TlsMode::Prefer,
    TlsMode::Require,
    TlsMode::VerifyCa,
    TlsMode::VerifyFull,
];

/// What a connection is, or why there is none.
type Tried = Result<String, DatabaseError>;

/// All modes against a server with the certificate `server`, which the authority `root` has signed
/// for the host of `address`, or with `elsewhere`, which is for another.
fn try_modes(
    certificates: &Certificates,
    is_for_host: bool,
    open: impl Fn(TlsMode, Option<PathBuf>) -> Tried,
) {
    assert_eq!(open(TlsMode::Disable, None).unwrap(), "TCP, not encrypted");
    for mode in [TlsMode::Prefer, TlsMode::Require] {
        let description = open(mode, None).unwrap();
        assert!(
            description.starts_with("TCP, encrypted with TLS 1.3 (TLS13_AES_256_GCM_SHA384)"),
            "{description}"
        );
        assert!(
            description.ends_with(", certificate not verified"),
            "{description}"
        );
    }
    let root = || Some(certificates.file("root.crt"));
    let stranger = || Some(certificates.file("stranger.crt"));
    for mode in [TlsMode::Require, TlsMode::VerifyCa] {
        let description = open(mode, root()).unwrap();
        assert!(
            description.ends_with("verified, host name not"),
            "{description}"
        );
    }
    // The system does not know the authority, nor does a file with another one.
    for (mode, root) in [
        (TlsMode::Require, stranger()),
        (TlsMode::VerifyCa, stranger()),
        (TlsMode::VerifyFull, stranger()),
        (TlsMode::VerifyFull, None),
    ] {
        let error = open(mode, root.clone()).unwrap_err();
        let is_reported = matches!(&error, DatabaseError::Unusable(why)
            if why.contains("sslrootcert=FILE") || root.is_none() && why.contains("ca-certificates"));
        assert!(is_reported, "{error:?}");
    }
    let full = open(TlsMode::VerifyFull, root());
    if is_for_host {
        assert!(
            full.unwrap()
                .ends_with("certificate and host name verified")
        );
    } else {
        let error = full.unwrap_err();
        let is_reported = matches!(&error, DatabaseError::Unusable(why)
            if why.contains("is for db.example: connect by a name that it has"));
        assert!(is_reported, "{error:?}");
    }
    for (file, reason) in [
        ("absent.crt", "cannot be read"),
        ("root.key", "has no certificate"),
    ] {
        let error = open(TlsMode::VerifyFull, Some(certificates.file(file))).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
}

/// A certificate that no verification can parse is still good enough to encrypt.
fn try_old_certificate(
    certificates: &Certificates,
    open: impl Fn(TlsMode, Option<PathBuf>) -> Tried,
) {
    assert!(open(TlsMode::Require, None).unwrap().contains("TLS 1.3"));
    let error = open(TlsMode::VerifyFull, Some(certificates.file("root.crt"))).unwrap_err();
    let is_reported =
        matches!(&error, DatabaseError::Unusable(why) if why.contains("subjectAltName"));
    assert!(is_reported, "{error:?}");
}

/// A server that offers no encryption.
fn try_plain_server(open: impl Fn(TlsMode, Option<PathBuf>) -> Tried) {
    for mode in MODES {
        let tried = open(mode, None);
        if matches!(mode, TlsMode::Disable | TlsMode::Prefer) {
            assert_eq!(tried.unwrap(), "TCP, not encrypted");
            continue;
        }
        let error = tried.unwrap_err();
        let is_reported = matches!(&error, DatabaseError::Unusable(why)
            if why.contains("does not offer encrypted connections") && why.contains("sslmode=prefer"));
        assert!(is_reported, "{error:?}");
    }
}

/// A PostgreSQL server that listens on TCP, too, without encryption at first.
fn postgres(room: &tempfile::TempDir) -> Option<(Cluster, Address)> {
    let mut cluster = common::cluster(room)?;
    let mut connection = Connection::open(&cluster.address(), "postgres", TIMEOUT).unwrap();
    let sql = format!("ALTER SYSTEM SET listen_addresses = '{}'", host());
    connection.ask(&sql).unwrap();
    connection
        .ask("CREATE ROLE ann SUPERUSER LOGIN PASSWORD 'hush'")
        .unwrap();
    drop(connection);
    set_rules(&cluster, "host");
    cluster.stop();
    cluster.restart().unwrap();
    let mut address = over_tcp(cluster.address(), &host(), 5432);
    address.user = "ann".to_owned();
    address.password = Some(Secret::new("hush".to_owned()));
    Some((cluster, address))
}

/// Rules by which connections over TCP of this kind get in.
fn set_rules(cluster: &Cluster, kind: &str) {
    let rules = cluster.data_directory().join("pg_hba.conf");
    let lines = format!("local all all trust\n{kind} all all 127.0.0.0/8 scram-sha-256\n");
    std::fs::write(rules, lines).unwrap();
}

/// Gives the server a certificate, and waits until it uses it.
fn present(cluster: &mut Cluster, certificates: &Certificates, name: &str) {
    let data = cluster.data_directory();
    for (kind, file) in [("crt", "server.crt"), ("key", "server.key")] {
        hand_over(
            &certificates.file(&format!("{name}.{kind}")),
            &data.join(file),
        );
    }
    cluster.stop();
    cluster.restart().unwrap();
}

#[test]
fn postgres_is_encrypted_as_libpq_does() {
    let room = common::room();
    let Some(certificates) = Certificates::make(&room.path().join("certificates")) else {
        return;
    };
    let Some((mut cluster, address)) = postgres(&room) else {
        return;
    };
    let open = |mode, root| {
        let connection = Connection::open(&with(&address, mode, root), "postgres", TIMEOUT);
        connection.map(|connection| connection.describe())
    };
    try_plain_server(open);
    let mut connection = Connection::open(&cluster.address(), "postgres", TIMEOUT).unwrap();
    assert_eq!(connection.describe(), "Unix socket");
    connection.ask("ALTER SYSTEM SET ssl = on").unwrap();
    drop(connection);

    present(&mut cluster, &certificates, "elsewhere");
    try_modes(&certificates, false, open);
    present(&mut cluster, &certificates, "old");
    try_old_certificate(&certificates, open);
    // One that signs itself is its own authority.
    present(&mut cluster, &certificates, "stranger");
    let own = || Some(certificates.file("stranger.crt"));
    assert!(
        open(TlsMode::VerifyCa, own())
            .unwrap()
            .ends_with("host name not")
    );
    present(&mut cluster, &certificates, "server");
    try_modes(&certificates, true, open);

    set_rules(&cluster, "hostssl");
    cluster.stop();
    cluster.restart().unwrap();
    let error = open(TlsMode::Disable, None).unwrap_err();
    let is_reported = matches!(&error, DatabaseError::Refused(why)
        if why.contains("pg_hba.conf") && why.ends_with("write sslmode=require"));
    assert!(is_reported, "{error:?}");
    assert!(open(TlsMode::Prefer, None).unwrap().contains("TLS"));
    set_rules(&cluster, "hostnossl");
    cluster.stop();
    cluster.restart().unwrap();
    let error = open(TlsMode::Require, None).unwrap_err();
    let is_reported = matches!(&error, DatabaseError::Refused(why)
        if why.ends_with("write sslmode=disable"));
    assert!(is_reported, "{error:?}");
    assert_eq!(open(TlsMode::Prefer, None).unwrap(), "TCP, not encrypted");
}

#[test]
fn transactions_and_loads_of_postgres_are_encrypted() {
    let room = common::room();
    let Some(certificates) = Certificates::make(&room.path().join("certificates")) else {
        return;
    };
    let Some((mut cluster, address)) = postgres(&room) else {
        return;
    };
    let mut connection = Connection::open(&cluster.address(), "postgres", TIMEOUT).unwrap();
    connection.ask("ALTER SYSTEM SET ssl = on").unwrap();
    drop(connection);
    set_rules(&cluster, "hostssl");
    for (protocol, name) in [("TLSv1.2", "TLS 1.2"), ("TLSv1.3", "TLS 1.3")] {
        let mut connection = Connection::open(&cluster.address(), "postgres", TIMEOUT);
        if let Ok(connection) = &mut connection {
            let sql = format!("ALTER SYSTEM SET ssl_max_protocol_version = '{protocol}'");
            connection.ask(&sql).unwrap();
        }
        drop(connection);
        present(&mut cluster, &certificates, "server");
        let root = Some(certificates.file("root.crt"));
        let postgres = Postgres::open(&with(&address, TlsMode::VerifyFull, root)).unwrap();
        common::build(&postgres);
        let described = postgres.server().unwrap().connection;
        assert!(described.contains(name), "{described}");
        common::try_session(&mut *postgres.connect().unwrap());
        let mut asking = postgres.connect_for_sql().unwrap();
        let rows = asking
            .ask("SELECT ssl::text FROM pg_stat_ssl WHERE pid = pg_backend_pid()")
            .unwrap();
        assert_eq!(rows, [[Some("true".to_owned())]]);
        drop(asking);
        postgres.remove().unwrap();
    }
}

/// Options of a MariaDB server that listens on TCP.
fn options(certificates: &Certificates, server: &Path, port: u16, name: &str) -> Vec<String> {
    let mut options = vec![
        "--skip-networking=0".to_owned(),
        "--bind-address=127.0.0.1".to_owned(),
        format!("--port={port}"),
    ];
    if name.is_empty() {
        return options;
    }
    for (kind, option) in [("crt", "ssl-cert"), ("key", "ssl-key")] {
        let file = server.join(format!("server.{kind}"));
        hand_over(&certificates.file(&format!("{name}.{kind}")), &file);
        options.push(format!("--{option}={}", file.display()));
    }
    options
}

fn free_port() -> u16 {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().port()
}

#[test]
fn mariadb_is_encrypted_by_the_same_words() {
    let room = common::room();
    let Some(certificates) = Certificates::make(&room.path().join("certificates")) else {
        return;
    };
    let Some(mut server) = common::mariadb::server() else {
        return;
    };
    let port = free_port();
    server.ask(
        "CREATE USER ann IDENTIFIED BY 'hush'; GRANT ALL ON *.* TO ann; \
         CREATE USER shy IDENTIFIED BY 'hush' REQUIRE SSL",
    );
    let mut address = over_tcp(server.address(), "localhost", port);
    address.user = "ann".to_owned();
    address.password = Some(Secret::new("hush".to_owned()));
    let open = |mode, root| {
        let connection = mariadb::Connection::open(&with(&address, mode, root), None, TIMEOUT);
        connection.map(|connection| connection.describe())
    };
    let place = server.room.path().to_owned();
    let mut present = |name: &str| server.restart(&options(&certificates, &place, port, name));
    present("");
    try_plain_server(open);
    present("elsewhere");
    try_modes(&certificates, false, open);
    present("old");
    try_old_certificate(&certificates, open);
    present("server");
    try_modes(&certificates, true, open);

    let mut shy = with(&address, TlsMode::Disable, None);
    shy.user = "shy".to_owned();
    let refused = mariadb::Connection::open(&shy, None, TIMEOUT)
        .err()
        .unwrap();
    let is_reported =
        matches!(&refused, DatabaseError::Refused(why) if why.ends_with("write sslmode=require"));
    assert!(is_reported, "{refused:?}");
    shy.tls = TlsSettings::default();
    mariadb::Connection::open(&shy, None, TIMEOUT).unwrap();

    let root = Some(certificates.file("root.crt"));
    let mariadb = MariaDb::open(&with(&address, TlsMode::VerifyFull, root)).unwrap();
    common::build(&mariadb);
    let described = mariadb.server().unwrap().connection;
    assert!(described.contains("host name verified"), "{described}");
    common::try_session(&mut *mariadb.connect().unwrap());
    let rows = mariadb
        .connect_for_sql()
        .unwrap()
        .ask("SHOW SESSION STATUS LIKE 'Ssl_version'")
        .unwrap();
    assert_eq!(rows[0][1].as_deref(), Some("TLSv1.3"));
    mariadb.remove().unwrap();
    // By an administrator, for all users.
    server.ask("SET GLOBAL require_secure_transport = ON");
    let refused = open(TlsMode::Disable, None).unwrap_err();
    println!("{refused:?}");
    assert!(
        refused.to_string().contains("sslmode=require"),
        "{refused:?}"
    );
}
