//! How many host requests the model gets through in a second of one core.
//!
//! `cargo run --release -p array --example array_speed [seconds [case]]`: 20 disks in two RAID 6 groups,
//! 32 KiB random, 60 % reads, closed loop, write-back cache; then reads that a cache or an SSD
//! group serves. Payload: none. Prints host requests and disk requests per second of processor
//! time, and the rate and latency inside the model.

use std::time::Duration;

use array::disk::BUNDLED_DISKS;
use array::{
    Array, ArraySettings, FirstWrite, HostCompletion, HostOperation, HostRequest, VolumeId,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCK_SECTORS: u32 = 64;

struct Case {
    title: &'static str,
    level: &'static str,
    disk: &'static str,
    disks: u32,
    volume_mib: u64,
    cache_mib: u64,
    hosts: u64,
    read_percent: u32,
}

const CASES: [Case; 4] = [
    Case {
        title: "RAID 6, two groups of 10 disks, 60/40",
        level: "raid6",
        disk: HARD_DISK,
        disks: 10,
        volume_mib: 600 * 1024,
        cache_mib: 4096,
        hosts: 32,
        read_percent: 60,
    },
    Case {
        title: "RAID 6 on textbook disks, 60/40",
        level: "raid6",
        disk: TEXTBOOK_DISK,
        disks: 10,
        volume_mib: 600 * 1024,
        cache_mib: 4096,
        hosts: 32,
        read_percent: 60,
    },
    Case {
        title: "reads from an SSD group",
        level: "raid0",
        disk: SSD,
        disks: 4,
        volume_mib: 100 * 1024,
        cache_mib: 4096,
        hosts: 32,
        read_percent: 100,
    },
    Case {
        title: "reads from the cache",
        level: "raid0",
        disk: SSD,
        disks: 4,
        volume_mib: 1024,
        cache_mib: 4096,
        hosts: 32,
        read_percent: 100,
    },
];

/// A 10,000 rpm 2.5" disk of 900 GB, by its bundled description.
const HARD_DISK: &str = "sas-10k-900gb";

/// An SSD of 400 GB, by its bundled description.
const SSD: &str = "ssd-sas-400gb";

const TEXTBOOK_DISK: &str = "capacity_bytes = 900_000_000_000, service_us = 4000, \
                             distribution = 'exponential', servers = 1, on_board_queue_depth = 16";

fn settings(case: &Case) -> ArraySettings {
    let mut text = format!(
        "title = 'Speed'
[controllers]
count = 2
ports_per_controller = 2
port = {{ rate_mb_per_s = 1600, command_us = 1 }}
service = {{ read_us = 4, write_us = 6 }}
link = {{ rate_mb_per_s = 4000, transfer_us = 5 }}
[cache]
capacity_mib = {cache}
line_kib = 32
mirror = true
dirty_limit_percent = 50
destage = {{ age_ms = 10000, high_watermark_percent = 80, low_watermark_percent = 70, idle_ms = 100, in_flight = 48 }}
",
        cache = case.cache_mib,
    );
    for group in 0..2 {
        text += &format!(
            "[[backend.disk_group]]\nname = 'g{group}'\ndisk = 'd'\ndisks = {}\n\
             level = '{}'\nchunk_kib = 512\n",
            case.disks, case.level
        );
    }
    for group in 0..2 {
        text += &format!(
            "[[volumes]]\nname = 'v{group}'\ngroup = 'g{group}'\ncapacity_mib = {}\n\
             owner = {group}\n",
            case.volume_mib
        );
    }
    let bundled = BUNDLED_DISKS.iter().find(|disk| disk.name == case.disk);
    let disk = match bundled {
        Some(disk) => disk.toml.to_string(),
        None => format!("title = 'textbook'\nideal = {{ {} }}", case.disk),
    };
    let built = toml::from_str::<ArraySettings>(&text)
        .and_then(|settings| Ok((settings, toml::from_str(&disk)?)));
    match built {
        Ok((mut settings, disk)) => {
            settings.disks.insert("d".to_string(), disk);
            settings
        }
        Err(error) => panic!("{error}\n{text}\n{disk}"),
    }
}

fn request(tag: u64, case: &Case, random: &mut Xoshiro256PlusPlus) -> HostRequest<()> {
    let blocks = case.volume_mib * 2048 / u64::from(BLOCK_SECTORS);
    let read = random.random_range(0..100) < case.read_percent;
    HostRequest {
        tag,
        volume: VolumeId(random.random_range(0..2)),
        operation: if read {
            HostOperation::Read
        } else {
            HostOperation::Write
        },
        first_sector: random.random_range(0..blocks) * u64::from(BLOCK_SECTORS),
        sectors: BLOCK_SECTORS,
        payload: (),
    }
}

fn measure(case: &Case, seconds: f64) {
    let mut array = match Array::<()>::new(&settings(case), 1) {
        Ok(array) => array,
        Err(error) => {
            println!("{:40} {error}", case.title);
            return;
        }
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    for volume in 0..2 {
        let sectors = case.volume_mib * 2048;
        if let Err(error) = array.lay_out(VolumeId(volume), 0, sectors, FirstWrite::Sequential) {
            println!("{:40} {error}", case.title);
            return;
        }
    }
    let mut completed: Vec<HostCompletion<()>> = Vec::new();
    for host in 0..case.hosts {
        array.submit(0, request(host, case, &mut random));
    }
    let mut ended = 0u64;
    let mut latency_sum_ns = 0;
    let mut started = processor_time();
    let mut from_ns = 0;
    let mut warm = false;
    while !warm || (processor_time() - started).as_secs_f64() < seconds {
        for _ in 0..4096 {
            let Some(next_ns) = array.next_event_ns() else {
                return;
            };
            array.advance_to(next_ns, &mut completed);
            for completion in completed.drain(..) {
                ended += 1;
                latency_sum_ns += completion.completed_ns - completion.submitted_ns;
                array.submit(next_ns, request(completion.tag, case, &mut random));
            }
        }
        if !warm && ((processor_time() - started).as_secs_f64() > seconds) {
            warm = true;
            ended = 0;
            latency_sum_ns = 0;
            started = processor_time();
            from_ns = array.counters().now_ns;
        }
    }
    let spent_s = (processor_time() - started).as_secs_f64();
    let counters = array.counters();
    let simulated_s = (counters.now_ns - from_ns) as f64 / 1e9;
    let disk_requests: u64 = counters
        .disks
        .iter()
        .map(|disk| disk.disk.completed())
        .sum();
    println!(
        "{:40} {:>9.0} host requests/s of a core; inside: {:.0}/s, {:.2} ms, {} disk requests",
        case.title,
        ended as f64 / spent_s,
        ended as f64 / simulated_s,
        latency_sum_ns as f64 / ended as f64 / 1e6,
        disk_requests,
    );
}

/// Time this process has spent on a processor.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let spent_ns = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(spent_ns.unwrap_or(0))
}

fn main() {
    let argument = std::env::args().nth(1);
    let seconds = argument.and_then(|text| text.parse().ok()).unwrap_or(3.0);
    let chosen = std::env::args().nth(2).unwrap_or_default();
    for case in CASES.iter().filter(|case| case.title.contains(&chosen)) {
        measure(case, seconds);
    }
}
