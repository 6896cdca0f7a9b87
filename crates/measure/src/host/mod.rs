//! Counters of the machine that runs the load, from `/proc` and `/sys`.
//!
//! - [`HostMonitor`] reads the counters at the end of each sample and gives what changed.
//! - [`BlockDevice::under`] finds the block device under a path.
//! - [`BlockTrace`] sees every request of a block device with its latency, where the kernel lets it.
//! - [`own_name`] and [`left_behind`] name what a run makes in places it shares, and find it again.
//! - [`facts`] says what machine this is; [`describe_target`] what a target stands on.
//!
//! What a kernel or container does not show is left out, never guessed.

mod block_trace;
mod device;
mod facts;
mod monitor;
mod own_name;
mod proc_text;

pub use block_trace::{
    BlockTrace, BlockTraceError, DeviceExtent, DeviceRequest, Direction, ProcessName,
};
pub use device::BlockDevice;
pub use facts::{describe_target, facts};
pub use monitor::{DeviceSample, HostMonitor, HostSample};
pub use own_name::{left_behind, own_name};
