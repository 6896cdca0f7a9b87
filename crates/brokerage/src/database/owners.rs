//! Whose a request of the volume is: the database server's, the kernel's, or that of another
//! process.
//!
//! The block trace says which thread submitted a request. PostgreSQL's sessions are children of one
//! process, MariaDB's and SQLite's are threads of one. Write-back and journal threads of the kernel
//! work for everybody; their requests are counted as the server's.

use measure::host::ProcessName;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How the processes of a database server are known.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum ServerProcess {
    /// The server is elsewhere, or does not show where it keeps its process number.
    #[default]
    Unknown,
    /// The database runs in this process, as SQLite does.
    Own,
    /// The first line of this file is its process number. It changes when the server is restarted.
    InFile(PathBuf),
}

impl ServerProcess {
    /// Itself, if the process is one that this machine has: a server in a container has numbers of
    /// its own, which are those of other processes here. It is known by its name, or because it works in the
    /// data directory, as servers do whatever their program is called.
    #[must_use]
    pub fn if_found(self, data_directory: Option<&Path>) -> Self {
        let is_found = match main_process(&self) {
            Some(process) => {
                self == Self::Own
                    || is_database(&name_of(process))
                    || data_directory.is_some_and(|directory| works_in(process, directory))
            }
            None => false,
        };
        if is_found { self } else { Self::Unknown }
    }
}

/// The name of a process; empty if there is none.
fn name_of(process: u32) -> ProcessName {
    let name = fs::read(format!("/proc/{process}/comm")).unwrap_or_default();
    ProcessName::new(name.trim_ascii_end())
}

/// Whether a directory is the working directory of a process.
fn works_in(process: u32, directory: &Path) -> bool {
    let works_in = fs::read_link(format!("/proc/{process}/cwd"));
    let directory = directory.canonicalize();
    works_in.is_ok_and(|works_in| directory.is_ok_and(|directory| directory == works_in))
}

/// The number of the main process of a server, if that runs.
pub(crate) fn main_process(server: &ServerProcess) -> Option<u32> {
    match server {
        ServerProcess::Unknown => None,
        ServerProcess::Own => Some(std::process::id()),
        ServerProcess::InFile(file) => {
            let text = fs::read_to_string(file).ok()?;
            text.lines().next()?.trim().parse().ok()
        }
    }
}

/// What a process of the server does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// A backend or the WAL writer: its synchronous writes are log writes.
    Commits,
    /// The checkpointer or the background writer.
    WritesPages,
    /// A thread of the main process that has its name, as sessions of MariaDB and SQLite have: its synchronous
    /// writes are log writes.
    Session,
    /// Another thread of the server, or one of the kernel.
    Unknown,
}

/// Whose a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The server's, or done by the kernel for whoever has changed the pages.
    Server(Role),
    /// That of a process that is not the server's.
    Other,
}

/// Process numbers are used again, so what is known about them is forgotten after this time.
const REMEMBERED: Duration = Duration::from_secs(10);
/// The process that starts all threads of the kernel.
const KERNEL: u32 = 2;
/// Other processes that are named in the result.
const NAMED: usize = 3;

/// Finds the owners of requests, and counts those of other processes.
#[derive(Debug)]
pub(crate) struct Owners {
    server: ServerProcess,
    known: HashMap<u32, Owner>,
    known_since: Instant,
    counts: Counts,
}

/// Requests, all and of other processes.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Counts {
    pub all: u64,
    pub others: u64,
    pub other_bytes: u64,
    /// Requests by the name of the process.
    names: BTreeMap<String, u64>,
}

impl Counts {
    /// Names of the other processes with most requests.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = self.names.iter().collect();
        names.sort_by_key(|(_, requests)| std::cmp::Reverse(**requests));
        let names = names.into_iter().take(NAMED);
        names.map(|(name, _)| name.clone()).collect()
    }
}

impl Owners {
    pub fn new(server: ServerProcess) -> Self {
        Self {
            server,
            known: HashMap::new(),
            known_since: Instant::now(),
            counts: Counts::default(),
        }
    }

    /// Counts from now on.
    pub fn begin(&mut self) {
        self.counts = Counts::default();
    }

    /// The counts; `None` where the server's processes are not known.
    pub fn counts(&self) -> Option<Counts> {
        let is_known = self.server != ServerProcess::Unknown;
        is_known.then(|| self.counts.clone())
    }

    /// The owner of a request, which is counted.
    pub fn count(&mut self, process: u32, command: &ProcessName, bytes: u64) -> Owner {
        if self.known_since.elapsed() > REMEMBERED {
            self.known.clear();
            self.known_since = Instant::now();
        }
        let server = &self.server;
        let known = self.known.entry(process);
        let owner = *known.or_insert_with(|| find_owner(server, process, command));
        self.counts.all += 1;
        if owner == Owner::Other {
            self.counts.others += 1;
            self.counts.other_bytes += bytes;
            *self.counts.names.entry(command.to_string()).or_default() += 1;
        }
        owner
    }
}

/// What /proc says about a thread.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct Thread {
    /// The process that it belongs to.
    process: u32,
    parent: u32,
    /// The command line; PostgreSQL writes what a process does there.
    title: String,
}

fn look_up(thread: u32) -> Option<Thread> {
    let status = fs::read_to_string(format!("/proc/{thread}/status")).ok()?;
    let number = |name: &str| {
        let mut lines = status.lines();
        let value = lines.find_map(|line| line.strip_prefix(name))?;
        value.trim().parse().ok()
    };
    let title = fs::read(format!("/proc/{thread}/cmdline")).unwrap_or_default();
    Some(Thread {
        process: number("Tgid:")?,
        parent: number("PPid:")?,
        title: String::from_utf8_lossy(&title).into_owned(),
    })
}

fn find_owner(server: &ServerProcess, thread: u32, command: &ProcessName) -> Owner {
    let main = main_process(server);
    let is_unknown = *server == ServerProcess::Unknown;
    let has_its_name = main.is_some_and(|main| name_of(main) == *command);
    match look_up(thread) {
        Some(found) => owner_of(&found, main, is_unknown, has_its_name),
        // It has ended already, as sessions do when the server goes down.
        None if has_its_name || is_database(command) || is_unknown => Owner::Server(Role::Unknown),
        None => Owner::Other,
    }
}

/// `main` is the main process of the server, if that runs; the thread may have its name.
fn owner_of(
    thread: &Thread,
    main: Option<u32>,
    is_server_unknown: bool,
    has_name_of_main: bool,
) -> Owner {
    let is_kernel = thread.process == KERNEL || thread.parent == KERNEL;
    let is_of_main = main == Some(thread.process);
    let is_server = is_of_main || main == Some(thread.parent);
    if !(is_server || is_kernel || is_server_unknown) {
        return Owner::Other;
    }
    // That of PostgreSQL has no sessions.
    let is_postgres = thread.title.contains("postgres");
    Owner::Server(match role_by_title(&thread.title) {
        Role::Unknown if is_of_main && has_name_of_main && !is_postgres => Role::Session,
        role => role,
    })
}

/// What a process of PostgreSQL does, by the title that it sets.
pub(crate) fn role_by_title(title: &str) -> Role {
    let Some((_, title)) = title.split_once("postgres: ") else {
        return Role::Unknown;
    };
    let is = |name: &str| title.contains(name);
    if is("checkpointer") || is("background writer") || is("autovacuum") {
        Role::WritesPages
    } else {
        Role::Commits
    }
}

fn is_database(command: &ProcessName) -> bool {
    let names = ["postgres", "mariadbd", "mysqld", "ib_", "proofload"];
    names.iter().any(|name| command.starts_with(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(process: u32, parent: u32, title: &str) -> Thread {
        Thread {
            process,
            parent,
            title: title.to_owned(),
        }
    }

    #[test]
    fn sessions_of_another_cluster_are_others() {
        let of = |thread| owner_of(&thread, Some(100), false, false);
        let session = "postgres: me proofload [local] COMMIT";
        assert_eq!(of(thread(110, 100, session)), Owner::Server(Role::Commits));
        assert_eq!(of(thread(210, 200, session)), Owner::Other);
        let checkpointer = "postgres: checkpointer ";
        assert_eq!(
            of(thread(111, 100, checkpointer)),
            Owner::Server(Role::WritesPages)
        );
        assert_eq!(of(thread(211, 200, checkpointer)), Owner::Other);
        // A thread of the server itself, write-back of the kernel, and a copy.
        assert_eq!(of(thread(100, 1, "mariadbd")), Owner::Server(Role::Unknown));
        let session = owner_of(&thread(100, 1, "tradesrv"), Some(100), false, true);
        assert_eq!(session, Owner::Server(Role::Session));
        assert_eq!(of(thread(7, KERNEL, "")), Owner::Server(Role::Unknown));
        assert_eq!(of(thread(300, 1, "dd")), Owner::Other);
        // Without a server that is known nobody is another.
        let unknown = owner_of(&thread(300, 1, "dd"), None, true, false);
        assert_eq!(unknown, Owner::Server(Role::Unknown));
    }

    #[test]
    fn requests_are_counted_by_owner_from_the_beginning_of_the_measurement() {
        let mut owners = Owners::new(ServerProcess::Own);
        let own = std::process::id();
        let (proofload, dd) = (ProcessName::new(b"proofload"), ProcessName::new(b"dd"));
        owners.count(own, &proofload, 10);
        owners.begin();
        assert_eq!(
            owners.count(own, &proofload, 10),
            Owner::Server(Role::Unknown)
        );
        // A process that has ended.
        assert_eq!(owners.count(u32::MAX, &dd, 10), Owner::Other);
        let counts = owners.counts().unwrap();
        assert_eq!((counts.all, counts.others, counts.other_bytes), (2, 1, 10));
        assert_eq!(counts.names(), ["dd"]);
        assert_eq!(Owners::new(ServerProcess::Unknown).counts(), None);
        assert_eq!(ServerProcess::Own.if_found(None), ServerProcess::Own);
        let absent = ServerProcess::InFile(PathBuf::from("/nowhere"));
        assert_eq!(absent.if_found(None), ServerProcess::Unknown);
    }
}
