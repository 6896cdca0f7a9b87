//! A page of the kernel's ring buffer of trace events.
//!
//! A page begins with the moment that its first event's distance counts from, and the length of
//! what follows; then events, each with its distance in time from the one before. The kernel
//! describes both in `events/header_page` and `events/header_event`.

use super::format::Fields;

/// Kinds of events that carry something else than data, by the number in place of their length.
const PADDING: u32 = 29;
const TIME_EXTEND: u32 = 30;
const TIME_STAMP: u32 = 31;
/// Bits of an event's head that hold its kind; the others hold the distance in time.
const KIND_BITS: u32 = 5;
const DISTANCE_BITS: u32 = 32 - KIND_BITS;
/// Bits of an absolute moment that an event can say; those above are as before.
const STAMP_BITS: u32 = 59;
/// Flags beside the length of a page's data: events were lost before it, and their number follows
/// the data.
const HAS_LOST: u64 = 1 << 31;
const HAS_LOST_COUNT: u64 = 1 << 30;
const LENGTH_MASK: u64 = (1 << 27) - 1;

/// Where a page holds what.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PageLayout {
    length_at: usize,
    length_bytes: usize,
    data_at: usize,
    data_bytes: usize,
}

impl PageLayout {
    /// Reads the kernel's description of a page.
    pub(super) fn parse(header_page: &str) -> Option<PageLayout> {
        let fields = Fields::parse(header_page);
        let (length, data) = (fields.find("commit")?, fields.find("data")?);
        Some(PageLayout {
            length_at: length.offset,
            length_bytes: length.size,
            data_at: data.offset,
            data_bytes: data.size,
        })
    }

    /// Bytes of a whole page.
    pub(super) fn page_bytes(&self) -> usize {
        self.data_at + self.data_bytes
    }

    /// Gives each event's moment and data. Returns how many events were lost before this page.
    pub(super) fn read(&self, page: &[u8], mut each: impl FnMut(u64, &[u8])) -> u64 {
        let number = |at: usize, bytes: usize| number_at(page, at, bytes);
        let (Some(mut at_ns), Some(length)) = (
            number(0, 8),
            number(self.length_at, self.length_bytes.min(8)),
        ) else {
            return 0;
        };
        let data_bytes = ((length & LENGTH_MASK) as usize).min(self.data_bytes);
        let end = self.data_at + data_bytes;
        let mut events = page.get(self.data_at..end).unwrap_or_default();
        while let Some(event) = take_event(&mut events) {
            at_ns = match event.moment {
                Moment::After(distance_ns) => at_ns.wrapping_add(distance_ns),
                Moment::Stamp(ns) => (at_ns >> STAMP_BITS << STAMP_BITS) | ns,
            };
            if let Some(data) = event.data {
                each(at_ns, data);
            }
        }
        match length {
            flags if flags & HAS_LOST == 0 => 0,
            flags if flags & HAS_LOST_COUNT == 0 => 1,
            _ => number(end, self.length_bytes.min(8)).unwrap_or(1),
        }
    }
}

/// What an event says about time.
enum Moment {
    After(u64),
    Stamp(u64),
}

struct RawEvent<'a> {
    moment: Moment,
    /// Nothing for events that only carry time, or were taken back.
    data: Option<&'a [u8]>,
}

/// Takes the next event off the front. `None` at the end of the page, and where a page breaks off.
fn take_event<'a>(events: &mut &'a [u8]) -> Option<RawEvent<'a>> {
    let rest = *events;
    let head = number_at(rest, 0, 4)? as u32;
    let (kind, distance) = if cfg!(target_endian = "little") {
        (head & ((1 << KIND_BITS) - 1), head >> KIND_BITS)
    } else {
        (head >> DISTANCE_BITS, head & ((1 << DISTANCE_BITS) - 1))
    };
    let distance = u64::from(distance);
    let word = number_at(rest, 4, 4);
    let (moment, data, bytes) = match kind {
        PADDING if distance == 0 => return None,
        PADDING => (Moment::After(distance), None, 4 + word? as usize),
        TIME_EXTEND => (Moment::After((word? << DISTANCE_BITS) + distance), None, 8),
        TIME_STAMP => (Moment::Stamp((word? << DISTANCE_BITS) + distance), None, 8),
        // The length, which counts its own four bytes, stands before the data.
        0 => {
            let bytes = 4 + word? as usize;
            (Moment::After(distance), Some(rest.get(8..bytes)?), bytes)
        }
        words => {
            let bytes = 4 + 4 * words as usize;
            (Moment::After(distance), Some(rest.get(4..bytes)?), bytes)
        }
    };
    // Events begin at whole words.
    *events = rest.get(bytes.next_multiple_of(4)..).unwrap_or_default();
    Some(RawEvent { moment, data })
}

/// A number of up to eight bytes, in the machine's own order.
pub(super) fn number_at(bytes: &[u8], at: usize, size: usize) -> Option<u64> {
    let from = bytes.get(at..at.checked_add(size)?)?;
    let mut whole = [0; 8];
    if cfg!(target_endian = "little") {
        whole.get_mut(..size)?.copy_from_slice(from);
    } else {
        whole.get_mut(8 - size.min(8)..)?.copy_from_slice(from);
    }
    Some(u64::from_ne_bytes(whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LAYOUT: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
        \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
        \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
        \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

    fn layout() -> PageLayout {
        PageLayout::parse(LAYOUT).unwrap()
    }

    fn head(kind: u32, distance: u32) -> [u8; 4] {
        if cfg!(target_endian = "little") {
            (kind | distance << KIND_BITS).to_ne_bytes()
        } else {
            (kind << DISTANCE_BITS | distance).to_ne_bytes()
        }
    }

    fn page(at_ns: u64, flags: u64, parts: &[&[u8]], after: &[u8]) -> Vec<u8> {
        let data = parts.concat();
        let mut page = at_ns.to_ne_bytes().to_vec();
        page.extend((flags | data.len() as u64).to_ne_bytes());
        page.extend(data);
        page.extend(after);
        page.resize(layout().page_bytes().max(page.len()), 0xee);
        page
    }

    fn read(page: &[u8]) -> (Vec<(u64, Vec<u8>)>, u64) {
        let mut seen = Vec::new();
        let lost = layout().read(page, |at_ns, data| seen.push((at_ns, data.to_vec())));
        (seen, lost)
    }

    #[test]
    fn every_kind_of_event_moves_the_clock_as_it_says() {
        let parts: &[&[u8]] = &[
            &head(2, 5),
            b"eightlet",
            &head(TIME_EXTEND, 7),
            &3_u32.to_ne_bytes(),
            &head(1, 1),
            b"four",
            // Taken back: eight bytes with their length, and a distance that counts.
            &head(PADDING, 10),
            &8_u32.to_ne_bytes(),
            b"gone",
            // A long one says its length in a word: four for the word and six for the data.
            &head(0, 2),
            &10_u32.to_ne_bytes(),
            b"sixlet\0\0",
            &head(TIME_STAMP, 9),
            &1_u32.to_ne_bytes(),
            &head(1, 0),
            b"last",
            &head(PADDING, 0),
            b"whatever",
        ];
        let (seen, lost) = read(&page(1_000, 0, parts, b""));
        let extended = 1_005 + 7 + (3_u64 << DISTANCE_BITS);
        let stamped = (1_u64 << DISTANCE_BITS) + 9;
        let wanted = vec![
            (1_005, b"eightlet".to_vec()),
            (extended + 1, b"four".to_vec()),
            (extended + 13, b"sixlet".to_vec()),
            (stamped, b"last".to_vec()),
        ];
        assert_eq!((seen, lost), (wanted, 0));
    }

    #[test]
    fn lost_events_are_reported() {
        let event: &[&[u8]] = &[&head(1, 5), b"four"];
        assert_eq!(read(&page(0, HAS_LOST, event, b"")).1, 1);
        let counted = page(0, HAS_LOST | HAS_LOST_COUNT, event, &312_u64.to_ne_bytes());
        assert_eq!(read(&counted).1, 312);
    }

    #[test]
    fn no_bytes_at_all_make_it_fail() {
        let good = page(
            7,
            0,
            &[&head(0, 2), &10_u32.to_ne_bytes(), b"sixlet\0\0"],
            b"",
        );
        for end in 0..64 {
            let _ = read(&good[..end]);
        }
        for at in 8..32 {
            for byte in [0, 1, 29, 30, 31, 0x7f, 0xff] {
                let mut bad = good.clone();
                bad[at] = byte;
                let _ = read(&bad);
            }
        }
    }
}
