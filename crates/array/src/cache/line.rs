//! A line of the data cache: which of its sectors are known, changed, or on their way to disk.

use crate::payload::Payload;

/// No line: the end of a list.
pub(crate) const NONE: u32 = u32::MAX;

/// The place of a line that is not in the ring.
pub(super) const NOWHERE: u32 = u32::MAX;

/// The key of a line that is not in use.
pub(crate) const NO_KEY: u64 = u64::MAX;

/// Sectors of a line, one bit each.
pub(crate) type Sectors = u128;

/// The bits of `sectors` sectors from `first` on.
#[inline]
pub(crate) fn sectors_from(first: u32, sectors: u32) -> Sectors {
    debug_assert!(sectors >= 1 && first + sectors <= Sectors::BITS);
    (Sectors::MAX >> (Sectors::BITS - sectors)) << first
}

/// Calls `run(first, sectors)` for every run of set bits, in order.
#[inline]
pub(crate) fn for_runs(mut bits: Sectors, mut run: impl FnMut(u32, u32)) {
    while bits != 0 {
        let first = bits.trailing_zeros();
        let sectors = (!(bits >> first)).trailing_zeros();
        run(first, sectors);
        bits &= !sectors_from(first, sectors);
    }
}

/// One line. It belongs to the stretch of a volume that its key names.
///
/// What replacement, hits and most writes look at comes first, so that it lies in one line of the
/// CPU's cache. Whether there are sectors on their way is in two flags; only when there
/// is any the second line is looked at.
#[derive(Debug, Clone)]
#[repr(C, align(128))]
pub(crate) struct Line<P> {
    /// Sectors whose contents are here.
    pub valid: Sectors,
    /// Sectors newer than what is on disk and not on their way there.
    pub dirty: Sectors,
    /// Volume and number of the line within it.
    pub key: u64,
    /// Its place among the lines that may be replaced.
    pub place: u32,
    /// Fills in flight and writes about to be put in. A pinned line stays.
    pub pins: u32,
    /// The last fill that set out for this line while it was pinned by fills.
    pub last_fill: u32,
    /// The unit it belongs to while it is dirty.
    pub unit: u32,
    /// The next of the dirty lines of its unit.
    pub unit_next: u32,
    /// Whether the partner holds a copy of everything that is not on disk.
    pub mirrored: bool,
    is_destaging: bool,
    is_blocked: bool,
    /// Sectors on their way to disk while `is_destaging`, as they were when they set out. A sector
    /// that is written again meanwhile is dirty, too: its second version follows the first.
    destaging: Sectors,
    /// Sectors that the fills now in flight must not touch while `is_blocked`: what they bring is
    /// out of date.
    blocked: Sectors,
    /// Contents; what is not valid has no meaning.
    pub contents: P,
}

impl<P: Payload> Default for Line<P> {
    fn default() -> Self {
        Self {
            key: NO_KEY,
            valid: 0,
            dirty: 0,
            destaging: 0,
            blocked: 0,
            pins: 0,
            last_fill: NONE,
            mirrored: false,
            is_destaging: false,
            is_blocked: false,
            place: NOWHERE,
            unit: NONE,
            unit_next: NONE,
            contents: P::default(),
        }
    }
}

impl<P> Line<P> {
    /// Whether disks lack something that is here.
    #[inline]
    pub fn is_unwritten(&self) -> bool {
        self.dirty != 0 || self.is_destaging
    }

    /// Whether it is among the lines that may be replaced.
    #[inline]
    pub fn is_replaceable(&self) -> bool {
        self.place != NOWHERE
    }

    /// Sectors on their way to disk.
    #[inline]
    pub fn destaging(&self) -> Sectors {
        if self.is_destaging {
            self.destaging_there()
        } else {
            0
        }
    }

    // Separate functions, so that the second line is not loaded speculatively.
    #[cold]
    #[inline(never)]
    fn destaging_there(&self) -> Sectors {
        self.destaging
    }

    #[cold]
    #[inline(never)]
    fn blocked_there(&self) -> Sectors {
        self.blocked
    }

    /// What is dirty sets out for the disk.
    #[inline]
    pub fn set_out(&mut self) {
        self.destaging = std::mem::take(&mut self.dirty);
        self.is_destaging = self.destaging != 0;
    }

    /// What had set out for the disk is there.
    #[inline]
    pub fn arrive(&mut self) {
        self.is_destaging = false;
    }

    /// Sectors that the fills now in flight must not touch.
    #[inline]
    pub fn blocked(&self) -> Sectors {
        if self.is_blocked {
            self.blocked_there()
        } else {
            0
        }
    }

    /// No fill is in flight any more.
    #[inline]
    pub fn unblock(&mut self) {
        self.is_blocked = false;
    }

    /// Forgets sectors that changed on disk, except those that are newer here.
    #[inline]
    pub fn forget(&mut self, sectors: Sectors) {
        self.valid &= !sectors | self.dirty | self.destaging();
        if self.pins > 0 {
            self.blocked = self.blocked() | sectors;
            self.is_blocked = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_found_in_order() {
        let mut bits = sectors_from(0, 1) | sectors_from(3, 5) | sectors_from(126, 2);
        let mut runs = Vec::new();
        for_runs(bits, |first, sectors| runs.push((first, sectors)));
        assert_eq!(runs, [(0, 1), (3, 5), (126, 2)]);
        bits = sectors_from(0, 128);
        runs.clear();
        for_runs(bits, |first, sectors| runs.push((first, sectors)));
        assert_eq!(runs, [(0, 128)]);
    }
}
