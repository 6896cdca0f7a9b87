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
