//! The processes of a server whose sessions are its threads: they say whether the server has ended its
//! sessions by itself or by a crash.

use crate::database::owners::{ServerProcess, main_process};
use std::fs;
use std::path::Path;

/// The processes that a server has had since the first look, each begun after the last had ended.
#[derive(Debug, Default)]
pub struct ServerProcesses {
    server: ServerProcess,
    had: Vec<Served>,
}

/// One of them.
#[derive(Debug, Clone, Copy)]
struct Served {
    process: Process,
    end: Option<End>,
}

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// It was shut down: it had removed the file with its number.
    ShutDown,
    /// It did not come to that, or nothing shows that it did.
    Other,
}

/// A process: numbers are used again, a number with its time of start is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    number: u32,
    /// Clock ticks since the boot.
    started: u64,
}

impl ServerProcesses {
    /// Those from now on. [`ServerProcess::Unknown`] for a server whose sessions have processes
    /// of their own, which may crash by themselves.
    #[must_use]
    pub fn of(server: ServerProcess) -> Self {
        let had = Vec::new();
        let mut processes = Self { server, had };
        processes.look();
        processes
    }

    /// Looks at the present process; to be called again and again, and when a session was opened. Gives the
    /// number of processes so far: a session that has just been opened is of the last.
    pub fn look(&mut self) -> usize {
        let proc = Path::new("/proc");
        if let Some(last) = self.had.last_mut()
            && last.end.is_none()
        {
            if running(proc, last.process.number) == Some(last.process) {
                return self.had.len();
            }
            last.end = Some(how_ended(&self.server));
        }
        let process = main_process(&self.server).and_then(|number| running(proc, number));
        let is_new = self.had.last().map(|last| last.process) != process;
        if let Some(process) = process.filter(|_| is_new) {
            self.had.push(Served { process, end: None });
        }
        self.had.len()
    }

    /// Whether the session that was lost has been ended by the server itself: its process, one of the first
    /// `processes`, still runs or was shut down.
    ///
    /// The kernel closes the connections of a process when the last of its threads has begun to end, so at
    /// this moment a process that was killed is known not to run.
    pub fn ended_session_of(&mut self, processes: usize) -> bool {
        self.look();
        let of_session = self.had.get(processes.saturating_sub(1));
        of_session.is_some_and(|served| served.end != Some(End::Other))
    }
}

/// How the process ended that does not run any more.
fn how_ended(server: &ServerProcess) -> End {
    match server {
        // A service manager may have removed the directory.
        ServerProcess::InFile(file)
            if !file.exists() && file.parent().is_some_and(Path::is_dir) =>
        {
            End::ShutDown
        }
        _ => End::Other,
    }
}

/// A process that runs and is not about to end (proc(5), `/proc/PID/stat`). The name of the program
/// stands in parentheses and may hold spaces and parentheses itself.
fn running(proc: &Path, number: u32) -> Option<Process> {
    /// The kernel has begun to end the process (PF_EXITING in the kernel's linux/sched.h).
    const EXITING: u64 = 0x4;
    let stat = fs::read_to_string(proc.join(number.to_string()).join("stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?;
    let fields: Vec<_> = fields.split_ascii_whitespace().collect();
    let field = |number: usize| fields.get(number)?.parse::<u64>().ok();
    // Fields 3, 9 and 22 of the manual page.
    let (state, flags, started) = (*fields.first()?, field(6)?, field(19)?);
    let has_ended = ["Z", "X", "x"].contains(&state) || flags & EXITING != 0;
    (!has_ended).then_some(Process { number, started })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};

    #[test]
    fn a_process_runs_until_it_ends_or_another_has_its_number() {
        let room = tempfile::tempdir().unwrap();
        let put = |state: &str, flags: u64, started: u64| {
            let directory = room.path().join("7");
            fs::create_dir_all(&directory).unwrap();
            let zeros = "0 ".repeat(12);
            let text = format!("7 (a) b) {state} 1 7 7 0 -1 {flags} {zeros}{started} 9 9");
            fs::write(directory.join("stat"), text).unwrap();
            running(room.path(), 7)
        };
        let process = Process {
            number: 7,
            started: 500,
        };
        assert_eq!(put("S", 0x40, 500), Some(process));
        assert_ne!(put("S", 0x40, 501), Some(process));
        assert_eq!(put("Z", 0x40, 500), None);
        assert_eq!(put("R", 0x44, 500), None);
        assert_eq!(running(room.path(), 8), None);
    }

    fn started(file: &Path) -> Child {
        let child = Command::new("sleep").arg("1000").spawn().unwrap();
        fs::write(file, child.id().to_string()).unwrap();
        child
    }

    fn end(mut child: Child) {
        child.kill().unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn a_session_is_explained_by_the_process_that_had_it() {
        let room = tempfile::tempdir().unwrap();
        let file = room.path().join("pid");
        let first = started(&file);
        let mut server = ServerProcesses::of(ServerProcess::InFile(file.clone()));
        let of_first = server.look();
        assert!(server.ended_session_of(of_first), "by KILL of a client");
        // A crash leaves the file.
        end(first);
        assert!(!server.ended_session_of(of_first));
        let second = started(&file);
        assert!(!server.ended_session_of(of_first), "noticed late");
        let of_second = server.look();
        assert!(server.ended_session_of(of_second));
        // A shutdown removes it.
        fs::remove_file(&file).unwrap();
        assert!(server.ended_session_of(of_second));
        end(second);
        assert!(server.ended_session_of(of_second));
        assert!(!server.ended_session_of(of_first));
        let third = started(&file);
        let of_third = server.look();
        assert!(server.ended_session_of(of_second), "noticed late");
        assert_eq!((of_first, of_second, of_third), (1, 2, 3));
        // A directory that a service manager has removed says nothing.
        fs::remove_dir_all(room.path()).unwrap();
        end(third);
        assert!(!server.ended_session_of(of_third));
        let mut unknown = ServerProcesses::of(ServerProcess::Unknown);
        let none = unknown.look();
        assert!(!unknown.ended_session_of(none));
    }
}
