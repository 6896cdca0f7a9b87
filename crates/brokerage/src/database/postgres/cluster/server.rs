//! Creates, starts, stops and removes a server of our own.

use std::fs;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use super::error::ClusterError;
use super::held::HeldDirectory;
use super::memory_limiter::{MemoryLimiter, SPARE_BYTES};
use super::own::{Level, MARKER, SETTINGS_FILE};
use super::owner::Owner;
use super::page_cache::{MemoryGroup, drop_page_cache};
use super::process::{Process, Stop, isolate_environment};
use super::programs::Programs;
use super::settings::{PORT, Settings};
use crate::database::endpoint::Endpoint;
use crate::database::postgres::connection::Connection;
use crate::database::postgres::postgres::Postgres;
use crate::database::target::Address;
use crate::database::tls::TlsSettings;
use crate::error::DatabaseError;
use measure::host::own_name;

/// The server's only role.
const USER: &str = "proofload";

/// The longest path of a socket (`sun_path`, zero-terminated).
const LONGEST_SOCKET: usize = 107;

/// Timeout of a start, which includes crash recovery.
const START_TIMEOUT: Duration = Duration::from_secs(600);

/// Timeout of a fast shutdown, which writes all dirty pages.
const STOP_TIMEOUT: Duration = Duration::from_secs(120);

/// A PostgreSQL server in a directory of its own: on a Unix socket that only its user and root can
/// reach, run as an unprivileged user, and stopped when dropped.
pub struct Cluster {
    directory: PathBuf,
    /// The same, held open: `None` until it is made.
    held: Option<HeldDirectory>,
    held_log: Option<HeldDirectory>,
    sockets: PathBuf,
    settings: Settings,
    programs: Programs,
    owner: Owner,
    // Dropped before the group.
    memory_limiter: Option<MemoryLimiter>,
    group: Option<MemoryGroup>,
    page_cache_note: String,
    process: Option<Process>,
}

impl Cluster {
    /// Creates a cluster in a directory, or takes the one that an earlier run has left there, and
    /// starts its server.
    ///
    /// # Errors
    /// PostgreSQL is not installed, the directory cannot be used, or the server does not start.
    pub fn start(directory: &Path, settings: &Settings) -> Result<Self, ClusterError> {
        let programs = Programs::find()?;
        let owner = Owner::choose()?;
        let absolute = std::path::absolute(directory);
        let directory = absolute.map_err(ClusterError::file(directory, "found"))?;
        owner.can_enter(&directory)?;
        let is_made = has_own_cluster(&directory)?;
        let mut cluster = Self {
            sockets: sockets_for(&directory, &owner)?,
            directory,
            held: None,
            held_log: None,
            settings: settings.clone(),
            programs,
            owner,
            memory_limiter: None,
            group: None,
            page_cache_note: String::new(),
            process: None,
        };
        if is_made {
            cluster.held = Some(HeldDirectory::open(&cluster.directory)?);
            let log = cluster.log_directory();
            cluster.held_log = log.as_deref().map(HeldDirectory::open).transpose()?;
        } else if let Err(error) = cluster.make() {
            // A cluster that is not whole is of no use to the next run.
            let _ = cluster.remove();
            return Err(error);
        }
        if is_made && settings.page_cache_bytes.is_some() {
            drop_page_cache(&cluster.data_directory());
        }
        cluster.limit_page_cache();
        cluster.begin()?;
        Ok(cluster)
    }

    /// Socket and role of the server.
    #[must_use]
    pub fn address(&self) -> Address {
        Address {
            user: USER.to_owned(),
            password: None,
            endpoint: Endpoint::Socket(self.sockets.join(format!(".s.PGSQL.{PORT}"))),
            database: None,
            tls: TlsSettings::default(),
        }
    }

    /// Connects to the server.
    ///
    /// # Errors
    /// The server has gone.
    pub fn database(&self) -> Result<Postgres, DatabaseError> {
        Postgres::open(&self.address())
    }

    /// Limits the page cache from now on. Call it after loading and indexing, which may use more
    /// memory than the load.
    pub fn hold_page_cache(&mut self) {
        if let (Some(group), Some(bytes)) = (&self.group, self.settings.page_cache_bytes) {
            let now_bytes = self.settings.memory_bytes(bytes);
            self.memory_limiter = Some(MemoryLimiter::begin(group, bytes, now_bytes));
        }
    }

    /// How the page cache is limited, as a sentence for the report.
    #[must_use]
    pub fn page_cache_note(&self) -> &str {
        &self.page_cache_note
    }

    /// Path of the server's log.
    #[must_use]
    pub fn log_file(&self) -> PathBuf {
        self.directory.join("server.log")
    }

    /// The server's data directory.
    #[must_use]
    pub fn data_directory(&self) -> PathBuf {
        self.directory.join("data")
    }

    /// The server's process id, while it runs.
    #[must_use]
    pub fn process_id(&self) -> Option<u32> {
        self.process.as_ref().map(Process::id)
    }

    /// A fast shutdown: everything is written, nothing has to be recovered.
    pub fn stop(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.stop(Stop::InOrder, STOP_TIMEOUT);
        }
    }

    /// Ends the server as a crash would, without writing anything more.
    pub fn crash(&mut self) {
        if let Some(mut process) = self.process.take() {
            process.stop(Stop::AtOnce, Duration::ZERO);
        }
    }

    /// Starts the server again, after stopping it if it runs.
    ///
    /// # Errors
    /// It does not start.
    pub fn restart(&mut self) -> Result<(), ClusterError> {
        self.stop();
        self.begin()
    }

    /// Starts the server again if it has ended or was killed; returns whether it had.
    ///
    /// # Errors
    /// It does not start.
    pub fn revive(&mut self) -> Result<bool, ClusterError> {
        let has_ended = self.process.as_mut().is_none_or(Process::has_ended);
        if has_ended {
            self.process = None;
            self.begin()?;
        }
        Ok(has_ended)
    }

    /// Stops the server and removes everything that was created for it. Gives back what was left because
    /// somebody else has put it there.
    ///
    /// # Errors
    /// Something could not be removed.
    pub fn remove(&mut self) -> Result<Vec<PathBuf>, ClusterError> {
        self.crash();
        let log = self.held_log.take();
        log.map_or(Ok(()), HeldDirectory::remove)?;
        let held = self.held.take();
        let left = held
            .map(|held| held.remove_own(Level::Cluster))
            .transpose()?;
        self.remove_sockets();
        Ok(left.unwrap_or_default())
    }

    fn remove_sockets(&self) {
        if !self.sockets.starts_with(&self.directory) {
            // Only the socket and its lock were in it, which a server that was killed leaves.
            let socket = format!(".s.PGSQL.{PORT}");
            let _ = fs::remove_file(self.sockets.join(format!("{socket}.lock")));
            let _ = fs::remove_file(self.sockets.join(socket));
            let _ = fs::remove_dir(&self.sockets);
        }
    }

    fn log_directory(&self) -> Option<PathBuf> {
        let directory = self.settings.log_directory.as_ref()?;
        Some(directory.join("proofload-postgres-log"))
    }

    fn make(&mut self) -> Result<(), ClusterError> {
        let data = self.data_directory();
        let log = self.log_directory();
        make_private(&self.directory, &self.owner)?;
        let held = self.held.insert(HeldDirectory::open(&self.directory)?);
        held.write(MARKER, "begun\n")?;
        for left in [Some(&data), log.as_ref()].into_iter().flatten() {
            HeldDirectory::remove_left(left)?;
        }
        if let Some(log) = &log {
            self.owner.can_enter(log)?;
            make_private(log, &self.owner)?;
            self.held_log = Some(HeldDirectory::open(log)?);
        }
        let program = self.programs.program("initdb");
        let mut initdb = Command::new(&program);
        initdb.arg("--pgdata").arg(&data);
        initdb.args(["--username", USER, "--auth", "trust", "--encoding", "UTF8"]);
        initdb.args(["--locale", "C", "--data-checksums", "--no-sync"]);
        if let Some(log) = &log {
            initdb.arg("--waldir").arg(log);
        }
        let output = self
            .owner
            .run_as(isolate_environment(&mut initdb, &self.directory))
            .output();
        let output = output.map_err(ClusterError::program(&program))?;
        if !output.status.success() {
            return Err(ClusterError::Initdb {
                directory: self.directory.clone(),
                output: last_lines(&String::from_utf8_lossy(&output.stderr)),
            });
        }
        match &self.held {
            Some(held) => held.write(MARKER, "made\n"),
            None => Ok(()),
        }
    }

    fn limit_page_cache(&mut self) {
        let Some(bytes) = self.settings.page_cache_bytes else {
            "The page cache of the system is not limited.".clone_into(&mut self.page_cache_note);
            return;
        };
        let mib = (bytes + SPARE_BYTES) / (1024 * 1024);
        match MemoryGroup::make(self.settings.memory_bytes(bytes)) {
            Ok(group) => {
                self.group = Some(group);
                self.page_cache_note = format!(
                    "A memory control group leaves the server about {mib} MiB of page cache."
                );
            }
            Err(why) => {
                self.page_cache_note = format!(
                    "The page cache of the system could not be limited to {mib} MiB, because \
                     {why}; what it holds of the database is not read from the storage."
                );
            }
        }
    }

    fn begin(&mut self) -> Result<(), ClusterError> {
        let data = self.data_directory();
        refuse_running(&data)?;
        if self.sockets.starts_with(&self.directory) {
            make_private(&self.sockets, &self.owner)?;
        }
        let settings = self.settings.file(&self.sockets, self.programs.major());
        HeldDirectory::open(&data)?.write(SETTINGS_FILE, &settings)?;
        self.owner.hand_over(&data.join(SETTINGS_FILE))?;
        let mut process = Process::start(
            &self.programs.program("postgres"),
            &data,
            &self.log_file(),
            &self.owner,
            self.group.as_ref(),
        )?;
        let deadline = Instant::now() + START_TIMEOUT;
        let address = self.address();
        while Connection::open(&address, "postgres", Duration::from_secs(10)).is_err() {
            if process.has_ended() || Instant::now() > deadline {
                drop(process);
                let log = fs::read(self.log_file()).unwrap_or_default();
                return Err(ClusterError::DidNotStart {
                    directory: self.directory.clone(),
                    output: last_lines(&String::from_utf8_lossy(&log)),
                });
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        self.process = Some(process);
        Ok(())
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        self.crash();
        self.remove_sockets();
    }
}

/// Whether a directory holds a cluster of ours; an unfinished one does not count.
fn has_own_cluster(directory: &Path) -> Result<bool, ClusterError> {
    let Ok(mut entries) = fs::read_dir(directory) else {
        return match directory.exists() {
            true => Err(ClusterError::NotOurs(directory.to_owned())),
            false => Ok(false),
        };
    };
    let marker = directory.join(MARKER);
    if !marker.exists() {
        return match entries.next() {
            None => Ok(false),
            Some(_) => Err(ClusterError::NotOurs(directory.to_owned())),
        };
    }
    refuse_running(&directory.join("data"))?;
    let said = fs::read_to_string(&marker).map_err(ClusterError::file(&marker, "read"))?;
    Ok(said.trim() == "made")
}

/// Refuses a data directory in which a server runs.
fn refuse_running(data: &Path) -> Result<(), ClusterError> {
    let Ok(text) = fs::read_to_string(data.join("postmaster.pid")) else {
        return Ok(());
    };
    let Some(process) = text
        .lines()
        .next()
        .and_then(|line| line.trim().parse().ok())
    else {
        return Ok(());
    };
    let about = PathBuf::from(format!("/proc/{process}"));
    let name = fs::read_to_string(about.join("comm")).unwrap_or_default();
    let is_server = matches!(name.trim(), "postgres" | "postmaster");
    // The process id may belong to another server by now; its directory cannot always be seen.
    let is_elsewhere = fs::read_link(about.join("cwd")).is_ok_and(|cwd| !same(&cwd, data));
    if is_server && !is_elsewhere {
        return Err(ClusterError::StillRuns {
            process,
            directory: data.to_owned(),
        });
    }
    Ok(())
}

fn same(one: &Path, other: &Path) -> bool {
    match (one.canonicalize(), other.canonicalize()) {
        (Ok(one), Ok(other)) => one == other,
        _ => one == other,
    }
}

/// A directory for the socket: in ours, unless its path is too long for a socket. Another one is
/// created where anybody may create directories, so it must not exist.
fn sockets_for(directory: &Path, owner: &Owner) -> Result<PathBuf, ClusterError> {
    let sockets = directory.join("socket");
    let file = sockets.join(format!(".s.PGSQL.{PORT}.lock"));
    if file.as_os_str().len() <= LONGEST_SOCKET {
        return Ok(sockets);
    }
    loop {
        let sockets = std::env::temp_dir().join(own_name());
        match fs::DirBuilder::new().mode(0o700).create(&sockets) {
            Ok(()) => return owner.hand_over(&sockets).map(|()| sockets),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(ClusterError::file(&sockets, "made")(error)),
        }
    }
}

/// Creates a directory that only the server's user and root can enter, or takes ours.
fn make_private(directory: &Path, owner: &Owner) -> Result<(), ClusterError> {
    let made = fs::DirBuilder::new().mode(0o700).create(directory);
    if let Err(error) = made
        && !(error.kind() == std::io::ErrorKind::AlreadyExists && is_directory(directory))
    {
        return Err(ClusterError::file(directory, "made")(error));
    }
    owner.hand_over(directory)
}

/// Whether there is a directory, and no link to one.
fn is_directory(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|about| about.is_dir())
}

/// The last lines of what a program says; of the log of a server what made its last start fail, too.
fn last_lines(text: &str) -> String {
    let lines: Vec<_> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .collect();
    let begun = |line: &&str| line.contains("starting PostgreSQL");
    let start = lines.iter().rposition(begun).unwrap_or(0);
    let last = lines.len().saturating_sub(4);
    let fatal = |line: &&&str| line.contains("PANIC:  ") || line.contains("FATAL:  ");
    let cause = lines[start.min(last)..last].iter().rev().find(fatal);
    let last = &lines[last..];
    let said: Vec<&str> = cause.into_iter().chain(last).copied().collect();
    said.join("; ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_made_a_start_fail_is_said_before_the_last_lines() {
        let log = "LOG:  starting PostgreSQL 15\nFATAL:  of an earlier start\nLOG:  starting PostgreSQL 15\n\
                   LOG:  invalid primary checkpoint record\nPANIC:  could not locate a valid checkpoint record\n\
                   LOG:  one\nLOG:  two\nLOG:  three\n\nLOG:  four\n";
        assert_eq!(
            last_lines(log),
            "PANIC:  could not locate a valid checkpoint record; LOG:  one; LOG:  two; LOG:  three; LOG:  four"
        );
        assert_eq!(
            last_lines("FATAL:  at once\nLOG:  end"),
            "FATAL:  at once; LOG:  end"
        );
        assert_eq!(last_lines(""), "");
    }
}
