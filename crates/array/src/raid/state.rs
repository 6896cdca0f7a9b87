//! Groups by number, and how much they can still lose.

/// Number of a group, in the order of [`group_names`](crate::group::BackendSettings::group_names).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u16);

/// How much a group can still lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupState {
    /// All disks are there.
    Healthy,
    /// Disks are gone, and the next one can go too.
    Degraded,
    /// The next disk may take data with it.
    Critical,
    /// More disks are gone than the level tolerates: nothing can be read or written.
    Failed,
}
