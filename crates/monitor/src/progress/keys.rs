//! Keeps the terminal from writing `^C` into the live lines.
//!
//! The live lines leave the cursor at the end of the last one. A terminal that shows control keys
//! writes `^C` there, which goes over to the next line, and a line that is never cleared stays
//! behind. So showing them is turned off while the lines are drawn.

use std::io::{Stdin, stdin};
use std::sync::{Mutex, PoisonError};

use rustix::termios::{LocalModes, OptionalActions, Termios, tcgetattr, tcgetpgrp, tcsetattr};

/// How the terminal was before.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// Lets the terminal show no control keys, if it does, until [`show`].
pub fn hide() {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    let Some(found) = terminal().filter(|found| found.local_modes.contains(LocalModes::ECHOCTL))
    else {
        return;
    };
    let mut changed = found.clone();
    changed.local_modes.remove(LocalModes::ECHOCTL);
    if set(&changed) {
        before.get_or_insert(found);
    }
}

/// Puts the terminal back to how it was.
pub fn show() {
    let mut before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = before.take() {
        set(&found);
    }
}

/// The terminal that keys come from, if there is one and it listens to us.
fn terminal() -> Option<Termios> {
    is_ours(&stdin()).then(|| tcgetattr(stdin()).ok()).flatten()
}

fn set(wanted: &Termios) -> bool {
    is_ours(&stdin()) && tcsetattr(stdin(), OptionalActions::Now, wanted).is_ok()
}

/// A program in the background that changes its terminal would be stopped for it.
fn is_ours(terminal: &Stdin) -> bool {
    tcgetpgrp(terminal).is_ok_and(|group| group == rustix::process::getpgrp())
}
