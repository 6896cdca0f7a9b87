//! Simulated requests per second of one core: a hard disk with 16 commands on board and a
//! solid-state disk, 32 KiB at random, 60 % reads.
//!
//! `cargo run --release -p array --example disk_speed [--json] [MILLIONS [CASE]]`
//!
//! The rate is per second of CPU time where the kernel reports it, so that other work on the
//! machine disturbs it little.

use std::time::Instant;

use array::Direction;
use array::disk::{BUNDLED_DISKS, Disk, DiskDescription, DiskModel, DiskRequest};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// One case of the measurement.
struct Case {
    disk: &'static str,
    disks: usize,
    depth: u32,
    read_share: f64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word == "--json");
    let json = !flags.is_empty();
    let millions: u64 = match words.first() {
        Some(text) => text.parse()?,
        None => 10,
    };
    let only: Option<usize> = match words.get(1) {
        Some(text) => Some(text.parse()?),
        None => None,
    };
    let cases = [
        ("sas-10k-900gb", 1, 1, 0.6),
        ("sas-10k-900gb", 1, 16, 0.6),
        ("sas-10k-900gb", 20, 16, 0.6),
        ("sas-10k-900gb", 1, 32, 0.6),
        ("ssd-sas-800gb", 1, 16, 1.0),
        ("ssd-sas-800gb", 1, 16, 0.6),
        ("ssd-nvme-3840gb", 1, 64, 1.0),
    ];
    for (number, (disk, disks, depth, read_share)) in cases.into_iter().enumerate() {
        if only.is_some_and(|only| only != number) {
            continue;
        }
        let case = Case {
            disk,
            disks,
            depth,
            read_share,
        };
        measure(&case, millions * 1_000_000, json)?;
    }
    Ok(())
}

/// CPU time of this thread so far, seconds; `None` where the kernel does not report it.
fn processor_s() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/self/schedstat").ok()?;
    let on_processor_ns: u64 = text.split_whitespace().next()?.parse().ok()?;
    Some(on_processor_ns as f64 / 1e9)
}

/// The most memory this process has had so far, MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

/// Runs a case with all its disks kept at the depth, one after the other for a request each.
fn measure(case: &Case, requests: u64, json: bool) -> Result<(), Box<dyn std::error::Error>> {
    let bundled = BUNDLED_DISKS.iter().find(|disk| disk.name == case.disk);
    let bundled = bundled.ok_or("no such disk")?;
    let description: DiskDescription = config::from_toml(bundled.toml)?;
    let make = DiskModel::new(&description, 1)?;
    let mut disks: Vec<DiskModel> = (0..case.disks).map(|n| make.another(n as u64)).collect();
    let mut random = Xoshiro256PlusPlus::seed_from_u64(42);
    let places = make.capacity_sectors() / 64;
    let mut draw = |tag| DiskRequest {
        tag,
        direction: if random.random::<f32>() < case.read_share as f32 {
            Direction::Read
        } else {
            Direction::Write
        },
        first_sector: random.random_range(0..places) * 64,
        sectors: 64,
    };
    for disk in &mut disks {
        for tag in 0..case.depth {
            disk.submit(0, draw(tag));
        }
    }
    let (began, began_processor_s) = (Instant::now(), processor_s());
    for request in 0..requests {
        let disk = &mut disks[request as usize % case.disks];
        if let Some(now_ns) = disk.next_completion_ns() {
            let tag = disk.complete(now_ns).tag;
            disk.submit(now_ns, draw(tag));
        }
    }
    let took_s = match (began_processor_s, processor_s()) {
        (Some(began_s), Some(ended_s)) if ended_s > began_s => ended_s - began_s,
        _ => began.elapsed().as_secs_f64(),
    };
    let counters = disks[0].counters();
    counters.check_invariants()?;
    if json {
        println!(
            "{{\"case\":\"{}\",\"requests\":{requests},\"per_processor_second\":{:.0},\
             \"processor_seconds\":{took_s:.3},\"peak_mib\":{:.0}}}",
            case.disk,
            requests as f64 / took_s,
            peak_mib(),
        );
        return Ok(());
    }
    println!(
        "{:16} disks {:2}  depth {:2}  reads {:3.0} %: {:6.2} million requests/s \
         ({:.0} ns each); the disk does {:.0}/s at {:.3} ms",
        case.disk,
        case.disks,
        case.depth,
        case.read_share * 100.0,
        requests as f64 / took_s / 1e6,
        took_s / requests as f64 * 1e9,
        counters.completed() as f64 / (counters.last_change_ns as f64 / 1e9),
        counters.mean_response_ns() / 1e6,
    );
    Ok(())
}
