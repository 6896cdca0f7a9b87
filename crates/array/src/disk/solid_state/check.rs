//! The rules a solid-state disk's description obeys.

use super::description::SolidStateDescription;
use super::flash::WriteFit;
use crate::disk::description::check_capacity;
use crate::{Complaint, SECTOR_BYTES};

/// Every rule that is broken; paths start with `prefix`.
pub(super) fn check(disk: &SolidStateDescription, prefix: &str) -> Vec<Complaint> {
    let mut complaints = check_capacity(disk.capacity_bytes, prefix);
    let mut unless = |holds: bool, key: &str, message: String| {
        if !holds {
            complaints.push(Complaint::new(format!("{prefix}.{key}"), message));
        }
    };
    let counts = [
        (disk.channels, 1..=64, "channels"),
        (disk.dies_per_channel, 1..=64, "dies_per_channel"),
        (
            disk.on_board_queue_depth,
            1..=65_536,
            "on_board_queue_depth",
        ),
    ];
    for (value, range, key) in counts {
        let (least, most) = (range.start(), range.end());
        let holds = range.contains(&value);
        unless(
            holds,
            key,
            format!("Between {least} and {most} are possible."),
        );
    }
    let rates = [
        (disk.interface_mb_per_s, 1.0..=1e6, "interface_mb_per_s"),
        (disk.channel_mb_per_s, 1.0..=1e6, "channel_mb_per_s"),
        (disk.page_read_us, 1.0..=1e4, "page_read_us"),
        (disk.read_variation, 0.0..=2.0, "read_variation"),
        (disk.command_latency_us, 0.0..=1e4, "command_latency_us"),
        (disk.write_latency_us, 0.0..=1e4, "write_latency_us"),
        (
            disk.random_read_4k_per_s,
            100.0..=1e8,
            "random_read_4k_per_s",
        ),
        (
            disk.sequential_write_mb_per_s,
            0.1..=1e6,
            "sequential_write_mb_per_s",
        ),
        (
            disk.random_write_4k_per_s,
            1.0..=1e8,
            "random_write_4k_per_s",
        ),
        (disk.program_suspend_us, 0.0..=1e5, "program_suspend_us"),
        (disk.filled_share, 0.0..=1.0, "filled_share"),
    ];
    for (value, range, key) in rates {
        let (least, most) = (range.start(), range.end());
        let holds = range.contains(&value);
        unless(holds, key, format!("It lies between {least} and {most}."));
    }
    unless(
        disk.page_bytes.is_power_of_two() && (4_096..=1 << 20).contains(&disk.page_bytes),
        "page_bytes",
        "A page is a power of two between 4096 bytes and 1 MiB.".into(),
    );
    unless(
        (SECTOR_BYTES..=1 << 40).contains(&disk.write_buffer_bytes),
        "write_buffer_bytes",
        "A write buffer holds between one sector and 1 TiB.".into(),
    );
    if complaints.is_empty() {
        complaints = check_rates(disk, prefix);
    }
    complaints
}

/// The rules between the rates.
fn check_rates(disk: &SolidStateDescription, prefix: &str) -> Vec<Complaint> {
    let mut complaints = Vec::new();
    let fit = WriteFit::new(disk);
    if !(0.999..=100.0).contains(&fit.amplification) {
        complaints.push(Complaint::new(
            format!("{prefix}.random_write_4k_per_s"),
            format!(
                "Sustained random writes are between 1 and about 1/100 of the sequential rate; \
                 these two make {:.2} programs per page written.",
                fit.amplification
            ),
        ));
    }
    if disk.sequential_write_mb_per_s > disk.interface_mb_per_s {
        complaints.push(Complaint::new(
            format!("{prefix}.sequential_write_mb_per_s"),
            "Sequential writes are no faster than the interface.",
        ));
    }
    complaints
}
