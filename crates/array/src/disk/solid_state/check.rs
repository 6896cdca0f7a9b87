//! The rules a solid-state disk's description obeys.

use super::description::SolidStateDescription;
use super::flash::WriteFit;
use crate::BrokenRule;

/// Every rule that is broken; paths start with `prefix`.
pub(super) fn check(disk: &SolidStateDescription, prefix: &str) -> Vec<BrokenRule> {
    let mut diagnostics = BrokenRule::out_of_bounds(disk, prefix);
    // What follows divides by these.
    if !diagnostics.is_empty() {
        return diagnostics;
    }
    let mut report = |key: &str, message: &str| {
        diagnostics.push(BrokenRule::new(format!("{prefix}.{key}"), message));
    };
    if !disk.page_bytes.is_power_of_two() {
        report("page_bytes", "The bytes of a page are a power of two.");
        return diagnostics;
    }
    let fit = WriteFit::new(disk);
    if !(0.999..=100.0).contains(&fit.amplification) {
        let message = format!(
            "Sustained random writes are between 1 and about 1/100 of the sequential rate; \
             these two make {:.2} programs per page written.",
            fit.amplification
        );
        report("random_write_4k_per_s", &message);
    }
    if disk.sequential_write_mb_per_s > disk.interface_mb_per_s {
        report(
            "sequential_write_mb_per_s",
            "Sequential writes are no faster than the interface.",
        );
    }
    diagnostics
}
