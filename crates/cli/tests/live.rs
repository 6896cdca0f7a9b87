//! The view over the whole terminal, in a pseudo terminal: it can be left and opened again, and the
//! terminal is as it was before, whatever ends the program.

mod common;

use std::io::{Read, Write};
use std::process::Child;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use common::{Running, SMALL, Scratch, WIDE};
use pty_process::Size;
use pty_process::blocking::{Command, Pty, open};
use rustix::termios::{LocalModes, tcgetattr};

/// The alternate screen, and the way back with its cursor.
const TAKEN: &str = "\x1b[?1049h";
const GIVEN_BACK: &str = "\x1b[?25h\x1b[?1049l";

/// A program in a terminal of its own.
struct Terminal {
    pty: Arc<Pty>,
    shown: Arc<Mutex<Vec<u8>>>,
    before: LocalModes,
    child: Child,
}

impl Terminal {
    /// Starts `proofload` with these words from within a directory.
    fn start(scratch: &Scratch, line: &str) -> Self {
        let (pty, child_end) = open().expect("a pseudo terminal");
        pty.resize(Size::new(24, 80)).expect("its size");
        let before = tcgetattr(&pty).expect("its modes").local_modes;
        let child = Command::new(env!("CARGO_BIN_EXE_proofload"))
            .args(line.split_whitespace())
            .current_dir(scratch.path(""))
            .env("LANG", "C.UTF-8")
            .env("TERM", "xterm")
            .spawn(child_end)
            .expect("the program starts");
        let pty = Arc::new(pty);
        let shown = Arc::new(Mutex::new(Vec::new()));
        let (of_reader, kept) = (Arc::clone(&pty), Arc::clone(&shown));
        std::thread::spawn(move || {
            let mut part = [0; 4_096];
            // The end of the program is an error of the terminal.
            while let Ok(length @ 1..) = (&*of_reader).read(&mut part) {
                let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                kept.extend_from_slice(&part[..length]);
            }
        });
        Self {
            pty,
            shown,
            before,
            child,
        }
    }

    fn shown(&self) -> String {
        let shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&shown).into_owned()
    }

    /// Waits until this is shown behind what was shown before `from`.
    #[track_caller]
    fn wait_for(&self, text: &str, from: usize) -> usize {
        let until = Instant::now() + Duration::from_secs(60);
        loop {
            let shown = self.shown();
            if let Some(at) = shown.get(from..).and_then(|rest| rest.find(text)) {
                return from + at + text.len();
            }
            assert!(Instant::now() < until, "no {text:?} in {shown:?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    fn press(&self, keys: &str) {
        let mut pty = &*self.pty;
        pty.write_all(keys.as_bytes()).expect("keys");
    }

    fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        let sent = std::process::Command::new("kill")
            .args([&format!("-{name}"), &id])
            .status();
        assert!(sent.expect("kill").success());
    }

    /// Waits until the terminal was given back, screen and keys, while the program goes on.
    #[track_caller]
    fn wait_until_given_back(&self, from: usize) {
        self.wait_for(GIVEN_BACK, from);
        let until = Instant::now() + Duration::from_secs(5);
        while !self.is_as_before() {
            assert!(Instant::now() < until, "keys are still read one by one");
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    fn is_as_before(&self) -> bool {
        let now = tcgetattr(&*self.pty).expect("its modes").local_modes;
        now == self.before
    }

    /// Waits for the end; the exit status and all that was shown.
    #[track_caller]
    fn end(mut self) -> (Option<i32>, String) {
        let status = self.child.wait().expect("its end");
        // What it wrote last may still be on its way.
        std::thread::sleep(Duration::from_millis(200));
        (status.code(), self.shown())
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the programs that this one starts ignore SIGHUP.
fn is_hang_up_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = u64::from_str_radix(ignored.expect("a mask").trim(), 16).expect("a number");
    ignored & 1 == 1
}

fn long(scratch: &Scratch) -> String {
    scratch.directory("target");
    let line = SMALL.replace("--duration 2s", "--duration 60s");
    format!("{line} {WIDE} --allow-cached")
}

/// What was shown after the view was given back, once.
#[track_caller]
fn after_the_view(shown: &str) -> &str {
    assert_eq!(shown.matches(TAKEN).count(), 1, "{shown:?}");
    assert_eq!(shown.matches(GIVEN_BACK).count(), 1, "{shown:?}");
    let (_, after) = shown.split_once(GIVEN_BACK).expect("it was given back");
    after
}

#[test]
fn the_view_is_left_and_the_run_goes_on_to_its_verdict() {
    let scratch = Scratch::new();
    scratch.directory("target");
    let line = SMALL.replace("--duration 2s", "--duration 6s");
    let terminal = Terminal::start(&scratch, &format!("{line} {WIDE} --allow-cached --live"));
    let at = terminal.wait_for(TAKEN, 0);
    let at = terminal.wait_for("measuring", at);
    let at = terminal.wait_for("database I/O", at);
    assert!(!terminal.is_as_before(), "keys are read one by one");
    terminal.pty.resize(Size::new(5, 20)).expect("a size");
    let at = terminal.wait_for("q: leave", at);
    terminal.press("xq");
    terminal.wait_until_given_back(at);
    let (status, shown) = terminal.end();
    let after = after_the_view(&shown);
    // The lines from before, those that follow, and the tables.
    assert!(
        after.contains("building") && after.contains("measuring 0:0"),
        "{after}"
    );
    assert!(after.contains("Service levels"), "{after}");
    assert!(matches!(status, Some(0 | 5)), "{after}");
}

#[test]
fn a_view_that_nobody_leaves_ends_with_the_run() {
    let scratch = Scratch::new();
    scratch.directory("target");
    let terminal = Terminal::start(&scratch, &format!("{SMALL} {WIDE} --allow-cached --live"));
    terminal.wait_for("measuring", 0);
    let (status, shown) = terminal.end();
    assert!(after_the_view(&shown).contains("Service levels"), "{shown}");
    assert!(matches!(status, Some(0 | 5)), "{shown}");
}

#[test]
fn keys_and_signals_that_stop_the_run_give_the_terminal_back() {
    // Under `nohup` the end of the terminal stops nothing.
    let hang_up = (!is_hang_up_ignored()).then_some("HUP");
    for how in ["key", "TERM"].into_iter().chain(hang_up) {
        let scratch = Scratch::new();
        let line = long(&scratch);
        let terminal = Terminal::start(&scratch, &format!("{line} --live"));
        terminal.wait_for("database I/O", 0);
        match how {
            "key" => terminal.press("\x03"),
            signal => terminal.signal(signal),
        }
        terminal.wait_until_given_back(0);
        let (status, shown) = terminal.end();
        assert_eq!(status, Some(130), "{how}: {shown}");
        assert!(
            after_the_view(&shown).contains("INTERRUPTED"),
            "{how}: {shown}"
        );
    }
}

#[test]
fn another_terminal_shows_the_run_and_stops_nothing() {
    let scratch = Scratch::new();
    let line = long(&scratch);
    let mut running = Running::start(&scratch, &line);
    running.wait_until_it_says("measuring for");
    for leave in ["q", "\x03"] {
        let terminal = Terminal::start(&scratch, "attach out");
        terminal.wait_for("database I/O", 0);
        terminal.press(leave);
        let (status, shown) = terminal.end();
        assert_eq!(status, Some(0), "{shown:?}");
        assert_eq!(after_the_view(&shown), "", "{shown:?}");
        assert!(running.is_alive());
    }
    // One that stays sees the end.
    let terminal = Terminal::start(&scratch, "attach out");
    terminal.wait_for("database I/O", 0);
    running.signal("INT");
    running.end().exits(130);
    let (status, shown) = terminal.end();
    assert_eq!(status, Some(0), "{shown:?}");
    assert!(after_the_view(&shown).contains("INTERRUPTED"), "{shown:?}");
}

#[test]
fn without_a_terminal_there_is_no_view() {
    let scratch = Scratch::new();
    scratch.directory("target");
    scratch
        .proofload(&format!("{SMALL} --live"))
        .exits(2)
        .says("--live needs a terminal");
    assert!(!scratch.path("out").exists());
}

#[test]
fn the_view_of_a_served_array_is_left_and_the_array_is_still_served() {
    let scratch = Scratch::new();
    // NBD needs no FUSE.
    let line = "serve msa2050 --nbd unix:nbd --size 1GiB --control socket --live";
    let terminal = Terminal::start(&scratch, line);
    let at = terminal.wait_for(TAKEN, 0);
    let at = terminal.wait_for("serves HPE MSA 2050", at);
    assert!(!terminal.is_as_before(), "keys are read one by one");
    // What happens is in the view, and said once that is left.
    scratch.proofload("event socket disk-fail 3").exits(0);
    let at = terminal.wait_for("disk 3 (a-disks) has failed", at);
    terminal.pty.resize(Size::new(5, 20)).expect("a size");
    let at = terminal.wait_for("q: leave", at);
    terminal.press("xq");
    terminal.wait_until_given_back(at);
    scratch.proofload("serve --status socket").exits(0);
    terminal.signal("INT");
    let (status, shown) = terminal.end();
    let after = after_the_view(&shown);
    assert!(
        after.contains("disk 3 of group 'a-disks' fails."),
        "{after}"
    );
    assert!(after.contains("Nothing was read or written."), "{after}");
    assert_eq!(status, Some(0), "{after}");
    // A view that nobody leaves is gone with the array.
    let terminal = Terminal::start(&scratch, line);
    terminal.wait_for("serves HPE MSA 2050", 0);
    terminal.press("\x03");
    let (status, shown) = terminal.end();
    after_the_view(&shown);
    assert_eq!(status, Some(0), "{shown}");
}
