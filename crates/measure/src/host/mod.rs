//! Counters of the machine that runs the load, from `/proc` and `/sys`.
//!
//! - [`HostMonitor`] reads the counters at the end of each sample and gives what changed.
//! - [`device_under`] finds the block device under a path.
//! - [`BlockTrace`] sees every request of a block device with its latency, where the kernel lets it.
//! - [`KernelLog`] follows the kernel's messages about devices, [`device_health`] reads what devices say
//!   of their own health.
//! - [`own_name`] and [`left_behind`] name what a run makes in places it shares, and find it again.
//! - [`block_stack`] describes all devices that a path lies on, [`Surroundings`] and [`DeviceCounters`] what a
//!   test shares with others.
//! - [`facts`] says what machine this is; [`describe_target`] what a target stands on.
//!
//! What a kernel or container does not show is left out, never guessed. Without the feature `host`
//! there is nothing to read, and only the types of the counters are left.

#[cfg(not(feature = "host"))]
mod absent;
#[cfg(feature = "host")]
mod block_stack;
#[cfg(feature = "host")]
mod block_trace;
mod counters;
#[cfg(feature = "host")]
mod device;
#[cfg(feature = "host")]
mod facts;
#[cfg(feature = "host")]
mod health;
#[cfg(feature = "host")]
mod kernel_log;
#[cfg(feature = "host")]
#[cfg(feature = "host")]
mod memory;
#[cfg(feature = "host")]
mod monitor;
#[cfg(feature = "host")]
mod own_name;
#[cfg(feature = "host")]
mod passed_on;
#[cfg(feature = "host")]
mod pauses;
#[cfg(feature = "host")]
mod proc_text;
#[cfg(feature = "host")]
mod surroundings;

/// When this process is due and does not run for less time, that is a matter of the scheduler, and no pause.
pub const SHORTEST_PAUSE_MS: f64 = 200.0;

#[cfg(not(feature = "host"))]
pub use absent::{HostMonitor, facts};
pub use counters::{DeviceSample, HostSample};
#[cfg(feature = "host")]
pub use {
    block_stack::{BlockDevice, BlockDeviceKind, block_stack},
    block_trace::{
        BlockTrace, BlockTraceError, DeviceExtent, DeviceRequest, Direction, ProcessName,
    },
    device::device_under,
    facts::{describe_target, facts, mount_under},
    health::{DeviceHealth, compare_health, device_health},
    kernel_log::{KernelLog, KernelMessages},
    memory::Memory,
    monitor::HostMonitor,
    own_name::{left_behind, own_name},
    proc_text::Mount,
    surroundings::{DeviceCounters, DeviceTraffic, Surroundings},
};
