//! The stations with their disks, the requests to them, and the order in which things happen.

use std::collections::VecDeque;

use crate::Direction;
use crate::disk::{Disk, DiskModel};
use crate::event_queue::{Due, EventQueue};
use crate::io::IoClass;
use crate::kept::DiskContents;
use crate::payload::Payload;
use crate::slab::Slab;
use crate::station::{
    DispatchSettings, Outcome, Parent, Station, StationInvariantError, StationRequest,
};

use super::StationId;
use super::pace::Timer;

/// A disk request in the making.
#[derive(Debug, Clone, Copy)]
pub(super) struct RequestTarget {
    pub(super) station: u16,
    pub(super) direction: Direction,
    pub(super) class: IoClass,
    pub(super) first_sector: u64,
    pub(super) sectors: u32,
    pub(super) parent: Parent,
    pub(super) slot: u32,
}

/// A disk request that ended.
#[derive(Debug)]
pub(super) struct Ended<P> {
    pub(super) station: u16,
    pub(super) first_sector: u64,
    pub(super) sectors: u32,
    pub(super) parent: Parent,
    pub(super) slot: u32,
    pub(super) payload: P,
    pub(super) outcome: Outcome,
}

/// What happens next among the disks and the background tasks.
#[derive(Debug)]
pub(super) enum DiskEvent<P> {
    /// A disk request ended.
    Ended(Ended<P>),
    /// A timer of a background task fires.
    Timer(Timer),
}

/// All stations, the requests in them, and the event queue that knows when they complete.
#[derive(Debug)]
pub(super) struct Disks<P> {
    dispatch: DispatchSettings,
    stations: Vec<Station<P>>,
    events: EventQueue<Timer>,
    requests: Slab<StationRequest<P>>,
    /// Requests whose end is still to be reported: those to failed disks, and the others of a command that
    /// did several.
    ended: VecDeque<(u32, Outcome)>,
    /// Stations with requests that the disk is to get when nothing more happens in this instant.
    held: Vec<u16>,
    /// How often sectors were marked as unreadable.
    ever_marked: u64,
}

impl<P: Payload> Disks<P> {
    pub(super) fn new(
        disks: Vec<DiskModel>,
        dispatch: &DispatchSettings,
        most_joined_sectors: u32,
    ) -> Self {
        let stations: Vec<Station<P>> = disks
            .into_iter()
            .map(|disk| Station::new(disk, dispatch, most_joined_sectors))
            .collect();
        Self {
            dispatch: dispatch.clone(),
            events: EventQueue::new(stations.len()),
            stations,
            requests: Slab::new(),
            ended: VecDeque::new(),
            held: Vec::new(),
            ever_marked: 0,
        }
    }

    /// Keeps the contents of the disk in each station where `contents_of` says.
    pub(super) fn keep(&mut self, mut contents_of: impl FnMut(u32) -> Box<dyn DiskContents<P>>) {
        for (number, station) in (0..).zip(&mut self.stations) {
            station.keep(contents_of(number));
        }
    }

    /// Has whole blocks of a disk read as zeros. Nothing happens if there is no such station.
    pub(super) fn discard(&mut self, station: u16, first_sector: u64, sectors: u64) {
        if let Some(station) = self.stations.get_mut(usize::from(station)) {
            station.discard(first_sector, sectors);
        }
    }

    /// How often sectors were marked as unreadable.
    pub(super) fn ever_marked(&self) -> u64 {
        self.ever_marked
    }

    pub(super) fn stations(&self) -> &[Station<P>] {
        &self.stations
    }

    /// The station of that number.
    ///
    /// # Panics
    ///
    /// If there is no such station.
    pub(super) fn station(&self, id: StationId) -> &Station<P> {
        let station = self.stations.get(usize::from(id.0));
        station.unwrap_or_else(|| panic!("there is no station {}", id.0))
    }

    /// Requests at the disk of a station.
    #[inline]
    pub(super) fn load(&self, station: u16) -> u32 {
        self.stations[usize::from(station)].load()
    }

    #[inline]
    pub(super) fn next_event_ns(&self) -> Option<u64> {
        self.events.next_ns()
    }

    pub(super) fn set_timer(&mut self, at_ns: u64, timer: Timer) {
        self.events.schedule(at_ns, timer);
    }

    /// Lets happen what happens next, at exactly the time [`Disks::next_event_ns`] says.
    #[inline]
    pub(super) fn advance_one(&mut self, now_ns: u64) -> Option<DiskEvent<P>> {
        debug_assert_eq!(self.events.next_ns(), Some(now_ns));
        match self.events.pop()?.1 {
            Due::Source(number) => {
                let station = &mut self.stations[number];
                let (id, outcome) = station.complete(now_ns, &mut self.requests, &mut self.ended);
                let next_ns = station.next_completion_ns();
                self.events.set_source(number, next_ns);
                Some(DiskEvent::Ended(self.end(id, outcome)))
            }
            Due::Event(timer) => Some(DiskEvent::Timer(timer)),
        }
    }

    #[inline]
    fn end(&mut self, id: u32, outcome: Outcome) -> Ended<P> {
        let request = &mut self.requests[id];
        let ended = Ended {
            station: request.station,
            first_sector: request.first_sector,
            sectors: request.sectors,
            parent: request.parent,
            slot: request.slot,
            payload: std::mem::take(&mut request.payload),
            outcome,
        };
        self.requests.release(id);
        ended
    }

    /// The next of the requests that ended without an event of their own.
    #[inline]
    pub(super) fn pop_ended(&mut self) -> Option<Ended<P>> {
        let (id, outcome) = self.ended.pop_front()?;
        Some(self.end(id, outcome))
    }

    /// Sends a request to a disk. One to a disk that has failed, or to no station at all, comes
    /// back from [`Disks::pop_ended`].
    #[inline]
    pub(super) fn issue(&mut self, now_ns: u64, aim: RequestTarget, payload: P) {
        let id = self.requests.take();
        let request = &mut self.requests[id];
        request.first_sector = aim.first_sector;
        request.sectors = aim.sectors;
        request.station = aim.station;
        request.direction = aim.direction;
        request.class = aim.class;
        request.parent = aim.parent;
        request.slot = aim.slot;
        request.payload = payload;
        let number = usize::from(aim.station);
        let station = self.stations.get_mut(number);
        let Some(station) = station.filter(|station| station.is_working()) else {
            self.ended.push_back((id, Outcome::DiskFailed));
            return;
        };
        if aim.class == IoClass::Warped {
            let outcome = station.transfer_at_once(&mut self.requests[id]);
            self.ended.push_back((id, outcome));
            return;
        }
        if aim.class == IoClass::Rebuild {
            station.enqueue_only(now_ns, id, &mut self.requests);
            if !self.held.contains(&aim.station) {
                self.held.push(aim.station);
            }
            return;
        }
        station.enqueue(now_ns, id, &mut self.requests);
        let next_ns = station.next_completion_ns();
        self.events.set_source(number, next_ns);
    }

    /// Gives disks what was held back until everything of this instant was sent.
    #[inline]
    pub(super) fn start_held(&mut self, now_ns: u64) {
        while let Some(station) = self.held.pop() {
            let number = usize::from(station);
            let station = &mut self.stations[number];
            if station.is_working() {
                station.fill_disk(now_ns, &mut self.requests);
                let next_ns = station.next_completion_ns();
                self.events.set_source(number, next_ns);
            }
        }
    }

    /// Takes a disk out of service. Its requests come back from [`Disks::pop_ended`].
    pub(super) fn fail(&mut self, now_ns: u64, id: StationId) {
        let number = usize::from(id.0);
        let mut lost = Vec::new();
        self.stations[number].fail(now_ns, id.0, &mut self.requests, &mut lost);
        self.events.set_source(number, None);
        let lost = lost.into_iter();
        self.ended.extend(lost.map(|id| (id, Outcome::DiskFailed)));
    }

    /// From now on a disk takes so many times as long for everything as its make does.
    pub(super) fn set_slowness(&mut self, now_ns: u64, id: StationId, factor: u32) {
        let number = usize::from(id.0);
        let station = &mut self.stations[number];
        station.set_slowness(now_ns, factor);
        let next_ns = station.next_completion_ns();
        self.events.set_source(number, next_ns);
    }

    /// Puts a blank disk where one has failed.
    pub(super) fn replace(&mut self, id: StationId, disk: DiskModel) {
        debug_assert!(!self.station(id).is_working());
        self.stations[usize::from(id.0)].replace(disk, &self.dispatch);
    }

    /// Makes sectors unreadable until they are written. Nothing happens if there is no such
    /// station: a segment without a place has nothing to spoil.
    pub(super) fn mark_unreadable(&mut self, station: u16, first_sector: u64, sectors: u32) {
        if let Some(station) = self.stations.get_mut(usize::from(station)) {
            debug_assert!(
                first_sector + u64::from(sectors) <= station.disk().capacity_sectors(),
                "the sectors are on the disk"
            );
            station.mark_unreadable(first_sector, sectors);
            self.ever_marked += 1;
        }
    }

    /// Takes the credits for bursts from a cloud volume.
    pub(super) fn spend_credits(&mut self, now_ns: u64, id: StationId) {
        self.stations[usize::from(id.0)].spend_credits(now_ns);
    }

    /// One of the sectors of a disk that disagreed with their checksums, and how many did so far, if that is to be
    /// reported.
    pub(super) fn checksum_errors_to_report(&mut self, station: u16) -> Option<(u64, u64)> {
        self.stations
            .get_mut(usize::from(station))?
            .checksum_errors_to_report()
    }

    /// Changes what a disk stores without a trace.
    pub(super) fn corrupt(&mut self, id: StationId, first_sector: u64, sectors: u32, payload: &P) {
        self.stations[usize::from(id.0)].corrupt(first_sector, sectors, payload);
    }

    /// Disk requests in flight.
    pub(super) fn in_flight(&self) -> usize {
        self.requests.in_use()
    }

    /// Little's law at every station and in every disk.
    pub(super) fn check_invariants(&self) -> Result<(), StationInvariantError> {
        let mut stations = self.stations.iter().enumerate();
        stations.try_for_each(|(number, station)| station.check_invariants(number, &self.requests))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::DiskDescription;

    fn disk() -> DiskModel {
        let text = "title = 't'\n[ideal]\ncapacity_bytes = 1048576\nservice_us = 1000.0\n\
                    distribution = 'fixed'\n";
        let description: DiskDescription = config::from_toml(text).unwrap();
        DiskModel::new(&description, 1).unwrap()
    }

    fn read(station: u16, slot: u32) -> RequestTarget {
        RequestTarget {
            station,
            direction: Direction::Read,
            class: IoClass::HostRead,
            first_sector: 8,
            sectors: 8,
            parent: Parent::Request(7),
            slot,
        }
    }

    #[test]
    fn every_request_comes_back_once_from_a_disk_or_as_one_to_a_failed_disk() {
        let mut disks = Disks::<()>::new(vec![disk(), disk()], &DispatchSettings::default(), 0);
        for slot in 0..6 {
            disks.issue(0, read(slot as u16 % 2, slot), ());
        }
        // There is no such station.
        disks.issue(0, read(9, 6), ());
        assert_eq!(disks.in_flight(), 7);
        let mut ended = Vec::new();
        let first_ns = disks.next_event_ns().unwrap();
        disks.set_timer(first_ns, Timer::Scrub(3));
        for _ in 0..2 {
            match disks.advance_one(first_ns) {
                Some(DiskEvent::Ended(end)) => ended.push((end.slot, end.outcome)),
                other => panic!("a disk comes before a timer: {other:?}"),
            }
        }
        let timer = disks.advance_one(first_ns);
        assert!(matches!(timer, Some(DiskEvent::Timer(Timer::Scrub(3)))));
        disks.fail(first_ns, StationId(1));
        disks.issue(first_ns, read(1, 7), ());
        while let Some(end) = disks.pop_ended() {
            ended.push((end.slot, end.outcome));
        }
        while let Some(next_ns) = disks.next_event_ns() {
            let Some(DiskEvent::Ended(end)) = disks.advance_one(next_ns) else {
                panic!("no timer is set");
            };
            ended.push((end.slot, end.outcome));
            disks.check_invariants().unwrap();
        }
        ended.sort_by_key(|(slot, _)| *slot);
        let lost = |slot| match slot {
            3 | 5 | 6 | 7 => Outcome::DiskFailed,
            _ => Outcome::Done,
        };
        let expected: Vec<_> = (0..8).map(|slot| (slot, lost(slot))).collect();
        assert_eq!(ended, expected);
        assert_eq!(disks.in_flight(), 0);
        disks.replace(StationId(1), disk());
        disks.issue(first_ns, read(1, 8), ());
        assert!(disks.next_event_ns().is_some() && disks.pop_ended().is_none());
    }
}
