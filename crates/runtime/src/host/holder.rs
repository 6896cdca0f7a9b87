//! Which process holds a lock on a file, as `/proc` has it.

use super::identity::FileIdentity;
use rustix::fs::{major, minor};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A process that uses a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holder {
    /// Process id as `/proc` names it.
    pub process: u32,
    /// The name of its program; empty when `/proc` does not say.
    pub program: String,
    /// When it was started, in seconds since 1970; `None` when `/proc` does not say.
    pub started_unix_s: Option<i64>,
}

impl Holder {
    /// The process that holds a lock (`flock`) on a file. `None` when none can be seen: it runs on
    /// another host or in another container, or has just ended.
    #[must_use]
    pub fn of_lock(file: FileIdentity) -> Option<Self> {
        let text = fs::read_to_string("/proc/locks").ok()?;
        let locks: Vec<_> = text.lines().filter_map(Lock::parse).collect();
        let same_number = || locks.iter().filter(|lock| lock.number == file.number);
        let same = same_number().find(|lock| lock.is_on(file.file_system));
        // Some file systems (btrfs) have other device numbers there than files say.
        let found = same.or_else(|| same_number().find(|lock| has_open(lock.process, file)));
        found.map(|lock| Self::of_process(lock.process))
    }

    /// A process that has a file below one of these directories open, other than this process.
    #[must_use]
    pub fn of_files_below(directories: &[PathBuf]) -> Option<Self> {
        let below = |path: &Path| directories.iter().any(|above| path.starts_with(above));
        let processes = fs::read_dir("/proc").ok()?.flatten();
        let mut processes =
            processes.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let own = std::process::id();
        let has_one_open = |process| links_of(process).iter().any(|path| below(path));
        let found = processes.find(|&process| {
            process != own && has_one_open(process) && !is_about_to_close(process, has_one_open)
        });
        found.map(Self::of_process)
    }

    /// What `/proc` says of a process.
    #[must_use]
    pub fn of_process(process: u32) -> Self {
        let about = PathBuf::from(format!("/proc/{process}"));
        let program = fs::read_to_string(about.join("comm")).unwrap_or_default();
        let status = fs::read_to_string(about.join("stat")).unwrap_or_default();
        let system = fs::read_to_string("/proc/stat").unwrap_or_default();
        Self {
            process,
            program: program.trim().to_owned(),
            started_unix_s: started_unix_s(&status, &system),
        }
    }
}

impl fmt::Display for Holder {
    /// `proofload (process 4242, started 2025-03-01 12:00:09)`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = match self.program.as_str() {
            "" => "another program",
            program => program,
        };
        write!(f, "{program} (process {}", self.process)?;
        let started = self.started_unix_s.and_then(|seconds| {
            let at = jiff::Timestamp::from_second(seconds).ok()?;
            let zone = jiff::tz::TimeZone::system();
            Some(at.to_zoned(zone).strftime("%Y-%m-%d %H:%M:%S").to_string())
        });
        match started {
            Some(started) => write!(f, ", started {started})"),
            None => f.write_str(")"),
        }
    }
}

/// A lock that somebody has, from a line of `/proc/locks`.
struct Lock {
    process: u32,
    device: (u32, u32),
    number: u64,
}

impl Lock {
    /// Reads `1: FLOCK ADVISORY WRITE 4242 fe:00:10002569 0 EOF`. Those who wait for a lock (`->`)
    /// and other kinds of locks do not count.
    fn parse(line: &str) -> Option<Self> {
        let mut words = line.split_whitespace().skip(1);
        if words.next()? != "FLOCK" {
            return None;
        }
        let process = words.nth(2)?.parse().ok().filter(|&process| process > 0)?;
        let mut parts = words.next()?.split(':');
        let mut hexadecimal = || u32::from_str_radix(parts.next()?, 16).ok();
        let device = (hexadecimal()?, hexadecimal()?);
        Some(Self {
            process,
            device,
            number: parts.next()?.parse().ok()?,
        })
    }

    fn is_on(&self, file_system: u64) -> bool {
        self.device == (major(file_system), minor(file_system))
    }
}

/// The files that a process has open and its working directory, as far as they may be seen.
fn links_of(process: u32) -> Vec<PathBuf> {
    let about = PathBuf::from(format!("/proc/{process}"));
    let open = fs::read_dir(about.join("fd")).into_iter().flatten();
    let open = open.flatten().map(|entry| entry.path());
    let links = open.chain([about.join("cwd")]);
    links.filter_map(|link| fs::read_link(link).ok()).collect()
}

fn has_open(process: u32, file: FileIdentity) -> bool {
    let open = fs::read_dir(format!("/proc/{process}/fd"));
    let mut open = open.into_iter().flatten().flatten();
    open.any(|entry| {
        rustix::fs::stat(entry.path())
            .is_ok_and(|status| FileIdentity::from_status(&status) == file)
    })
}

/// Whether a process closes its files within a moment. One that this process has just started has
/// copies of all descriptors until it runs its own program.
fn is_about_to_close(process: u32, has_one_open: impl Fn(u32) -> bool) -> bool {
    let status = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    let has_ended = status.is_empty();
    let is_child = parent(&status) == Some(std::process::id());
    let mut attempts = 0..START_ATTEMPTS;
    has_ended
        || is_child
            && attempts.any(|_| {
                std::thread::sleep(START_PAUSE);
                !has_one_open(process)
            })
}

/// How long a process may take from its start to its own program.
const START_PAUSE: Duration = Duration::from_millis(1);
const START_ATTEMPTS: u32 = 100;

/// The parent of a process, from its `/proc/PID/stat`.
fn parent(status: &str) -> Option<u32> {
    fields(status)?.nth(4 - 3)?.parse().ok()
}

/// The fields of `/proc/PID/stat` from the third on. The name of the program before them, in brackets,
/// may have spaces and brackets in it.
fn fields(status: &str) -> Option<std::str::SplitWhitespace<'_>> {
    let (_, after_name) = status.rsplit_once(')')?;
    Some(after_name.split_whitespace())
}

/// When a process was started, from `/proc/PID/stat` and `/proc/stat`.
fn started_unix_s(process: &str, system: &str) -> Option<i64> {
    let ticks: u64 = fields(process)?.nth(22 - 3)?.parse().ok()?;
    let booted = system
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let booted: i64 = booted.trim().parse().ok()?;
    let after_boot_s = ticks / rustix::param::clock_ticks_per_second().max(1);
    Some(booted + i64::try_from(after_boot_s).ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_locks_are_understood() {
        let lock = Lock::parse("12: FLOCK  ADVISORY  WRITE 23780 fe:01:10002569 0 EOF").unwrap();
        assert_eq!((lock.process, lock.number), (23780, 10_002_569));
        assert!(lock.is_on(rustix::fs::makedev(0xfe, 1)));
        assert!(!lock.is_on(rustix::fs::makedev(0xfe, 2)));
        for other in [
            "1: -> FLOCK  ADVISORY  WRITE 7 fe:01:10 0 EOF",
            "1: POSIX  ADVISORY  WRITE 7 fe:01:10 0 EOF",
            // A process that cannot be seen from here.
            "1: FLOCK  ADVISORY  WRITE -1 fe:01:10 0 EOF",
            "1: FLOCK  ADVISORY  WRITE 0 fe:01:10 0 EOF",
            "",
        ] {
            assert!(Lock::parse(other).is_none(), "{other}");
        }
    }

    #[test]
    fn a_start_is_read_behind_any_name() {
        let status = format!("7 (a) b (c)) S {}4200 0", "1 ".repeat(18));
        let ticks_s = 4200 / rustix::param::clock_ticks_per_second();
        let system = "cpu 1 2\nbtime 1000\nprocesses 3\n";
        let started = started_unix_s(&status, system);
        assert_eq!(started, Some(1000 + ticks_s as i64));
        assert_eq!(started_unix_s("", system), None);
        assert_eq!(started_unix_s(&status, ""), None);
    }

    /// A child that has opened a file below the directory, and does something `then`.
    fn child_with_a_file(below: &Path, then: &str) -> std::process::Child {
        use std::io::Read;
        let script = format!("exec 3>file; echo; {then} exec sleep 60");
        let mut child = std::process::Command::new("sh")
            .args(["-c", &script])
            .current_dir(below)
            .stdout(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let mut opened = child.stdout.take().unwrap();
        opened.read_exact(&mut [0]).unwrap();
        child
    }

    #[test]
    fn a_child_that_is_about_to_close_a_file_does_not_hold_it() {
        for (then, holds) in [("sleep 0.02 3>&-; exec 3>&-;", false), ("", true)] {
            let place = tempfile::tempdir().unwrap();
            let mut child = child_with_a_file(place.path(), then);
            // Its working directory lies there too, as that of a server would: look for the file.
            let found = Holder::of_files_below(&[place.path().join("file")]);
            let _ = child.kill();
            let _ = child.wait();
            let found = found.map(|holder| holder.process);
            assert_eq!(found, holds.then_some(child.id()), "{then}");
        }
    }

    #[test]
    fn this_process_is_described() {
        let own = Holder::of_process(std::process::id());
        let now = jiff::Timestamp::now().as_second();
        let started = own.started_unix_s.unwrap();
        assert!(started <= now + 1 && started > now - 86_400, "{started}");
        let shown = own.to_string();
        assert!(
            shown.contains(&format!("(process {}, started 2", own.process)),
            "{shown}"
        );
        assert!(!own.program.is_empty());
    }
}
