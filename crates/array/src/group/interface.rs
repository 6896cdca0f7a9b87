//! The interface of the disk groups to the pools above them.

use super::GroupRequest;
use crate::io::IoClass;
use crate::raid::{GroupId, GroupState};

/// A piece of a write: first sector, sectors, contents.
pub type Piece<P> = (u64, u32, P);

/// The disk groups below a pool. The back end is one; tests put simpler ones in its place.
///
/// Everything submitted is completed once, in any order. Of overlapping requests that are in
/// flight at the same time the writes take effect in the order they were submitted in, and a read
/// returns each sector as it was before or after any of them.
pub trait Groups<P> {
    /// Submits one read or write.
    fn submit(&mut self, now_ns: u64, request: GroupRequest<P>);

    /// Submits the pieces of one write to one stripe of `group`, which update its parity together
    /// and are completed together. Addresses are the group's.
    fn submit_stripe_write(
        &mut self,
        now_ns: u64,
        owner: u32,
        group: GroupId,
        class: IoClass,
        pieces: &[Piece<P>],
    );

    /// Sectors of data in a stripe of `group`: pieces within it are written together.
    fn stripe_sectors(&self, group: GroupId) -> u64;

    /// How much `group` can still lose.
    fn state(&self, group: GroupId) -> GroupState;
}
