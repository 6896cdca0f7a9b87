//! Hard disks from their mechanics: where a sector lies ([`geometry`], [`zones`]), how long the
//! arm takes ([`seek`]), the angle of the platters ([`rotation`]), which command comes next
//! ([`scheduler`]), what the buffer holds ([`read_cache`], [`write_cache`]), and the drive that
//! joins them ([`drive`]). [`mechanics`] is what all drives of a make share.

mod cached_writes;
mod check;
mod description;
mod drive;
mod geometry;
mod mechanics;
mod read_cache;
mod rotation;
mod scheduler;
mod seek;
mod skew_check;
mod write_cache;
mod zones;

#[cfg(test)]
mod electronics_tests;
#[cfg(test)]
mod geometry_tests;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod write_cache_tests;

pub use description::{
    HardDiskDescription, MeasuredSeeks, MeasuredZone, ReadCacheDescription, Scheduler, SheetSeeks,
};
pub use drive::HardDisk;
pub use seek::{SeekCurve, SeekRow, SeekTimes};

impl HardDiskDescription {
    /// Every rule this description breaks; paths start with `prefix`.
    pub fn check(&self, prefix: &str) -> Vec<crate::BrokenRule> {
        check::check(self, prefix)
    }
}
