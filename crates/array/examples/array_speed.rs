//! How many host requests the model gets through in a second of one core.
//!
//! `cargo run --release -p array --example array_speed [--json] [MILLIONS [CASE]]`: 20 disks in two
//! RAID 6 groups, 32 KiB at random, 60 % reads, closed loop, write-back cache; then reads that an
//! SSD tier, a plain SSD group, or the cache serves. Payload: none. Each case warms up until its
//! cache has been filled several times, then counts MILLIONS of host requests (2 by default).
//! Prints host requests per second of CPU time and of wall time, the peak memory so far, and
//! the rate and latency inside the model.

use std::time::{Duration, Instant};

use array::disk::BUNDLED_DISKS;
use array::{
    Array, ArraySettings, FirstWrite, HostCompletion, HostOperation, HostRequest, VolumeId,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const BLOCK_SECTORS: u32 = 64;
const HOSTS: u64 = 32;
const WARM_UP_REQUESTS: u64 = 700_000;

struct Case {
    name: &'static str,
    title: &'static str,
    /// Keys of a disk group.
    group: &'static str,
    disk: &'static str,
    disks_per_group: u32,
    /// Whether the volumes lie in pools whose performance tier the groups are.
    tiered: bool,
    volume_mib: u64,
    read_percent: u32,
}

const CASES: [Case; 5] = [
    Case {
        name: "raid6",
        title: "RAID 6, two groups of 10 disks, 60/40",
        group: "level = 'raid6'\nchunk_kib = 512",
        disk: HARD_DISK,
        disks_per_group: 10,
        tiered: false,
        volume_mib: 600 * 1024,
        read_percent: 60,
    },
    Case {
        name: "textbook",
        title: "RAID 6 on textbook disks, 60/40",
        group: "level = 'raid6'\nchunk_kib = 512",
        disk: TEXTBOOK_DISK,
        disks_per_group: 10,
        tiered: false,
        volume_mib: 600 * 1024,
        read_percent: 60,
    },
    Case {
        name: "tier",
        title: "reads from an SSD tier",
        group: "level = 'raid10'\nchunk_kib = 512",
        disk: SSD,
        disks_per_group: 4,
        tiered: true,
        volume_mib: 300 * 1024,
        read_percent: 100,
    },
    Case {
        name: "ssd",
        title: "reads from an SSD group",
        group: "level = 'raid0'\nchunk_kib = 512",
        disk: SSD,
        disks_per_group: 4,
        tiered: false,
        volume_mib: 300 * 1024,
        read_percent: 100,
    },
    Case {
        name: "cache",
        title: "reads from the cache",
        group: "level = 'raid0'\nchunk_kib = 512",
        disk: SSD,
        disks_per_group: 4,
        tiered: false,
        volume_mib: 1024,
        read_percent: 100,
    },
];

/// A 10,000 rpm 2.5" disk of 900 GB, by its bundled description.
const HARD_DISK: &str = "sas-10k-900gb";

/// An SSD of 400 GB, by its bundled description.
const SSD: &str = "ssd-sas-400gb";

const TEXTBOOK_DISK: &str = "capacity_bytes = 900_000_000_000, service_us = 4000, \
                             distribution = 'exponential', servers = 1, on_board_queue_depth = 16";

const FRONT: &str = "title = 'Speed'
[controllers]
count = 2
ports_per_controller = 2
port = { rate_mb_per_s = 1600, command_us = 1 }
service = { read_us = 4, write_us = 6 }
link = { rate_mb_per_s = 4000, transfer_us = 5 }
[cache]
capacity_mib = 4096
line_kib = 32
mirror = true
dirty_limit_percent = 50
[cache.destage]
age_ms = 10000
high_watermark_percent = 80
low_watermark_percent = 70
idle_ms = 100
in_flight = 48
";

fn settings(case: &Case) -> ArraySettings {
    let mut text = FRONT.to_string();
    for number in 0..2 {
        text += &format!(
            "[[backend.disk_group]]\nname = 'g{number}'\ndisk = 'd'\ndisks = {}\n{}\n",
            case.disks_per_group, case.group
        );
        if case.tiered {
            text += &format!(
                "[pools.p{number}]\ngroups = [{{ group = 'g{number}', tier = 'performance' }}]\n\
                 tiering = {{ policy = 'scan-rank-move' }}\n"
            );
        }
    }
    let place = if case.tiered {
        "pool = 'p"
    } else {
        "group = 'g"
    };
    for number in 0..2 {
        text += &format!(
            "[[volumes]]\nname = 'v{number}'\n{place}{number}'\ncapacity_mib = {}\n\
             owner = {number}\n",
            case.volume_mib
        );
    }
    let bundled = BUNDLED_DISKS.iter().find(|disk| disk.name == case.disk);
    let disk = match bundled {
        Some(disk) => disk.toml.to_string(),
        None => format!("title = 'textbook'\nideal = {{ {} }}", case.disk),
    };
    let built = config::from_toml::<ArraySettings>(&text)
        .and_then(|settings| Ok((settings, config::from_toml(&disk)?)));
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

/// As in the program.
#[global_allocator]
static ALLOCATOR: runtime::LargePages = runtime::LargePages;

/// An array with its closed loop of hosts.
struct Loop<'a> {
    case: &'a Case,
    array: Array<()>,
    random: Xoshiro256PlusPlus,
    completed: Vec<HostCompletion<()>>,
    latency_sum_ns: u64,
}

impl<'a> Loop<'a> {
    fn new(case: &'a Case) -> Result<Self, Box<dyn std::error::Error>> {
        let mut array = Array::<()>::new(&settings(case), 1)?;
        let sectors = case.volume_mib * 2048;
        for volume in 0..2 {
            array.lay_out(VolumeId(volume), 0, sectors, FirstWrite::Random)?;
        }
        let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
        for host in 0..HOSTS {
            array.submit(0, request(host, case, &mut random));
        }
        Ok(Self {
            case,
            array,
            random,
            completed: Vec::new(),
            latency_sum_ns: 0,
        })
    }

    /// Lets so many requests end.
    fn run(&mut self, requests: u64) {
        let mut ended = 0;
        while ended < requests
            && let Some(next_ns) = self
                .array
                .advance_to_completion(u64::MAX, &mut self.completed)
        {
            for completion in self.completed.drain(..) {
                ended += 1;
                self.latency_sum_ns += completion.completed_ns - completion.submitted_ns;
                let next = request(completion.tag, self.case, &mut self.random);
                self.array.submit(next_ns, next);
            }
        }
    }
}

/// What was measured of a case.
struct Figures {
    requests: u64,
    processor_s: f64,
    wall_s: f64,
    simulated_s: f64,
    disk_requests: u64,
    latency_ms: f64,
    peak_mib: f64,
}

fn measure(case: &Case, requests: u64) -> Result<Figures, Box<dyn std::error::Error>> {
    let mut hosts = Loop::new(case)?;
    hosts.run(WARM_UP_REQUESTS);
    hosts.latency_sum_ns = 0;
    let disk_requests = |array: &Array<()>| -> u64 {
        let counters = array.counters();
        let disks = counters.disks.iter();
        disks.map(|disk| disk.disk.completed()).sum()
    };
    let (before, from_ns) = (disk_requests(&hosts.array), hosts.array.counters().now_ns);
    let (began, began_processor) = (Instant::now(), processor_time());
    hosts.run(requests);
    let (wall, processor) = (began.elapsed(), processor_time() - began_processor);
    hosts.array.check_invariants();
    Ok(Figures {
        requests,
        processor_s: processor.as_secs_f64(),
        wall_s: wall.as_secs_f64(),
        simulated_s: (hosts.array.counters().now_ns - from_ns) as f64 / 1e9,
        disk_requests: disk_requests(&hosts.array) - before,
        latency_ms: hosts.latency_sum_ns as f64 / requests as f64 / 1e6,
        peak_mib: peak_mib(),
    })
}

/// Time this process has spent on a CPU.
fn processor_time() -> Duration {
    let text = std::fs::read_to_string("/proc/self/schedstat").unwrap_or_default();
    let spent_ns = text.split(' ').next().and_then(|word| word.parse().ok());
    Duration::from_nanos(spent_ns.unwrap_or(0))
}

/// The most memory this process has had so far, MiB.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let kib = line.and_then(|line| line.split_whitespace().nth(1)?.parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

fn print(case: &Case, figures: &Figures, json: bool) {
    let requests = figures.requests as f64;
    let (processor_rate, wall_rate) = (requests / figures.processor_s, requests / figures.wall_s);
    if json {
        println!(
            "{{\"case\":\"{}\",\"requests\":{},\"per_processor_second\":{processor_rate:.0},\
             \"per_wall_second\":{wall_rate:.0},\"disk_requests\":{},\"processor_seconds\":{:.3},\
             \"peak_mib\":{:.0}}}",
            case.name,
            figures.requests,
            figures.disk_requests,
            figures.processor_s,
            figures.peak_mib
        );
        return;
    }
    println!(
        "{:38} {processor_rate:>9.0} host requests/s of a core, {wall_rate:>9.0} of wall time, \
         {:.2} disk requests each, peak {:.0} MiB; inside: {:.0}/s, {:.2} ms",
        case.title,
        figures.disk_requests as f64 / requests,
        figures.peak_mib,
        requests / figures.simulated_s,
        figures.latency_ms,
    );
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (flags, words): (Vec<String>, Vec<String>) =
        std::env::args().skip(1).partition(|word| word == "--json");
    let json = !flags.is_empty();
    let millions: f64 = words.first().map_or(Ok(2.0), |text| text.parse())?;
    let chosen = words.get(1).map_or("", String::as_str);
    for case in &CASES {
        if chosen.is_empty() || case.name == chosen {
            let figures = measure(case, (millions * 1e6) as u64)?;
            print(case, &figures, json);
        }
    }
    Ok(())
}
