//! Joins the beginnings and ends of requests.

use std::collections::HashMap;

use super::extent::DeviceExtent;
use super::line::{Direction, Line, Place};

/// Beginnings without an end are forgotten when there are so many: their ends were lost.
const MOST_OPEN: usize = 1 << 16;

/// A request that a device has carried out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeviceRequest {
    /// Major and minor number of its disk.
    pub disk: (u32, u32),
    /// What it did.
    pub direction: Direction,
    /// Whether somebody waits for it, as the kernel was told.
    pub is_synchronous: bool,
    /// Bytes moved.
    pub bytes: u64,
    /// From being handed to the device to coming back.
    pub latency_ns: u64,
    /// When it came back, on the kernel's monotonic clock.
    pub ended_ns: u64,
    /// The process that handed it over; for pages written back, one of the kernel's own.
    pub process: u32,
    /// Name of that process.
    pub command: String,
    /// Whether the device reported an error.
    pub failed: bool,
}

#[derive(Debug, Clone)]
struct Open {
    at_ns: u64,
    direction: Direction,
    is_synchronous: bool,
    bytes: u64,
    process: u32,
    command: String,
}

/// Requests under way.
#[derive(Debug)]
pub(super) struct Pairing {
    extents: Vec<DeviceExtent>,
    open: HashMap<Place, Open>,
    lost: u64,
}

impl Pairing {
    pub(super) fn new(extents: Vec<DeviceExtent>) -> Self {
        Self {
            extents,
            open: HashMap::new(),
            lost: 0,
        }
    }

    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Takes in a line, and gives the request that it ends.
    pub(super) fn take(&mut self, line: Line<'_>) -> Option<DeviceRequest> {
        match line {
            Line::Lost(events) => {
                self.lost += events;
                self.open.clear(); // Ends may now meet beginnings of other requests.
                None
            }
            Line::Issued {
                place,
                at_ns,
                direction,
                is_synchronous,
                bytes,
                process,
                command,
            } => {
                let wanted = self.extents.iter().any(|extent| extent.holds(&place));
                if wanted && direction != Direction::Other {
                    if self.open.len() >= MOST_OPEN {
                        self.open.clear();
                    }
                    let open = Open {
                        at_ns,
                        direction,
                        is_synchronous,
                        bytes,
                        process,
                        command: command.to_owned(),
                    };
                    self.open.insert(place, open);
                }
                None
            }
            Line::Completed {
                place,
                at_ns,
                failed,
            } => {
                let open = self.open.remove(&place)?;
                Some(DeviceRequest {
                    disk: (place.major, place.minor),
                    direction: open.direction,
                    is_synchronous: open.is_synchronous,
                    bytes: open.bytes,
                    latency_ns: at_ns.saturating_sub(open.at_ns),
                    ended_ns: at_ns,
                    process: open.process,
                    command: open.command,
                    failed,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn issued(sector: u64, at_ns: u64) -> Line<'static> {
        Line::Issued {
            place: place(sector),
            at_ns,
            direction: Direction::Read,
            is_synchronous: false,
            bytes: 8_192,
            process: 7,
            command: "postgres",
        }
    }

    fn completed(sector: u64, at_ns: u64) -> Line<'static> {
        Line::Completed {
            place: place(sector),
            at_ns,
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
        Pairing::new(vec![DeviceExtent {
            major: 8,
            minor: 0,
            first_sector: 100,
            sectors: 100,
        }])
    }

    #[test]
    fn ends_find_their_beginnings_in_any_order() {
        let mut pairing = pairing();
        assert_eq!(pairing.take(issued(100, 10)), None);
        assert_eq!(pairing.take(issued(108, 20)), None);
        let second = pairing.take(completed(108, 50)).unwrap();
        assert_eq!((second.latency_ns, second.ended_ns), (30, 50));
        assert_eq!(pairing.take(completed(100, 70)).unwrap().latency_ns, 60);
        assert_eq!(pairing.take(completed(100, 80)), None, "it has ended");
    }

    #[test]
    fn what_lies_elsewhere_or_lost_its_beginning_is_no_request() {
        let mut pairing = pairing();
        pairing.take(issued(99, 10));
        pairing.take(issued(200, 10));
        assert_eq!(pairing.take(completed(99, 20)), None);
        assert_eq!(pairing.take(completed(200, 20)), None);
        pairing.take(issued(150, 10));
        pairing.take(Line::Lost(4));
        assert_eq!(pairing.take(completed(150, 20)), None);
        assert_eq!(pairing.lost(), 4);
    }
}
