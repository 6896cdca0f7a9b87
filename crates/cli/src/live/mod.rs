//! What people see while a run is under way: a live line in a terminal, else a line per sample.

mod figures;
pub mod keys;
mod lines;
mod pace;
mod quiet;
mod seeds;
mod speed;
mod status_line;
mod study;
mod sweep;
mod terminal;

pub use figures::bar_left;
pub use seeds::SeedsView;
pub use study::StudyView;
pub use sweep::SweepView;

use std::io::IsTerminal;

use proofload::Observer;

/// The view that fits: nothing when quiet, a live line in a terminal, else plain lines, always on
/// standard error.
pub fn view(quiet: bool) -> Box<dyn Observer> {
    choose(quiet, false)
}

/// The same for simulated time, which passes at a speed of its own.
pub fn simulated_view(quiet: bool) -> Box<dyn Observer> {
    choose(quiet, true)
}

fn choose(quiet: bool, simulated: bool) -> Box<dyn Observer> {
    if quiet {
        Box::new(quiet::QuietView)
    } else if std::io::stderr().is_terminal() {
        Box::new(terminal::TerminalView::new(simulated))
    } else {
        Box::new(lines::LinesView::new(std::io::stderr(), simulated))
    }
}
