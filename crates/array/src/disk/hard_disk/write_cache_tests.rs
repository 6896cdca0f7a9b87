//! The on-board write cache: fast until it is full, then as fast as the arm empties it.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::tests::savvio;
use super::{HardDisk, HardDiskDescription};
use crate::Direction;
use crate::disk::{Disk, DiskRequest};

fn cached() -> HardDiskDescription {
    HardDiskDescription {
        write_cache_bytes: 4 << 20,
        ..savvio()
    }
}

fn request(direction: Direction, first_sector: u64) -> DiskRequest {
    DiskRequest {
        tag: 0,
        direction,
        first_sector,
        sectors: 64,
    }
}

/// Serves one command alone; its response, nanoseconds.
fn serve(drive: &mut HardDisk, now_ns: u64, request: DiskRequest) -> u64 {
    drive.submit(now_ns, request);
    let done_ns = drive.next_completion_ns().unwrap();
    drive.complete(done_ns);
    done_ns - now_ns
}

#[test]
fn writes_end_in_the_cache_and_are_read_from_it_until_the_medium_has_them() {
    let mut drive = HardDisk::new(&cached(), 1).unwrap();
    // Overhead and 32 KiB at 600 MB/s.
    let buffered_ns = 200_000 + 54_613;
    let write_ns = serve(&mut drive, 0, request(Direction::Write, 500_000_000));
    assert_eq!(write_ns, buffered_ns);
    // The first stretch is being written by now; the second waits in the cache.
    let second = request(Direction::Write, 900_000_000);
    let now_ns = 300_000;
    assert_eq!(serve(&mut drive, now_ns, second), buffered_ns);
    let read = request(Direction::Read, 900_000_000);
    assert_eq!(serve(&mut drive, now_ns + 300_000, read), buffered_ns);
    // Long after, both are on the medium, and the drive has no read cache.
    assert!(serve(&mut drive, 1_000_000_000, read) > 2 * buffered_ns);
    drive.counters().check_invariants().unwrap();
}

#[test]
fn a_full_cache_is_as_fast_as_the_arm() {
    // 4 MiB hold 128 writes of 32 KiB, from which the arm takes the nearest.
    let mut drive = HardDisk::new(&cached(), 1).unwrap();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut now_ns = 0;
    let mut draw = || request(Direction::Write, random.random_range(0..1_000_000_000));
    let rate = |count: u32, ns: u64| f64::from(count) * 1e9 / ns as f64;
    for _ in 0..120 {
        now_ns += serve(&mut drive, now_ns, draw());
    }
    let burst = rate(120, now_ns);
    let began_ns = now_ns;
    for _ in 0..20_000 {
        now_ns += serve(&mut drive, now_ns, draw());
    }
    let sustained = rate(20_000, now_ns - began_ns);
    assert!(burst > 3_500.0, "{burst}");
    // One write at a time would make 128 per second, 32 to choose from some 330.
    assert!((330.0..700.0).contains(&sustained), "{sustained}");
    drive.counters().check_invariants().unwrap();
}

#[test]
fn commands_end_at_the_predicted_time_and_invariants_hold() {
    for seed in 0..30 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut drive = HardDisk::new(&cached(), seed).unwrap();
        let mut now_ns = 0_u64;
        let (mut submitted, mut completed) = (0, 0);
        for _ in 0..3_000 {
            now_ns += random.random_range(0..8_000_000_u64);
            while let Some(done_ns) = drive.next_completion_ns().filter(|&at| at <= now_ns) {
                // It panics if the predicted time is not the time at which something ends.
                drive.complete(done_ns);
                completed += 1;
            }
            if drive.queued() < drive.on_board_queue_depth() {
                let direction = match random.random_range(0..2) {
                    0 => Direction::Read,
                    _ => Direction::Write,
                };
                drive.submit(
                    now_ns,
                    request(direction, random.random_range(0..100_000_000)),
                );
                submitted += 1;
            }
            drive.counters().check_invariants().unwrap();
        }
        while let Some(done_ns) = drive.next_completion_ns() {
            drive.complete(done_ns);
            completed += 1;
        }
        assert_eq!(submitted, completed, "seed {seed}");
        drive.counters().check_invariants().unwrap();
    }
}
