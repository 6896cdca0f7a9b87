//! Counters of the machine that runs the load, from `/proc` and `/sys`.
//!
//! - [`HostMonitor`] reads the counters at the end of each sample and gives what changed.
//! - [`BlockDevice::under`] finds the block device under a path.
//! - [`BlockTrace`] sees every request of a block device with its latency, where the kernel lets it.
//! - [`facts`] says what machine this is; [`describe_target`] what a target stands on.
//!
//! What a kernel or container does not show is left out, never guessed.

mod block_trace;
mod device;
mod facts;
mod monitor;
mod proc_text;

pub use block_trace::{
    BlockTrace, BlockTraceError, DeviceExtent, DeviceRequest, Direction, ProcessName,
};
pub use device::BlockDevice;
pub use facts::{describe_target, facts};
pub use monitor::{DeviceSample, HostMonitor, HostSample};
