//! The tests of this crate in one program, so that what they have in common is compiled once.

#[cfg(feature = "host")]
mod common;
#[cfg(feature = "host")]
mod directory_handle;
#[cfg(feature = "host")]
mod host_files;
#[cfg(feature = "host")]
mod loop_devices;
#[cfg(feature = "host")]
mod raw_device;
#[cfg(feature = "host")]
mod request_locks;
mod simulated_crash;
mod simulated_files;
mod virtual_time;
#[cfg(feature = "host")]
mod wall_clock;
