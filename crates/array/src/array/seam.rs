//! The disk groups as pools see them.

use crate::group::{Backend, GroupId, GroupRequest, GroupState, IoClass, Owner};
use crate::payload::Payload;
use crate::pool::{Groups, Piece};

impl<P: Payload> Groups<P> for Backend<P> {
    #[inline]
    fn submit(&mut self, now_ns: u64, request: GroupRequest<P>) {
        Backend::submit(self, now_ns, request);
    }

    #[inline]
    fn submit_stripe_write(
        &mut self,
        now_ns: u64,
        owner: Owner,
        group: GroupId,
        class: IoClass,
        pieces: &[Piece<P>],
    ) {
        Backend::submit_stripe_write(self, now_ns, owner, group, class, pieces);
    }

    #[inline]
    fn stripe_sectors(&self, group: GroupId) -> u64 {
        self.group(group).geometry.stripe_sectors()
    }

    #[inline]
    fn state(&self, group: GroupId) -> GroupState {
        self.group(group).state
    }
}
