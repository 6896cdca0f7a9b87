//! A scenario that others see while it lasts.

use monitor::{About, Monitors, Wanted};
use proofload::{Error, Observer, Outcome};

use crate::error::CommandError;
use crate::print::notify;

/// Opens what was asked for, beside the progress on the terminal, and closes it with the outcome.
///
/// # Errors
/// What was asked for cannot be had, or the scenario has failed.
pub fn watched(
    wanted: &Wanted,
    (workload, storage): (&str, &str),
    quiet: bool,
    progress: impl FnOnce() -> Box<dyn Observer>,
    run: impl FnOnce(Box<dyn Observer>) -> Result<Outcome, Error>,
) -> Result<Outcome, CommandError> {
    let monitors = open(wanted, (workload, storage), quiet)?;
    let done = run(monitors.observer(progress));
    let trouble = match &done {
        Ok(outcome) => monitors.finish(&outcome.result),
        Err(error) => monitors.fail(error),
    };
    if let Some(text) = trouble {
        notify(&text);
    }
    Ok(done?)
}

/// The same for what has an outcome of its own.
///
/// # Errors
/// What was asked for cannot be had.
pub fn open(
    wanted: &Wanted,
    (workload, storage): (&str, &str),
    quiet: bool,
) -> Result<Monitors, CommandError> {
    let about = About {
        version: env!("CARGO_PKG_VERSION"),
        workload,
        storage,
    };
    let monitors = Monitors::open(wanted, about)?;
    if let Some(url) = monitors.metrics_url().filter(|_| !quiet) {
        notify(&format!("Metrics: {url}"));
    }
    Ok(monitors)
}
