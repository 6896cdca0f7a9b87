//! What people see while a run is under way: a live line in a terminal, else a line per sample.

mod calibration;
pub mod keys;
mod quiet;
mod status;
mod terminal;

pub use calibration::CalibrationBar;
pub use terminal::bar;

use std::io::IsTerminal;
use std::time::Duration;

use proofload::Observer;
use report::progress::{CasesStatus, LinesView, PointsStatus, SeedsStatus};

use self::status::StatusView;

/// How often a live line is drawn again between events.
const REDRAW: Duration = Duration::from_millis(200);

/// The form of a live line.
const STATUS: &str = "{spinner} {msg}";

/// Time between two plain lines about seeds and points.
const QUIET: Duration = Duration::from_secs(10);

/// The same about the cases of studies, which take longer.
const QUIET_OF_STUDIES: Duration = Duration::from_secs(30);

/// The view that fits: nothing when quiet, a live line in a terminal, else plain lines, always on
/// standard error.
#[must_use]
pub fn view(quiet: bool) -> Box<dyn Observer> {
    choose(quiet, false)
}

/// The same for simulated time, which passes at a speed of its own.
#[must_use]
pub fn simulated_view(quiet: bool) -> Box<dyn Observer> {
    choose(quiet, true)
}

fn choose(quiet: bool, simulated: bool) -> Box<dyn Observer> {
    if quiet {
        Box::new(quiet::QuietView)
    } else if std::io::stderr().is_terminal() {
        Box::new(terminal::TerminalView::new(simulated))
    } else {
        Box::new(LinesView::new(std::io::stderr(), simulated))
    }
}

/// The view of crash tests.
#[must_use]
pub fn of_seeds(quiet: bool) -> impl Observer {
    StatusView::new(SeedsStatus::new(), quiet, STATUS, QUIET)
}

/// The view of a sweep or a search.
#[must_use]
pub fn of_points(quiet: bool) -> impl Observer {
    StatusView::new(PointsStatus::new(), quiet, STATUS, QUIET)
}

/// The view of studies, of which `jobs` cases are predicted at a time.
#[must_use]
pub fn of_cases(jobs: usize, quiet: bool) -> impl Observer {
    let form = "{spinner} {elapsed} {msg}";
    StatusView::new(CasesStatus::new(jobs), quiet, form, QUIET_OF_STUDIES)
}
