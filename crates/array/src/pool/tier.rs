//! The tiers of a pool.

use config::choice;

choice! {
    /// A class of disk groups within a pool. Pages never leave their pool.
    ///
    /// Source: the tiers of the MSA 2040 family and its relatives (confirmed, ME4 guide p. 25).
    #[derive(Hash, PartialOrd, Ord)]
    pub enum Tier {
        /// Solid-state disks, the highest tier.
        Performance = "performance",
        /// Enterprise disks, 10,000 or 15,000 turns a minute.
        Standard = "standard",
        /// Nearline disks, 7,200 turns a minute.
        Archive = "archive",
    }
}

impl Tier {
    /// All tiers, the highest first.
    pub const ALL: [Self; 3] = [Self::Performance, Self::Standard, Self::Archive];

    /// Whether the tier's disks turn.
    pub fn is_spinning(self) -> bool {
        self != Self::Performance
    }

    /// The tier's place, the highest being 0.
    pub fn rank(self) -> usize {
        self as usize
    }
}
