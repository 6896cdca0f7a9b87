//! Reports of runs: text for the terminal, a self-contained HTML page, a CSV line.
//!
//! The modules, in the order of the data:
//!
//! - [`Run`] is what is shown: the result, its samples, its latency distributions. [`Run::load`]
//!   reads it from a run directory; [`load_run`] adds what its workload contributes, and
//!   [`write_report`] puts the page beside the results.
//! - [`words`] and [`tone`] put the verdict into words; [`advice`] derives findings with their
//!   evidence; [`number`] writes every figure, [`settings`] every setting, [`limits`] finds the
//!   limits of charts. What is special to a workload comes with the run, as its
//!   [`measure::display::Contribution`].
//! - [`table`] gives the tables that terminal and page share.
//! - [`terminal()`] and [`terminal_comparison`] draw them for a terminal.
//! - [`terminal_faults`] shows what is wrong with settings, line by line.
//! - [`chart`] draws inline SVG; [`page`] joins charts, tables and text into [`html`] and
//!   [`html_comparison`]; [`comparison`] finds what differs between runs.
//! - [`Document`] is any other page in the same layout: [`html_document`], [`terminal_document`].
//!   [`study_page`] and [`study_tables`] are those of published studies that were repeated.
//! - [`terminal_grid`], [`html_grid`] and [`grid_csv`] show many predictions in one table.
//! - [`Certificate`] is for signature: HTML and PDF of the answer, the figures that decided and the hashes.
//! - [`progress`] puts what happens meanwhile into lines.
//! - [`verify_run`] recomputes a run; [`verification_text`] and [`verification_json`] say what came of it.
//! - [`markdown()`] and [`markdown_comparison`] are summaries for tickets and wikis.
//! - [`write_jetstress_report`] writes a run in the layout of Jetstress's reports, for scripts that read those.
//! - [`calibration_document`] shows what a calibration has found.
//! - [`csv_summary`] and [`fio_json`] hand the figures to other programs.

pub mod advice;
mod calibration;
mod certificate;
pub mod chart;
pub mod comparison;
mod document;
mod files;
mod fio;
mod grid;
mod jetstress;
#[cfg(feature = "host")]
mod launch;
pub mod limits;
#[cfg(feature = "terminal")]
mod markdown;
pub mod page;
pub mod progress;
mod run;
pub mod settings;
mod study;
mod summary;
pub mod table;
#[cfg(feature = "terminal")]
pub mod terminal;
mod verification;
pub mod words;

pub use calibration::calibration_document;
pub use certificate::{
    CERTIFICATE_HTML, CERTIFICATE_PDF, Certificate, CertifiedRun, Details, Deviation, NotCertified,
    check_certificate_place,
};
pub use document::{Document, Section};
pub use files::{
    ReportError, load_run, replace_document, run_of_result, write_report, write_report_elsewhere,
    write_report_of,
};
pub use fio::fio_json;
pub use grid::{grid_csv, grid_table};
pub use jetstress::{Layout, NoJetstressReport, Part, jetstress_layouts, write_jetstress_report};
#[cfg(feature = "host")]
pub use launch::{launch_document, not_launched_document};
#[cfg(feature = "terminal")]
pub use markdown::{markdown, markdown_comparison};
pub use measure::display::{number, tone};
pub use page::{Tile, html, html_comparison, html_document, html_grid, run_charts, tiles};
pub use run::{
    Distribution, Distributions, Run, Sample, load_distributions, percentiles, timeline,
};
pub use study::{study_page, study_tables};
pub use summary::csv_summary;
#[cfg(feature = "terminal")]
pub use terminal::{
    Style, terminal, terminal_comparison, terminal_document, terminal_faults, terminal_grid,
};
pub use verification::{verification_findings, verification_json, verification_text, verify_run};
