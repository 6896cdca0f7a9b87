//! The two events of a request's life: it is handed to its device, and it comes back.

use super::format::{Field, Fields};
use super::page::number_at;

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Moves data from the device.
    Read,
    /// Moves data to the device.
    Write,
    /// It empties the device's cache, and moves no data.
    Flush,
    /// It moves no data: it gives room back, for example.
    Other,
}

/// The name of a process, as far as the kernel keeps it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProcessName([u8; 16]);

impl ProcessName {
    /// The name, cut off after its first 16 bytes.
    #[must_use]
    pub fn new(name: &[u8]) -> ProcessName {
        let mut kept = [0; 16];
        for (kept, byte) in kept.iter_mut().zip(name) {
            *kept = *byte;
        }
        ProcessName(kept)
    }

    /// The name as text.
    fn text(&self) -> String {
        let length = self.0.iter().position(|byte| *byte == 0);
        String::from_utf8_lossy(&self.0[..length.unwrap_or(self.0.len())]).into_owned()
    }

    /// Whether the name begins so.
    #[must_use]
    pub fn starts_with(&self, beginning: &str) -> bool {
        self.0.starts_with(beginning.as_bytes())
    }
}

impl std::fmt::Display for ProcessName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

/// An event with something to say.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Event {
    /// A request has been handed to its device.
    Issued {
        place: Place,
        direction: Direction,
        is_synchronous: bool,
        bytes: u64,
        process: u32,
        command: ProcessName,
    },
    /// A request has come back.
    Completed { place: Place, failed: bool },
}

/// A request's device and first sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub major: u32,
    pub minor: u32,
    pub sector: u64,
}

/// Where both events hold what; other kernels have other places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Formats {
    kind: Field,
    issued: Issued,
    completed: Completed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Issued {
    id: u64,
    device: Field,
    sector: Field,
    bytes: Field,
    letters: Field,
    process: Field,
    command: Field,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Completed {
    id: u64,
    device: Field,
    sector: Field,
    error: Field,
}

impl Formats {
    /// Reads the kernel's descriptions of `block_rq_issue` and `block_rq_complete`.
    pub(super) fn parse(issued: &str, completed: &str) -> Option<Formats> {
        let (issued, completed) = (Fields::parse(issued), Fields::parse(completed));
        Some(Formats {
            kind: issued.find("common_type")?,
            issued: Issued {
                id: issued.id()?,
                device: issued.find("dev")?,
                sector: issued.find("sector")?,
                bytes: issued.find("bytes")?,
                letters: issued.find("rwbs")?,
                process: issued.find("common_pid")?,
                command: issued.find("comm")?,
            },
            completed: Completed {
                id: completed.id()?,
                device: completed.find("dev")?,
                sector: completed.find("sector")?,
                error: completed.find("error").or(completed.find("errors"))?,
            },
        })
    }

    /// Reads the data of an event; `None` when it is about something else.
    pub(super) fn read(&self, data: &[u8]) -> Option<Event> {
        let number = |field: Field| number_at(data, field.offset, field.size);
        let kind = number(self.kind)?;
        let (issued, completed) = (&self.issued, &self.completed);
        if kind == completed.id {
            return Some(Event::Completed {
                place: place(number(completed.device)?, number(completed.sector)?),
                failed: number(completed.error)? != 0,
            });
        }
        if kind != issued.id {
            return None;
        }
        let letters = text(data, issued.letters)?;
        Some(Event::Issued {
            place: place(number(issued.device)?, number(issued.sector)?),
            direction: direction(letters),
            is_synchronous: letters.contains(&b'S'),
            bytes: number(issued.bytes)?,
            process: number(issued.process)? as u32,
            command: ProcessName::new(text(data, issued.command)?),
        })
    }
}

/// The kernel's own number for a device: major above 20 bits of minor.
fn place(device: u64, sector: u64) -> Place {
    Place {
        major: (device >> 20) as u32,
        minor: (device & 0xf_ffff) as u32,
        sector,
    }
}

/// A text up to its closing zero.
fn text(data: &[u8], field: Field) -> Option<&[u8]> {
    let whole = data.get(field.offset..field.offset.checked_add(field.size)?)?;
    whole.split(|&byte| byte == 0).next()
}

/// The letters of a request: `F` before or after the operation asks for a flush with it, and a
/// flush of its own is an operation with this letter, too.
fn direction(letters: &[u8]) -> Direction {
    let operation = letters.strip_prefix(b"F").filter(|rest| !rest.is_empty());
    match operation.unwrap_or(letters).first() {
        Some(b'R') => Direction::Read,
        Some(b'W') => Direction::Write,
        Some(b'F') => Direction::Flush,
        _ => Direction::Other,
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub const ISSUE: &str = "ID: 7\n field:unsigned short common_type; offset:0; size:2; signed:0;\n\
        field:int common_pid; offset:4; size:4; signed:1;\n\
        field:dev_t dev; offset:8; size:4; signed:0;\n\
        field:sector_t sector; offset:16; size:8; signed:0;\n\
        field:unsigned int bytes; offset:24; size:4; signed:0;\n\
        field:char rwbs[8]; offset:28; size:8; signed:0;\n\
        field:char comm[16]; offset:36; size:16; signed:0;\n";
    pub const COMPLETE: &str = "ID: 9\n field:unsigned short common_type; offset:0; size:2; signed:0;\n\
        field:dev_t dev; offset:8; size:4; signed:0;\n\
        field:sector_t sector; offset:16; size:8; signed:0;\n\
        field:int error; offset:24; size:4; signed:1;\n";

    const PLACE: Place = Place {
        major: 254,
        minor: 3,
        sector: 12_580_536,
    };

    fn formats() -> Formats {
        Formats::parse(ISSUE, COMPLETE).unwrap()
    }

    fn event(id: u16) -> Vec<u8> {
        let mut data = vec![0; 52];
        data[0..2].copy_from_slice(&id.to_ne_bytes());
        data[4..8].copy_from_slice(&6_994_i32.to_ne_bytes());
        data[8..12].copy_from_slice(&((254_u32 << 20) | 3).to_ne_bytes());
        data[16..24].copy_from_slice(&PLACE.sector.to_ne_bytes());
        data
    }

    #[test]
    fn the_name_of_a_process_ends_at_its_first_zero() {
        let name = ProcessName::new(b"kworker/u8:1\0x");
        assert_eq!(name.to_string(), "kworker/u8:1");
        assert!(name.starts_with("kworker/") && !name.starts_with("worker"));
        assert_eq!(
            ProcessName::new(b"a name of 16 lett").to_string(),
            "a name of 16 let"
        );
    }

    #[test]
    fn a_request_on_its_way_is_read() {
        let mut data = event(7);
        data[24..28].copy_from_slice(&73_728_u32.to_ne_bytes());
        data[28..31].copy_from_slice(b"FWS");
        data[36..46].copy_from_slice(b"lto 2nkikc");
        let wanted = Event::Issued {
            place: PLACE,
            direction: Direction::Write,
            is_synchronous: true,
            bytes: 73_728,
            process: 6_994,
            command: ProcessName::new(b"lto 2nkikc"),
        };
        assert_eq!(formats().read(&data), Some(wanted));
        for end in 0..52 {
            assert_eq!(formats().read(&data[..end]), None, "{end}");
        }
    }

    #[test]
    fn a_request_that_came_back_is_read() {
        let mut data = event(9);
        data[24..28].copy_from_slice(&(-5_i32).to_ne_bytes());
        let wanted = Event::Completed {
            place: PLACE,
            failed: true,
        };
        assert_eq!(formats().read(&data), Some(wanted));
        assert_eq!(formats().read(&event(8)), None);
    }

    #[test]
    fn flushes_and_discards_move_no_data() {
        for flush in [&b"F"[..], b"FF", b"FFS"] {
            assert_eq!(direction(flush), Direction::Flush);
        }
        assert_eq!(direction(b"DS"), Direction::Other);
        assert_eq!(direction(b"FWS"), Direction::Write);
        assert_eq!(direction(b"RM"), Direction::Read);
        assert_eq!(direction(b"WFS"), Direction::Write);
        assert_eq!(direction(b""), Direction::Other);
    }
}
