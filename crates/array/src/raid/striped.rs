//! Layouts over whole disks: linear, RAID 0, 1, 10, 5 and 6.

use super::{Geometry, Level, Place, Protection, StripeLayout};

/// A mirror is cut into regions of 4 MiB, the unit that writes are ordered by. They follow each
/// other on the disks as they do in the group, so nothing shows outside.
const MIRROR_REGION_SECTORS: u64 = 8192;

/// A layout over equal disks.
#[derive(Debug, Clone)]
pub struct Striped {
    level: Level,
    members: u64,
    geometry: Geometry,
}

impl Striped {
    /// Lays `level` out over `members` disks of `member_sectors` sectors each. Linear and RAID 1
    /// take no notice of `chunk_sectors`. What does not fill a chunk at the end of the disks is
    /// not used.
    ///
    /// # Panics
    ///
    /// If the level cannot be laid out over so few disks, or is not one of whole disks.
    pub fn new(level: Level, members: u16, member_sectors: u64, chunk_sectors: u64) -> Self {
        let count = u64::from(members);
        let minimum = Self::minimum_members(level);
        assert!(members >= minimum, "{level:?} needs {minimum} disks");
        let chunk_sectors = match level {
            Level::Linear => member_sectors,
            Level::Raid1 => MIRROR_REGION_SECTORS.min(member_sectors),
            _ => chunk_sectors,
        };
        let rows = member_sectors / chunk_sectors;
        let (data_columns, protection, stripes) = match level {
            Level::Linear | Level::Raid0 => (1, Protection::None, rows * count),
            Level::Raid1 => (1, Protection::Copies(members), rows),
            Level::Raid10 => (1, Protection::Copies(2), rows * (count / 2)),
            Level::Raid5 => (members - 1, Protection::Parity(1), rows),
            Level::Raid6 => (members - 2, Protection::Parity(2), rows),
            Level::Vraid => unreachable!("asserted above"),
        };
        Self {
            level,
            members: count,
            geometry: Geometry {
                data_columns,
                protection,
                chunk_sectors,
                stripes,
            },
        }
    }

    /// The fewest disks a level can be laid out over.
    ///
    /// # Panics
    ///
    /// For [`Level::Vraid`], which is not laid out over whole disks.
    pub fn minimum_members(level: Level) -> u16 {
        match level {
            Level::Linear | Level::Raid0 => 1,
            Level::Raid1 | Level::Raid10 => 2,
            Level::Raid5 => 3,
            Level::Raid6 => 4,
            Level::Vraid => panic!("a Vraid is laid out over storage sets"),
        }
    }
}

impl StripeLayout for Striped {
    #[inline]
    fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Parity rotates as in the "left symmetric" arrangement: it moves one disk to the left with
    /// every stripe, and the data starts on the disk after it, so that a sequential read of any
    /// length uses all disks in turn.
    #[inline]
    fn place(&self, stripe: u64, column: u16) -> Place {
        let count = self.members;
        let column = u64::from(column);
        let chunk = self.geometry.chunk_sectors;
        let (member, row) = match self.level {
            Level::Linear => (stripe, 0),
            Level::Raid1 => (column, stripe),
            Level::Raid0 => {
                let row = stripe / count;
                (stripe - row * count, row)
            }
            Level::Raid10 => {
                let pairs = count / 2;
                let row = stripe / pairs;
                (2 * (stripe - row * pairs) + column, row)
            }
            _ => {
                let parity = count - 1 - stripe % count;
                let data_columns = u64::from(self.geometry.data_columns);
                let parities = count - data_columns;
                let from_parity = if column < data_columns {
                    parities + column
                } else {
                    column - data_columns
                };
                let member = parity + from_parity;
                (
                    if member < count {
                        member
                    } else {
                        member - count
                    },
                    stripe,
                )
            }
        };
        Place {
            member: member as u16,
            first_sector: row * chunk,
        }
    }

    /// The pair in RAID 10, else the whole group.
    fn domain(&self, member: u16) -> u16 {
        match self.level {
            Level::Raid10 => member / 2,
            _ => 0,
        }
    }
}
