//! What people see while a run is under way: a live line in a terminal, else a line per sample.

mod figures;
pub mod keys;
mod lines;
mod pace;
mod terminal;

pub use figures::clock;
pub use pace::Pace;

use std::io::IsTerminal;

use workload::controller::{RunListener, Unheard};

/// The view that fits: nothing when quiet, a live line in a terminal, else plain lines, always on
/// standard error.
pub fn view(quiet: bool) -> Box<dyn RunListener> {
    choose(quiet, false)
}

/// The same for simulated time, which passes at a speed of its own.
pub fn simulated_view(quiet: bool) -> Box<dyn RunListener> {
    choose(quiet, true)
}

fn choose(quiet: bool, simulated: bool) -> Box<dyn RunListener> {
    if quiet {
        Box::new(Unheard)
    } else if std::io::stderr().is_terminal() {
        Box::new(terminal::TerminalView::new(simulated))
    } else {
        Box::new(lines::LinesView::new(std::io::stderr()))
    }
}
