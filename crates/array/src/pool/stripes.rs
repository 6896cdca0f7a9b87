//! Gathers the pieces of a write that lie in one stripe of one disk group.

use crate::group::GroupId;
use crate::group::Piece;

/// Pieces of one stripe, to be written together.
#[derive(Debug)]
pub(crate) struct StripeBatch<P> {
    group: GroupId,
    stripe: u64,
    pieces: Vec<Piece<P>>,
}

impl<P> Default for StripeBatch<P> {
    fn default() -> Self {
        Self::new()
    }
}

impl<P> StripeBatch<P> {
    pub(crate) fn new() -> Self {
        Self {
            group: GroupId(0),
            stripe: 0,
            pieces: Vec::new(),
        }
    }

    /// How many of `sectors` sectors from `sector` on lie in the stripe of the first one.
    pub(crate) fn fitting(&self, sector: u64, sectors: u32, stripe_sectors: u64) -> u32 {
        let rest = stripe_sectors - sector % stripe_sectors;
        rest.min(u64::from(sectors)) as u32
    }

    /// Whether `sector` of `group` lies in the stripe being gathered.
    pub(crate) fn takes(&self, group: GroupId, sector: u64, stripe_sectors: u64) -> bool {
        !self.pieces.is_empty() && self.group == group && self.stripe == sector / stripe_sectors
    }

    /// Begins the stripe of `sector`.
    pub(crate) fn begin(&mut self, group: GroupId, sector: u64, stripe_sectors: u64) {
        assert!(self.pieces.is_empty(), "the last stripe was not written");
        self.group = group;
        self.stripe = sector / stripe_sectors;
    }

    pub(crate) fn push(&mut self, sector: u64, sectors: u32, payload: P) {
        self.pieces.push((sector, sectors, payload));
    }

    /// What was gathered, if anything.
    pub(crate) fn pieces(&self) -> Option<(GroupId, &[Piece<P>])> {
        let some = !self.pieces.is_empty();
        some.then_some((self.group, self.pieces.as_slice()))
    }

    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
    }
}
