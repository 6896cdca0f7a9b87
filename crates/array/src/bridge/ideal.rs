//! Storage that answers every request after a fixed time, however many there are.

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use super::model::VolumeModel;
use crate::payload::Payload;
use crate::{FirstWrite, HostCompletion, HostError, HostOperation, HostRequest, VolumeId};

/// How ideal storage answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdealVolumesSettings {
    /// Capacity of each volume in sectors.
    pub capacities_sectors: Vec<u64>,
    /// Time of a read, ns.
    pub read_ns: u64,
    /// Time of everything else, ns.
    pub write_ns: u64,
}

/// Sectors kept together in the contents of a volume.
const CHUNK_SECTORS: u64 = 128;

/// Volumes with a fixed service time and no queue: for tests of what runs on an array, and for
/// measuring what everything above an array costs.
pub struct IdealVolumes<P> {
    settings: IdealVolumesSettings,
    /// In the order of their ends, since all take the same time; the turn decides ties.
    reads: VecDeque<(u64, u64, HostCompletion<P>)>,
    writes: VecDeque<(u64, u64, HostCompletion<P>)>,
    turn: u64,
    contents: FxHashMap<(u16, u64), P>,
}

impl<P: Payload> IdealVolumes<P> {
    /// Volumes with these settings, on which nothing is stored yet.
    #[must_use]
    pub fn new(settings: IdealVolumesSettings) -> Self {
        Self {
            settings,
            reads: VecDeque::new(),
            writes: VecDeque::new(),
            turn: 0,
            contents: FxHashMap::default(),
        }
    }

    fn check(&self, request: &HostRequest<P>) -> Result<(), HostError> {
        let capacity = self.capacity_sectors(request.volume);
        let capacity = capacity.ok_or(HostError::NoSuchVolume)?;
        let end = request
            .first_sector
            .checked_add(u64::from(request.sectors))
            .filter(|&end| end <= capacity);
        let fits = end.is_some() && request.sectors > 0;
        if fits || request.operation == HostOperation::Flush {
            Ok(())
        } else {
            Err(HostError::OutOfRange)
        }
    }

    /// Stores or loads at once: no one can see it before the request ends.
    fn carry_out(&mut self, request: &HostRequest<P>) -> P {
        let mut loaded = P::default();
        if !P::CARRIES_BYTES {
            return loaded;
        }
        let is_read = request.operation == HostOperation::Read;
        if is_read {
            loaded = P::zeroed(request.sectors);
        } else if request.operation != HostOperation::Write {
            return loaded;
        }
        let end = request.first_sector + u64::from(request.sectors);
        let mut sector = request.first_sector;
        while sector < end {
            let within = sector % CHUNK_SECTORS;
            let sectors = (CHUNK_SECTORS - within).min(end - sector) as u32;
            let done = (sector - request.first_sector) as u32;
            let place = (request.volume.0, sector / CHUNK_SECTORS);
            if is_read {
                if let Some(chunk) = self.contents.get(&place) {
                    loaded.overlay(done, &chunk.part(within as u32, sectors));
                }
            } else {
                let chunk = self.contents.entry(place);
                chunk
                    .or_insert_with(|| P::zeroed(CHUNK_SECTORS as u32))
                    .overlay(within as u32, &request.payload.part(done, sectors));
            }
            sector += u64::from(sectors);
        }
        loaded
    }
}

impl<P: Payload> VolumeModel<P> for IdealVolumes<P> {
    fn capacity_sectors(&self, volume: VolumeId) -> Option<u64> {
        let capacities = &self.settings.capacities_sectors;
        capacities.get(usize::from(volume.0)).copied()
    }

    fn submit(&mut self, now_ns: u64, request: HostRequest<P>) {
        let is_read = request.operation == HostOperation::Read;
        let (tag, result) = (request.tag, self.check(&request));
        let payload = match result {
            Ok(()) => self.carry_out(&request),
            Err(_) => P::default(),
        };
        let takes_ns = if is_read {
            self.settings.read_ns
        } else {
            self.settings.write_ns
        };
        let end = HostCompletion {
            tag,
            submitted_ns: now_ns,
            completed_ns: now_ns + takes_ns,
            result,
            payload,
        };
        self.turn += 1;
        let queue = if is_read {
            &mut self.reads
        } else {
            &mut self.writes
        };
        queue.push_back((end.completed_ns, self.turn, end));
    }

    #[inline]
    fn next_event_ns(&self) -> Option<u64> {
        let fronts = [self.reads.front(), self.writes.front()];
        fronts.into_iter().flatten().map(|next| next.0).min()
    }

    fn advance_to(&mut self, now_ns: u64, completed: &mut Vec<HostCompletion<P>>) {
        let order = |next: &(u64, u64, HostCompletion<P>)| (next.0, next.1);
        loop {
            let read = self.reads.front().map(order);
            let write = self.writes.front().map(order);
            let (next, queue) = match (read, write) {
                (Some(read), Some(write)) if write < read => (write, &mut self.writes),
                (Some(read), _) => (read, &mut self.reads),
                (None, Some(write)) => (write, &mut self.writes),
                (None, None) => return,
            };
            if next.0 > now_ns {
                return;
            }
            completed.extend(queue.pop_front().map(|(_, _, end)| end));
        }
    }

    fn lay_out(
        &mut self,
        volume: VolumeId,
        _first_sector: u64,
        _sectors: u64,
        _first_write: FirstWrite,
    ) -> Result<(), HostError> {
        let capacity = self.capacity_sectors(volume);
        capacity.map(|_| ()).ok_or(HostError::NoSuchVolume)
    }
}
