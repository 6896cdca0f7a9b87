//! Why a device cannot be used as a directory.

use crate::file::IoError;
use thiserror::Error;

/// Why a device cannot be formatted or opened.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RawError {
    /// The device was never formatted by this program.
    #[error("the device carries no Proofload label; it has to be formatted first, which erases it")]
    NoLabel,
    /// A later version formatted it.
    #[error(
        "the device was formatted by a version of Proofload that this one does not know \
         (format {version}); use that version or format it again, which erases it"
    )]
    UnknownVersion {
        /// The format's version according to the label.
        version: u32,
    },
    /// There is not enough room.
    #[error(
        "the device has {device_bytes} bytes and {needed_bytes} are needed; use a larger device"
    )]
    TooSmall {
        /// Size of the device.
        device_bytes: u64,
        /// Size that is needed at least.
        needed_bytes: u64,
    },
    /// What is on the device contradicts itself.
    #[error("the device's file table is damaged: {0}; format it again, which erases it")]
    Damaged(String),
    /// A request to the device failed.
    #[error(transparent)]
    Io(#[from] IoError),
}
