//! The process of a server whose sessions are its threads: as long as it runs, sessions are ended by
//! the server and not by a crash.

use super::outage::Outages;
use crate::database::owners::{ServerProcess, main_process};
use std::fs;
use std::path::Path;

/// The process that a server had when its sessions were opened.
#[derive(Debug, Default)]
pub(super) struct SessionsProcess {
    server: ServerProcess,
    process: Option<Process>,
    /// Whether the server was down when outages were last explained.
    was_down: bool,
}

/// A process: numbers are used again, a number with its time of start is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    number: u32,
    /// Clock ticks since the boot.
    started: u64,
}

impl SessionsProcess {
    /// The process that runs now. [`ServerProcess::Unknown`] for a server whose sessions have processes
    /// of their own, which may crash by themselves.
    pub fn of(server: ServerProcess) -> Self {
        let mut sessions = Self {
            server,
            ..Self::default()
        };
        sessions.look_again();
        sessions
    }

    /// Explains outages; to be called again and again, more often than the shortest outage lasts.
    pub fn explain(&mut self, outages: &mut Outages, now_ns: u64) {
        outages.explain(now_ns, || self.still_runs());
        let is_down = outages.is_down();
        if std::mem::replace(&mut self.was_down, is_down) && !is_down {
            self.look_again();
        }
    }

    /// Sessions are opened again, with the process that runs now.
    fn look_again(&mut self) {
        let number = main_process(&self.server);
        self.process = number.and_then(|number| running(Path::new("/proc"), number));
    }

    /// Whether the process is the same, and runs.
    fn still_runs(&self) -> bool {
        self.process
            .is_some_and(|process| running(Path::new("/proc"), process.number) == Some(process))
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
    use std::process::Command;

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

    #[test]
    fn a_process_that_was_killed_does_not_run_any_more() {
        let mut child = Command::new("sleep").arg("1000").spawn().unwrap();
        let room = tempfile::tempdir().unwrap();
        let file = room.path().join("pid");
        fs::write(&file, child.id().to_string()).unwrap();
        let mut sessions = SessionsProcess::of(ServerProcess::InFile(file.clone()));
        assert!(sessions.still_runs());
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(!sessions.still_runs());
        sessions.look_again();
        assert!(!sessions.still_runs());
        fs::write(&file, std::process::id().to_string()).unwrap();
        assert!(!sessions.still_runs(), "it is another one");
        sessions.look_again();
        assert!(sessions.still_runs());
        assert!(!SessionsProcess::of(ServerProcess::Unknown).still_runs());
    }
}
