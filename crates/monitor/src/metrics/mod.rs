//! The figures of a run in the text format of Prometheus.
//!
//! - [`names`] derives the names from the metric registry: base units, `_total` for what is added up.
//! - [`Figures`] adds up what samples bring, and keeps what is a state.
//! - [`server`] hands them out over HTTP.

pub mod figures;
pub mod names;
pub mod server;

pub use figures::Figures;
