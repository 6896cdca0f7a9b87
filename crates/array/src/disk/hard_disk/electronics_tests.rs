//! Times that a data sheet does not have: overheads by kind of command, settling, how many commands
//! the firmware looks at, the way over the interface.

use super::tests::{Load, run, savvio, with_cache};
use super::*;
use crate::Direction;
use crate::disk::{Disk, DiskRequest};

fn rate(description: &HardDiskDescription, population: u32, write_share: f64) -> f64 {
    let mut disk = HardDisk::new(description, 1).unwrap();
    let load = Load {
        population,
        share: 1.0,
        sectors: 16,
        write_share,
        requests: 20_000,
        seed: 7,
    };
    run(&mut disk, &load)
}

/// Mean time of a command of a drive that serves one after the other, milliseconds.
fn mean_ms(description: &HardDiskDescription, population: u32, write_share: f64) -> f64 {
    1e3 / rate(description, population, write_share)
}

fn assert_near(found: f64, expected: f64, tolerance: f64, what: &str) {
    assert!(
        (found - expected).abs() < tolerance,
        "{what}: {found} against {expected}"
    );
}

#[test]
fn a_command_that_waits_is_decoded_meanwhile_if_the_drive_can() {
    let in_turn = HardDiskDescription {
        scheduler: Scheduler::FirstCome,
        ..savvio()
    };
    let overlapping = HardDiskDescription {
        overlaps_overhead: true,
        ..in_turn.clone()
    };
    let alone_ms = mean_ms(&in_turn, 1, 0.0);
    assert_near(mean_ms(&overlapping, 1, 0.0), alone_ms, 1e-9, "alone");
    assert_near(mean_ms(&in_turn, 2, 0.0), alone_ms, 0.05, "not overlapped");
    assert_near(
        mean_ms(&overlapping, 2, 0.0),
        alone_ms - 0.2,
        0.05,
        "overlapped",
    );
}

#[test]
fn overheads_are_those_of_the_kind_of_command() {
    let apart = HardDiskDescription {
        write_overhead_ms: Some(1.2),
        ..savvio()
    };
    let usual = savvio();
    assert_near(
        mean_ms(&apart, 1, 0.0),
        mean_ms(&usual, 1, 0.0),
        1e-9,
        "reads",
    );
    let more_ms = mean_ms(&apart, 1, 1.0) - mean_ms(&usual, 1, 1.0);
    assert_near(more_ms, 1.0, 0.05, "writes");
    // Three reads in a row: from the medium, while it is read ahead, and from the buffer.
    let times_ms = |description: &HardDiskDescription| -> Vec<f64> {
        let mut disk = HardDisk::new(description, 1).unwrap();
        let mut now_ns = 0;
        let mut one_ms = |first_sector| {
            disk.submit(
                now_ns,
                DiskRequest {
                    tag: 0,
                    direction: Direction::Read,
                    first_sector,
                    sectors: 16,
                },
            );
            let end_ns = disk.next_completion_ns().unwrap();
            disk.complete(end_ns);
            let time_ms = (end_ns - now_ns) as f64 / 1e6;
            now_ns = end_ns + 20_000_000;
            time_ms
        };
        [5_000_000, 5_000_016, 5_000_000].map(&mut one_ms).to_vec()
    };
    let usual = times_ms(&with_cache());
    let apart = times_ms(&HardDiskDescription {
        hit_overhead_ms: Some(0.5),
        ..with_cache()
    });
    assert_near(apart[0], usual[0], 1e-9, "a miss");
    assert_near(apart[1] - usual[1], 0.3, 1e-6, "read ahead");
    assert_near(apart[2] - usual[2], 0.3, 1e-6, "a hit");
}

#[test]
fn the_firmware_chooses_among_as_many_commands_as_it_looks_at() {
    let with_depth = |scheduler_depth| HardDiskDescription {
        scheduler_depth,
        ..savvio()
    };
    let first_come = HardDiskDescription {
        scheduler: Scheduler::FirstCome,
        ..savvio()
    };
    let rates: Vec<f64> = [Some(1), Some(2), Some(4), Some(8), Some(32)]
        .map(|depth| rate(&with_depth(depth), 32, 0.0))
        .to_vec();
    assert_near(rates[0], rate(&first_come, 32, 0.0), 1e-9, "one");
    assert!(
        rates.windows(2).all(|pair| pair[0] * 1.08 < pair[1]),
        "{rates:?}"
    );
    assert_near(
        rates[4],
        rate(&with_depth(None), 32, 0.0),
        1e-9,
        "all of them",
    );
    // Four of 32 are as good as four of four: the fifth of five is the one that has just come.
    let of_four = rate(&with_depth(None), 5, 0.0);
    assert_near(rates[2] / of_four, 1.0, 0.05, "four");
}

#[test]
fn settling_is_paid_at_new_places_only() {
    let settling = HardDiskDescription {
        settle_ms: 0.8,
        ..with_cache()
    };
    let more_ms = mean_ms(&settling, 1, 0.0) - mean_ms(&with_cache(), 1, 0.0);
    assert_near(more_ms, 0.8, 0.05, "random reads");
    let stream_ns = |description: &HardDiskDescription| {
        let mut disk = HardDisk::new(description, 1).unwrap();
        let (mut now_ns, mut from_ns) = (0, 0);
        for number in 0..2_000_u64 {
            disk.submit(
                now_ns,
                DiskRequest {
                    tag: 0,
                    direction: Direction::Read,
                    first_sector: number * 256,
                    sectors: 256,
                },
            );
            now_ns = disk.next_completion_ns().unwrap();
            disk.complete(now_ns);
            if number == 0 {
                from_ns = now_ns;
            }
        }
        now_ns - from_ns
    };
    assert_eq!(stream_ns(&settling), stream_ns(&with_cache()));
}

#[test]
fn data_cross_the_interface_after_the_medium_if_the_drive_does_not_overlap_the_two() {
    let slow = HardDiskDescription {
        interface_mb_per_s: 20.0,
        ..savvio()
    };
    let apart = HardDiskDescription {
        overlaps_interface: false,
        ..slow.clone()
    };
    // 8 KiB at 20 MB/s.
    let more_ms = mean_ms(&apart, 1, 0.0) - mean_ms(&slow, 1, 0.0);
    assert_near(more_ms, 0.41, 0.05, "reads");
    assert_near(
        mean_ms(&apart, 1, 1.0),
        mean_ms(&slow, 1, 1.0),
        1e-9,
        "writes",
    );
}
