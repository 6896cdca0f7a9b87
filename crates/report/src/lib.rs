//! Terminal tables and the self-contained HTML report of a run.

pub mod advice;
pub mod chart;
pub mod number;
mod run;
pub mod table;
pub mod tone;
pub mod words;

pub use run::{DatabaseMoment, DeviceMoment, Distribution, Flow, Moment, Run};
