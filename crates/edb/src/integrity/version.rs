//! Versions of pages, and the database times that one database hands out.

use crate::format::database_header::Signature;

/// What is known of the newest state of a page: 16 bits hashed from its database time, or one of
/// two states that no hash ever is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Version(u16);

/// Values below this one are no hashes.
const FIRST_HASH: u64 = 2;

impl Version {
    /// Nothing is known of the page: whatever is read is taken for its newest state.
    pub const UNKNOWN: Self = Self(0);
    /// The page was never written: all its bytes are zero.
    pub const NEVER_WRITTEN: Self = Self(1);

    /// The version of a page of that database time. Two different times have the same version once
    /// in 65,534 pairs.
    #[must_use]
    #[inline]
    pub fn of(dbtime: u64) -> Self {
        let hashes = (1 << 16) - FIRST_HASH;
        Self((FIRST_HASH + (((mixed(dbtime) >> 48) * hashes) >> 16)) as u16)
    }

    /// Whether it is of a page that was written.
    #[must_use]
    #[inline]
    pub fn is_written(self) -> bool {
        u64::from(self.0) >= FIRST_HASH
    }

    /// The version as it is stored.
    #[must_use]
    pub fn code(self) -> u16 {
        self.0
    }

    /// The version that is stored so.
    #[must_use]
    pub fn from_code(code: u16) -> Self {
        Self(code)
    }
}

/// The finaliser of SplitMix64 (Steele, Lea, Flood 2014): every bit depends on every other.
fn mixed(mut value: u64) -> u64 {
    value = (value ^ value >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    value = (value ^ value >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ value >> 31
}

/// Page changes that a database has room for before it reaches the times of another: at 100,000 a
/// second over a year.
const CHANGES_BITS: u32 = 42;
/// There are so many bits of bases: two databases have the same once in about a million pairs.
const BASE_BITS: u32 = 20;

/// The database times that a database can have handed out. The format stores eight bytes and asks
/// only that they grow, so each database counts from a base of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DbtimeRange {
    /// The time before the first change.
    pub base: u64,
    /// Times from here on belong to another database.
    pub end: u64,
}

impl DbtimeRange {
    /// The range of a file that nothing is known of: every time is in it.
    pub const ANY: Self = Self {
        base: 0,
        end: u64::MAX,
    };

    /// The range of a new database with this signature.
    #[must_use]
    pub fn of_new(signature: Signature) -> Self {
        let seed = mixed(signature.created.unix_ms) ^ u64::from(signature.random);
        let base = (1 + (mixed(seed) >> (64 - BASE_BITS))) << CHANGES_BITS;
        Self {
            base,
            end: base + (1 << CHANGES_BITS),
        }
    }

    /// The range of a database that has come to the time `dbtime`. Databases of versions before
    /// there were bases count from zero, as those of other programs do.
    #[must_use]
    pub fn of_existing(signature: Signature, dbtime: u64) -> Self {
        let range = Self::of_new(signature);
        if range.contains(dbtime) {
            range
        } else if dbtime < 1 << CHANGES_BITS {
            Self {
                base: 0,
                end: 1 << CHANGES_BITS,
            }
        } else {
            Self::ANY
        }
    }

    /// Whether the database can have given this time to a page.
    #[must_use]
    #[inline]
    pub fn contains(&self, dbtime: u64) -> bool {
        self.base <= dbtime && dbtime < self.end
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::database_header::LogTime;

    #[test]
    fn a_version_is_never_one_of_the_two_states() {
        for dbtime in (0..200_000).chain([u64::MAX, 1 << 42, 1 << 62]) {
            let version = Version::of(dbtime);
            assert!(version.is_written() && version != Version::UNKNOWN);
            assert_eq!(Version::from_code(version.code()), version);
        }
    }

    #[test]
    fn versions_of_neighbouring_times_collide_once_in_65534() {
        let base = 5 << CHANGES_BITS;
        let mut equal = 0;
        let pairs = 4_000_000_u64;
        for number in 0..pairs {
            let later = 1 + number % 97;
            equal += u64::from(Version::of(base + number) == Version::of(base + number + later));
        }
        let expected = pairs / 65_534;
        assert!((expected / 2..expected * 2).contains(&equal), "{equal}");
    }

    #[test]
    fn databases_count_from_bases_of_their_own() {
        let signature = |random| Signature {
            random,
            created: LogTime::default(),
        };
        let mut bases: Vec<u64> = (0..1000)
            .map(|random| DbtimeRange::of_new(signature(random)).base)
            .collect();
        bases.sort_unstable();
        bases.dedup();
        assert!(bases.len() >= 998, "{} bases of 1,000", bases.len());
        let range = DbtimeRange::of_new(signature(7));
        assert_eq!(
            DbtimeRange::of_existing(signature(7), range.base + 12),
            range
        );
        let old = DbtimeRange::of_existing(signature(7), 12);
        assert!(old.contains(1) && old.contains(1 << 30));
    }
}
