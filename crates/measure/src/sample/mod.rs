//! Samples: what every thread counts, interval by interval, brought together.
//!
//! - Each thread (shard) owns a [`Recorder`] and counts into it without any lock.
//! - At the end of an interval the thread takes the counts out as a [`ShardSample`] and sends it
//!   to the controlling thread.
//! - There the [`Collector`] joins the shard samples of one interval into a [`Sample`], and adds
//!   the samples of the measured phase to the [`RunTotals`]. A [`SampleJoiner`] joins them again, into
//!   those of a second length.
//!
//! Nothing in here knows an engine or a runtime: requests are distinguished by [`Stream`](crate::metric::Stream) only.

mod array_rows;
mod collector;
mod host_totals;
mod joiner;
mod layout;
mod meters;
mod rank_totals;
mod recorder;
mod rollup;
mod row;
mod rows;
mod table;
mod totals;
mod totals_result;

pub use collector::Collector;
pub use joiner::SampleJoiner;
pub use layout::{Layout, OperationKind, Phase};
pub use meters::{CopyQueues, DatabaseMeters, IoMeter, OperationMeter, Sample};
pub use rank_totals::RankTotals;
pub use recorder::{Recorder, ShardSample};
pub use row::SampleRow;
pub use rows::rows_of;
pub use table::{RowError, SampleReader, SampleWriter};
pub use totals::{DatabaseTotals, RunTotals, SampleAverage, StreamTotals};
