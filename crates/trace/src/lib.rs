//! Block traces: recorded requests, to be replayed on a modelled array.
//!
//! - [`TraceFormat`]: CSV, fio's iologs and latency logs, blkparse's text; [`recognise`] finds out
//!   which one a file is in.
//! - [`TraceReader`] reads a trace request by request, so that its length does not matter.
//! - [`survey`] reads all of it before anything runs: every fault, the volumes with their highest
//!   address, and the duration.
//! - [`TraceSettings`] are the `trace.` settings.
//! - [`Comparison`] compares measured with modelled response times: the demerit figure.

mod blkparse;
mod comparison;
mod csv;
mod error;
mod fio_iolog;
mod fio_log;
mod format;
mod line;
mod number;
mod reader;
mod recognise;
mod request;
mod settings;
mod sorted;
mod survey;
#[cfg(test)]
mod tests;

pub use comparison::Comparison;
pub use error::TraceError;
pub use format::TraceFormat;
pub use reader::TraceReader;
pub use recognise::recognise;
pub use request::TraceRequest;
pub use settings::{FirstWriteOfTrace, FormatChoice, ReplayMode, TraceSettings};
pub use survey::{TraceSurvey, VolumeSurvey, survey};
