//! What a request to a group costs in disk requests, against the arithmetic of the levels.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use crate::common::ideal_backend;
use array::Direction;
use array::disk::{Disk, DiskDescription, DiskModel};
use array::group::{
    Backend, BackendSettings, GroupId, GroupRequest, Groups, IoClass, RebuildView, StationId,
};

const OWNER: u32 = 0;

fn disk_group(level: &str, disks: u16, chunk_kib: u32) -> String {
    let chunk = if ["linear", "raid1"].contains(&level) {
        String::new()
    } else {
        format!("chunk_kib = {chunk_kib}")
    };
    format!("[[disk_group]]\nname='g'\ndisk='d'\ndisks={disks}\nlevel='{level}'\n{chunk}\n")
}

fn vraid(level: &str) -> String {
    format!(
        "[[disk_group]]\nname='g'\ndisk='d'\ndisks=8\nlevel='vraid'\nchunk_kib=128\n\
         [[disk_group.virtual_disk]]\nname='v'\nlevel='{level}'\nsize_gib=0.5\n"
    )
}

fn small_backend(layout: &str) -> Backend<()> {
    ideal_backend(layout, 1 << 20, 1, 3)
}

fn totals(backend: &Backend<()>) -> (u64, u64, u64, u64) {
    backend
        .stations()
        .iter()
        .fold((0, 0, 0, 0), |sum, station| {
            let counters = station.counters();
            (
                sum.0 + counters.reads,
                sum.1 + counters.writes,
                sum.2 + counters.read_sectors,
                sum.3 + counters.written_sectors,
            )
        })
}

/// Runs until nothing is in flight; returns the time.
fn finish(backend: &mut Backend<()>, mut now_ns: u64) -> u64 {
    while let Some(next_ns) = backend.next_event_ns() {
        now_ns = next_ns;
        backend.advance_one(now_ns);
    }
    while let Some(done) = backend.pop_done() {
        done.result.unwrap();
    }
    backend.check_invariants().unwrap();
    now_ns
}

fn submit(backend: &mut Backend<()>, now_ns: u64, direction: Direction, first: u64, sectors: u32) {
    let request = GroupRequest {
        owner: OWNER,
        group: GroupId(0),
        direction,
        first_sector: first,
        sectors,
        class: IoClass::HostWrite,
        payload: (),
    };
    backend.submit(now_ns, request);
}

/// Disk reads and writes that one request causes.
fn cost(layout: &str, direction: Direction, first_sector: u64, sectors: u32) -> (u64, u64) {
    let mut backend = small_backend(layout);
    submit(&mut backend, 0, direction, first_sector, sectors);
    finish(&mut backend, 0);
    let (reads, writes, ..) = totals(&backend);
    (reads, writes)
}

#[test]
fn small_requests_cost_what_the_level_says() {
    let cases = [
        (disk_group("linear", 4, 64), (0, 1)),
        (disk_group("raid0", 4, 64), (0, 1)),
        (disk_group("raid1", 2, 64), (0, 2)),
        (disk_group("raid1", 3, 64), (0, 3)),
        (disk_group("raid10", 8, 64), (0, 2)),
        (disk_group("raid5", 5, 64), (2, 2)),
        (disk_group("raid5", 9, 64), (2, 2)),
        (disk_group("raid6", 8, 64), (3, 3)),
        (disk_group("raid6", 10, 512), (3, 3)),
        (vraid("vraid0"), (0, 1)),
        (vraid("vraid1"), (0, 2)),
        (vraid("vraid5"), (2, 2)),
    ];
    for (layout, write) in cases {
        for first_sector in [0, 64, 1000, 70_000] {
            let first_sector = first_sector / 16 * 16;
            assert_eq!(
                cost(&layout, Direction::Write, first_sector, 16),
                write,
                "{layout}"
            );
            assert_eq!(
                cost(&layout, Direction::Read, first_sector, 16),
                (1, 0),
                "{layout}"
            );
        }
    }
}

#[test]
fn full_stripes_are_written_without_reading() {
    for (level, disks, parities) in [("raid5", 5, 1), ("raid6", 10, 2)] {
        let data = disks - parities;
        let layout = disk_group(level, disks, 64);
        let stripe = u32::from(data) * 128;
        let expected = (0, u64::from(disks));
        assert_eq!(cost(&layout, Direction::Write, 0, stripe), expected);
        let three = 3 * u64::from(stripe);
        let expected = (0, 3 * u64::from(disks));
        assert_eq!(cost(&layout, Direction::Write, three, 3 * stripe), expected);
        assert_eq!(
            cost(&layout, Direction::Read, 0, stripe),
            (u64::from(data), 0)
        );
    }
    let stripe = 4 * 256;
    assert_eq!(cost(&vraid("vraid5"), Direction::Write, 0, stripe), (0, 5));
}

#[test]
fn the_way_with_fewer_requests_is_taken() {
    // RAID 5 of n + 1 disks, k whole chunks of a stripe.
    for n in 2..10u16 {
        let layout = disk_group("raid5", n + 1, 64);
        for k in 1..=n {
            let (reads, writes) = cost(&layout, Direction::Write, 0, u32::from(k) * 128);
            let expected = (k + 1).min(n - k);
            assert_eq!((reads, writes), (u64::from(expected), u64::from(k + 1)));
        }
    }
    for n in 2..10u16 {
        let layout = disk_group("raid6", n + 2, 64);
        for k in 1..=n {
            let (reads, writes) = cost(&layout, Direction::Write, 0, u32::from(k) * 128);
            let expected = (k + 2).min(n - k);
            assert_eq!((reads, writes), (u64::from(expected), u64::from(k + 2)));
        }
    }
}

#[test]
fn pieces_of_a_stripe_share_one_parity_update() {
    // Eight data columns of 512 KiB; pieces of 32 KiB in the first k of them at scattered rows.
    let chunk = 1024;
    for k in 1..=3u64 {
        let mut backend = small_backend(&disk_group("raid6", 10, 512));
        let pieces: Vec<(u64, u32, ())> = (0..k)
            .map(|column| (column * chunk + column * 128, 64, ()))
            .collect();
        backend.submit_stripe_write(0, OWNER, GroupId(0), IoClass::Destage, &pieces);
        finish(&mut backend, 0);
        let (reads, writes, read_sectors, written_sectors) = totals(&backend);
        assert_eq!((reads, writes), (k + 2, k + 2), "(2k + 4) / k per piece");
        // The parity range is the union of the pieces' rows.
        let rows = (k - 1) * 128 + 64;
        assert_eq!(read_sectors, k * 64 + 2 * rows);
        assert_eq!(written_sectors, read_sectors);
    }
    // With a limit to the gap they are updates of their own.
    let layout = format!("parity_gap_kib = 16\n{}", disk_group("raid6", 10, 512));
    let mut backend = small_backend(&layout);
    let pieces = [
        (0, 64, ()),
        (chunk + 128, 64, ()),
        (2 * chunk + 160, 32, ()),
    ];
    backend.submit_stripe_write(0, OWNER, GroupId(0), IoClass::Destage, &pieces);
    finish(&mut backend, 0);
    let (reads, writes, ..) = totals(&backend);
    assert_eq!((reads, writes), (3 + 4, 3 + 4));
}

#[test]
fn degraded_groups_cost_what_the_level_says() {
    let degraded = |layout: &str, direction, first_sector, sectors| {
        let mut backend = small_backend(layout);
        backend.fail_disk(0, StationId(0));
        submit(&mut backend, 0, direction, first_sector, sectors);
        finish(&mut backend, 0);
        let (reads, writes, ..) = totals(&backend);
        (reads, writes)
    };
    // In the first stripe of RAID 5 over five disks parity is on disk 4 and data on 0, 1, 2, 3.
    let layout = disk_group("raid5", 5, 64);
    assert_eq!(degraded(&layout, Direction::Read, 0, 16), (4, 0));
    assert_eq!(degraded(&layout, Direction::Read, 128, 16), (1, 0));
    assert_eq!(
        degraded(&layout, Direction::Read, 0, 512),
        (4, 0),
        "a whole stripe"
    );
    assert_eq!(
        degraded(&layout, Direction::Write, 0, 16),
        (3, 1),
        "the rest, and parity"
    );
    assert_eq!(degraded(&layout, Direction::Write, 128, 16), (2, 2));
    // In RAID 6 over six P is on disk 5, Q on disk 0, data on 1, 2, 3, 4.
    let layout = disk_group("raid6", 6, 64);
    assert_eq!(
        degraded(&layout, Direction::Write, 0, 16),
        (2, 2),
        "Q is gone"
    );
    let layout = disk_group("raid1", 2, 64);
    assert_eq!(degraded(&layout, Direction::Read, 0, 16), (1, 0));
    assert_eq!(degraded(&layout, Direction::Write, 0, 16), (0, 1));
}

#[test]
fn a_rebuild_reads_all_survivors_and_writes_one_disk() {
    let settings = "[rebuild]\nrate_mb_per_s = 1000.0\nunit_kib = 64\n".to_string()
        + &disk_group("raid5", 5, 64);
    let mut backend: Backend<()> = ideal_backend(&settings, 128 * 50, 1, 9);
    backend.fail_disk(0, StationId(2));
    let disk = crate::common::ideal_disk(128 * 50, 100.0, 1, true, 1);
    backend.replace_disk(0, StationId(2), disk).unwrap();
    let rebuilds: Vec<RebuildView> = backend.rebuilds().collect();
    assert_eq!(rebuilds[0].station, StationId(2));
    assert!(rebuilds.len() == 1 && rebuilds[0].done_share < 0.1);
    let end_ns = finish(&mut backend, 0);
    assert_eq!(backend.rebuilds().count(), 0);
    for (number, station) in backend.stations().iter().enumerate() {
        let counters = station.counters();
        let expected = if number == 2 { (0, 50) } else { (50, 0) };
        assert_eq!((counters.reads, counters.writes), expected);
    }
    // 50 units of 65536 bytes at 10^9 bytes/s are paced by their disks; at 10^6 by the rate.
    let slow = settings.replace("1000.0", "1.0");
    let mut backend: Backend<()> = ideal_backend(&slow, 128 * 50, 1, 9);
    backend.fail_disk(0, StationId(2));
    let disk = crate::common::ideal_disk(128 * 50, 100.0, 1, true, 1);
    backend.replace_disk(0, StationId(2), disk).unwrap();
    let slow_ns = finish(&mut backend, 0);
    let paced_ns = 49 * 65_536 * 1000;
    assert!(end_ns < paced_ns / 10);
    assert!(
        (paced_ns..paced_ns + paced_ns / 20).contains(&slow_ns),
        "{slow_ns}"
    );
}

const HARD_DISK: &str = "
title = '10K SAS, 600 GB'
[hard_disk]
capacity_bytes = 600127266816
rpm = 10000
heads = 6
tracks_per_surface = 147620
command_overhead_ms = 0.2
head_switch_ms = 0.3
on_board_queue_depth = 64
interface_mb_per_s = 600.0
[hard_disk.seek]
read = { single_track_ms = 0.30, average_ms = 3.81, full_stroke_ms = 7.81 }
write = { single_track_ms = 0.56, average_ms = 4.40, full_stroke_ms = 8.18 }
";

/// MB/s at which a disk of a RAID 5 with chunks of that size is rebuilt where nothing limits the rate.
fn rebuild_mb_per_s(chunk_kib: u32, unit_kib: u32) -> f64 {
    let description: DiskDescription = config::from_toml(HARD_DISK).unwrap();
    let layout = disk_group("raid5", 5, chunk_kib);
    let settings = format!("[rebuild]\nrate_mb_per_s = 1000.0\nunit_kib = {unit_kib}\n{layout}");
    let settings: BackendSettings = config::from_toml(&settings).unwrap();
    let disk = |seed| DiskModel::new(&description, seed).unwrap();
    let mut backend = Backend::<()>::new(&settings, (0..5).map(disk).collect()).unwrap();
    backend.fail_disk(0, StationId(2));
    backend.replace_disk(0, StationId(2), disk(9)).unwrap();
    let (mut now_ns, until_ns) = (0, 10_000_000_000);
    while now_ns < until_ns {
        now_ns = backend.next_event_ns().unwrap();
        backend.advance_one(now_ns);
    }
    let sectors = backend.group(GroupId(0)).counters.rebuilt_sectors;
    sectors as f64 * 512.0 / 1e6 / (now_ns as f64 / 1e9)
}

#[test]
fn small_chunks_are_rebuilt_as_fast_as_large_ones() {
    let rates = [16, 64, 256, 512].map(|chunk_kib| rebuild_mb_per_s(chunk_kib, 512));
    let [.., large] = rates;
    assert!(large > 50.0, "{rates:?}");
    assert!(rates.iter().all(|rate| *rate > 0.8 * large), "{rates:?}");
    // Units that are no multiple of a chunk.
    let odd = [500, 600, 1000].map(|unit_kib| rebuild_mb_per_s(64, unit_kib));
    assert!(odd.iter().all(|rate| *rate > 0.75 * large), "{odd:?}");
}

/// The second phase of a read-modify-write hits the sectors that have just passed under the head.
#[test]
fn an_isolated_small_write_of_raid_6_takes_a_turn_more_than_its_reads() {
    let description: DiskDescription = config::from_toml(HARD_DISK).unwrap();
    let settings: BackendSettings = config::from_toml(&disk_group("raid6", 10, 512)).unwrap();
    let disks = (0..10).map(|seed| DiskModel::new(&description, seed).unwrap());
    let mut backend = Backend::<()>::new(&settings, disks.collect()).unwrap();
    let capacity = backend.group(GroupId(0)).capacity_sectors;
    let turn_ns = 6_000_000;
    let mut now_ns = 0;
    let mut writes = 0;
    for number in 0..200u64 {
        let first_sector = number * 7_919 * 64 % (capacity - 64) / 64 * 64;
        let began_ns = now_ns;
        submit(&mut backend, now_ns, Direction::Write, first_sector, 64);
        now_ns = finish(&mut backend, now_ns);
        let took_ns = now_ns - began_ns;
        assert!(took_ns >= turn_ns, "{took_ns} ns, less than a turn");
        assert!(took_ns < 6 * turn_ns, "{took_ns} ns");
        writes += 1;
        let (disk_reads, disk_writes, ..) = totals(&backend);
        assert_eq!((disk_reads, disk_writes), (3 * writes, 3 * writes));
    }
    for station in backend.stations() {
        station.disk().counters().check_invariants().unwrap();
    }
}
