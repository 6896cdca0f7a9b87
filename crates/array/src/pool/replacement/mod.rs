//! Which copies a full read cache keeps: one rule per file, behind [`Replacement`].

mod arc;
mod index;
mod lists;
mod lru;
mod lru2;
mod s3_fifo;
#[cfg(test)]
mod tests;

use enum_dispatch::enum_dispatch;

use super::settings::ReplacementName;

pub(crate) use index::NONE;

/// What became of an insertion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Inserted {
    /// Where the new line goes.
    pub(crate) slot: u32,
    /// The line that was there, if one had to leave.
    pub(crate) evicted: Option<u32>,
}

/// A rule of replacement and the directory it works on: lines, each in one slot of the cache.
///
/// Lines are below `u32::MAX`. Slots count from 0 and stay below the capacity.
#[enum_dispatch]
pub(crate) trait Replacement {
    /// The slot of a line that is in the cache.
    fn find(&self, line: u32) -> Option<u32>;

    /// A line that is in the cache was used.
    fn hit(&mut self, line: u32);

    /// Puts in a line that is not in the cache.
    fn insert(&mut self, line: u32) -> Inserted;

    /// Takes a line out, because it was written or trimmed; says which slot it held.
    fn remove(&mut self, line: u32) -> Option<u32>;

    /// Forgets every line, and what was known of those that left.
    fn clear(&mut self);

    /// Lines in the cache.
    fn len(&self) -> u32;
}

/// The rules by name, without indirection.
#[enum_dispatch(Replacement)]
#[derive(Debug)]
pub(crate) enum AnyReplacement {
    Lru(lru::Lru),
    Lru2(lru2::Lru2),
    Arc(arc::Arc),
    S3Fifo(s3_fifo::S3Fifo),
}

impl AnyReplacement {
    /// The rule called `name` for a cache of `capacity` lines.
    pub(crate) fn new(name: ReplacementName, capacity: u32) -> Self {
        assert!(capacity > 0, "a cache holds at least one line");
        match name {
            ReplacementName::Lru => Self::Lru(lru::Lru::new(capacity)),
            ReplacementName::Lru2 => Self::Lru2(lru2::Lru2::new(capacity)),
            ReplacementName::Arc => Self::Arc(arc::Arc::new(capacity)),
            ReplacementName::S3Fifo => Self::S3Fifo(s3_fifo::S3Fifo::new(capacity)),
        }
    }
}
