//! The solid-state disk against its sheet.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::flash::{Flash, WriteFit};
use super::*;
use crate::Direction;
use crate::disk::{Disk, DiskRequest};

/// A SATA drive of 800 GB; see the profile of the same name for sources.
fn sata() -> SolidStateDescription {
    SolidStateDescription {
        capacity_bytes: 800_166_076_416,
        interface_mb_per_s: 500.0,
        full_duplex: false,
        on_board_queue_depth: 32,
        channels: 8,
        dies_per_channel: 8,
        page_bytes: 16_384,
        page_read_us: 75.0,
        read_variation: 0.15,
        channel_mb_per_s: 333.0,
        command_latency_us: 20.0,
        write_latency_us: 57.0,
        random_read_4k_iops: 75_000.0,
        sequential_write_mb_per_s: 450.0,
        random_write_4k_iops: 11_500.0,
        write_buffer_bytes: 8 << 20,
        program_suspend_us: 300.0,
        stripe_bytes: None,
        sense_bytes: None,
        partial_block_us: 0.0,
        slc_cache_bytes: 0,
        slc_write_mb_per_s: None,
        filled_share: 1.0,
        history: WriteHistory::Random,
    }
}

/// A load that keeps `depth` commands inside.
#[derive(Clone, Copy)]
struct Load {
    depth: u32,
    sectors: u32,
    write_share: f64,
    sequential: bool,
    requests: u32,
}

/// Runs a load and returns requests per second and mean response over its second half.
fn run(disk: &mut SolidState, load: Load, seed: u64) -> (f64, f64) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let places = disk.capacity_sectors() / u64::from(load.sectors);
    let mut next = 0;
    let mut draw = || {
        next = if load.sequential {
            (next + 1) % places
        } else {
            random.random_range(0..places)
        };
        let is_write = random.random::<f64>() < load.write_share;
        DiskRequest {
            tag: 0,
            direction: if is_write {
                Direction::Write
            } else {
                Direction::Read
            },
            first_sector: next * u64::from(load.sectors),
            sectors: load.sectors,
        }
    };
    let mut now_ns = disk.counters().last_change_ns;
    for _ in 0..load.depth {
        disk.submit(now_ns, draw());
    }
    let (mut half_ns, mut half_response_ns) = (0, 0);
    for done in 0..load.requests {
        now_ns = disk.next_completion_ns().unwrap();
        disk.complete(now_ns);
        if done == load.requests / 2 {
            (half_ns, half_response_ns) = (now_ns, disk.counters().response_ns);
        }
        disk.submit(now_ns, draw());
    }
    let counted = f64::from(load.requests - load.requests / 2 - 1);
    let rate = counted / ((now_ns - half_ns) as f64 / 1e9);
    let response_ns = (disk.counters().response_ns - half_response_ns) as f64 / counted;
    while let Some(done_ns) = disk.next_completion_ns() {
        disk.complete(done_ns);
    }
    disk.counters().check_invariants().unwrap();
    (rate, response_ns)
}

fn reads(depth: u32, sectors: u32, sequential: bool) -> Load {
    Load {
        depth,
        sectors,
        write_share: 0.0,
        sequential,
        requests: 100_000,
    }
}

fn writes(depth: u32, sectors: u32, sequential: bool, requests: u32) -> Load {
    Load {
        write_share: 1.0,
        requests,
        ..reads(depth, sectors, sequential)
    }
}

fn assert_near(measured: f64, expected: f64, tolerance: f64, what: &str) {
    let ratio = measured / expected;
    assert!(
        (ratio - 1.0).abs() < tolerance,
        "{what}: {measured} against {expected}"
    );
}

#[test]
fn the_rates_of_the_sheet_are_reached() {
    let make = SolidState::new(&sata(), 1).unwrap();
    let rate = |load| run(&mut make.another(2), load, 3).0;
    assert_near(
        rate(reads(32, 8, false)),
        75_000.0,
        0.02,
        "random reads of 4 KiB",
    );
    let large = rate(reads(8, 256, true)) * 131_072.0 / 1e6;
    assert_near(large, 500.0, 0.02, "sequential reads");
    // A disk that was written at random before needs a pass over all of it first.
    let sequential = SolidStateDescription {
        history: WriteHistory::Sequential,
        ..sata()
    };
    let mut in_sequence = SolidState::new(&sequential, 1).unwrap();
    let (stream, _) = run(&mut in_sequence, writes(8, 2_048, true, 20_000), 3);
    let stream = stream * 1_048_576.0 / 1e6;
    assert_near(stream, 450.0, 0.02, "sequential writes");
    let random = writes(32, 8, false, 150_000);
    assert_near(rate(random), 11_500.0, 0.02, "random writes of 4 KiB");
    let doubled = Load {
        sectors: 16,
        ..random
    };
    assert_near(rate(doubled), 5_750.0, 0.02, "random writes of 8 KiB");
}

#[test]
fn single_commands_take_what_the_parts_take() {
    let make = SolidState::new(&sata(), 1).unwrap();
    let response = |load| run(&mut make.another(2), load, 3).1 / 1e3;
    // Controller, sensing, then 4 KiB over a channel and the interface.
    let read_us = 20.0 + 75.0 + 4.096 / 0.333 + 4.096 / 0.5;
    assert_near(
        response(reads(1, 8, false)),
        read_us,
        0.01,
        "one read of 4 KiB",
    );
    // Without a full buffer a write takes the protected memory and its transfer.
    let mut disk = make.another(2);
    let (_, write_ns) = run(&mut disk, writes(1, 8, false, 500), 3);
    assert_near(write_ns / 1e3, 57.0 + 8.192, 0.01, "one write of 4 KiB");
}

#[test]
fn bursts_end_in_the_buffer_and_a_pause_empties_it() {
    let make = SolidState::new(&sata(), 1).unwrap();
    let mut disk = make.another(2);
    // 8 MiB take about 2,000 writes of 4 KiB; before that a write is as fast as the first.
    let (_, burst_ns) = run(&mut disk, writes(4, 8, false, 1_500), 3);
    let (_, after_ns) = run(&mut disk, writes(32, 8, false, 20_000), 4);
    assert!(burst_ns < 100e3 && after_ns > 2e6, "{burst_ns} {after_ns}");
    // 8 MiB at 47 MB/s take 0.18 s; a second later the buffer is empty again.
    let idle_until_ns = disk.counters().last_change_ns + 1_000_000_000;
    let request = DiskRequest {
        tag: 0,
        direction: Direction::Write,
        first_sector: 0,
        sectors: 8,
    };
    disk.submit(idle_until_ns, request);
    let took_ns = disk.next_completion_ns().unwrap() - idle_until_ns;
    assert!(took_ns < 70_000, "{took_ns}");
}

#[test]
fn reads_suffer_from_writes_and_writes_from_reads() {
    let make = SolidState::new(&sata(), 1).unwrap();
    let (_, alone_ns) = run(&mut make.another(2), reads(4, 8, false), 3);
    let mixed = Load {
        write_share: 0.5,
        ..reads(16, 8, false)
    };
    let mut disk = make.another(2);
    let (rate, _) = run(&mut disk, mixed, 3);
    // Half of the commands are writes, which are not faster than without reads.
    assert!(rate / 2.0 < 11_500.0 && rate / 2.0 > 9_000.0, "{rate}");
    assert!(alone_ns < 130e3, "{alone_ns}");
}

#[test]
fn a_write_costs_what_the_history_of_the_disk_makes_of_it() {
    let small = |history| SolidStateDescription {
        history,
        capacity_bytes: 2_000_420_864,
        write_buffer_bytes: 1 << 20,
        ..sata()
    };
    // 32 KiB are eight blocks of 4 KiB; 61,000 requests pass once over all of the disk.
    let rates = |history| {
        let mut disk = SolidState::new(&small(history), 2).unwrap();
        let mut rate = |requests| run(&mut disk, writes(32, 64, false, requests), 3).0 * 8.0;
        // The buffer is full before the first rate is measured.
        rate(500);
        (rate(2_000), rate(1_200_000))
    };
    let (at_first, in_the_end) = rates(WriteHistory::Fresh);
    assert_near(at_first * 4_096.0 / 1e6, 450.0, 0.02, "fresh");
    assert_near(in_the_end, 11_500.0, 0.04, "fresh, in the end");
    let (at_first, in_the_end) = rates(WriteHistory::Sequential);
    assert_near(
        at_first * 4_096.0 / 1e6,
        450.0,
        0.02,
        "while flash is empty",
    );
    assert_near(in_the_end, 11_500.0, 0.04, "written in sequence before");
    let (at_first, in_the_end) = rates(WriteHistory::Random);
    assert_near(at_first, 11_500.0, 0.04, "written at random before");
    assert_near(
        in_the_end,
        11_500.0,
        0.04,
        "written at random before, in the end",
    );
}

#[test]
fn spare_flash_follows_from_the_two_write_rates() {
    let spare = sata().spare_share().unwrap();
    // Drives of this class have some 7 % more flash than they show.
    assert!((0.03..0.10).contains(&spare), "{spare}");
}

#[test]
fn the_same_seed_repeats_every_bit() {
    let load = Load {
        write_share: 0.3,
        ..reads(16, 24, false)
    };
    let counters = |seed, load_seed| {
        let mut disk = SolidState::new(&sata(), seed).unwrap();
        run(&mut disk, load, load_seed);
        disk.counters().clone()
    };
    assert_eq!(counters(1, 2), counters(1, 2));
    assert_ne!(counters(1, 2), counters(2, 2));
    let make = SolidState::new(&sata(), 9).unwrap();
    let mut another = make.another(1);
    run(&mut another, load, 2);
    assert_eq!(*another.counters(), counters(1, 2));
}

#[test]
fn an_slc_cache_takes_writes_until_it_is_full_and_is_emptied_at_rest() {
    let cached = SolidStateDescription {
        interface_mb_per_s: 2_000.0,
        sequential_write_mb_per_s: 450.0,
        slc_cache_bytes: 1 << 30,
        slc_write_mb_per_s: Some(1_500.0),
        ..sata()
    };
    let cached = SolidStateDescription {
        history: WriteHistory::Fresh,
        ..cached
    };
    let mut disk = SolidState::new(&cached, 1).unwrap();
    let mb_per_s = |disk: &mut SolidState, requests| {
        run(disk, writes(8, 2_048, true, requests), 3).0 * 1_048_576.0 / 1e6
    };
    assert_near(mb_per_s(&mut disk, 1_000), 1_500.0, 0.02, "with room");
    mb_per_s(&mut disk, 200);
    assert_near(mb_per_s(&mut disk, 1_000), 450.0, 0.02, "full");
    // A gigabyte is moved at 450 MB/s in 2.4 s; half of that makes half the room.
    let rest_ns = disk.counters().last_change_ns + 1_300_000_000;
    let read = DiskRequest {
        tag: 0,
        direction: Direction::Read,
        first_sector: 0,
        sectors: 8,
    };
    disk.submit(rest_ns, read);
    let end_ns = disk.next_completion_ns().unwrap();
    disk.complete(end_ns);
    assert_near(mb_per_s(&mut disk, 450), 1_500.0, 0.03, "after a rest");
    mb_per_s(&mut disk, 200);
    assert_near(mb_per_s(&mut disk, 1_000), 450.0, 0.02, "full again");
}

#[test]
fn blocks_in_several_pages_of_a_die_are_sensed_one_after_the_other() {
    let latency_us = |sense_bytes, stripe_bytes, sectors| {
        let disk = SolidStateDescription {
            stripe_bytes,
            sense_bytes,
            ..sata()
        };
        let mut disk = SolidState::new(&disk, 1).unwrap();
        run(&mut disk, reads(1, sectors, false), 3).1 / 1e3
    };
    let (block, half_page) = (Some(4_096), Some(8_192));
    let plain = |sectors| latency_us(None, None, sectors);
    assert_near(latency_us(block, half_page, 8), plain(8), 0.01, "one block");
    assert_near(
        latency_us(block, half_page, 16),
        plain(16) + 75.0,
        0.01,
        "two",
    );
    // Four blocks lie on two dies, two senses each, side by side, and on two channels.
    let two_dies = latency_us(block, half_page, 32);
    let channel_us = 8_192.0 / 333.0;
    assert_near(two_dies, plain(32) + 75.0 - channel_us, 0.03, "four");
}

#[test]
fn parts_of_blocks_cost_more() {
    let disk = SolidStateDescription {
        partial_block_us: 30.0,
        ..sata()
    };
    let latency_us = |sectors| {
        let mut disk = SolidState::new(&disk, 1).unwrap();
        run(&mut disk, reads(1, sectors, false), 3).1 / 1e3
    };
    // Seven sectors less pass the channel and the interface.
    let less_us = 7.0 * 512.0 * (1.0 / 333.0 + 1.0 / 500.0);
    assert_near(latency_us(1), latency_us(8) + 30.0 - less_us, 0.01, "reads");
    for (first, end, partial) in [
        (0, 8, 0),
        (8, 24, 0),
        (0, 1, 1),
        (3, 5, 1),
        (7, 8, 1),
        (7, 9, 2),
        (4, 16, 1),
    ] {
        assert_eq!(Flash::partial_blocks(first, end), partial, "{first} {end}");
    }
    let iops = |sectors| {
        let mut disk = SolidState::new(&sata(), 1).unwrap();
        run(&mut disk, writes(32, sectors, false, 150_000), 3).0
    };
    // As many programs, and a read of a page for each.
    let ratio = iops(4) / iops(8);
    let fit = WriteFit::new(&sata());
    let page_ns = fit.amplification * fit.program_ns + (fit.amplification - 1.0) * 75_000.0;
    let expected = page_ns / (page_ns + 4.0 * 75_000.0);
    assert_near(ratio, expected, 0.03, "writes");
}
