//! A view of a run of another process, by its run directory.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use proofload::{Error, StopRequest};

use crate::status::RunStatus;
use crate::status_file::{Found, read};
use crate::view::REDRAW;
use crate::view::screen::{self, Whose};
use crate::view::terminal::{self, Key};

/// How long the final result of a run is waited for that has just ended.
const RESULT_WAIT: Duration = Duration::from_secs(10);

/// What became of the view.
#[derive(Debug, PartialEq, Eq)]
pub enum Seen {
    /// Somebody left the view; the run goes on.
    Left,
    /// The run has ended: its answer.
    Ended(String),
    /// The state as text, where there is no terminal for a view.
    State(String),
    /// The process of the run was killed: when that state was, and what it was.
    Killed(String),
}

/// Shows the run that writes into a directory until it ends, somebody leaves or `stop` is asked for.
///
/// # Errors
/// The directory is not that of a run, or cannot be read.
pub fn attach(directory: &Path, stop: &StopRequest) -> Result<Seen, Error> {
    let first = look(directory)?;
    let status = match first {
        Found::Running(status) => status,
        Found::Killed(status) => return Ok(Seen::Killed(killed(&status))),
        Found::Nothing => return answer(directory).map_or_else(|| Err(no_run(directory)), Ok),
    };
    if !terminal::is_there() {
        return Ok(Seen::State(screen::text(&status)));
    }
    terminal::open().map_err(|error| {
        Error::environment(format!("The terminal cannot be used: {error}."), "")
    })?;
    let seen = watch(directory, *status, stop);
    terminal::close();
    seen
}

fn watch(directory: &Path, mut status: RunStatus, stop: &StopRequest) -> Result<Seen, Error> {
    while !stop.is_stopped() && terminal::is_open() {
        terminal::draw(|size| screen::lines(&status, size, Whose::Other));
        if terminal::key(REDRAW) == Some(Key::Leave) {
            break;
        }
        match look(directory)? {
            Found::Running(found) => status = *found,
            Found::Killed(found) => return Ok(Seen::Killed(killed(&found))),
            Found::Nothing => {
                let ended = wait_for_answer(directory, stop);
                return Ok(Seen::Ended(ended));
            }
        }
    }
    Ok(Seen::Left)
}

fn look(directory: &Path) -> Result<Found, Error> {
    read(directory).map_err(|error| {
        Error::environment(
            format!("{} cannot be read: {error}.", directory.display()),
            "",
        )
    })
}

/// The answer of a run that has ended; `None` where there is no complete result.
fn answer(directory: &Path) -> Option<Seen> {
    let run = report::load_run(directory).ok()?;
    run.result.complete.then(|| {
        let headline = report::words::headline(&run);
        Seen::Ended(format!("{}: {}", headline.word, headline.sentence))
    })
}

/// A run writes its result after its last state.
fn wait_for_answer(directory: &Path, stop: &StopRequest) -> String {
    let until = Instant::now() + RESULT_WAIT;
    while Instant::now() < until && !stop.is_stopped() {
        if let Some(Seen::Ended(text)) = answer(directory) {
            return text;
        }
        thread::sleep(REDRAW);
    }
    format!(
        "The run writes nothing into {} any more, and left no result there.",
        directory.display()
    )
}

fn killed(status: &RunStatus) -> String {
    format!(
        "The process {} of this run was killed; its last state:\n{}",
        status.process,
        screen::text(status)
    )
}

fn no_run(directory: &Path) -> Error {
    let name = directory.display();
    match directory.is_dir() {
        false => Error::usage(
            format!("{name} is no directory."),
            "Name the directory of a run, such as proofload-runs/exchange-2013-...",
        ),
        true => Error::usage(
            format!("No run writes into {name}, and it holds no result of one."),
            "Name the directory that the run has printed, or the one after --out.",
        ),
    }
}
