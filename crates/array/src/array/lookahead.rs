//! Prefetching for requests that have arrived and are not served yet. A fetch from main memory takes
//! about as long as an event, and the event before the arrival may have been the submission.

use crate::cache::key_of;
use crate::io::VolumeExtent;
use crate::payload::Payload;

use super::Array;

/// The request that arrived last, until what it needs has been prefetched.
#[derive(Debug, Default)]
pub(super) struct Lookahead {
    arrived: Option<VolumeExtent>,
    /// Events to let pass until what was prefetched at the submission is there.
    events: u8,
}

impl Lookahead {
    /// A request has arrived; gives the one that arrived before if its turn has not come yet.
    #[inline]
    fn arrive(&mut self, extent: VolumeExtent) -> Option<VolumeExtent> {
        self.events = 1;
        self.arrived.replace(extent)
    }

    /// An event passes; gives the request whose turn it is.
    #[inline]
    fn pass_event(&mut self) -> Option<VolumeExtent> {
        if self.arrived.is_some() && self.events > 0 {
            self.events -= 1;
            return None;
        }
        self.arrived.take()
    }
}

impl<P: Payload> Array<P> {
    /// Has the CPU fetch what a request will be looked up in by the time it is served.
    #[inline]
    pub(super) fn prefetch(&self, extent: VolumeExtent) {
        let volume = &self.volumes[extent.volume];
        let line = extent.first_sector >> self.rules.cache.line_sectors.trailing_zeros();
        let cache = &self.controllers[volume.owner()].cache;
        cache.prefetch(key_of(extent.volume, line));
        self.storage
            .prefetch(volume.pool, extent.volume, extent.first_sector);
    }

    /// What [`Array::prefetch`] has asked for is there by now: has the CPU fetch what that
    /// leads to.
    #[inline]
    fn prefetch_further(&self, extent: VolumeExtent) {
        let volume = &self.volumes[extent.volume];
        let line = extent.first_sector >> self.rules.cache.line_sectors.trailing_zeros();
        let cache = &self.controllers[volume.owner()].cache;
        cache.prefetch_line(key_of(extent.volume, line));
        self.storage
            .prefetch_slot(volume.pool, extent.volume, extent.first_sector);
    }

    /// Called at every arrival.
    #[inline]
    pub(super) fn note_arrival(&mut self, extent: VolumeExtent) {
        if let Some(earlier) = self.lookahead.arrive(extent) {
            self.prefetch_further(earlier);
        }
    }

    /// Called at every event.
    #[inline]
    pub(super) fn look_ahead(&mut self) {
        if let Some(extent) = self.lookahead.pass_event() {
            self.prefetch_further(extent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_has_its_turn_one_event_after_its_arrival() {
        let extent = |first_sector| VolumeExtent {
            volume: 0,
            first_sector,
            sectors: 8,
        };
        let mut lookahead = Lookahead::default();
        assert_eq!(lookahead.pass_event(), None);
        assert_eq!(lookahead.arrive(extent(0)), None);
        assert_eq!(lookahead.pass_event(), None);
        assert_eq!(lookahead.pass_event(), Some(extent(0)));
        assert_eq!(lookahead.pass_event(), None);
        assert_eq!(lookahead.arrive(extent(8)), None);
        assert_eq!(lookahead.arrive(extent(16)), Some(extent(8)));
    }
}
