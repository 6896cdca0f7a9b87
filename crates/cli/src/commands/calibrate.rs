//! `proofload calibrate`: a model of storage from what was measured on it.

use indicatif::{ProgressBar, ProgressStyle};
use monitor::progress::bar_left;
use proofload::calibration::{CalibrationRequest, Prepared};
use report::{Style, calibration_document, terminal_document};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::new_file::{check_new, write_new};
use crate::options::CalibrateOptions;
use crate::print::{notify, print};

/// Looks for the parameters, prints what was found and writes the array.
pub fn calibrate(options: &CalibrateOptions) -> Result<ExitStatus, CommandError> {
    check_new(&options.out, "--out")?;
    let prepared = Prepared::new(&CalibrationRequest {
        class: options.like.clone(),
        results: options.fio.clone(),
        parameter_sets: options.sets,
        seed: options.seed,
    })?;
    if options.dry_run {
        return print(&prepared.describe());
    }
    let mut line = ProgressBar::hidden();
    if !options.quiet {
        notify(prepared.describe().trim_end());
        line = ProgressBar::new(0).with_style(style());
    }
    let calibrated = prepared.run(&mut |progress| {
        line.set_length(progress.steps as u64);
        line.set_position(progress.done as u64);
    })?;
    line.finish_and_clear();
    write_new(&options.out, &calibrated.toml)?;
    let document = calibration_document(&calibrated);
    let tables = terminal_document(&document, &Style::of_standard_output());
    print(&format!("{tables}\nArray: {}\n", options.out.display()))
}

fn style() -> ProgressStyle {
    let template = "{spinner} looking for parameters [{bar:20}] {percent} %, {time_left} left";
    let style = ProgressStyle::with_template(template);
    let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
    style.with_key("time_left", bar_left)
}
