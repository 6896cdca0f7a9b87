//! Terminal tables and the self-contained HTML report of a run.

pub mod chart;
pub mod number;
