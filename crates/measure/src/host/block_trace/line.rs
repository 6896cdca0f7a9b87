//! One line of the kernel's trace of requests.
//!
//! A request that is handed to its device, and one that has come back:
//!
//! ```text
//! postgres-6994  [001] ..... 47742.277198: block_rq_issue: 254,0 RA 73728 () 12580536 + 144 be,0,4 [postgres]
//! kworker/1-44   [001] ..s.. 47742.277454: block_rq_complete: 254,0 RA () 12580536 + 144 be,0,4 [0]
//! ```

/// What a request does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// It reads.
    Read,
    /// It writes.
    Write,
    /// It moves no data: it flushes a cache or gives room back.
    Other,
}

/// A line with something to say.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Line<'a> {
    /// A request has been handed to its device.
    Issued {
        place: Place,
        at_ns: u64,
        direction: Direction,
        is_synchronous: bool,
        bytes: u64,
        process: u32,
        command: &'a str,
    },
    /// A request has come back.
    Completed {
        place: Place,
        at_ns: u64,
        failed: bool,
    },
    /// The kernel has dropped so many events.
    Lost(u64),
}

/// A request's device and first sector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Place {
    pub major: u32,
    pub minor: u32,
    pub sector: u64,
}

impl<'a> Line<'a> {
    /// Reads a line; `None` when it is about something else.
    pub(super) fn parse(line: &'a str) -> Option<Line<'a>> {
        if let Some((_, lost)) = line.split_once("[LOST ") {
            return lost.split(' ').next()?.parse().ok().map(Line::Lost);
        }
        if let Some((before, event)) = line.split_once(": block_rq_issue: ") {
            return issued(before, event);
        }
        let (before, event) = line.split_once(": block_rq_complete: ")?;
        completed(before, event)
    }
}

/// `254,0 RA 73728 () 12580536 + 144 be,0,4 [postgres]`, after the task and the time.
fn issued<'a>(before: &'a str, event: &'a str) -> Option<Line<'a>> {
    let (device, rest) = event.split_once(' ')?;
    let (kind, rest) = rest.split_once(' ')?;
    let (bytes, rest) = rest.split_once(' ')?;
    let (_, rest) = rest.split_once(") ")?;
    let sector = rest.split(' ').next()?;
    let command = rest.split_once('[')?.1.strip_suffix(']')?;
    // The name of a task may have blanks and dashes, and ends with its number.
    let task = before.split_once(" [")?.0.trim_end();
    let process = task.rsplit_once('-')?.1.parse().ok()?;
    Some(Line::Issued {
        place: place(device, sector)?,
        at_ns: time_ns(before)?,
        direction: direction(kind),
        is_synchronous: kind.contains('S'),
        bytes: bytes.parse().ok()?,
        process,
        command,
    })
}

/// `254,0 RA () 12580536 + 144 be,0,4 [0]`, after the task and the time.
fn completed<'a>(before: &str, event: &str) -> Option<Line<'a>> {
    let (device, rest) = event.split_once(' ')?;
    let (_, rest) = rest.split_once(") ")?;
    let sector = rest.split(' ').next()?;
    let error = rest.rsplit_once('[')?.1.strip_suffix(']')?;
    Some(Line::Completed {
        place: place(device, sector)?,
        at_ns: time_ns(before)?,
        failed: error != "0",
    })
}

fn place(device: &str, sector: &str) -> Option<Place> {
    let (major, minor) = device.split_once(',')?;
    Some(Place {
        major: major.parse().ok()?,
        minor: minor.parse().ok()?,
        sector: sector.parse().ok()?,
    })
}

/// The letters of a request: `F` before or after the operation asks for a flush with it, and a
/// flush of its own has no other letter.
fn direction(kind: &str) -> Direction {
    let operation = kind.strip_prefix('F').filter(|rest| !rest.is_empty());
    match operation.unwrap_or(kind).as_bytes().first() {
        Some(b'R') => Direction::Read,
        Some(b'W') => Direction::Write,
        _ => Direction::Other,
    }
}

/// The time before the name of the event, `47742.277198`, in whole nanoseconds.
fn time_ns(before: &str) -> Option<u64> {
    let (seconds, micros) = before.rsplit_once(' ')?.1.split_once('.')?;
    let micros = format!("{micros:0<9}");
    Some(seconds.parse::<u64>().ok()? * 1_000_000_000 + micros.get(..9)?.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ISSUED: &str = "  lto 2nkikc-9-6994    [001] ..... 47742.277198: block_rq_issue: \
                          254,0 FWS 73728 () 12580536 + 144 be,0,4 [lto 2nkikc]";

    #[test]
    fn a_request_on_its_way_is_read() {
        let wanted = Line::Issued {
            place: Place {
                major: 254,
                minor: 0,
                sector: 12_580_536,
            },
            at_ns: 47_742_277_198_000,
            direction: Direction::Write,
            is_synchronous: true,
            bytes: 73_728,
            process: 6_994,
            command: "lto 2nkikc",
        };
        assert_eq!(Line::parse(ISSUED), Some(wanted));
    }

    #[test]
    fn a_request_that_came_back_is_read() {
        let line =
            "<idle>-0 [001] ..s.. 7.000001: block_rq_complete: 8,16 RA () 99 + 8 be,0,4 [-5]";
        let wanted = Line::Completed {
            place: Place {
                major: 8,
                minor: 16,
                sector: 99,
            },
            at_ns: 7_000_001_000,
            failed: true,
        };
        assert_eq!(Line::parse(line), Some(wanted));
    }

    #[test]
    fn flushes_and_discards_move_no_data() {
        assert_eq!(direction("F"), Direction::Other);
        assert_eq!(direction("DS"), Direction::Other);
        assert_eq!(direction("RM"), Direction::Read);
        assert_eq!(direction("WFS"), Direction::Write);
    }

    #[test]
    fn lost_events_are_counted_and_the_rest_is_passed_over() {
        assert_eq!(
            Line::parse("CPU:1 [LOST 312 EVENTS]"),
            Some(Line::Lost(312))
        );
        for line in [
            "",
            "# tracer: nop",
            "x: block_rq_issue: ",
            "block_rq_complete: 8,0",
        ] {
            assert_eq!(Line::parse(line), None, "{line}");
        }
        // Whatever is cut out of a good line, reading it never fails in another way.
        for end in 0..ISSUED.len() {
            let _ = Line::parse(&ISSUED[..end]);
            let _ = Line::parse(&ISSUED[end..]);
        }
    }
}
