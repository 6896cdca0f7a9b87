//! What every layer says of a read or a write.

/// Bytes in a sector, the unit of every address and length in the model.
pub const SECTOR_BYTES: u64 = 512;

/// Which way bytes move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum Direction {
    /// From the storage to the host.
    #[default]
    Read,
    /// From the host to the storage.
    Write,
}

/// What a request is for. It decides how long it waits at the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub enum IoClass {
    /// A host waits for the data.
    #[default]
    HostRead,
    /// A host waits for the write to be durable (write-through).
    HostWrite,
    /// The write cache gives a dirty block to the disks.
    Destage,
    /// The cache reads ahead of a sequential host.
    ReadAhead,
    /// A page moves between tiers.
    Migration,
    /// A copy goes into an SSD read cache.
    CacheFill,
    /// The contents of a lost disk are computed again.
    Rebuild,
    /// Everything is read to find what cannot be read.
    Scrub,
    /// What a background task does beside its timed requests when it is accelerated: it takes no time, and no disk
    /// counts it.
    Warped,
}

impl IoClass {
    /// How many classes there are that disks count.
    pub const COUNT: usize = Self::Warped as usize;
}

/// A run of sectors of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct VolumeExtent {
    pub volume: u16,
    pub first_sector: u64,
    pub sectors: u32,
}

impl VolumeExtent {
    /// The sector after the last.
    #[inline]
    pub fn end_sector(self) -> u64 {
        self.first_sector + u64::from(self.sectors)
    }

    /// Whether all of the other lies within this one.
    #[inline]
    pub fn contains(self, other: Self) -> bool {
        self.volume == other.volume
            && self.first_sector <= other.first_sector
            && other.end_sector() <= self.end_sector()
    }

    /// Whether the two have a sector in common.
    #[inline]
    pub fn overlaps(self, other: Self) -> bool {
        self.volume == other.volume
            && self.first_sector < other.end_sector()
            && other.first_sector < self.end_sector()
    }
}
