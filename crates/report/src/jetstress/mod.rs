//! Reports in the layout of Microsoft's Jetstress, for scripts that read those.
//!
//! Public scripts look for `<fieldset>` elements by their number, for rows and columns by theirs, for
//! `<td class="grid_row_header">` with the value on the next line, and for `<td class="success">Pass</td>`.
//! [`Layout`] has the sections in that order, as plain data; `html` and `xml` write it. Where the wording of
//! Jetstress is not published, labels are those that people remember.
//!
//! A page says that Proofload has made it.

mod checksum;
mod figures;
mod html;
mod log;
mod statistics;
mod summary;
mod xml;

use std::path::{Path, PathBuf};

use measure::result::{RunKind, Verdict};

use crate::files::{ReportError, replace_document};
use crate::run::Run;

/// One part of a report: a fieldset.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Part {
    /// The heading of the part.
    pub title: String,
    /// Names of the columns; empty where each row is a label with its value.
    pub columns: Vec<String>,
    /// Its rows, each beginning with its label.
    pub rows: Vec<Vec<String>>,
    /// Lines of text below the table.
    pub lines: Vec<String>,
}

/// A report in the layout of Jetstress.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Layout {
    /// What the page is about.
    pub title: String,
    /// Name of the files without their endings: type of the test and the time of its start.
    pub stem: String,
    /// Whether the test has passed.
    pub passed: bool,
    /// Version of the program that wrote the result.
    pub version: String,
    /// Whether it was a prediction.
    pub is_prediction: bool,
    /// The parts in the order of the page.
    pub parts: Vec<Part>,
}

/// Why a run has no report in this layout.
#[derive(Debug, thiserror::Error)]
pub enum NoJetstressReport {
    /// It is no run of a mail server.
    #[error("{0} is no run of a mail server, and Jetstress tests nothing else.")]
    OtherWorkload(String),
    /// Nothing was measured, so that there is nothing to report.
    #[error("{0} has nothing that was measured: its databases were built, or it ended before.")]
    NothingMeasured(String),
    /// A file cannot be written.
    #[error(transparent)]
    Write(#[from] ReportError),
}

/// The reports of a run: one of each of its tests, and that of the checksums where there was a verification.
///
/// # Errors
/// The run is one that Jetstress has no report of.
pub fn jetstress_layouts(run: &Run) -> Result<Vec<Layout>, NoJetstressReport> {
    let result = &run.result;
    if !run.contribution.has_jetstress_report {
        return Err(NoJetstressReport::OtherWorkload(run.name.clone()));
    }
    let mut layouts = Vec::new();
    if result.has_measured_phase() && result.duration_s > 0.0 && !result.databases.is_empty() {
        layouts.push(test(run));
    }
    layouts.extend(statistics::backup(run));
    layouts.extend(statistics::recovery(run));
    if layouts.is_empty() || result.verdict == Verdict::Built {
        return Err(NoJetstressReport::NothingMeasured(run.name.clone()));
    }
    layouts.extend(checksum::layout(run));
    Ok(layouts)
}

/// Writes the reports of a run into a directory, as HTML and as XML; gives their paths.
///
/// # Errors
/// The run is one that Jetstress has no report of, or a file cannot be written.
pub fn write_jetstress_report(
    run: &Run,
    directory: &Path,
) -> Result<Vec<PathBuf>, NoJetstressReport> {
    let mut written = Vec::new();
    for (name, text) in jetstress_files(run)? {
        let path = directory.join(name);
        replace_document(&path, text.as_bytes()).map_err(|error| ReportError::Write {
            page: path.clone(),
            error,
        })?;
        written.push(path);
    }
    Ok(written)
}

/// The names and the texts of those files.
pub(crate) fn jetstress_files(run: &Run) -> Result<Vec<(String, String)>, NoJetstressReport> {
    let files = jetstress_layouts(run)?.into_iter().flat_map(|layout| {
        let of_ending = |ending| format!("{}.{ending}", layout.stem);
        [
            (of_ending("html"), html::page(&layout)),
            (of_ending("xml"), xml::document(&layout)),
        ]
    });
    Ok(files.collect())
}

/// The report of the test itself: the sections of Jetstress in its order, and behind them what else people
/// publish.
fn test(run: &Run) -> Layout {
    let kind = summary::test_type(&run.result);
    Layout {
        title: format!("{kind} test in the layout of Jetstress"),
        stem: stem(run, kind),
        passed: run.result.verdict == Verdict::Pass,
        version: run.result.version.clone(),
        is_prediction: run.result.kind == RunKind::Prediction,
        parts: vec![
            summary::summary(run),
            summary::sizing(&run.result),
            summary::parameters(&run.result),
            summary::databases(&run.result),
            figures::transactional(&run.result),
            figures::maintenance(&run.result),
            figures::replication(&run.result),
            figures::total(&run.result),
            figures::host(run),
            figures::errors(&run.result),
            log::test_log(run),
            figures::esrp(&run.result),
        ],
    }
}

/// `<Type>_<Y>_<M>_<D>_<h>_<m>_<s>` of the start, without zeros before the digits, in UTC.
fn stem(run: &Run, kind: &str) -> String {
    let started: Option<jiff::Timestamp> = run.result.started.parse().ok();
    let Some(started) = started else {
        return kind.to_owned();
    };
    let at = started.to_zoned(jiff::tz::TimeZone::UTC);
    format!(
        "{kind}_{}_{}_{}_{}_{}_{}",
        at.year(),
        at.month(),
        at.day(),
        at.hour(),
        at.minute(),
        at.second()
    )
}

/// A row of a label and its value.
fn pair(label: &str, value: impl Into<String>) -> Vec<String> {
    vec![label.to_owned(), value.into()]
}

/// A number as Jetstress prints figures: three decimals, no separators. What was not measured is 0, as a
/// counter that nothing has moved.
fn figure(value: Option<f64>) -> String {
    let value = value.filter(|value| value.is_finite()).unwrap_or(0.0);
    format!("{value:.3}")
}
