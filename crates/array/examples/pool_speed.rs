//! How fast a pool is, and how much memory it takes: nanoseconds per read on a tier, through the
//! read cache, and per plan of each tiering rule.
//!
//!     cargo run --release -p array --example pool_speed [reads | plans | large | cache]

use std::collections::VecDeque;
use std::time::Instant;

use array::group::{GroupCompletion, GroupId, GroupRequest, GroupState, Groups, IoClass, Piece};
use array::pool::settings::{Affinity, GroupFacts, PoolVolume};
use array::pool::{PagedPool, PoolRead, PoolSettings};
use array::{Direction, FirstWrite, VolumeId};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// Sectors in 4 MiB.
const PAGE: u64 = 8192;

/// Groups that complete everything in the order it came.
#[derive(Default)]
struct Instantly {
    done: VecDeque<(u32, GroupId, Direction)>,
}

impl Groups<()> for Instantly {
    fn submit(&mut self, _now_ns: u64, request: GroupRequest<()>) {
        let GroupRequest {
            owner,
            group,
            direction,
            ..
        } = request;
        self.done.push_back((owner, group, direction));
    }

    fn submit_stripe_write(
        &mut self,
        _now_ns: u64,
        owner: u32,
        group: GroupId,
        _class: IoClass,
        _pieces: &[Piece<()>],
    ) {
        self.done.push_back((owner, group, Direction::Write));
    }

    fn stripe_sectors(&self, _group: GroupId) -> u64 {
        PAGE
    }

    fn state(&self, _group: GroupId) -> GroupState {
        GroupState::Healthy
    }
}

struct Rig {
    pool: PagedPool<()>,
    groups: Instantly,
    now_ns: u64,
    random: Xoshiro256PlusPlus,
    pages: u64,
}

impl Rig {
    /// `ssd` and `disk` pages, of which `pages` are laid out by `first_write`.
    fn new(text: &str, [ssd, disk, pages]: [u64; 3], first_write: FirstWrite) -> Self {
        let settings: PoolSettings =
            config::from_toml(text).expect("the text of this file is right");
        let group = |name: &str, id, pages: u64, solid_state| GroupFacts {
            name: name.to_owned(),
            id: GroupId(id),
            usable_sectors: pages * PAGE,
            solid_state,
        };
        let facts = [
            group("ssd", 0, ssd, true),
            group("sas", 1, disk, false),
            group("cache", 2, 800_000_000_000 / (PAGE * 512), true),
        ];
        let volume = PoolVolume {
            id: VolumeId(0),
            path: "volumes.0".to_owned(),
            sectors: pages * PAGE,
            thick: false,
            affinity: Affinity::None,
        };
        let pool = PagedPool::new("pool", &settings, &facts, &[volume]);
        let mut pool = pool.expect("the settings of this file are right");
        let laid_out = pool.map_for_write(VolumeId(0), 0, pages * PAGE, first_write);
        laid_out.expect("there is room");
        Self {
            pool,
            groups: Instantly::default(),
            now_ns: 0,
            random: Xoshiro256PlusPlus::seed_from_u64(1),
            pages,
        }
    }

    fn read(&mut self, first_sector: u64) {
        let read = PoolRead {
            owner_id: 1,
            volume: VolumeId(0),
            first_sector,
            sectors: 64,
            class: IoClass::HostRead,
            sequential: false,
        };
        self.pool.read(self.now_ns, read, &mut self.groups);
    }

    /// Lets everything in flight complete; returns how many requests there were.
    fn settle(&mut self) -> u64 {
        let mut requests = 0;
        while let Some((owner, group, direction)) = self.groups.done.pop_front() {
            let completion = GroupCompletion {
                owner,
                group,
                direction,
                result: Ok(()),
                payload: (),
                submitted_ns: 0,
            };
            self.pool
                .backend_done(self.now_ns, completion, &mut self.groups);
            requests += 1;
        }
        while self.pool.pop_done().is_some() {}
        requests
    }

    fn random_sector(&mut self) -> u64 {
        self.random.random_range(0..self.pages * (PAGE / 64)) * 64
    }

    /// Nanoseconds per random read of 32 KiB, 16 in flight.
    fn ns_per_read(&mut self, reads: u64) -> f64 {
        let start = Instant::now();
        for _ in 0..reads / 16 {
            for _ in 0..16 {
                let sector = self.random_sector();
                self.read(sector);
            }
            self.settle();
        }
        start.elapsed().as_nanos() as f64 / reads as f64
    }

    /// Microseconds per plan, with `reads` random reads between two, without the reads.
    fn us_per_plan(&mut self, plans: u32, reads: u64) -> f64 {
        let mut spent = 0;
        for _ in 0..plans {
            self.ns_per_read(reads);
            self.now_ns = self.pool.next_event_ns().expect("a rule is on");
            let start = Instant::now();
            self.pool.on_timer(self.now_ns, &mut self.groups);
            self.settle();
            spent += start.elapsed().as_micros();
        }
        spent as f64 / f64::from(plans)
    }
}

fn resident_mib() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    (pages.unwrap_or(0_u64) * 4096) >> 20
}

const GROUPS: &str = r#"groups = [
    { group = "ssd", tier = "performance" }, { group = "sas", tier = "standard" }]"#;

fn rule(name: &str) -> String {
    format!("{GROUPS}\ntiering = {{ policy = \"{name}\" }}")
}

fn main() {
    let only = std::env::args().nth(1).unwrap_or_default();
    for (name, measure) in [
        ("reads", reads as fn()),
        ("plans", plans),
        ("large", large),
        ("cache", cache),
    ] {
        if only.is_empty() || only == name {
            measure();
        }
    }
}

/// Reads of pages on solid state.
fn reads() {
    for name in ["off", "scan-rank-move", "heat", "lru", "lru-2"] {
        let sizes = [300_000, 10, 290_000];
        let mut rig = Rig::new(&rule(name), sizes, FirstWrite::Random);
        rig.ns_per_read(1_000_000);
        let ns = rig.ns_per_read(8_000_000);
        println!("tier, {name}, 1.2 TB: {ns:.0} ns per read");
    }
}

/// Plans for 1.2 TB.
fn plans() {
    for name in ["scan-rank-move", "heat", "lru", "lru-2"] {
        let sizes = [100_000, 300_000, 290_000];
        let mut rig = Rig::new(&rule(name), sizes, FirstWrite::Sequential);
        let us = rig.us_per_plan(400, 25_000);
        println!("{name}, 290,000 pages, 25,000 reads between: {us:.0} us per plan");
    }
}

/// A pool of 24 TB.
fn large() {
    let before = resident_mib();
    let sizes = [500_000, 5_500_000, 5_700_000];
    let mut rig = Rig::new(&rule("scan-rank-move"), sizes, FirstWrite::Sequential);
    let us = rig.us_per_plan(40, 100_000);
    let mib = resident_mib() - before;
    println!("24 TB: {mib} MiB, {us:.0} us per plan, 100,000 reads between");
}

/// A read cache of 800 GB, warm, over 1.2 TB.
fn cache() {
    for name in ["lru", "lru-2", "arc", "s3-fifo"] {
        let cache = format!("read_cache = {{ group = \"cache\", replacement = \"{name}\" }}");
        let before = resident_mib();
        let text = format!("{GROUPS}\n{cache}");
        let mut rig = Rig::new(&text, [10, 300_000, 286_000], FirstWrite::Sequential);
        rig.ns_per_read(40_000_000);
        let warm = rig.pool.counters().read_cache;
        let ns = rig.ns_per_read(4_000_000);
        let now = rig.pool.counters().read_cache;
        let hits = (now.hits - warm.hits) as f64 / 4e6;
        let (lines, mib) = (now.lines, resident_mib().saturating_sub(before));
        println!(
            "read cache, {name}, {lines} lines: {mib} MiB, {ns:.0} ns per read, {hits:.2} hit"
        );
    }
}
