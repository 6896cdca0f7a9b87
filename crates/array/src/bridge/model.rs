//! What the bridge needs of a model, and of what blocks carry.

use crate::payload::{Bytes, Payload};
use crate::{Array, FirstWrite, HostCompletion, HostError, HostRequest, VolumeId};

/// A model of storage with volumes, to which times are passed in.
pub trait VolumeModel<P: Payload>: 'static {
    /// Capacity of a volume in sectors; `None` if there is no such volume.
    fn capacity_sectors(&self, volume: VolumeId) -> Option<u64>;

    /// Takes a request in at `now_ns`, which is not before any time passed in earlier.
    fn submit(&mut self, now_ns: u64, request: HostRequest<P>);

    /// When something happens next; `None` when nothing will unless asked for.
    fn next_event_ns(&self) -> Option<u64>;

    /// Lets everything happen that is due until `now_ns` and appends what ended to `completed`.
    fn advance_to(&mut self, now_ns: u64, completed: &mut Vec<HostCompletion<P>>);

    /// Lets one instant after the other happen, none after `limit_ns`, until requests end; appends
    /// them to `completed` and gives the instant, or `None` if none ends until then.
    fn advance_to_completion(
        &mut self,
        limit_ns: u64,
        completed: &mut Vec<HostCompletion<P>>,
    ) -> Option<u64> {
        while let Some(next_ns) = self.next_event_ns().filter(|&ns| ns <= limit_ns) {
            self.advance_to(next_ns, completed);
            if !completed.is_empty() {
                return Some(next_ns);
            }
        }
        None
    }

    /// Takes the space a first write would take; no time passes.
    ///
    /// # Errors
    /// If there is no such volume or no space.
    fn lay_out(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), HostError>;
}

impl<P: Payload> VolumeModel<P> for Array<P> {
    fn capacity_sectors(&self, volume: VolumeId) -> Option<u64> {
        Self::capacity_sectors(self, volume)
    }

    #[inline]
    fn submit(&mut self, now_ns: u64, request: HostRequest<P>) {
        Self::submit(self, now_ns, request);
    }

    #[inline]
    fn next_event_ns(&self) -> Option<u64> {
        Self::next_event_ns(self)
    }

    #[inline]
    fn advance_to(&mut self, now_ns: u64, completed: &mut Vec<HostCompletion<P>>) {
        Self::advance_to(self, now_ns, completed);
    }

    #[inline]
    fn advance_to_completion(
        &mut self,
        limit_ns: u64,
        completed: &mut Vec<HostCompletion<P>>,
    ) -> Option<u64> {
        Self::advance_to_completion(self, limit_ns, completed)
    }

    fn lay_out(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), HostError> {
        Self::lay_out(self, volume, first_sector, sectors, first_write)
    }
}

/// Contents of requests that come from files: out of buffers and back into them.
pub trait FilePayload: Payload {
    /// What the pieces hold, one after the other.
    fn gather<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Self;
}

impl FilePayload for () {
    #[inline]
    fn gather<'a>(_pieces: impl Iterator<Item = &'a [u8]>) -> Self {}
}

impl FilePayload for Bytes {
    fn gather<'a>(pieces: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut bytes = Vec::new();
        pieces.for_each(|piece| bytes.extend_from_slice(piece));
        Self::new(bytes)
    }
}
