//! A small language for end-to-end tests: run the binary as a user does, look at what it says.

#![allow(dead_code)] // Each test binary uses a part of it.

pub mod brokerage;
pub mod mariadb;
pub mod seccomp;
pub mod served;
pub mod witness;

use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, Command, Stdio};

use runtime::Buffer;
use tempfile::TempDir;

/// A database of 48 MiB under a cache of 8 MiB, two sessions, some seconds.
pub const SMALL: &str = "run exchange-2013 --on target --out out --databases 1 \
    --target-size 48MiB --threads 2 --duration 2s --set run.sample_interval=250ms \
    --set engine.cache_size_per_database=8MiB --set engine.checkpoint_depth=4MiB \
    --set run.warm_up.maximum=1s --set run.steady_state.required=false";

/// The same for a test without a measured phase.
pub fn small_without_duration() -> String {
    SMALL.replace(" --duration 2s", "")
}

/// The same for a run that lasts until something happens to it.
pub fn long_run(more: &str) -> String {
    let line = format!("{SMALL} {WIDE} --duration 10m {more}");
    line.replace("--duration 2s", "")
}

/// The same for a test without load.
pub fn small_without_load() -> String {
    small_without_duration().replace(" --threads 2", "")
}

/// Limits that any storage keeps.
pub const WIDE: &str = "--set service_levels.average_database_read=10m \
    --set service_levels.average_log_write=10m \
    --set service_levels.maximum_database_read_strict=10m \
    --set service_levels.maximum_database_read_lenient=10m \
    --set service_levels.maximum_log_write_strict=10m \
    --set service_levels.maximum_log_write_lenient=10m \
    --set service_levels.page_fault_stalls_per_second=1000000 \
    --set service_levels.achieved_margin_fraction=1 --set service_levels.fewest_samples=1";

/// Opens a file that a run may have open, to be read and changed beside the page cache, as the engine does:
/// where its requests meet changed pages there, the kernel fails them.
pub fn open_direct(path: &Path) -> std::fs::File {
    let mut options = std::fs::File::options();
    let options = options.read(true).write(true);
    let direct = rustix::fs::OFlags::DIRECT.bits() as i32;
    let opened = options.custom_flags(direct).open(path);
    opened.unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Bytes of a page of the databases.
pub const PAGE_BYTES: u64 = 32_768;

/// Turns a byte over in the pages in these slots of a database, which may be in use.
pub fn damage(database: &Path, slots: impl Iterator<Item = u64>) {
    let file = open_direct(database);
    let mut page = Buffer::zeroed(PAGE_BYTES as usize);
    for slot in slots {
        let offset = slot * PAGE_BYTES;
        file.read_exact_at(&mut page, offset).expect("a page");
        page[5_000] = !page[5_000];
        file.write_all_at(&page, offset).expect("another byte");
    }
}

/// A scratch directory on a disk, with a place for storage under test and one for results.
pub struct Scratch(TempDir);

impl Scratch {
    /// A fresh one, below the build directory: /tmp may lie in memory.
    pub fn new() -> Self {
        Self(TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("a scratch directory"))
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A new empty directory in it.
    pub fn directory(&self, name: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::create_dir(&path).expect("a new directory");
        path
    }

    /// Gives the directory of the results another name, so that the next run can have it.
    pub fn move_results(&self, name: &str) {
        std::fs::rename(self.path("out"), self.path(name)).expect("results to move");
    }

    /// The result of the last run.
    pub fn result(&self) -> serde_json::Value {
        let text = std::fs::read(self.path("out/result.json")).expect("a result");
        serde_json::from_slice(&text).expect("one document")
    }

    /// A new file in it.
    pub fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, text).expect("a new file");
        path
    }

    /// Runs `proofload` with these words, from within the scratch directory. `{}` stands for the
    /// scratch directory.
    pub fn proofload(&self, line: &str) -> Ended {
        let here = self.0.path().to_str().expect("a path in UTF-8");
        let words = line.split_whitespace().map(|word| word.replace("{}", here));
        Ended::of(proofload(self.0.path()).args(words))
    }

    /// As [`Scratch::proofload`], for a run that misses a level: exit status 1. Where other programs keep
    /// the CPUs busy the run says so and leaves it open (status 5); it is then repeated, each time later. Other
    /// tests on the same disk do not matter.
    pub fn fails(&self, line: &str) -> Ended {
        let line = &format!("{line} --set mail.other_io_percent=100");
        let mut words = line.split_whitespace();
        let out = words.find(|word| *word == "--out").and(words.next());
        let out = self.path(out.expect("a directory for the results"));
        for wait_s in 0..10 {
            let ended = self.proofload(line);
            if ended.status != Some(5) {
                return ended.exits(1);
            }
            std::thread::sleep(std::time::Duration::from_secs(wait_s));
            std::fs::remove_dir_all(&out).expect("results to remove");
        }
        self.proofload(line).exits(1)
    }

    /// As [`Scratch::proofload`], killed after so many seconds.
    pub fn proofload_within(&self, seconds: u32, line: &str) -> Ended {
        self.timed(&["--signal=KILL", &seconds.to_string()], line)
    }

    /// As [`Scratch::proofload`], asked by SIGTERM to stop after so many seconds, and killed when it
    /// has not done so a minute later.
    pub fn proofload_stopped_after(&self, seconds: u32, line: &str) -> Ended {
        let limits = ["--preserve-status", "--kill-after=60", &seconds.to_string()];
        self.timed(&limits, line)
    }

    fn timed(&self, limits: &[&str], line: &str) -> Ended {
        let mut command = Command::new("timeout");
        command.current_dir(self.0.path()).env("NO_COLOR", "1");
        command.args(limits).arg(env!("CARGO_BIN_EXE_proofload"));
        Ended::of(command.args(line.split_whitespace()))
    }
}

/// The program, not yet started.
pub fn proofload(directory: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_proofload"));
    command.current_dir(directory).env("NO_COLOR", "1");
    command
}

/// A program that runs, with what it has said on standard error so far.
pub struct Running {
    line: String,
    child: Child,
    said: BufReader<ChildStderr>,
    text: String,
}

impl Running {
    /// Starts `proofload` with these words from within a directory.
    pub fn start(scratch: &Scratch, line: &str) -> Self {
        Self::start_with(proofload(&scratch.path("")), line)
    }

    /// The same of a command with an environment of its own.
    pub fn start_with(mut command: Command, line: &str) -> Self {
        let mut child = command
            .args(line.split_whitespace())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let said = BufReader::new(child.stderr.take().expect("its messages"));
        Self {
            line: line.to_owned(),
            child,
            said,
            text: String::new(),
        }
    }

    /// Waits until it has said this; everything that it has said so far.
    #[track_caller]
    pub fn wait_until_it_says(&mut self, text: &str) -> &str {
        while !self.text.contains(text) {
            let read = self.said.read_line(&mut self.text).expect("a line");
            assert_ne!(read, 0, "{}", self.text);
        }
        &self.text
    }

    /// Process id of the program.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Whether it has not ended yet.
    pub fn is_alive(&mut self) -> bool {
        self.child.try_wait().expect("its state").is_none()
    }

    /// Sends it a signal: `INT`, `KILL`.
    pub fn signal(&mut self, name: &str) {
        let sent = Command::new("kill")
            .args([&format!("-{name}"), &self.child.id().to_string()])
            .status();
        assert!(sent.expect("kill").success());
    }

    /// Waits for its end.
    pub fn end(mut self) -> Ended {
        // The pipe is read on, or the program would wait for room in it.
        while self.said.read_line(&mut self.text).expect("a line") > 0 {}
        let mut stdout = String::new();
        let printed = self.child.stdout.as_mut().expect("its result");
        printed.read_to_string(&mut stdout).expect("its result");
        let status = self.child.wait().expect("its end");
        Ended {
            line: std::mem::take(&mut self.line),
            stdout,
            stderr: std::mem::take(&mut self.text),
            status: status.code(),
        }
    }
}

impl Drop for Running {
    /// A test that fails leaves nothing running behind.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A program that has ended.
pub struct Ended {
    line: String,
    /// What it printed as its result.
    pub stdout: String,
    /// What it said on the way.
    pub stderr: String,
    /// How it exited; `None` when a signal ended it.
    pub status: Option<i32>,
}

impl Ended {
    /// Runs a command to its end.
    pub fn of(command: &mut Command) -> Self {
        let line = format!("{command:?}");
        Self::of_output(&line, &command.output().expect("the program starts"))
    }

    /// What a command has left that ended; `line` is what messages call it.
    pub fn of_output(line: &str, output: &std::process::Output) -> Self {
        Self {
            line: line.to_owned(),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            status: output.status.code(),
        }
    }

    /// It ended with this status.
    #[track_caller]
    pub fn exits(self, status: i32) -> Self {
        let Self {
            line,
            stdout,
            stderr,
            ..
        } = &self;
        assert_eq!(self.status, Some(status), "{line}\n{stdout}\n{stderr}");
        self
    }

    /// Standard output has this text, on one line or more.
    #[track_caller]
    pub fn prints(self, text: &str) -> Self {
        assert!(
            has(&self.stdout, text),
            "'{text}' is not in:\n{}",
            self.stdout
        );
        self
    }

    /// It said this on standard error, on one line or more.
    #[track_caller]
    pub fn says(self, text: &str) -> Self {
        assert!(
            has(&self.stderr, text),
            "'{text}' is not in:\n{}",
            self.stderr
        );
        self
    }

    /// Standard output is empty.
    #[track_caller]
    pub fn prints_nothing(self) -> Self {
        assert_eq!(self.stdout, "");
        self
    }
}

/// Whether a text is there, wherever its lines break: that depends on figures and on paths.
fn has(shown: &str, text: &str) -> bool {
    let on_one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    shown.contains(text) || on_one_line(shown).contains(&on_one_line(text))
}

/// Copies a file or a directory with all that is in it; what has that name before is removed.
pub fn copy(from: &Path, to: &Path) {
    let _ = std::fs::remove_dir_all(to);
    let copied = Command::new("cp").arg("-a").args([from, to]).status();
    assert!(copied.expect("cp").success());
}

/// A loop device, detached when dropped.
pub struct LoopDevice {
    /// Its path.
    pub path: String,
}

impl LoopDevice {
    /// One of this size whose blocks are in the file `image`, past the page cache; `None` where that is not
    /// allowed.
    pub fn new(image: &Path, size_bytes: u64) -> Option<Self> {
        Self::attached(image, size_bytes, "--direct-io=on")
    }

    /// The same through the page cache of the file.
    pub fn buffered(image: &Path, size_bytes: u64) -> Option<Self> {
        Self::attached(image, size_bytes, "--direct-io=off")
    }

    fn attached(image: &Path, size_bytes: u64, direct: &str) -> Option<Self> {
        let file = std::fs::File::create(image).expect("a file");
        file.set_len(size_bytes).expect("its size");
        let path = run("losetup", &["--find", "--show", direct, image.to_str()?])?;
        Some(Self { path })
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        run("losetup", &["--detach", &self.path]);
    }
}

/// A file system of its own on a loop device, unmounted when dropped.
pub struct LoopMount {
    at: PathBuf,
    // Detached after the file system was unmounted.
    _device: LoopDevice,
}

impl LoopMount {
    /// Makes one in the file `image` and mounts it; `None` where that is not allowed.
    pub fn new(image: &Path, size_bytes: u64, at: &Path) -> Option<Self> {
        Self::on(LoopDevice::new(image, size_bytes)?, at)
    }

    /// The same on a device.
    pub fn on(device: LoopDevice, at: &Path) -> Option<Self> {
        let at = at.to_owned();
        run("mkfs.ext4", &["-q", "-m", "0", &device.path])?;
        run("mount", &[&device.path, at.to_str()?])?;
        Some(Self {
            at,
            _device: device,
        })
    }
}

impl Drop for LoopMount {
    fn drop(&mut self) {
        run("umount", &[&self.at.display().to_string()]);
    }
}

/// Runs a program; what it printed, or `None` if it failed or is not there.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let output = Command::new(program).args(arguments).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}
