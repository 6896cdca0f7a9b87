//! Every level as a store: random reads and writes, disks that fail and are replaced, rebuilds,
//! scrubs and sectors that cannot be read, against a flat model. Never a wrong byte; within what
//! the level promises never an error; beyond it an error.
//!
//! `ARRAY_SEEDS` says how many seeds are tried, and `ARRAY_FIRST_SEED` with which to begin.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use crate::common::{FlatModel, FlatRead, extent_bytes, ideal_backend, ideal_disk};
use array::Direction;
use array::group::{
    Backend, GroupCompletion, GroupError, GroupId, GroupRequest, GroupState, Groups, IoClass,
    StationId,
};
use array::payload::Bytes;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const CLASSES: [IoClass; 4] = [
    IoClass::HostRead,
    IoClass::HostWrite,
    IoClass::Destage,
    IoClass::Migration,
];

/// What the disks do to the groups.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trouble {
    /// As much as the level bears; no request may fail.
    Borne,
    /// Anything at any time; requests may fail, but what is read is right.
    Any,
}

/// What a request that is in flight did.
#[derive(Debug, Clone)]
enum Asked {
    Read,
    Write(Vec<(u64, u32)>, u32),
}

struct Run {
    seed: u64,
    random: Xoshiro256PlusPlus,
    trouble: Trouble,
    backend: Backend<Bytes>,
    disk_sectors: u64,
    now_ns: u64,
    models: Vec<FlatModel>,
    asked: Vec<Option<(u16, Asked)>>,
    reads: Vec<Vec<Option<FlatRead>>>,
    versions: u32,
}

impl Run {
    fn new(seed: u64, layout: &str, trouble: Trouble) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let pick = |random: &mut Xoshiro256PlusPlus, words: &[&str]| {
            words[random.random_range(0..words.len())].to_string()
        };
        let settings = format!(
            "warp = {}\nmirror_read = '{}'\nsmall_write = '{}'\n{}\n\
             [rebuild]\nrate_mb_per_s = {:?}\nin_flight = {}\nunit_kib = {}\n\
             [scrub]\nrate_mb_per_s = {:?}\n\
             [dispatch]\nqueue_limit = {}\nbackground_wait_limit_ms = {:?}\n{layout}",
            [1, 3, 60][random.random_range(0..3)],
            pick(&mut random, &["less-busy", "alternate", "first"]),
            pick(
                &mut random,
                &["fewest-requests", "read-modify-write", "reconstruct"]
            ),
            pick(
                &mut random,
                &["", "parity_gap_kib = 0", "parity_gap_kib = 1"]
            ),
            [0.5, 5.0, 100.0][random.random_range(0..3)],
            random.random_range(1..4),
            [1, 2, 64][random.random_range(0..3)],
            [0.5, 100.0][random.random_range(0..2)],
            random.random_range(1..6),
            [0.5, 50.0][random.random_range(0..2)],
        );
        let disk_sectors = 48 + random.random_range(0..8);
        let servers = random.random_range(1..4);
        let backend = ideal_backend(&settings, disk_sectors, servers, seed);
        let groups = 0..backend.group_count() as u16;
        let models = groups
            .clone()
            .map(|group| FlatModel::new(backend.group(GroupId(group)).capacity_sectors))
            .collect();
        Self {
            seed,
            random,
            trouble,
            backend,
            disk_sectors,
            now_ns: 0,
            models,
            asked: Vec::new(),
            reads: groups.map(|_| Vec::new()).collect(),
            versions: 0,
        }
    }

    fn extent(&mut self, group: u16) -> (u64, u32) {
        let capacity = self.backend.group(GroupId(group)).capacity_sectors;
        let first_sector = self.random.random_range(0..capacity);
        let longest = if self.random.random_bool(0.8) { 6 } else { 60 };
        let sectors = self.random.random_range(1..=longest);
        (first_sector, sectors.min(capacity - first_sector) as u32)
    }

    fn remember(&mut self, group: u16, asked: Asked, read: Option<FlatRead>) -> u32 {
        let id = self.asked.len() as u32;
        self.asked.push(Some((group, asked)));
        for reads in &mut self.reads {
            reads.push(None);
        }
        self.reads[usize::from(group)][id as usize] = read;
        id
    }

    fn read(&mut self, group: u16, first_sector: u64, sectors: u32) {
        let read = self.models[usize::from(group)].read_begins(first_sector, sectors);
        let owner = self.remember(group, Asked::Read, Some(read));
        let request = GroupRequest {
            owner,
            group: GroupId(group),
            direction: Direction::Read,
            first_sector,
            sectors,
            class: CLASSES[self.random.random_range(0..4)],
            payload: Bytes::default(),
        };
        self.backend.submit(self.now_ns, request);
    }

    fn write(&mut self, group: u16) {
        self.versions += 1;
        let version = self.versions;
        let class = CLASSES[self.random.random_range(0..4)];
        let mut extents = vec![self.extent(group)];
        let several = self.random.random_bool(0.4);
        if several {
            for _ in 0..self.random.random_range(0..4) {
                let (first, sectors) = self.extent(group);
                let apart = |&(other, length): &(u64, u32)| {
                    first + u64::from(sectors) <= other || other + u64::from(length) <= first
                };
                if extents.iter().all(apart) {
                    extents.push((first, sectors));
                }
            }
        }
        let owner = self.remember(group, Asked::Write(extents.clone(), version), None);
        for &(first_sector, sectors) in &extents {
            let index = usize::from(group);
            let reads = &mut self.reads[index];
            self.models[index].write_begins(first_sector, sectors, version, reads);
        }
        let group = GroupId(group);
        if several {
            let pieces: Vec<(u64, u32, Bytes)> = extents
                .into_iter()
                .map(|(first, sectors)| (first, sectors, extent_bytes(first, sectors, version)))
                .collect();
            self.backend
                .submit_stripe_write(self.now_ns, owner, group, class, &pieces);
        } else {
            let (first_sector, sectors) = extents[0];
            let request = GroupRequest {
                owner,
                group,
                direction: Direction::Write,
                first_sector,
                sectors,
                class,
                payload: extent_bytes(first_sector, sectors, version),
            };
            self.backend.submit(self.now_ns, request);
        }
    }

    /// How many more losses every group bears, if losses anywhere add up.
    fn spare_losses(&self) -> i64 {
        let stations = self.backend.stations();
        let bad: usize = stations
            .iter()
            .map(array::station::Station::bad_sectors)
            .sum();
        (0..self.backend.group_count() as u16)
            .map(|group| {
                let group = self.backend.group(GroupId(group));
                let tolerance = i64::from(group.geometry.tolerance());
                let lost = match group.state {
                    GroupState::Healthy => 0,
                    GroupState::Degraded => 1,
                    GroupState::Critical | GroupState::Failed => tolerance,
                };
                tolerance - lost - bad as i64
            })
            .min()
            .unwrap_or(0)
    }

    fn make_trouble(&mut self) {
        let stations = self.backend.stations().len() as u16;
        let station = StationId(self.random.random_range(0..stations));
        let working = self.backend.stations()[usize::from(station.0)].is_working();
        let bearable = self.trouble == Trouble::Any || self.spare_losses() > 0;
        match self.random.random_range(0..10) {
            0..3 if bearable && working => self.backend.fail_disk(self.now_ns, station),
            3..6 if !working || self.trouble == Trouble::Any && self.random.random_bool(0.1) => {
                let disk = ideal_disk(self.disk_sectors, 100.0, 2, false, self.seed ^ 77);
                self.backend
                    .replace_disk(self.now_ns, station, disk)
                    .unwrap();
            }
            6..9 if bearable => {
                let sectors = if self.trouble == Trouble::Any {
                    self.random.random_range(1..8)
                } else {
                    1
                };
                let first = self.random.random_range(0..self.disk_sectors - sectors);
                self.backend
                    .mark_sectors_unreadable(station, first, sectors as u32);
            }
            9 => self.backend.start_scrub(self.now_ns),
            _ => {}
        }
    }

    fn check(&mut self, done: &GroupCompletion<Bytes>) {
        let id = done.owner as usize;
        let (group, asked) = self.asked[id].take().unwrap();
        assert_eq!(done.group.0, group);
        let index = usize::from(group);
        if let Err(error) = done.result {
            assert_eq!(self.trouble, Trouble::Any, "seed {}: {error}", self.seed);
            let failed = self.backend.group(done.group).state == GroupState::Failed;
            let unreadable = matches!(error, GroupError::Unreadable { .. });
            assert!(failed || unreadable, "seed {}: {error}", self.seed);
        }
        match asked {
            Asked::Read => {
                let read = self.reads[index][id].take().unwrap();
                if done.result.is_ok() {
                    let compared = self.models[index].read_ends(&read, &done.payload);
                    compared.unwrap_or_else(|wrong| panic!("seed {}: {wrong}", self.seed));
                }
            }
            Asked::Write(extents, version) => {
                for (first_sector, sectors) in extents {
                    let ok = done.result.is_ok();
                    self.models[index].write_ends(first_sector, sectors, version, ok);
                }
            }
        }
    }

    fn drain(&mut self) {
        while let Some(done) = self.backend.pop_done() {
            self.check(&done);
        }
    }

    fn step(&mut self) -> bool {
        let Some(next_ns) = self.backend.next_event_ns() else {
            return false;
        };
        self.now_ns = next_ns;
        self.backend.advance_one(next_ns);
        self.drain();
        true
    }

    fn settle(&mut self) {
        let mut steps = 0;
        while self.step() {
            steps += 1;
            assert!(steps < 1_000_000, "seed {}: no end", self.seed);
        }
        assert_eq!(self.backend.in_flight(), 0, "seed {}", self.seed);
        let invariants = self.backend.check_invariants();
        invariants.unwrap_or_else(|broken| panic!("seed {}: {broken}", self.seed));
    }

    fn read_everything(&mut self) {
        for group in 0..self.backend.group_count() as u16 {
            let capacity = self.backend.group(GroupId(group)).capacity_sectors;
            let mut first = 0;
            while first < capacity {
                let sectors = self.random.random_range(1..40).min(capacity - first);
                self.read(group, first, sectors as u32);
                first += sectors;
            }
        }
        self.settle();
    }

    fn go(mut self) {
        let groups = self.backend.group_count() as u16;
        for _ in 0..self.random.random_range(20..160) {
            let group = self.random.random_range(0..groups);
            match self.random.random_range(0..100) {
                0..40 => self.write(group),
                40..70 => {
                    let (first_sector, sectors) = self.extent(group);
                    self.read(group, first_sector, sectors);
                }
                70..78 => self.make_trouble(),
                _ => {}
            }
            for _ in 0..self.random.random_range(0..8) {
                self.step();
            }
            self.drain();
        }
        self.settle();
        self.read_everything();
        self.backend.start_scrub(self.now_ns);
        self.settle();
        for group in 0..groups {
            let counters = *self.backend.group(GroupId(group)).counters;
            assert_eq!(
                counters.mismatches, 0,
                "seed {}: parity is wrong",
                self.seed
            );
        }
        self.read_everything();
    }
}

fn seeds(default: u64) -> std::ops::Range<u64> {
    let number = |name: &str, default: u64| {
        std::env::var(name).map_or(default, |text| text.parse().unwrap())
    };
    let first = number("ARRAY_FIRST_SEED", 0);
    first..first + number("ARRAY_SEEDS", default)
}

fn disk_group(level: &str, disks: u16, chunk: &str, spares: u16) -> String {
    format!(
        "[[disk_group]]\nname='g'\ndisk='d'\ndisks={disks}\nspares={spares}\nlevel='{level}'\n\
         {chunk}\n"
    )
}

fn try_layouts(layouts: &[String], default_seeds: u64) {
    for seed in seeds(default_seeds) {
        let layout = &layouts[seed as usize % layouts.len()];
        let trouble = if seed / layouts.len() as u64 % 3 == 2 {
            Trouble::Any
        } else {
            Trouble::Borne
        };
        Run::new(seed, layout, trouble).go();
    }
}

#[test]
fn unprotected_groups_store_what_they_are_given() {
    let layouts = [
        disk_group("linear", 3, "", 0),
        disk_group("raid0", 3, "chunk_kib = 2", 0),
    ];
    try_layouts(&layouts, 300);
}

#[test]
fn mirrors_store_what_they_are_given() {
    let layouts = [
        disk_group("raid1", 2, "", 0),
        disk_group("raid1", 3, "", 1),
        disk_group("raid10", 4, "chunk_kib = 2", 0),
        disk_group("raid10", 6, "chunk_kib = 4", 1),
    ];
    try_layouts(&layouts, 1200);
}

#[test]
fn single_parity_stores_what_it_is_given() {
    let layouts = [
        disk_group("raid5", 3, "chunk_kib = 2", 0),
        disk_group("raid5", 5, "chunk_kib = 4", 1),
        disk_group("raid5", 6, "chunk_kib = 1", 0),
    ];
    try_layouts(&layouts, 1500);
}

#[test]
fn double_parity_stores_what_it_is_given() {
    let layouts = [
        disk_group("raid6", 4, "chunk_kib = 2", 0),
        disk_group("raid6", 6, "chunk_kib = 4", 1),
        disk_group("raid6", 8, "chunk_kib = 1", 2),
    ];
    try_layouts(&layouts, 1800);
}

fn virtual_disks(disks: u16, spares: u16, levels: &[&str]) -> String {
    let mut text = format!(
        "[[disk_group]]\nname='g'\ndisk='d'\ndisks={disks}\nspares={spares}\nlevel='vraid'\n\
         chunk_kib=1\nplacement = {{ segment_kib = 2, stroke_fraction = 1.0 }}\n"
    );
    for (number, level) in levels.iter().enumerate() {
        text += &format!(
            "[[disk_group.virtual_disk]]\nname='v{number}'\nlevel='{level}'\nsize_gib=0.00002\n"
        );
    }
    text
}

#[test]
fn virtual_disks_store_what_they_are_given() {
    let layouts = [
        virtual_disks(6, 0, &["vraid5", "vraid1"]),
        virtual_disks(9, 1, &["vraid1", "vraid5", "vraid1"]),
        virtual_disks(7, 1, &["vraid5"]),
        virtual_disks(6, 1, &["vraid0", "vraid5", "vraid1"]),
        virtual_disks(16, 0, &["vraid1", "vraid5"]),
        virtual_disks(7, 0, &["vraid5", "vraid5", "vraid1"]),
    ];
    try_layouts(&layouts, 900);
}
