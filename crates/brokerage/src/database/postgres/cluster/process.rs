//! The running server.
//!
//! It ends when we do: a watchdog, a shell that reads from a pipe of ours, sees the pipe close in
//! whatever way we end, and then stops the server.

use std::fs::File;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use super::error::ClusterError;
use super::owner::Owner;
use super::page_cache::MemoryGroup;

/// Waits for a line, so that the process can be moved into its control group, and becomes the
/// server.
const BECOME: &str = "read -r go && exec \"$@\" </dev/null";

/// Waits for a line or the end of the pipe. At the end stops the server ($1): by a fast shutdown,
/// or after ten seconds by an immediate one.
const WATCH: &str = "read -r over && exit; kill -INT \"$1\"; \
                     for second in 1 2 3 4 5 6 7 8 9 10; do \
                     sleep 1; kill -0 \"$1\" || exit; done; kill -QUIT \"$1\"";

const POLL: Duration = Duration::from_millis(5);

/// How the server is shut down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Stop {
    /// Fast shutdown: sessions are terminated, everything is written.
    InOrder,
    /// As in a crash: nothing more is written.
    AtOnce,
}

/// A server that was started, until it is stopped or dropped.
pub(super) struct Process {
    server: Child,
    sampler: Child,
}

impl Process {
    /// Starts the server, in the control group if there is one.
    pub fn start(
        program: &Path,
        data: &Path,
        log: &Path,
        owner: &Owner,
        group: Option<&MemoryGroup>,
    ) -> Result<Self, ClusterError> {
        let no_link = rustix::fs::OFlags::NOFOLLOW.bits().cast_signed();
        let open = || {
            let mut options = File::options();
            options.append(true).create(true).custom_flags(no_link);
            options.open(log)
        };
        let output = open().map_err(ClusterError::file(log, "written"))?;
        let errors = open().map_err(ClusterError::file(log, "written"))?;
        owner.hand_over(log)?;
        let mut server = Command::new("/bin/sh");
        server
            .args(["-c", BECOME, "sh"])
            .arg(program)
            .arg("-D")
            .arg(data);
        server.stdin(Stdio::piped()).stdout(output).stderr(errors);
        let server = owner.run_as(isolate_environment(&mut server, data)).spawn();
        let mut server = server.map_err(ClusterError::program(Path::new("/bin/sh")))?;
        let mut sampler = Command::new("/bin/sh");
        sampler
            .args(["-c", WATCH, "sh"])
            .arg(server.id().to_string());
        sampler
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let sampler = owner
            .run_as(isolate_environment(&mut sampler, data))
            .spawn();
        let sampler = sampler.map_err(|error| {
            end(&mut server);
            ClusterError::program(Path::new("/bin/sh"))(error)
        })?;
        let mut process = Self { server, sampler };
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

    /// The server's process id.
    pub fn id(&self) -> u32 {
        self.server.id()
    }

    /// Whether the server has ended.
    pub fn has_ended(&mut self) -> bool {
        !matches!(self.server.try_wait(), Ok(None))
    }

    /// Stops the server; after `timeout` in a harder mode.
    pub fn stop(&mut self, how: Stop, timeout: Duration) {
        if how == Stop::InOrder {
            self.signal(Signal::INT);
            self.wait(timeout);
        }
        if !self.has_ended() {
            self.signal(Signal::QUIT);
            self.wait(Duration::from_secs(10));
        }
        end(&mut self.server);
        if let Some(mut pipe) = self.sampler.stdin.take() {
            // A watchdog that has ended already needs no line.
            let _ = pipe.write_all(b"over\n");
        }
        let _ = self.sampler.wait();
    }

    fn signal(&self, signal: Signal) {
        if let Ok(number) = i32::try_from(self.server.id())
            && let Some(process) = Pid::from_raw(number)
        {
            // It fails only for a process that has ended, whose id stays reserved until we wait.
            let _ = kill_process(process, signal);
        }
    }

    fn wait(&mut self, timeout: Duration) {
        let deadline = Instant::now() + timeout;
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

/// Removes environment variables about other servers, and changes the working directory, which the
/// user may not be allowed to enter.
pub(super) fn isolate_environment<'a>(
    command: &'a mut Command,
    directory: &Path,
) -> &'a mut Command {
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("PG") {
            command.env_remove(name);
        }
    }
    command.env("LC_ALL", "C").current_dir(directory)
}
