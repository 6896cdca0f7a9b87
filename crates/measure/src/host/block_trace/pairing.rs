//! Joins the beginnings and ends of requests.

use rustc_hash::FxHashMap;

use super::event::{Direction, Event, Place, ProcessName};
use super::extent::DeviceExtent;

/// Beginnings without an end are forgotten when there are so many: their ends were lost.
const MOST_OPEN: usize = 1 << 16;

/// Where a flush comes back from, wherever it was when it was handed over. A device has one at a
/// time.
const NOWHERE: u64 = u64::MAX;

/// A request that a device has carried out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DeviceRequest {
    /// In which of the parts of devices that are traced it lies, counted from 0; for a flush, the
    /// first of them on its device.
    pub extent: usize,
    /// Whether it read, wrote, flushed or did something else.
    pub direction: Direction,
    /// Whether somebody waits for it, as the flags of the request say.
    pub is_synchronous: bool,
    /// Bytes moved; 0 when the request carries no data.
    pub bytes: u64,
    /// From being handed to the device to coming back.
    pub latency_ns: u64,
    /// When it came back, on the kernel's monotonic clock.
    pub ended_ns: u64,
    /// The process that handed it over; for pages written back, one of the kernel's own.
    pub process: u32,
    /// Name of that process.
    pub command: ProcessName,
    /// Whether the device reported an error.
    pub failed: bool,
}

/// A request without its end.
#[derive(Debug, Clone, Copy)]
struct Open {
    begun_ns: u64,
    request: DeviceRequest,
}

/// Matches the start of each request with its end; keeps what is under way.
#[derive(Debug)]
pub(super) struct Pairing {
    extents: Vec<DeviceExtent>,
    open: FxHashMap<Place, Open>,
    lost: u64,
}

impl Pairing {
    pub(super) fn new(extents: Vec<DeviceExtent>) -> Self {
        Self {
            extents,
            open: FxHashMap::default(),
            lost: 0,
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// So many events were lost: ends may now meet beginnings of other requests.
    pub(super) fn forget(&mut self, lost: u64) {
        self.lost += lost;
        self.open.clear();
    }

    /// Takes in an event, and gives the request that it ends.
    pub(super) fn take(&mut self, at_ns: u64, event: Event) -> Option<DeviceRequest> {
        match event {
            Event::Issued {
                place,
                direction,
                is_synchronous,
                bytes,
                process,
                command,
            } => {
                let is_in = |one: &DeviceExtent| match direction {
                    Direction::Read | Direction::Write => one.holds(&place),
                    Direction::Flush => one.is_on(&place),
                    Direction::Other => false,
                };
                let extent = self.extents.iter().position(is_in)?;
                let place = match direction {
                    Direction::Flush => Place {
                        sector: NOWHERE,
                        ..place
                    },
                    _ => place,
                };
                if self.open.len() >= MOST_OPEN {
                    self.open.clear();
                }
                let request = DeviceRequest {
                    extent,
                    direction,
                    is_synchronous,
                    bytes,
                    latency_ns: 0,
                    ended_ns: 0,
                    process,
                    command,
                    failed: false,
                };
                let begun_ns = at_ns;
                self.open.insert(place, Open { begun_ns, request });
                None
            }
            Event::Completed { place, failed } => {
                let Open { begun_ns, request } = self.open.remove(&place)?;
                Some(DeviceRequest {
                    latency_ns: at_ns.saturating_sub(begun_ns),
                    ended_ns: at_ns,
                    failed,
                    ..request
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(sector: u64) -> Event {
        Event::Issued {
            place: place(sector),
            direction: Direction::Read,
            is_synchronous: false,
            bytes: 8_192,
            process: 7,
            command: ProcessName::new(b"postgres"),
        }
    }

    fn completed(sector: u64) -> Event {
        Event::Completed {
            place: place(sector),
            failed: false,
        }
    }

    fn place(sector: u64) -> Place {
        Place {
            major: 8,
            minor: 0,
            sector,
        }
    }

    fn pairing() -> Pairing {
        // Two partitions of one disk.
        let part = |first_sector| DeviceExtent {
            major: 8,
            minor: 0,
            first_sector,
            sectors: 100,
        };
        Pairing::new(vec![part(100), part(300)])
    }

    #[test]
    fn ends_find_their_beginnings_in_any_order() {
        let mut pairing = pairing();
        assert_eq!(pairing.take(10, issued(100)), None);
        assert_eq!(pairing.take(20, issued(108)), None);
        let second = pairing.take(50, completed(108)).unwrap();
        assert_eq!((second.latency_ns, second.ended_ns), (30, 50));
        assert_eq!(pairing.take(70, completed(100)).unwrap().latency_ns, 60);
        assert_eq!(pairing.take(80, completed(100)), None, "it has ended");
        pairing.take(90, issued(300));
        let third = pairing.take(95, completed(300)).unwrap();
        assert_eq!((second.extent, third.extent), (0, 1));
    }

    #[test]
    fn a_request_is_what_was_handed_over_with_how_it_came_back() {
        for failed in [false, true] {
            let mut pairing = pairing();
            pairing.take(10, issued(300));
            let place = place(300);
            let ended = pairing.take(95, Event::Completed { place, failed });
            let wanted = DeviceRequest {
                extent: 1,
                direction: Direction::Read,
                is_synchronous: false,
                bytes: 8_192,
                latency_ns: 85,
                ended_ns: 95,
                process: 7,
                command: ProcessName::new(b"postgres"),
                failed,
            };
            assert_eq!(ended, Some(wanted));
        }
    }

    #[test]
    fn a_flush_is_of_the_whole_device() {
        let mut pairing = pairing();
        let flush = |minor| Event::Issued {
            place: Place {
                major: 8,
                minor,
                sector: 0,
            },
            direction: Direction::Flush,
            is_synchronous: false,
            bytes: 0,
            process: 7,
            command: ProcessName::new(b"kworker"),
        };
        pairing.take(10, flush(0));
        pairing.take(15, flush(1));
        let ended = pairing.take(40, completed(u64::MAX)).unwrap();
        assert_eq!((ended.direction, ended.latency_ns), (Direction::Flush, 30));
        assert_eq!(ended.extent, 0);
        assert_eq!(pairing.take(50, completed(u64::MAX)), None);
    }

    #[test]
    fn what_lies_elsewhere_or_lost_its_beginning_is_no_request() {
        let mut pairing = pairing();
        pairing.take(10, issued(99));
        pairing.take(10, issued(200));
        assert_eq!(pairing.take(20, completed(99)), None);
        assert_eq!(pairing.take(20, completed(200)), None);
        pairing.take(10, issued(150));
        pairing.forget(4);
        assert_eq!(pairing.take(20, completed(150)), None);
        assert_eq!(pairing.lost(), 4);
    }
}
