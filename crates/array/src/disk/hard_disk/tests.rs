//! The drive against its data sheet, and against the published table of queueing.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::disk::{Disk, DiskRequest};
use crate::{Direction, SECTOR_BYTES};

/// A 600 GB 10K drive as its data sheet has it, without read cache, zones or aging.
pub(super) fn savvio() -> HardDiskDescription {
    let times = |single_track_ms, average_ms, full_stroke_ms| SeekTimes {
        single_track_ms,
        average_ms,
        full_stroke_ms,
    };
    HardDiskDescription {
        capacity_bytes: 600_127_266_816,
        rpm: 10_000,
        heads: 6,
        tracks_per_surface: 147_620,
        outer_to_inner_rate_ratio: 1.7,
        zone_count: 24,
        average_bytes_per_track: Some(677_557),
        command_overhead_ms: 0.2,
        write_overhead_ms: None,
        hit_overhead_ms: None,
        sequential_overhead_ms: None,
        overlaps_overhead: false,
        settle_ms: 0.0,
        head_switch_ms: 0.3,
        on_board_queue_depth: 64,
        scheduler_depth: None,
        scheduler: Scheduler::ShortestPositioning,
        aging: 0.0,
        interface_mb_per_s: 600.0,
        overlaps_interface: true,
        seek: Some(SheetSeeks {
            read: times(0.30, 3.81, 7.81),
            write: times(0.56, 4.40, 8.18),
        }),
        measured_seek: None,
        zones: Vec::new(),
        read_cache: None,
        write_cache_bytes: 0,
    }
}

pub(super) fn with_cache() -> HardDiskDescription {
    HardDiskDescription {
        read_cache: Some(ReadCacheDescription {
            bytes: 32 << 20,
            segments: 16,
            read_ahead_bytes: 1 << 20,
        }),
        ..savvio()
    }
}

/// A population of requests that is kept at `population`, spread over the first `share` of the
/// disk; returns requests per second.
pub(super) struct Load {
    pub(super) population: u32,
    pub(super) share: f64,
    pub(super) sectors: u32,
    pub(super) write_share: f64,
    pub(super) requests: u32,
    pub(super) seed: u64,
}

pub(super) fn run(disk: &mut HardDisk, load: &Load) -> f64 {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(load.seed);
    let span = (disk.capacity_sectors() as f64 * load.share) as u64 - u64::from(load.sectors);
    let mut draw = |tag| DiskRequest {
        tag,
        direction: if random.random::<f64>() < load.write_share {
            Direction::Write
        } else {
            Direction::Read
        },
        first_sector: random.random_range(0..span),
        sectors: load.sectors,
    };
    for tag in 0..load.population {
        disk.submit(0, draw(tag));
    }
    let mut now_ns = 0;
    for _ in 0..load.requests {
        now_ns = disk.next_completion_ns().unwrap();
        let tag = disk.complete(now_ns).tag;
        disk.submit(now_ns, draw(tag));
    }
    let rate = f64::from(load.requests) / (now_ns as f64 / 1e9);
    while let Some(done_ns) = disk.next_completion_ns() {
        disk.complete(done_ns);
    }
    disk.counters().check_single_server_invariants().unwrap();
    assert_eq!(disk.counters().parts.total_ns(), disk.counters().service_ns);
    rate
}

/// 0.2 ms of a turn of 6 ms, on a disk without zones.
fn table_load(population: u32, share: f64, requests: u32) -> Load {
    Load {
        population,
        share,
        sectors: 44,
        write_share: 0.0,
        requests,
        seed: 20 + u64::from(population),
    }
}

#[test]
fn the_published_table_of_queueing_is_met() {
    let disk = HardDiskDescription {
        outer_to_inner_rate_ratio: 1.0,
        ..savvio()
    };
    let make = HardDisk::new(&disk, 1).unwrap();
    let table = [
        (1.0, [138.0, 165.0, 199.0, 241.0, 287.0, 344.0]),
        (0.25, [184.0, 224.0, 279.0, 338.0, 406.0, 469.0]),
        (0.10, [209.0, 268.0, 334.0, 415.0, 492.0, 567.0]),
    ];
    for (share, row) in table {
        for (power, published) in row.into_iter().enumerate() {
            // The table's depth is the number to choose from; the one in service comes on top.
            let choices = 1 << power;
            let mut drive = make.another(9);
            let rate = run(&mut drive, &table_load(choices + 1, share, 60_000));
            let ratio = rate / published;
            println!("share {share} depth {choices}: {rate:.1} against {published} ({ratio:.4})");
            assert!(
                (ratio - 1.0).abs() < 0.03,
                "share {share}, {choices} to choose from: {rate} against {published}"
            );
        }
    }
}

#[test]
fn a_single_random_read_takes_overhead_seek_half_a_turn_and_transfer() {
    let disk = HardDiskDescription {
        outer_to_inner_rate_ratio: 1.0,
        ..savvio()
    };
    for (write_share, seek_ms) in [(0.0, 3.81), (1.0, 4.40)] {
        let mut drive = HardDisk::new(&disk, 3).unwrap();
        let load = Load {
            write_share,
            ..table_load(1, 1.0, 200_000)
        };
        run(&mut drive, &load);
        let counters = drive.counters();
        let mean_ms = counters.mean_response_ns() / 1e6;
        let expected_ms = 0.2 + seek_ms + 3.0 + 0.2;
        assert!((mean_ms / expected_ms - 1.0).abs() < 0.01, "{mean_ms}");
        let per_request = |ns: u64| ns as f64 / counters.completed() as f64 / 1e6;
        assert!((per_request(counters.parts.seek_ns) / seek_ms - 1.0).abs() < 0.01);
        assert!((per_request(counters.parts.rotation_ns) / 3.0 - 1.0).abs() < 0.01);
    }
}

/// Reads or writes `total_sectors` from `first_sector` on in order; returns bytes per second.
fn stream(
    drive: &mut HardDisk,
    direction: Direction,
    first_sector: u64,
    total_sectors: u64,
    length: u32,
    depth: usize,
) -> f64 {
    let mut next = first_sector;
    let end = first_sector + total_sectors;
    let (mut now_ns, mut began_ns) = (0, None);
    loop {
        while next < end && drive.queued() < depth {
            drive.submit(
                now_ns,
                DiskRequest {
                    tag: 0,
                    direction,
                    first_sector: next,
                    sectors: length,
                },
            );
            next += u64::from(length);
        }
        let Some(done_ns) = drive.next_completion_ns() else {
            break;
        };
        now_ns = done_ns;
        drive.complete(now_ns);
        // The first positioning is not part of the stream.
        began_ns.get_or_insert(now_ns);
    }
    drive.counters().check_single_server_invariants().unwrap();
    let bytes = (total_sectors - u64::from(length)) * SECTOR_BYTES;
    bytes as f64 / ((now_ns - began_ns.unwrap()) as f64 / 1e9)
}

/// Bytes per second from the first zone: a turn and a skew per track.
fn media_rate(drive: &HardDiskDescription, skew_ms: f64) -> f64 {
    let sectors = f64::from(zones::sheet_zones(drive)[0].1);
    let sector_ms = 6.0 / sectors;
    let track_ms = 6.0 + (skew_ms / sector_ms).ceil() * sector_ms;
    sectors * 512.0 / (track_ms / 1e3)
}

#[test]
fn sequential_reads_run_at_the_rate_of_the_medium() {
    let disk = with_cache();
    let expected = media_rate(&disk, 0.56);
    for (length, depth) in [(64, 1), (64, 4), (128, 1), (512, 1), (512, 2), (2_048, 8)] {
        let mut drive = HardDisk::new(&disk, 5).unwrap();
        let total = 2_048 * 200;
        let rate = stream(&mut drive, Direction::Read, 4_096, total, length, depth);
        assert!(
            (rate / expected - 1.0).abs() < 0.01,
            "{length} sectors, depth {depth}: {rate} against {expected}"
        );
    }
}

#[test]
fn queued_sequential_writes_run_at_the_rate_of_the_medium_and_single_ones_lose_turns() {
    let disk = with_cache();
    let expected = media_rate(&disk, 0.56);
    let rate_at = |depth| {
        let mut drive = HardDisk::new(&disk, 5).unwrap();
        stream(&mut drive, Direction::Write, 4_096, 512 * 400, 512, depth)
    };
    assert!((rate_at(4) / expected - 1.0).abs() < 0.01);
    // One at a time, each write begins where the one before it ended, a whole turn later.
    let single = rate_at(1);
    let bytes = 512.0 * 512.0;
    let expected = bytes / (6e-3 + bytes / expected);
    assert!(
        (single / expected - 1.0).abs() < 0.01,
        "{single} against {expected}"
    );
}

#[test]
fn a_second_read_of_the_same_sectors_comes_from_the_buffer_until_they_are_written() {
    let mut drive = HardDisk::new(&with_cache(), 5).unwrap();
    let request = |direction| DiskRequest {
        tag: 1,
        direction,
        first_sector: 1_000_000,
        sectors: 64,
    };
    let serve = |drive: &mut HardDisk, now_ns, direction| {
        drive.submit(now_ns, request(direction));
        let done_ns = drive.next_completion_ns().unwrap();
        drive.complete(done_ns);
        done_ns - now_ns
    };
    serve(&mut drive, 0, Direction::Read);
    let again_ns = serve(&mut drive, 100_000_000, Direction::Read);
    // Overhead, then 32 KiB at 600 MB/s.
    assert_eq!(again_ns, 200_000 + 54_613);
    assert_eq!(drive.counters().buffer_hits, 1);
    serve(&mut drive, 200_000_000, Direction::Write);
    let read_ns = serve(&mut drive, 300_000_000, Direction::Read);
    assert_eq!(drive.counters().buffer_hits, 1);
    assert!(read_ns > again_ns);
}

#[test]
fn aging_bounds_how_long_a_request_waits() {
    // One request at the far end, with a load of 15 near the outer edge that never ends.
    let wait_ms = |aging: f64| {
        let disk = HardDiskDescription { aging, ..savvio() };
        let mut drive = HardDisk::new(&disk, 1).unwrap();
        let far = DiskRequest {
            tag: 99,
            direction: Direction::Read,
            first_sector: drive.capacity_sectors() - 8,
            sectors: 8,
        };
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let mut near = || DiskRequest {
            tag: 0,
            direction: Direction::Read,
            first_sector: random.random_range(0..10_000_000),
            sectors: 8,
        };
        for _ in 0..15 {
            drive.submit(0, near());
        }
        drive.submit(0, far);
        for _ in 0..20_000 {
            let now_ns = drive.next_completion_ns().unwrap();
            if drive.complete(now_ns).tag == 99 {
                return Some(now_ns as f64 / 1e6);
            }
            drive.submit(now_ns, near());
        }
        None
    };
    assert_eq!(wait_ms(0.0), None, "without aging the far request starves");
    for aging in [0.03, 0.1, 1.0] {
        // Once its age, weighed, exceeds the longest way there is (full stroke and a turn), only
        // the older ones come before it: at most the queue at its arrival.
        let bound_ms = (7.81 + 6.0) / aging + 16.0 * (0.2 + 7.81 + 6.0 + 0.2);
        let waited_ms = wait_ms(aging).unwrap();
        assert!(
            waited_ms < bound_ms,
            "{aging}: {waited_ms} against {bound_ms}"
        );
    }
}

#[test]
fn first_come_is_first_served() {
    let disk = HardDiskDescription {
        scheduler: Scheduler::FirstCome,
        outer_to_inner_rate_ratio: 1.0,
        ..savvio()
    };
    let mut drive = HardDisk::new(&disk, 1).unwrap();
    let rate = run(&mut drive, &table_load(16, 1.0, 60_000));
    assert!((rate / (1_000.0 / 7.21) - 1.0).abs() < 0.015, "{rate}");
    let mut drive = HardDisk::new(&disk, 1).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
    for tag in 0..32 {
        drive.submit(
            0,
            DiskRequest {
                tag,
                direction: Direction::Read,
                first_sector: random.random_range(0..1_000_000_000),
                sectors: 8,
            },
        );
    }
    for tag in 0..32 {
        let now_ns = drive.next_completion_ns().unwrap();
        assert_eq!(drive.complete(now_ns).tag, tag);
    }
}

#[test]
fn the_same_seed_repeats_every_bit_and_another_does_not() {
    let load = |seed| Load {
        population: 16,
        share: 0.3,
        sectors: 64,
        write_share: 0.4,
        requests: 5_000,
        seed,
    };
    let disk = HardDiskDescription {
        aging: 0.03,
        ..with_cache()
    };
    let make = HardDisk::new(&disk, 1).unwrap();
    let counters = |spindle_seed, load_seed| {
        let mut drive = make.another(spindle_seed);
        run(&mut drive, &load(load_seed));
        drive.counters().clone()
    };
    assert_eq!(counters(1, 7), counters(1, 7));
    let mut fresh = HardDisk::new(&disk, 1).unwrap();
    run(&mut fresh, &load(7));
    assert_eq!(*fresh.counters(), counters(1, 7));
    assert_ne!(counters(2, 7), counters(1, 7));
    assert_ne!(counters(1, 8), counters(1, 7));
}
