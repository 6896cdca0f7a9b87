//! The volumes that are served.

use array::VolumeId;

/// A volume of a live array.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ServedVolume {
    /// Which one it is.
    pub id: VolumeId,
    /// What it is called, such as the name of its file.
    pub name: String,
    /// Its capacity in bytes.
    pub size_bytes: u64,
    /// The unit in which it gives space back, if it does at all.
    pub trim_bytes: Option<u64>,
}
