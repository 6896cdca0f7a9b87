//! The memory that database caches may have.

use edb::cache::SpareMemory;
use measure::host::Memory;
use std::cell::Cell;
use std::rc::Rc;
use std::time::{Duration, Instant};

/// The part of the memory that caches leave to other programs, and to what the kernel needs for a moment: one in
/// so many. Unconfirmed.
const RESERVE_ONE_IN: u64 = 16;

/// How long what was found is good for: the databases of a thread ask one after the other.
const GOOD_FOR: Duration = Duration::from_millis(50);

/// What one of `databases` caches may take, or has to give back. Where the memory is not known, none grows.
pub fn spare_memory(databases: u32) -> SpareMemory {
    let known: Cell<Option<(Instant, i64)>> = Cell::new(None);
    Rc::new(move || {
        let now = Instant::now();
        if let Some((since, bytes)) = known.get()
            && now.duration_since(since) < GOOD_FOR
        {
            return bytes;
        }
        let spare = Memory::now().map_or(0, spare_bytes) / i64::from(databases.max(1));
        known.set(Some((now, spare)));
        spare
    })
}

fn spare_bytes(memory: Memory) -> i64 {
    let reserve = memory.size_bytes / RESERVE_ONE_IN;
    memory
        .available_bytes
        .cast_signed()
        .saturating_sub_unsigned(reserve)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sixteenth_stays_with_others() {
        let spare = |available_bytes| {
            spare_bytes(Memory {
                size_bytes: 1600,
                available_bytes,
            })
        };
        assert_eq!((spare(1600), spare(100), spare(30)), (1500, 0, -70));
    }

    #[test]
    fn databases_share_it() {
        let (one, hundred) = (spare_memory(1)(), spare_memory(100)());
        assert!(hundred.abs() <= one.abs(), "{hundred} of {one}");
    }
}
