//! A server of MariaDB, as somebody else's is.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use super::Scratch;

/// The user as whom a server of root runs.
const NOBODY: u32 = 65_534;

/// A link to the program, by which the server gets another name.
const RENAMED: &str = "tradesrv";

/// A server in a directory of its own, killed when dropped.
pub struct MariaDb {
    room: PathBuf,
    process: Child,
}

fn user() -> Option<&'static str> {
    let is_root = rustix::process::geteuid().is_root();
    is_root.then_some("--user=nobody")
}

fn command(program: &str, room: &Path) -> Command {
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new(program);
    command.env("PATH", format!("{path}:/usr/sbin"));
    // A server that starts removes the temporary tables of all others from their directory.
    command.env("TMPDIR", room);
    command.args([
        "--no-defaults",
        &format!("--datadir={}/data", room.display()),
    ]);
    command
        .args(user())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

fn start(room: &Path) -> Child {
    let renamed = room.join(RENAMED);
    let program = match renamed.exists() {
        true => renamed.to_str().expect("a path in UTF-8"),
        false => "mariadbd",
    };
    let mut server = command(program, room);
    server.arg(format!("--socket={}/socket", room.display()));
    server.args(["--skip-networking", "--innodb-buffer-pool-size=32M"]);
    server.spawn().expect("the server starts")
}

impl MariaDb {
    /// A new one; `None`, with the test skipped, where there is no MariaDB.
    pub fn new(here: &Scratch) -> Option<Self> {
        Self::in_room(here.directory("server"))
    }

    /// The same, whose process has another name than its program.
    pub fn renamed(here: &Scratch) -> Option<Self> {
        let room = here.directory("server");
        let path = std::env::var("PATH").unwrap_or_default();
        let directories = format!("{path}:/usr/sbin");
        let mut programs = directories
            .split(':')
            .map(|directory| Path::new(directory).join("mariadbd"));
        if let Some(program) = programs.find(|program| program.exists()) {
            std::os::unix::fs::symlink(program, room.join(RENAMED)).expect("a link");
        }
        Self::in_room(room)
    }

    fn in_room(room: PathBuf) -> Option<Self> {
        if user().is_some() {
            std::os::unix::fs::chown(&room, Some(NOBODY), Some(NOBODY)).expect("its owner");
        }
        let mut install = command("mariadb-install-db", &room);
        install.args(["--auth-root-authentication-method=normal", "--skip-test-db"]);
        let Ok(made) = install.status() else {
            test_support::skip("MariaDB is not installed");
            return None;
        };
        assert!(made.success(), "mariadb-install-db: {made}");
        let process = start(&room);
        let server = Self { room, process };
        server.wait();
        Some(server)
    }

    /// What `--database` takes.
    pub fn url(&self) -> String {
        let socket = self.room.join("socket").display().to_string();
        format!("mariadb://root@{}", socket.replace('/', "%2F"))
    }

    /// Where it keeps its data.
    pub fn data(&self) -> PathBuf {
        self.room.join("data")
    }

    /// Ends it as a power cut would, does something to its data, and starts it again.
    pub fn crash_and(&mut self, change: impl FnOnce(&Path)) {
        self.process.kill().expect("its end");
        self.process.wait().expect("its end");
        let _ = fs::remove_file(self.room.join("socket"));
        change(&self.data());
        self.process = start(&self.room);
        self.wait();
    }

    /// Waits until it listens.
    fn wait(&self) {
        let end = Instant::now() + Duration::from_secs(60);
        let listens = || std::os::unix::net::UnixStream::connect(self.room.join("socket")).is_ok();
        while !listens() {
            assert!(Instant::now() < end, "the server does not start");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for MariaDb {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
