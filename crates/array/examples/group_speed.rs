//! How many group requests one core simulates per second: two RAID 6 groups of ten disks, 32 KiB
//! at random, 60 % reads, written through, 40 requests in flight per group.
//!
//! `cargo run --release -p array --example group_speed [requests]`, twice: over textbook disks,
//! which says what the groups cost by themselves, and over modelled hard disks.

use std::time::Instant;

use array::Direction;
use array::disk::{DiskDescription, DiskModel};
use array::group::{Backend, BackendSettings, GroupId, GroupRequest, Groups, IoClass};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const IDEAL: &str = "
title = 'textbook disk'
[ideal]
capacity_bytes = 600127266816
service_us = 4000.0
distribution = 'exponential'
";

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

const GROUPS: &str = "
[[disk_group]]
name = 'A'
disk = 'd'
disks = 10
level = 'raid6'
chunk_kib = 512
[[disk_group]]
name = 'B'
disk = 'd'
disks = 10
level = 'raid6'
chunk_kib = 512
";

const SECTORS: u32 = 64;
const IN_FLIGHT_PER_GROUP: u32 = 40;

struct Load {
    random: Xoshiro256PlusPlus,
    /// Requests fall on this many slots of 32 KiB of each group.
    slots: u64,
}

impl Load {
    fn next(&mut self, id: u32) -> GroupRequest<()> {
        let read = self.random.random_bool(0.6);
        GroupRequest {
            owner: id,
            group: GroupId((id % 2) as u16),
            direction: if read {
                Direction::Read
            } else {
                Direction::Write
            },
            first_sector: self.random.random_range(0..self.slots) * u64::from(SECTORS),
            sectors: SECTORS,
            class: if read {
                IoClass::HostRead
            } else {
                IoClass::HostWrite
            },
            payload: (),
        }
    }
}

fn measure(disk: &str, requests: u64) -> Result<(), Box<dyn std::error::Error>> {
    let description: DiskDescription = config::from_toml(disk)?;
    let settings: BackendSettings = config::from_toml(GROUPS)?;
    let disks = (0..settings.disk_names().len() as u64)
        .map(|seed| DiskModel::new(&description, seed))
        .collect::<Result<Vec<_>, _>>()?;
    let mut backend = Backend::<()>::new(&settings, disks)?;
    // A quarter of the stroke is used.
    let slots = backend.group(GroupId(0)).capacity_sectors / u64::from(SECTORS) / 4;
    let mut load = Load {
        random: Xoshiro256PlusPlus::seed_from_u64(1),
        slots,
    };
    for id in 0..2 * IN_FLIGHT_PER_GROUP {
        let request = load.next(id);
        backend.submit(0, request);
    }
    let began = Instant::now();
    let mut done = 0;
    let mut response_ns = 0;
    let mut now_ns = 0;
    while done < requests
        && let Some(next_ns) = backend.next_event_ns()
    {
        now_ns = next_ns;
        backend.advance_one(now_ns);
        while let Some(completion) = backend.pop_done() {
            completion.result?;
            done += 1;
            response_ns += now_ns - completion.submitted_ns;
            let request = load.next(completion.owner);
            backend.submit(now_ns, request);
        }
    }
    let wall_s = began.elapsed().as_secs_f64();
    backend.check_invariants()?;
    let disk_requests: u64 = backend
        .stations()
        .iter()
        .map(|station| station.counters().completed())
        .sum();
    println!(
        "{}: {:.0} group requests/s of one core, {:.0} ns per disk request \
         ({:.2} disk requests each; modelled: {:.0} requests/s, {:.1} ms)",
        description.title,
        done as f64 / wall_s,
        wall_s * 1e9 / disk_requests as f64,
        disk_requests as f64 / done as f64,
        done as f64 / (now_ns as f64 / 1e9),
        response_ns as f64 / done as f64 / 1e6,
    );
    Ok(())
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let requests = match std::env::args().nth(1) {
        Some(text) => text.parse()?,
        None => 2_000_000,
    };
    measure(IDEAL, requests)?;
    measure(HARD_DISK, requests)
}
