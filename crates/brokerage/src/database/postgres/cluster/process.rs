//! The running server.
//!
//! It ends when we do: a watcher, a shell that reads from a pipe of ours, sees the pipe close in
//! whatever way we end, and stops the server then.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::error::ClusterError;
use super::owner::Owner;
use super::page_cache::MemoryGroup;

/// Waits for a word, so that the process can be put where it belongs, and becomes the server.
const BECOME: &str = "read -r go && exec \"$@\" </dev/null";

/// Waits for a word or the end of the pipe. At the end stops the server ($1): in good order, or
/// after ten seconds at once.
const WATCH: &str = "read -r over && exit; kill -INT \"$1\"; \
                     for second in 1 2 3 4 5 6 7 8 9 10; do \
                     sleep 1; kill -0 \"$1\" || exit; done; kill -QUIT \"$1\"";

const POLL: Duration = Duration::from_millis(5);

/// How a server is to end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Sessions are cut off, everything is written.
    InOrder,
    /// As in a crash: nothing is written any more.
    AtOnce,
}

/// A server that was started, until it is stopped or dropped.
pub(super) struct Process {
    server: Child,
    watcher: Child,
}

impl Process {
    /// Starts the server, in the group if there is one.
    pub fn start(
        program: &Path,
        data: &Path,
        log: &Path,
        owner: &Owner,
        group: Option<&MemoryGroup>,
    ) -> Result<Self, ClusterError> {
        let open = || File::options().append(true).create(true).open(log);
        let output = open().map_err(ClusterError::file(log, "written"))?;
        let errors = open().map_err(ClusterError::file(log, "written"))?;
        owner.give(log)?;
        let mut server = Command::new("/bin/sh");
        server
            .args(["-c", BECOME, "sh"])
            .arg(program)
            .arg("-D")
            .arg(data);
        server.stdin(Stdio::piped()).stdout(output).stderr(errors);
        let server = owner.dress(quiet(&mut server, data)).spawn();
        let mut server = server.map_err(ClusterError::program(Path::new("/bin/sh")))?;
        let mut watcher = Command::new("/bin/sh");
        watcher
            .args(["-c", WATCH, "sh"])
            .arg(server.id().to_string());
        watcher
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let watcher = owner.dress(quiet(&mut watcher, data)).spawn();
        let watcher = watcher.map_err(|error| {
            end(&mut server);
            ClusterError::program(Path::new("/bin/sh"))(error)
        })?;
        let mut process = Self { server, watcher };
        if let Some(group) = group {
            group
                .admit(process.server.id())
                .map_err(|why| ClusterError::DidNotStart {
                    directory: data.to_owned(),
                    output: why,
                })?;
        }
        let word = process.server.stdin.take();
        let said = word.map_or(Ok(()), |mut pipe| pipe.write_all(b"go\n"));
        said.map_err(ClusterError::program(program))?;
        Ok(process)
    }

    /// The server's process number.
    pub fn id(&self) -> u32 {
        self.server.id()
    }

    /// Whether the server has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.server.try_wait(), Ok(None))
    }

    /// Stops the server; one that does not end in `patience` is stopped harder.
    pub fn stop(&mut self, how: Stop, patience: Duration) {
        if how == Stop::InOrder {
            self.signal(Signal::INT);
            self.wait(patience);
        }
        if !self.has_ended() {
            self.signal(Signal::QUIT);
            self.wait(Duration::from_secs(10));
        }
        end(&mut self.server);
        if let Some(mut pipe) = self.watcher.stdin.take() {
            // A watcher that has ended already needs no word.
            let _ = pipe.write_all(b"over\n");
        }
        let _ = self.watcher.wait();
    }

    fn signal(&self, signal: Signal) {
        if let Ok(number) = i32::try_from(self.server.id())
            && let Some(process) = Pid::from_raw(number)
        {
            // It fails only for a process that has ended, whose number stays taken until we wait.
            let _ = kill_process(process, signal);
        }
    }

    fn wait(&mut self, patience: Duration) {
        let deadline = Instant::now() + patience;
        while !self.has_ended() && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.stop(Stop::AtOnce, Duration::ZERO);
    }
}

fn end(child: &mut Child) {
    if matches!(child.try_wait(), Ok(None)) {
        // Both fail only for a process that has ended.
        let _ = child.kill();
        let _ = child.wait();
    }
}

/// Keeps a program from what our surroundings say about other servers, and from our directory,
/// which it may not be allowed to see.
pub(super) fn quiet<'a>(command: &'a mut Command, directory: &Path) -> &'a mut Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C").current_dir(directory)
}
