//! Block traces: what some host asked of its disks, to be asked again of a modelled array.
//!
//! - [`TraceFormat`]: our CSV, fio's iologs and latency logs, blkparse's text, told apart by what
//!   stands in them.
//! - [`TraceReader`] reads a trace request by request, so that its length does not matter.
//! - [`survey`] reads it once through before anything runs: every fault, the volumes and how far
//!   they reach, and how long the trace is.
//! - [`TraceSettings`] are the `trace.` settings.
//! - [`Comparison`] holds measured against modelled response times: the demerit figure.

mod blkparse;
mod comparison;
mod csv;
mod error;
mod fio_iolog;
mod fio_log;
mod format;
mod number;
mod reader;
mod request;
mod settings;
mod sorted;
mod survey;
#[cfg(test)]
mod tests;

pub use comparison::{Comparison, Demerit, DistributionPoint};
pub use error::TraceError;
pub use format::{TraceFormat, recognise};
pub use reader::TraceReader;
pub use request::{TraceOperation, TraceRequest};
pub use settings::{FirstWriteOfTrace, FormatChoice, ReplayMode, TraceSettings};
pub use survey::{TraceSurvey, VolumeSurvey, survey};
