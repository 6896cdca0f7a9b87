//! A view of a run over the whole terminal, which can be left while the run goes on.
//!
//! - [`screen`] puts a state into lines; it knows no terminal.
//! - [`terminal`] takes the terminal and gives it back, whatever ends the program.
//! - [`LiveView`] draws the state of this process, and keeps the plain lines of progress until it is left.

pub mod screen;
pub mod terminal;

mod gate;
mod spark;

pub use gate::Lines;

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use proofload::Error;

use self::terminal::{Key, Size};

/// How often the view is drawn.
pub(crate) const REDRAW: Duration = Duration::from_millis(250);

/// A view of the run of this process. It ends when somebody leaves it or the run ends.
pub struct LiveView {
    lines: Lines,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn without_terminal(error: &io::Error) -> Error {
    Error::usage(
        format!("--live needs a terminal: {error}."),
        "Leave it out; --events and --metrics serve other programs, and 'proofload attach' shows the run \
         in another terminal.",
    )
}

impl LiveView {
    /// Checks that there is a terminal.
    ///
    /// # Errors
    /// There is none.
    pub fn check() -> Result<(), Error> {
        terminal::check().map_err(|error| without_terminal(&error))
    }

    /// Takes the terminal, and draws these lines again and again.
    ///
    /// # Errors
    /// There is none.
    pub fn start(
        mut lines_of: impl FnMut(Size) -> Vec<String> + Send + 'static,
    ) -> Result<Self, Error> {
        terminal::open().map_err(|error| without_terminal(&error))?;
        let ended = Arc::new(AtomicBool::new(false));
        let lines = Lines::closed();
        let (of_thread, until) = (lines.clone(), Arc::clone(&ended));
        let thread = thread::Builder::new().name("view".to_owned());
        let thread = thread.spawn(move || {
            while !until.load(Ordering::Relaxed) && terminal::is_open() {
                terminal::draw(&mut lines_of);
                if terminal::key(REDRAW) == Some(Key::Leave) {
                    break;
                }
            }
            terminal::close();
            of_thread.open();
        });
        let thread = thread.map_err(|error| {
            terminal::close();
            Error::environment(format!("The view cannot be started: {error}."), "")
        })?;
        Ok(Self {
            lines,
            ended,
            thread: Some(thread),
        })
    }

    /// Where the plain lines of progress go.
    #[must_use]
    pub fn lines(&self) -> Lines {
        self.lines.clone()
    }
}

impl Drop for LiveView {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            // A view that has failed has given the terminal back already.
            let _ = thread.join();
        }
        terminal::close();
        self.lines.open();
    }
}
