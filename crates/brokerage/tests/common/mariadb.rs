//! A MariaDB server for tests.
#![allow(dead_code, clippy::unwrap_used)] // Each test file uses some of these; no test code is shipped.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use brokerage::database::mariadb::Connection;
use brokerage::database::{Address, Endpoint, TlsSettings};
use tempfile::TempDir;

/// How long an answer may take.
pub const TIMEOUT: Duration = Duration::from_secs(20);

/// A server in a directory of its own, killed when dropped.
pub struct Server {
    pub child: Child,
    pub room: TempDir,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }
}

fn program(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut places: Vec<_> = std::env::split_paths(&path).collect();
    places.push("/usr/sbin".into());
    places
        .into_iter()
        .map(|place| place.join(name))
        .find(|file| file.is_file())
}

/// Starts one in a directory with data.
pub fn start(room: &Path) -> Child {
    start_with(room, &[])
}

pub fn start_with(room: &Path, options: &[String]) -> Child {
    let log = std::fs::File::create(room.join("log")).unwrap();
    Command::new(program("mariadbd").unwrap())
        // A server that starts removes the temporary tables of all others from their directory.
        .env("TMPDIR", room)
        .arg("--no-defaults")
        .arg(format!("--datadir={}", room.join("data").display()))
        .arg(format!("--socket={}", room.join("socket").display()))
        .args([
            "--skip-networking",
            "--performance-schema",
            "--performance-schema-instrument=wait/io/file/%=on",
            "--innodb-buffer-pool-size=32M",
            "--innodb-fast-shutdown=2",
        ])
        .args(options)
        .args(user_option())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap()
}

/// As root the server runs as an unprivileged user.
fn user_option() -> Option<&'static str> {
    rustix::process::geteuid()
        .is_root()
        .then_some("--user=nobody")
}

/// A server, or `None` and a message where there is no MariaDB.
pub fn server() -> Option<Server> {
    let (Some(install), Some(_)) = (program("mariadb-install-db"), program("mariadbd")) else {
        test_support::skip("MariaDB is not installed");
        return None;
    };
    let room = room();
    let output = Command::new(install)
        .env("TMPDIR", room.path())
        .arg("--no-defaults")
        .arg(format!("--datadir={}", room.path().join("data").display()))
        .args(["--auth-root-authentication-method=normal", "--skip-test-db"])
        .args(user_option())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    Some(Server::start_in(room))
}

/// A directory that the server's user can write to.
pub fn room() -> TempDir {
    let room = super::room();
    if user_option().is_some() {
        std::os::unix::fs::chown(room.path(), Some(65_534), Some(65_534)).unwrap();
    }
    room
}

impl Server {
    /// Starts one in a directory with data, and waits until it answers.
    pub fn start_in(room: TempDir) -> Self {
        let child = start(room.path());
        let server = Self { child, room };
        server.wait();
        server
    }

    /// Stops it with everything in its files, so that it starts without recovery.
    pub fn stop(&mut self) {
        self.ask("SET GLOBAL innodb_fast_shutdown = 1");
        let process = rustix::process::Pid::from_child(&self.child);
        rustix::process::kill_process(process, rustix::process::Signal::TERM).unwrap();
        self.child.wait().unwrap();
    }

    /// Starts it again, with further options.
    pub fn restart(&mut self, options: &[String]) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        self.child = start_with(self.room.path(), options);
        self.wait();
    }

    /// How it is reached.
    pub fn address(&self) -> Address {
        Address {
            user: "root".to_owned(),
            password: None,
            endpoint: Endpoint::Socket(self.room.path().join("socket")),
            database: None,
            tls: TlsSettings::default(),
        }
    }

    /// Waits until it answers.
    pub fn wait(&self) {
        let deadline = Instant::now() + Duration::from_secs(60);
        while Connection::open(&self.address(), None, TIMEOUT).is_err() {
            let log = || std::fs::read_to_string(self.room.path().join("log"));
            assert!(Instant::now() < deadline, "{:?}", log());
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Ends a connection by its number; one that has ended by itself meanwhile is ended, too.
    #[allow(dead_code)] // Some tests end none.
    pub fn kill(&self, connection: &str) {
        let mut own = Connection::open(&self.address(), None, TIMEOUT).unwrap();
        if let Err(error) = own.ask(&format!("KILL {connection}")) {
            assert!(error.to_string().contains("Unknown thread id"), "{error}");
        }
    }

    /// Rows that the server returns, through a connection of its own.
    pub fn ask(&self, sql: &str) -> Vec<Vec<Option<String>>> {
        let mut connection = Connection::open(&self.address(), None, TIMEOUT).unwrap();
        connection.ask(sql).unwrap()
    }
}
