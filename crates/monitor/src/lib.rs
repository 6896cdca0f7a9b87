//! What can be seen of a run while it lasts, from outside and from another terminal.
//!
//! - [`Monitors`] is the observer that passes every event on to those of the following that were asked
//!   for, and to the progress on the terminal. None of them ever delays the run: each has a thread of its
//!   own, and what it cannot take in at once is left out.
//! - [`progress`] is what the terminal shows of a run that was started there.
//! - [`stream`] writes the events as NDJSON, one [`record`] a line.
//! - [`status`] is the state of a run in one small document, which [`status_file`] keeps in the run
//!   directory while the run lasts.
//! - [`metrics`] are the figures in the text format of Prometheus, on an HTTP port.
//! - [`serving`] has the same for a modelled array that is served: its state, its metrics and its view.
//! - [`view`] draws the state over a whole terminal: of this process (`--live`), or of a run directory
//!   ([`attach`]).

pub mod attach;
pub mod metrics;
pub mod monitors;
pub mod progress;
pub mod record;
pub mod serving;
pub mod status;
pub mod status_file;
pub mod stream;
pub mod view;

pub use monitors::{About, Monitors, Wanted};

use std::io::Write;

/// Prints a line on standard error. Where that cannot be written (a full disk, a reader that left)
/// the line is lost and the work goes on; `eprintln!` would end it.
pub fn notify(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}
