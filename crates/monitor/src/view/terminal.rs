//! Takes the terminal for a view, and gives it back.
//!
//! The view has the alternate screen, so what was there before is there again afterwards. Keys come without
//! a line feed and are not shown; Ctrl-C goes on to send its signal. A panic gives the terminal back before
//! its message. Signals do so where they are caught, by [`close`].

use std::io::{self, Write, stdin};
use std::sync::{Mutex, MutexGuard, Once, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, isatty, tcgetattr, tcgetpgrp,
    tcgetwinsize, tcsetattr,
};

/// Alternate screen, no cursor.
const TAKE: &str = "\x1b[?1049h\x1b[?25l\x1b[2J";
/// Cursor, own screen.
const GIVE_BACK: &str = "\x1b[?25h\x1b[?1049l";
/// What a terminal has that does not say.
const USUAL: Size = Size {
    columns: 80,
    rows: 24,
};

/// How the terminal was before it was taken; `None` while it is not taken.
static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

/// The room of a terminal, in characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Size {
    /// Characters of a line.
    pub columns: usize,
    /// Lines of text that fit.
    pub rows: usize,
}

/// A key that means something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Leave the view.
    Leave,
}

fn before() -> MutexGuard<'static, Option<Termios>> {
    BEFORE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Checks that standard input and standard error are a terminal of ours.
///
/// # Errors
/// One of them is no terminal, or belongs to another process at present.
pub fn check() -> io::Result<()> {
    match is_there() {
        true => Ok(()),
        false => Err(io::Error::other(
            "standard input and standard error are not a terminal in the foreground",
        )),
    }
}

/// Takes the terminal of standard input and standard error.
///
/// # Errors
/// One of them is no terminal, or belongs to another process at present.
pub fn open() -> io::Result<()> {
    check()?;
    static ON_PANIC: Once = Once::new();
    ON_PANIC.call_once(|| {
        let usual = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            close();
            usual(panic);
        }));
    });
    let mut before = before();
    let found = tcgetattr(stdin())?;
    let mut changed = found.clone();
    changed
        .local_modes
        .remove(LocalModes::ICANON | LocalModes::ECHO);
    // A run that is stopped by a key measures nothing but that.
    changed.special_codes[SpecialCodeIndex::VSUSP] = 0;
    tcsetattr(stdin(), OptionalActions::Now, &changed)?;
    *before = Some(found);
    write(TAKE);
    Ok(())
}

/// Whether a view can be drawn.
#[must_use]
pub fn is_there() -> bool {
    let ours = tcgetpgrp(stdin()).is_ok_and(|group| group == rustix::process::getpgrp());
    isatty(stdin()) && isatty(io::stderr()) && ours
}

/// Whether a view has the terminal.
#[must_use]
pub fn is_open() -> bool {
    before().is_some()
}

/// Gives the terminal back; nothing where it was not taken.
pub fn close() {
    // A panic may happen while the terminal is being drawn: its lock is then held by this thread.
    let Ok(mut before) = BEFORE.try_lock().or_else(|error| match error {
        std::sync::TryLockError::Poisoned(poisoned) => Ok(poisoned.into_inner()),
        std::sync::TryLockError::WouldBlock => wait_for_drawing(),
    }) else {
        write(GIVE_BACK);
        return;
    };
    if let Some(found) = before.take() {
        write(GIVE_BACK);
        let _ = tcsetattr(stdin(), OptionalActions::Now, &found);
    }
}

/// Another thread draws for a moment.
fn wait_for_drawing() -> Result<MutexGuard<'static, Option<Termios>>, ()> {
    for _ in 0..50 {
        std::thread::sleep(Duration::from_millis(10));
        if let Ok(guard) = BEFORE.try_lock() {
            return Ok(guard);
        }
    }
    Err(())
}

/// Draws lines from the top, unless the terminal was given back.
pub fn draw(lines: impl FnOnce(Size) -> Vec<String>) {
    let lines = lines(size());
    let mut text = String::from("\x1b[H");
    for (index, line) in lines.iter().enumerate() {
        if index > 0 {
            text.push_str("\r\n");
        }
        text.push_str(line);
        text.push_str("\x1b[K");
    }
    text.push_str("\x1b[J");
    let before = before();
    if before.is_some() {
        write(&text);
    }
}

/// The room that there is at present.
#[must_use]
pub fn size() -> Size {
    let found = tcgetwinsize(io::stderr());
    let found = found.map(|size| Size {
        columns: size.ws_col.into(),
        rows: size.ws_row.into(),
    });
    let found = found.ok().filter(|size| size.columns > 0 && size.rows > 0);
    found.unwrap_or(USUAL)
}

/// Waits for a key that means something, for so long at most.
#[must_use]
pub fn key(timeout: Duration) -> Option<Key> {
    let stdin = stdin();
    let mut ready = [PollFd::new(&stdin, PollFlags::IN)];
    let timeout_spec = Timespec {
        tv_sec: timeout.as_secs() as i64,
        tv_nsec: timeout.subsec_nanos().into(),
    };
    if poll(&mut ready, Some(&timeout_spec)).ok()? == 0 {
        return None;
    }
    let mut keys = [0u8; 64];
    match rustix::io::read(&stdin, &mut keys) {
        Ok(length) if length > 0 => {
            let is_leave = keys[..length].iter().any(|key| matches!(key, b'q' | b'Q'));
            is_leave.then_some(Key::Leave)
        }
        // A terminal that has gone is ready at once, again and again.
        _ => {
            std::thread::sleep(timeout);
            None
        }
    }
}

/// A terminal that takes nothing any more shows nothing.
fn write(text: &str) {
    let mut out = io::stderr().lock();
    let _ = out.write_all(text.as_bytes()).and_then(|()| out.flush());
}
