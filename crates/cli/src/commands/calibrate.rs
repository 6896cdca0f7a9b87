//! `proofload calibrate`: a model of storage from what was measured on it.

use std::path::Path;
use std::process;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use monitor::progress::CalibrationBar;
use proofload::StopRequest;
use proofload::calibration::{CalibrationRequest, Prepared, PreparedTests, saved_tests};
use report::{Style, calibration_document, terminal_document};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::CalibrateOptions;
use crate::print::{notify, print};
use proofload::new_file::{check_directory_of, check_new, write_new};

/// How often a request to stop is looked at during the search.
const STOP_INTERVAL: Duration = Duration::from_millis(50);

/// Makes tests or reads those of fio, looks for the parameters, prints what was found and writes the array.
pub fn calibrate(options: &CalibrateOptions) -> Result<ExitStatus, CommandError> {
    check_new(&options.out, "--out")?;
    let request = CalibrationRequest {
        class: options.like.clone(),
        results: options.fio.clone(),
        parameter_sets: options.sets,
        seed: options.seed,
    };
    match options.target()? {
        Some(target) => calibrate_target(options, &request, target),
        None => {
            let prepared = Prepared::new(&request)?;
            if options.dry_run {
                return print(&prepared.describe());
            }
            fit(options, prepared, None)
        }
    }
}

/// Makes the tests on a target, then fits them.
fn calibrate_target(
    options: &CalibrateOptions,
    request: &CalibrationRequest,
    target: &Path,
) -> Result<ExitStatus, CommandError> {
    check_directory_of(&options.out, "--out")?;
    if let Some(save) = &options.save {
        check_new(save, "--save")?;
        check_directory_of(save, "--save")?;
    }
    let mut hear = |text: &str| notify(text);
    let prepared = PreparedTests::new(request, &options.target_request(target), &mut hear)?;
    if options.dry_run {
        return print(&prepared.describe());
    }
    if !options.quiet {
        notify(prepared.describe().trim_end());
    }
    let stop = stop_on_signals()?;
    let line = CalibrationBar::new(options.quiet);
    let tested = prepared.run(&mut |doing| line.testing(&doing), &stop);
    line.clear();
    let Some(tested) = tested? else {
        notify("Stopped before all tests were made: no model was written.");
        return Ok(ExitStatus::Interrupted);
    };
    if let Some(save) = &options.save {
        write_new(save, "--save", &saved_tests(&tested.tests))?;
    }
    let prepared = Prepared::of_tests(request, tested.tests, tested.about)?;
    fit(options, prepared, Some(&stop))
}

/// Looks for the parameters, prints what was found and writes the array. A request to stop ends the program
/// before the array is written: by now nothing is open that would be left behind.
fn fit(
    options: &CalibrateOptions,
    prepared: Prepared,
    stop: Option<&StopRequest>,
) -> Result<ExitStatus, CommandError> {
    if !options.quiet {
        notify(prepared.describe().trim_end());
    }
    let line = CalibrationBar::new(options.quiet);
    let is_found = Arc::new(Mutex::new(false));
    if let Some(stop) = stop {
        let (stop, line, is_found) = (stop.clone(), line.clone(), Arc::clone(&is_found));
        thread::spawn(move || end_when_stopped(&stop, &line, &is_found));
    }
    let calibrated = prepared.run(&mut |progress| line.searching(progress.done, progress.steps))?;
    *locked(&is_found) = true;
    line.clear();
    write_new(&options.out, "--out", &calibrated.toml)?;
    let document = calibration_document(&calibrated);
    if let Some(warning) = calibrated.warning() {
        notify(&warning);
    }
    let tables = terminal_document(&document, &Style::of_standard_output());
    print(&format!("{tables}\nArray: {}\n", options.out.display()))
}

/// Ends the program when it is asked to stop, until the parameters are found. A step of the search takes
/// seconds, and who presses Ctrl-C does not wait for it.
fn end_when_stopped(stop: &StopRequest, line: &CalibrationBar, is_found: &Mutex<bool>) {
    loop {
        // Held while the program ends, so that it does not end in the middle of writing the array.
        let found = locked(is_found);
        if *found {
            return;
        }
        if stop.is_stopped() {
            line.clear();
            notify("Stopped before the search was done: no model was written.");
            process::exit(i32::from(ExitStatus::Interrupted.code()));
        }
        drop(found);
        thread::sleep(STOP_INTERVAL);
    }
}

fn locked(is_found: &Mutex<bool>) -> MutexGuard<'_, bool> {
    is_found.lock().unwrap_or_else(PoisonError::into_inner)
}
