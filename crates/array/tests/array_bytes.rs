//! An array as a store of bytes: whatever happens to it, what it returns is what was written.

use std::collections::BTreeSet;

use array::payload::{Bytes, Payload};
use array::{
    Array, ArraySettings, Fault, HostCompletion, HostError, HostOperation, HostRequest, VolumeId,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const SECTOR: usize = 512;
const VOLUME_SECTORS: u64 = 4096;
const VOLUMES: u16 = 2;
const HOSTS: usize = 6;

/// What can be read from a sector: any of these versions; version 0 is all zeros.
type Versions = Vec<u64>;

/// How much may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Weather {
    /// Nothing.
    Calm,
    /// What the settings promise to survive, one thing after the other.
    Promised,
    /// Anything at any time: data may be lost, but never silently.
    Wild,
}

fn settings(random: &mut Xoshiro256PlusPlus, weather: Weather) -> (String, Place) {
    let two = random.random_bool(0.75);
    let mirror = two && (weather == Weather::Promised || random.random_bool(0.8));
    let alone = weather == Weather::Wild && random.random_bool(0.5);
    let line_kib = [4, 16, 64][random.random_range(0..3)];
    let paths = ["owner", "all"][random.random_range(0..2)];
    let flush = ["protected", "disks"][random.random_range(0..2)];
    let link = if two {
        "link = { rate_mb_per_s = 1000, transfer_us = 20, forward_us = 5 }"
    } else {
        ""
    };
    let place = Place::any(random, weather);
    let mut text = format!(
        "title = 'Test'
[controllers]
count = {count}
ports_per_controller = 2
host_paths = '{paths}'
port = {{ rate_mb_per_s = 800, command_us = 1 }}
service = {{ read_us = 10, write_us = 20, read_miss_us = {miss} }}
failover = {{ takeover_ms = {takeover}, path_switch_ms = {switch}, give_up_ms = 500, write_back_alone = {alone} }}
{link}
[cache]
capacity_mib = 1
line_kib = {line_kib}
mirror = {mirror}
dirty_limit_percent = {limit}
flush = '{flush}'
hold_reads = {hold}
destage = {{ age_ms = {age}, high_watermark_percent = 70, low_watermark_percent = 30, idle_ms = {idle}, in_flight = {in_flight} }}
read_ahead = {{ streams = 4, after_reads = 2, min_window_kib = 32, max_window_kib = 128 }}
{place}",
        place = place.text,
        count = if two { 2 } else { 1 },
        miss = random.random_range(0..10),
        takeover = random.random_range(1..40),
        switch = random.random_range(1..40),
        limit = [30, 60, 90][random.random_range(0..3)],
        hold = random.random_bool(0.8),
        age = [5, 50, 5000][random.random_range(0..3)],
        idle = [0, 3, 30][random.random_range(0..3)],
        in_flight = random.random_range(1..6),
    );
    for number in 0..VOLUMES {
        let through = random.random_bool(0.2);
        let policy = if through {
            "write-through"
        } else {
            "write-back"
        };
        let direct = through && random.random_bool(0.5);
        let owner = if two { number % 2 } else { 0 };
        let within = if place.is_pool {
            "pool = 'p'"
        } else {
            "group = 'g'"
        };
        text += &format!(
            "[[volumes]]\nname = 'v{number}'\n{within}\ncapacity_mib = 2\nowner = {owner}\n\
             write_policy = '{policy}'\ndirect_io = {direct}\nread_ahead = {}\n",
            random.random_bool(0.7)
        );
    }
    (text, place)
}

/// The disks, groups and pool of a trial.
struct Place {
    text: String,
    is_pool: bool,
    /// Disks of which one may fail at a time.
    protected_disks: u32,
    /// The disk of an SSD read cache, which may fail at any time.
    cache_disk: Option<u32>,
}

const DISKS: &str = "
[disks.d]
title = 'd'
[disks.d.ideal]
capacity_bytes = 4194304
service_us = 900
distribution = 'exponential'
servers = 1
[disks.s]
title = 's'
[disks.s.ideal]
capacity_bytes = 1048576
service_us = 90
distribution = 'exponential'
servers = 4
";

fn group(name: &str, disk: &str, disks: u32, level: &str) -> String {
    let chunk = if level == "linear" {
        ""
    } else {
        "chunk_kib = 16"
    };
    format!(
        "[[backend.disk_group]]\nname = '{name}'\ndisk = '{disk}'\ndisks = {disks}\n\
         level = '{level}'\n{chunk}\n"
    )
}

impl Place {
    fn any(random: &mut Xoshiro256PlusPlus, weather: Weather) -> Self {
        let levels = [
            ("raid0", 3, 0),
            ("linear", 2, 0),
            ("raid10", 4, 4),
            ("raid5", 4, 4),
            ("raid6", 5, 5),
        ];
        let (level, disks, protected_disks) = levels[random.random_range(0..levels.len())];
        let mut text = DISKS.to_string() + &group("g", "d", disks, level);
        let is_pool = random.random_bool(0.5);
        let with_tier = is_pool && random.random_bool(0.6);
        let with_cache = is_pool && random.random_bool(0.5);
        let mut groups = String::from("{ group = 'g', tier = 'standard' }");
        if with_tier {
            text += &group("s", "s", 1, "raid0");
            groups += ", { group = 's', tier = 'performance' }";
        }
        if with_cache {
            text += &group("c", "s", 1, "raid0");
        }
        if is_pool {
            let policies = ["off", "scan-rank-move", "heat", "lru", "lru-2"];
            let policy = policies[random.random_range(0..policies.len())];
            text += &format!(
                "[pools.p]\npage_size_kib = 64\ngroups = [{groups}]\n\
                 tiering = {{ policy = '{policy}', interval_s = 0.01, half_life_s = 1.0, \
                 free_pages = 1, move_limit_mib = 1 }}\n"
            );
        }
        if with_cache {
            text += "read_cache = { group = 'c', line_kib = 16 }\n";
        }
        let breaks = weather != Weather::Calm;
        Self {
            text,
            is_pool,
            protected_disks: if breaks { protected_disks } else { 0 },
            cache_disk: (with_cache && breaks).then_some(disks + u32::from(with_tier)),
        }
    }
}

/// The contents of a sector of that version.
fn contents(version: u64) -> [u8; SECTOR] {
    let mut sector = [0; SECTOR];
    for (place, word) in sector.chunks_exact_mut(8).enumerate() {
        let value = version
            .wrapping_mul(0x9e37_79b9_7f4a_7c15)
            .rotate_left(place as u32 % 64);
        word.copy_from_slice(&(if version == 0 { 0 } else { value }).to_le_bytes());
    }
    sector
}

/// The request a host waits for.
#[derive(Debug, Clone)]
struct Asked {
    operation: HostOperation,
    volume: u16,
    first_sector: u64,
    sectors: u32,
    first_version: u64,
}

struct Trial {
    seed: u64,
    weather: Weather,
    random: Xoshiro256PlusPlus,
    array: Array<Bytes>,
    model: Vec<Vec<Versions>>,
    hosts: Vec<Option<Asked>>,
    next_version: u64,
    now_ns: u64,
    controllers: u32,
    down: BTreeSet<u32>,
    without_battery: BTreeSet<u32>,
    ended: [u64; 4],
    errors: u64,
    cursor: u64,
    mended: bool,
    place: Place,
    disk_down: Option<u32>,
}

impl Trial {
    fn new(seed: u64, weather: Weather) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (text, place) = settings(&mut random, weather);
        let settings: ArraySettings =
            toml::from_str(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        let array = Array::new(&settings, seed)
            .unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
        Self {
            seed,
            weather,
            random,
            array,
            model: vec![vec![vec![0]; VOLUME_SECTORS as usize]; usize::from(VOLUMES)],
            hosts: vec![None; HOSTS],
            next_version: 1,
            now_ns: 0,
            controllers: settings.controllers.count,
            down: BTreeSet::new(),
            without_battery: BTreeSet::new(),
            ended: [0; 4],
            errors: 0,
            cursor: 0,
            mended: false,
            place,
            disk_down: None,
        }
    }

    fn overlaps(&self, volume: u16, first_sector: u64, sectors: u32) -> bool {
        self.hosts.iter().flatten().any(|other| {
            other.operation != HostOperation::Flush
                && other.volume == volume
                && other.first_sector < first_sector + u64::from(sectors)
                && first_sector < other.first_sector + u64::from(other.sectors)
        })
    }

    fn ask(&mut self, host: usize) {
        let volume = self.random.random_range(0..VOLUMES);
        let sectors = match self.random.random_range(0..10) {
            0 => self.random.random_range(1..=600),
            1..4 => 64,
            _ => self.random.random_range(1..=40),
        };
        let hot = self.random.random_bool(0.5);
        let span = if hot { 512 } else { VOLUME_SECTORS };
        let sequential = self.random.random_bool(0.3);
        let first_sector = if sequential {
            self.cursor = (self.cursor + 64) % (VOLUME_SECTORS - 600);
            self.cursor
        } else {
            self.random
                .random_range(0..span.max(601) - u64::from(sectors).min(600))
        };
        let sectors = if sequential { 64 } else { sectors };
        let operation = match self.random.random_range(0..100) {
            0..45 => HostOperation::Read,
            45..94 => HostOperation::Write,
            94..98 => HostOperation::Flush,
            _ => HostOperation::Trim,
        };
        if operation != HostOperation::Flush && self.overlaps(volume, first_sector, sectors) {
            return;
        }
        let asked = Asked {
            operation,
            volume,
            first_sector,
            sectors,
            first_version: self.next_version,
        };
        let mut payload = Bytes::default();
        if operation == HostOperation::Write {
            let versions = self.next_version..self.next_version + u64::from(sectors);
            payload = Bytes::new(versions.flat_map(contents).collect());
            self.next_version += u64::from(sectors);
        }
        let request = HostRequest {
            tag: host as u64,
            volume: VolumeId(volume),
            operation,
            first_sector,
            sectors,
            payload,
        };
        self.array.submit(self.now_ns, request);
        self.hosts[host] = Some(asked);
    }

    fn end(&mut self, completion: &HostCompletion<Bytes>) {
        let host = completion.tag as usize;
        let asked = self.hosts[host].take();
        let asked =
            asked.unwrap_or_else(|| panic!("seed {}: host {host} asked nothing", self.seed));
        self.ended[asked.operation as usize] += 1;
        let context = format!("seed {}, {:?}, {asked:?}", self.seed, self.weather);
        if let Err(error) = completion.result {
            self.errors += 1;
            let allowed = match self.weather {
                Weather::Calm | Weather::Promised => false,
                Weather::Wild => {
                    (error == HostError::NoPath && !self.mended)
                        || (error == HostError::DataLost && asked.operation == HostOperation::Read)
                }
            };
            assert!(allowed, "{context}: {error}");
        }
        let volume = &mut self.model[usize::from(asked.volume)];
        let span =
            asked.first_sector as usize..asked.first_sector as usize + asked.sectors as usize;
        match asked.operation {
            HostOperation::Write => {
                for (place, versions) in volume[span].iter_mut().enumerate() {
                    if completion.result.is_ok() {
                        versions.clear();
                    }
                    versions.push(asked.first_version + place as u64);
                }
            }
            HostOperation::Read if completion.result.is_ok() => {
                let sectors = completion.payload.as_slice().chunks_exact(SECTOR);
                assert_eq!(sectors.len(), asked.sectors as usize, "{context}");
                for ((place, versions), found) in volume[span].iter_mut().enumerate().zip(sectors) {
                    let version = versions.iter().find(|&&version| contents(version) == found);
                    let Some(&version) = version else {
                        let stale = (0..self.next_version).find(|&old| contents(old) == found);
                        panic!(
                            "{context}: sector {place} is none of {versions:?} but version \
                             {stale:?}",
                        );
                    };
                    *versions = vec![version];
                }
            }
            HostOperation::Read | HostOperation::Flush => {}
            HostOperation::Trim => {
                for versions in &mut volume[span] {
                    versions.push(0);
                }
            }
        }
    }

    fn advance(&mut self, until_ns: u64) {
        let mut completed = Vec::new();
        while completed.is_empty() {
            match self.array.next_event_ns() {
                Some(next_ns) if next_ns <= until_ns => {
                    self.now_ns = next_ns;
                    self.array.advance_to(next_ns, &mut completed);
                }
                _ => {
                    self.now_ns = until_ns;
                    self.array.advance_to(until_ns, &mut completed);
                    break;
                }
            }
        }
        for completion in &completed {
            self.end(completion);
        }
    }

    fn dirty_lines(&self) -> u64 {
        let counters = self.array.counters();
        counters
            .controllers
            .iter()
            .map(|each| each.dirty_lines)
            .sum()
    }

    /// Lets time pass until all requests have ended, and until nothing is dirty if that is asked.
    fn rest(&mut self, until_clean: bool) {
        let until_ns = self.now_ns + 120_000_000_000;
        while self.now_ns < until_ns {
            let busy = self.hosts.iter().any(Option::is_some);
            if !busy && !(until_clean && self.dirty_lines() > 0) {
                return;
            }
            let Some(next_ns) = self.array.next_event_ns() else {
                return;
            };
            self.advance(next_ns);
        }
    }

    /// One disk at a time fails, and is replaced.
    fn break_or_mend_disk(&mut self) {
        if let Some(disk) = self.disk_down.take() {
            self.array.inject(self.now_ns, Fault::ReplaceDisk(disk));
            // The rebuild takes less than a second.
            let until_ns = self.now_ns + 5_000_000_000;
            while self.now_ns < until_ns {
                self.advance(until_ns);
            }
            return;
        }
        if let Some(disk) = self.place.cache_disk
            && self.random.random_bool(0.2)
        {
            self.array.inject(self.now_ns, Fault::FailDisk(disk));
        } else if self.place.protected_disks > 0 {
            let disk = self.random.random_range(0..self.place.protected_disks);
            self.disk_down = Some(disk);
            self.array.inject(self.now_ns, Fault::FailDisk(disk));
        }
    }

    fn break_or_mend(&mut self) {
        let number = self.random.random_range(0..self.controllers);
        let delay_ns = self.random.random_range(0..20_000_000);
        let at_ns = self.now_ns + delay_ns;
        let fault = if self.random.random_bool(0.5) {
            if self.down.remove(&number) {
                Fault::RestoreController(number)
            } else {
                self.down.insert(number);
                Fault::FailController(number)
            }
        } else if self.without_battery.remove(&number) {
            Fault::RestoreCacheBattery(number)
        } else {
            self.without_battery.insert(number);
            Fault::LoseCacheBattery(number)
        };
        if self.weather == Weather::Promised {
            self.break_as_promised(fault);
            return;
        }
        self.array.inject(at_ns, fault);
        // Faults keep the order they were chosen in.
        while self.now_ns < at_ns {
            self.advance(at_ns);
        }
    }

    /// A controller may fail when its partner works and holds a copy of all that is not on disk;
    /// a battery may fail while all controllers work.
    fn break_as_promised(&mut self, fault: Fault) {
        let allowed = match fault {
            Fault::FailController(_) => {
                self.down.len() == 1 && self.controllers == 2 && self.without_battery.is_empty()
            }
            Fault::LoseCacheBattery(_) => self.down.is_empty(),
            _ => true,
        };
        if !allowed {
            match fault {
                Fault::FailController(number) => self.down.remove(&number),
                Fault::LoseCacheBattery(number) => self.without_battery.remove(&number),
                _ => false,
            };
            return;
        }
        if matches!(fault, Fault::FailController(_)) {
            // Long enough for copies to be made anew and volumes to return.
            let until_ns = self.now_ns + 10_000_000_000;
            while self.now_ns < until_ns {
                self.advance(until_ns);
            }
        }
        // With new work under way.
        for host in 0..HOSTS {
            if self.hosts[host].is_none() {
                self.ask(host);
            }
        }
        let until_ns = self.now_ns + self.random.random_range(0..3_000_000);
        self.advance(until_ns);
        self.array.inject(self.now_ns, fault);
    }

    fn run(mut self, steps: u32) -> (u64, u64) {
        for _ in 0..steps {
            let host = self.random.random_range(0..HOSTS);
            if self.hosts[host].is_none() && self.random.random_bool(0.6) {
                self.ask(host);
            } else {
                let pause_ns = self.random.random_range(0..3_000_000);
                self.advance(self.now_ns + pause_ns);
            }
            if self.weather != Weather::Calm && self.random.random_bool(0.02) {
                self.break_or_mend();
            }
            if self.weather != Weather::Calm && self.random.random_bool(0.01) {
                self.break_or_mend_disk();
            }
        }
        for number in 0..self.controllers {
            self.array
                .inject(self.now_ns, Fault::RestoreController(number));
            self.array
                .inject(self.now_ns, Fault::RestoreCacheBattery(number));
        }
        self.rest(true);
        assert!(
            self.hosts.iter().all(Option::is_none),
            "seed {}: all requests end",
            self.seed
        );
        self.array.check_laws();
        self.mended = true;
        self.read_everything();
        let counters = self.array.counters();
        assert_eq!(
            self.dirty_lines(),
            0,
            "seed {}: all is on disk at last",
            self.seed
        );
        if self.weather != Weather::Wild {
            assert_eq!(
                counters.lost_sectors, 0,
                "seed {}: nothing may be lost",
                self.seed
            );
        }
        (self.ended.iter().sum(), counters.lost_sectors)
    }

    fn read_everything(&mut self) {
        for volume in 0..VOLUMES {
            for first_sector in (0..VOLUME_SECTORS).step_by(64) {
                let asked = Asked {
                    operation: HostOperation::Read,
                    volume,
                    first_sector,
                    sectors: 64,
                    first_version: 0,
                };
                self.array.submit(
                    self.now_ns,
                    HostRequest {
                        tag: 0,
                        volume: VolumeId(volume),
                        operation: HostOperation::Read,
                        first_sector,
                        sectors: 64,
                        payload: Bytes::default(),
                    },
                );
                self.hosts[0] = Some(asked);
                self.rest(false);
            }
        }
    }
}

fn weather_holds(weather: Weather, seeds: std::ops::Range<u64>) -> (u64, u64) {
    let mut ended = 0;
    let mut lost = 0;
    // ARRAY_SEEDS=n draws n times as many, ARRAY_SEED=n that one alone.
    let number = |name| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let many = number("ARRAY_SEEDS").unwrap_or(1);
    let seeds = match number("ARRAY_SEED") {
        Some(seed) => seed..seed + 1,
        None => seeds.start..seeds.start + (seeds.end - seeds.start) * many,
    };
    for seed in seeds {
        let trial = Trial::new(seed, weather);
        let (requests, sectors) = trial.run(600);
        ended += requests;
        lost += sectors;
    }
    (ended, lost)
}

#[test]
fn bytes_survive_calm_days() {
    let (ended, _) = weather_holds(Weather::Calm, 0..150);
    assert!(
        ended > 15_000,
        "{ended} requests are too few to prove anything"
    );
}

#[test]
fn bytes_survive_what_the_settings_promise() {
    let (ended, _) = weather_holds(Weather::Promised, 10_000..10_200);
    assert!(
        ended > 15_000,
        "{ended} requests are too few to prove anything"
    );
}

#[test]
fn bytes_are_never_wrong_whatever_breaks() {
    let (ended, lost) = weather_holds(Weather::Wild, 20_000..20_250);
    assert!(
        ended > 15_000,
        "{ended} requests are too few to prove anything"
    );
    assert!(lost > 0, "wild weather loses something, and says so");
    assert!(Bytes::CARRIES_BYTES);
}
