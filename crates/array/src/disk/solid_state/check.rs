//! The rules a solid-state disk's description obeys.

use super::description::SolidStateDescription;
use super::flash::WriteFit;
use crate::BrokenRule;
use crate::broken_rule::Checker;

/// Every rule that is broken; paths start with `prefix`.
pub(super) fn check(disk: &SolidStateDescription, prefix: &str) -> Vec<BrokenRule> {
    let mut checker = Checker::new(disk, prefix);
    // What follows divides by these.
    if !checker.is_empty() {
        return checker.finish();
    }
    if !disk.page_bytes.is_power_of_two() {
        checker.add("page_bytes", "The bytes of a page are a power of two.");
        return checker.finish();
    }
    let stripe_bytes = disk.stripe_bytes.unwrap_or(disk.page_bytes);
    checker.require(
        stripe_bytes.is_power_of_two() && stripe_bytes <= disk.page_bytes,
        "stripe_bytes",
        "The bytes of a stripe are a power of two and no more than those of a page.",
    );
    let sense_bytes = disk.sense_bytes.unwrap_or(stripe_bytes);
    checker.require(
        sense_bytes.is_power_of_two() && sense_bytes <= stripe_bytes,
        "sense_bytes",
        "What is sensed at once is a power of two and no more than a stripe.",
    );
    checker.require(
        disk.slc_write_mb_per_s.is_some() == (disk.slc_cache_bytes > 0),
        "slc_write_mb_per_s",
        "An SLC cache has a size and a rate, or there is none.",
    );
    let is_faster =
        |rate| (disk.sequential_write_mb_per_s..=disk.interface_mb_per_s).contains(&rate);
    checker.require(
        disk.slc_write_mb_per_s.is_none_or(is_faster),
        "slc_write_mb_per_s",
        "Writes into the SLC cache are faster than sequential writes beyond it, and no faster than the \
         interface.",
    );
    let fit = WriteFit::new(disk);
    if !(0.999..=100.0).contains(&fit.amplification) {
        let message = format!(
            "Sustained random writes are between 1 and about 1/100 of the sequential rate; \
             these two make {:.2} programs per page written.",
            fit.amplification
        );
        checker.add("random_write_4k_iops", message);
    }
    if disk.sequential_write_mb_per_s > disk.interface_mb_per_s {
        checker.add(
            "sequential_write_mb_per_s",
            "Sequential writes are no faster than the interface.",
        );
    }
    checker.finish()
}
