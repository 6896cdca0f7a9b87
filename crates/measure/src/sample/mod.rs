//! Samples: what every thread counts, interval by interval, brought together.
//!
//! - Each thread (shard) owns a [`Recorder`] and counts into it without any lock.
//! - At the end of an interval the thread takes the counts out as a [`ShardSample`] and sends it
//!   to the controlling thread.
//! - There the [`Collector`] joins the shard samples of one interval into a [`Sample`], and adds
//!   the samples of the measured phase to the [`RunTotals`].
//!
//! Nothing in here knows an engine or a runtime: requests are told apart by [`Stream`] only.

mod collector;
mod host_totals;
mod live;
mod meters;
mod recorder;
mod row;
mod row_array;
mod row_parts;
mod stream;
mod totals;
mod totals_result;

pub use collector::{Collector, Sample};
pub use live::LiveFigures;
pub use meters::{DatabaseMeters, IoMeter, OperationMeter};
pub use recorder::{Recorder, ShardSample};
pub use row::{RowError, SampleReader, SampleRow, SampleWriter, rows_of};
pub use row_array::ArrayRow;
pub use row_parts::{DeviceRow, HostRow, OperationRow, RowScope, StreamRow};
pub use stream::{Layout, OperationKind, Phase, Stream};
pub use totals::{DatabaseTotals, RunTotals, SampleAverage, StreamTotals};
