//! Ctrl-C: the first time the run ends cleanly and keeps what it has, the second time at once. And the signal of
//! the limit on the size of files, which would end the program without a word.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use monitor::progress::keys;
use proofload::StopRequest;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
use signal_hook::flag;

use crate::error::CommandError;
use crate::exit::ExitStatus;

/// A signal this soon after the first is the same key press: wrappers such as `timeout` and `make`
/// hand it to the program once more.
const SAME_PRESS: Duration = Duration::from_secs(1);

/// How often the first signal is polled.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A request that SIGINT and SIGTERM make, and SIGHUP, when the terminal goes, unless somebody (such as
/// `nohup`) has it ignored. A second signal, a moment later, ends the program on the spot.
///
/// # Errors
/// When the kernel refuses the handlers.
pub fn stop_on_signals() -> Result<StopRequest, CommandError> {
    catch().map_err(|error| {
        CommandError::environment(format!("Signals cannot be caught: {error}."), "")
    })
}

/// A write beyond the limit on the size of files (`ulimit -f`) then fails, as by other errors, and the program goes
/// on to say so. Where the kernel refuses that, it is as before.
pub fn outlive_file_size_limit() {
    drop(flag::register(SIGXFSZ, Arc::default()));
}

fn catch() -> io::Result<StopRequest> {
    let asked = Arc::new(AtomicBool::new(false));
    let asked_before = Arc::new(AtomicBool::new(false));
    let hang_up = (!is_ignored(SIGHUP)).then_some(SIGHUP);
    for signal in [SIGINT, SIGTERM].into_iter().chain(hang_up) {
        let status = i32::from(ExitStatus::Interrupted.code());
        flag::register_conditional_shutdown(signal, status, Arc::clone(&asked_before))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    let first = Arc::clone(&asked);
    thread::spawn(move || {
        while !first.load(Ordering::Relaxed) {
            thread::sleep(POLL_INTERVAL);
        }
        // A second signal ends the program without a chance to do so.
        keys::show();
        monitor::view::terminal::close();
        thread::sleep(SAME_PRESS);
        asked_before.store(true, Ordering::Relaxed);
    });
    Ok(StopRequest::sharing(asked))
}

/// Whether the signal is ignored, as the kernel's mask of this process says.
fn is_ignored(signal: i32) -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    mask.is_some_and(|mask| mask >> (signal - 1) & 1 == 1)
}
