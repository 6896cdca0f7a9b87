//! What people see while a run is under way: a live line in a terminal, else a line per sample.

mod figures;
mod lines;
mod terminal;

pub use figures::clock;

use std::io::IsTerminal;

use workload::controller::{RunListener, Unheard};

/// The view that fits: nothing when quiet, a live line in a terminal, else plain lines, always on
/// standard error.
pub fn view(quiet: bool) -> Box<dyn RunListener> {
    if quiet {
        Box::new(Unheard)
    } else if std::io::stderr().is_terminal() {
        Box::new(terminal::TerminalView::new())
    } else {
        Box::new(lines::LinesView::new(std::io::stderr()))
    }
}
