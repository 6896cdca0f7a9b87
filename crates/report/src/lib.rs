//! Terminal tables and the self-contained HTML report of a run.

pub mod advice;
pub mod chart;
pub mod comparison;
pub mod limits;
pub mod number;
pub mod page;
mod run;
pub mod settings;
mod summary;
pub mod table;
pub mod terminal;
pub mod tone;
pub mod words;

pub use page::{html, html_comparison};
pub use run::{
    DatabaseMoment, DeviceMoment, Distribution, Flow, Moment, Run, distributions, percentiles,
    timeline,
};
pub use summary::csv_summary;
pub use terminal::{Style, terminal, terminal_comparison};
