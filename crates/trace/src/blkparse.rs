//! What `blkparse` prints by default: one event of a request on each line.
//!
//! `MAJOR,MINOR CPU SEQUENCE SECONDS PID ACTION RWBS SECTOR + SECTORS [PROCESS]`. A request is
//! taken at one action, by default when it is issued to the driver (`D`); its completion (`C`) at
//! the same sector says how long it took.

use super::error::{LineError, shown};
use super::line::{LineParser, Parsed, RawRequest, Volumes};
use super::number::{time_ns, whole};
use array::HostOperation;

const S: u64 = 1_000_000_000;
const SECTOR_BYTES: u64 = 512;

/// Every action that blkparse prints.
const ACTIONS: [&str; 18] = [
    "A", "B", "C", "D", "F", "G", "I", "M", "P", "Q", "R", "S", "T", "U", "UT", "W", "X", "m",
];

/// Fields of an event before those of its action.
const LEADING: usize = 6;

/// Whether a line can be an event.
pub(super) fn is_event(line: &str) -> bool {
    let mut words = line.split_whitespace();
    let device = words.next().is_some_and(is_device);
    let numbers = (0..2).all(|_| words.next().is_some_and(|word| whole(word).is_some()));
    device && numbers && words.next().is_some_and(|word| time_ns(word, S).is_some())
}

fn is_device(word: &str) -> bool {
    let parts = word.split_once(',');
    parts.is_some_and(|(major, minor)| whole(major).is_some() && whole(minor).is_some())
}

/// Reads events line by line.
#[derive(Debug)]
pub(super) struct BlkparseParser {
    action: String,
    /// Whether the summary behind the events has begun.
    is_over: bool,
}

impl BlkparseParser {
    /// Takes requests at `action`, such as `D` or `Q`.
    pub fn new(action: &str) -> Self {
        Self {
            action: action.to_owned(),
            is_over: false,
        }
    }
}

impl LineParser for BlkparseParser {
    fn line(&mut self, line: &str, volumes: &mut Volumes) -> Result<Parsed, LineError> {
        if self.is_over || line.starts_with("Input file ") {
            return Ok(Parsed::Nothing);
        }
        if line.starts_with("CPU") || line.starts_with("Total") {
            self.is_over = true;
            return Ok(Parsed::Nothing);
        }
        let words: Vec<&str> = line.split_whitespace().collect();
        if words.len() < LEADING || !is_event(line) {
            return Err(LineError::new(
                format!("{} is not an event of blkparse", shown(line)),
                "give what blkparse prints without -f or -F",
            ));
        }
        let action = words[5];
        if !ACTIONS.contains(&action) {
            return Err(LineError::new(
                format!("{} is not an action of blkparse", shown(action)),
                "give what blkparse prints without -f or -F",
            ));
        }
        let wanted = action == self.action;
        if !wanted && action != "C" {
            return Ok(Parsed::Nothing);
        }
        let at_ns = time_ns(words[3], S).unwrap_or(0);
        let flags = words.get(6).copied().unwrap_or("");
        let Some((sector, sectors, operation)) = stretch(&words, flags) else {
            // A command that moves no blocks.
            return Ok(Parsed::Nothing);
        };
        let volume = volumes.number(words[0]);
        if !wanted {
            return Ok(Parsed::Ended {
                volume,
                sector,
                at_ns,
            });
        }
        let too_far = || {
            LineError::new(
                format!("sector {sector} is beyond any disk"),
                "correct the line",
            )
        };
        let has_stretch = operation.has_stretch();
        let offset_bytes = sector.checked_mul(SECTOR_BYTES).ok_or_else(too_far)?;
        let size_bytes = sectors.checked_mul(SECTOR_BYTES).ok_or_else(too_far)?;
        let request = RawRequest {
            arrival_ns: Some(at_ns),
            think_ns: None,
            volume,
            operation,
            offset_bytes: if has_stretch { offset_bytes } else { 0 },
            size_bytes: if has_stretch { size_bytes } else { 0 },
            measured_ns: None,
        };
        Ok(Parsed::Begun { request, sector })
    }
}

/// Sector, length and operation of an event; `None` for a command that moves no blocks.
fn stretch(words: &[&str], flags: &str) -> Option<(u64, u64, HostOperation)> {
    let plus = words.get(8) == Some(&"+");
    let place = words.get(7).and_then(|word| whole(word)).filter(|_| plus);
    let length = words.get(9).and_then(|word| whole(word)).filter(|_| plus);
    let sectors = length.unwrap_or(0);
    let operation = if sectors == 0 {
        // An empty request that asks for a flush first.
        flags.starts_with('F').then_some(HostOperation::Flush)?
    } else if flags.contains('D') {
        HostOperation::Trim
    } else if flags.contains('W') {
        HostOperation::Write
    } else if flags.contains('R') {
        HostOperation::Read
    } else {
        return None;
    };
    Some((place.unwrap_or(0), sectors, operation))
}
