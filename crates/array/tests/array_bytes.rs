//! An array as a store of bytes: whatever happens to it, what it returns is what was written.

mod place;

use std::collections::BTreeSet;

use array::payload::Bytes;
use array::{
    Array, ArraySettings, Fault, HostCompletion, HostError, HostOperation, HostRequest, VolumeId,
};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use place::{Place, VOLUMES, Weather, settings};

const SECTOR: usize = 512;
const VOLUME_SECTORS: u64 = 4096;
const HOSTS: usize = 6;

/// What can be read from a sector: any of these versions; version 0 is all zeros.
type Versions = Vec<u64>;

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
    repaired: bool,
    place: Place,
    disk_down: Option<u32>,
}

impl Trial {
    fn new(seed: u64, weather: Weather) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let (text, place) = settings(&mut random, weather);
        let settings: ArraySettings =
            config::from_toml(&text).unwrap_or_else(|error| panic!("seed {seed}: {error}\n{text}"));
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
            repaired: false,
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
                    (error == HostError::NoPath && !self.repaired)
                        || (error == HostError::DataLost && asked.operation == HostOperation::Read)
                }
            };
            assert!(allowed, "{context}: {error}");
        }
        if completion.result.is_ok() {
            self.check_space(&asked, completion, &context);
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

    /// What has no space reads as zeros, what was written has some, and pages that were trimmed have none.
    fn check_space(&self, asked: &Asked, completion: &HostCompletion<Bytes>, context: &str) {
        let volume = VolumeId(asked.volume);
        let end_sector = asked.first_sector + u64::from(asked.sectors);
        let mut sector = asked.first_sector;
        while sector < end_sector && asked.operation != HostOperation::Flush {
            let found = self.array.has_space(volume, sector, end_sector - sector);
            let (has_space, alike) = found.expect("a stretch of the volume");
            assert!(alike > 0 && alike <= end_sector - sector, "{context}");
            let from = (sector - asked.first_sector) as usize * SECTOR;
            match asked.operation {
                HostOperation::Read if !has_space => {
                    let bytes = &completion.payload.as_slice()[from..][..alike as usize * SECTOR];
                    assert!(bytes.iter().all(|&byte| byte == 0), "{context}: {sector}");
                }
                HostOperation::Write => assert!(has_space, "{context}: {sector}"),
                HostOperation::Trim if has_space => {
                    let page_sectors = self.array.page_sectors(volume).unwrap_or(u64::MAX);
                    let whole_page = sector.next_multiple_of(page_sectors);
                    let end_of_page = whole_page.saturating_add(page_sectors);
                    assert!(end_of_page > sector + alike, "{context}: {whole_page}");
                }
                _ => {}
            }
            sector += alike;
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
            let waits = busy || (until_clean && self.dirty_lines() > 0);
            if !waits {
                return;
            }
            let Some(next_ns) = self.array.next_event_ns() else {
                return;
            };
            self.advance(next_ns);
        }
    }

    /// One disk at a time fails, and is replaced.
    fn break_or_repair_disk(&mut self) {
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

    fn break_or_repair(&mut self) {
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
            // Long enough for copies to be created again and volumes to return.
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
                self.break_or_repair();
            }
            if self.weather != Weather::Calm && self.random.random_bool(0.01) {
                self.break_or_repair_disk();
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
        self.array.check_invariants();
        self.repaired = true;
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
}
