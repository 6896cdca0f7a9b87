//! Never a wrong byte: random reads, writes, trims, moves, fills, failovers and failing groups
//! against a model of what every sector may hold.
//!
//! Every write stamps its sectors with a number of its own. A read may return, for each sector,
//! what it held when the read was submitted or what was written to it since: nothing older.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{Rig, cache_settings, pool_settings, volume};
use crate::group::GroupState;
use crate::payload::Bytes;
use crate::pool::PoolError;
use crate::pool::settings::{
    Affinity, AllocationName, PoolSettings, PoolVolume, ReplacementName, TieringName,
};
use crate::pool::tier::Tier;

const PAGE_SECTORS: u64 = 16;
const VOLUME_PAGES: [u64; 3] = [12, 12, 4];
const GROUPS: [super::TestGroup; 5] = [
    ("ssd-a", Some(Tier::Performance), 5 * PAGE_SECTORS, 8),
    ("ssd-b", Some(Tier::Performance), 3 * PAGE_SECTORS, 16),
    ("sas", Some(Tier::Standard), 14 * PAGE_SECTORS + 5, 24),
    ("nearline", Some(Tier::Archive), 9 * PAGE_SECTORS, 16),
    ("cache", None, 101, 2),
];

/// What a sector may hold.
#[derive(Debug, Clone)]
struct Sector {
    stamps: Vec<u32>,
    /// The stamp of the write in flight, and whether it was trimmed meanwhile.
    in_flight: Option<(u32, bool)>,
}

#[derive(Debug)]
enum Request {
    /// What each sector may return.
    Read(Vec<Vec<u32>>),
    Write(u32, Vec<(u64, u32)>),
}

#[derive(Debug)]
struct InFlight {
    owner_id: u32,
    volume: u16,
    first_sector: u64,
    request: Request,
}

struct Model {
    sectors: Vec<Vec<Sector>>,
    in_flight: Vec<InFlight>,
    next: u32,
    /// A group that holds pages failed: reads and writes may fail.
    may_fail: bool,
}

fn contents(stamp: u32, sectors: u32) -> Bytes {
    Bytes::new(stamp.to_le_bytes().repeat(sectors as usize * 128))
}

impl Model {
    fn new() -> Self {
        let empty = Sector {
            stamps: vec![0],
            in_flight: None,
        };
        let volume = |pages| vec![empty.clone(); (pages * PAGE_SECTORS) as usize];
        Self {
            sectors: VOLUME_PAGES.into_iter().map(volume).collect(),
            in_flight: Vec::new(),
            next: 1,
            may_fail: false,
        }
    }

    /// A stretch of a volume: mostly short, now and then over several pages.
    fn stretch(random: &mut Xoshiro256PlusPlus) -> (u16, u64, u32) {
        let volume = random.random_range(0..3_u16);
        let end = VOLUME_PAGES[usize::from(volume)] * PAGE_SECTORS;
        let hot = [40, end][random.random_range(0..2)];
        let first = random.random_range(0..hot.min(end));
        let most = [2, 5, 16, 40][random.random_range(0..4)].min(end - first);
        (volume, first, random.random_range(1..=most) as u32)
    }

    fn read(&mut self, rig: &mut Rig<Bytes>, random: &mut Xoshiro256PlusPlus) {
        let (volume, first_sector, sectors) = Self::stretch(random);
        let from = first_sector as usize;
        let held = &self.sectors[usize::from(volume)][from..from + sectors as usize];
        let allowed = held.iter().map(|sector| {
            let written = sector.in_flight.map(|(stamp, _)| stamp);
            sector.stamps.iter().copied().chain(written).collect()
        });
        let request = Request::Read(allowed.collect());
        let owner_id = self.push(volume, first_sector, request);
        rig.read(owner_id, volume, first_sector, sectors);
    }

    fn push(&mut self, volume: u16, first_sector: u64, request: Request) -> u32 {
        let owner_id = self.next;
        self.next += 1;
        self.in_flight.push(InFlight {
            owner_id,
            volume,
            first_sector,
            request,
        });
        owner_id
    }

    /// Lets reads in flight return `stamp`, too, for a stretch.
    fn allow(&mut self, volume: u16, first_sector: u64, sectors: u32, stamp: u32) {
        for other in &mut self.in_flight {
            let Request::Read(allowed) = &mut other.request else {
                continue;
            };
            for (place, allowed) in allowed.iter_mut().enumerate() {
                let sector = other.first_sector + place as u64;
                let within = first_sector..first_sector + u64::from(sectors);
                if other.volume == volume && within.contains(&sector) {
                    allowed.push(stamp);
                }
            }
        }
    }

    /// A write of one to three pieces that overlaps no other write in flight.
    fn write(&mut self, rig: &mut Rig<Bytes>, random: &mut Xoshiro256PlusPlus) {
        let (volume, mut from, _) = Self::stretch(random);
        let stamp = self.next;
        let (mut stretches, mut pieces) = (Vec::new(), Vec::new());
        let start = from;
        for _ in 0..random.random_range(1..4) {
            let end = VOLUME_PAGES[usize::from(volume)] * PAGE_SECTORS;
            let most = [2, 5, 16, 40][random.random_range(0..4)].min(end.saturating_sub(from));
            if most == 0 {
                break;
            }
            let sectors = random.random_range(1..=most) as u32;
            let held = &self.sectors[usize::from(volume)];
            let held = &held[from as usize..][..sectors as usize];
            if held.iter().any(|sector| sector.in_flight.is_some()) {
                break;
            }
            stretches.push((from, sectors));
            pieces.push((from, sectors, contents(stamp, sectors)));
            from += u64::from(sectors) + random.random_range(0..4);
        }
        if pieces.is_empty() {
            return;
        }
        for &(first, sectors) in &stretches {
            self.allow(volume, first, sectors, stamp);
            let held = &mut self.sectors[usize::from(volume)];
            for sector in &mut held[first as usize..][..sectors as usize] {
                sector.in_flight = Some((stamp, false));
            }
        }
        let owner_id = self.push(volume, start, Request::Write(stamp, stretches));
        assert_eq!(owner_id, stamp);
        rig.write(owner_id, volume, &pieces);
    }

    fn trim(&mut self, rig: &mut Rig<Bytes>, random: &mut Xoshiro256PlusPlus) {
        let (volume, first, sectors) = Self::stretch(random);
        let end = first + u64::from(sectors);
        let pages = first.div_ceil(PAGE_SECTORS)..end / PAGE_SECTORS;
        for sector in pages.start * PAGE_SECTORS..pages.end * PAGE_SECTORS {
            self.allow(volume, sector, 1, 0);
            let held = &mut self.sectors[usize::from(volume)][sector as usize];
            held.stamps = vec![0];
            if let Some((_, trimmed)) = &mut held.in_flight {
                *trimmed = true;
            }
        }
        rig.pool
            .trim(crate::VolumeId(volume), first, u64::from(sectors));
    }

    /// Takes what ended above.
    fn take_done(&mut self, rig: &mut Rig<Bytes>, seed: u64) {
        while let Some(done) = rig.pool.pop_done() {
            let place = self
                .in_flight
                .iter()
                .position(|r| r.owner_id == done.owner_id);
            let place = place.unwrap_or_else(|| panic!("seed {seed}: {done:?}"));
            let InFlight {
                volume, request, ..
            } = self.in_flight.swap_remove(place);
            let full = done.result == Err(PoolError::Full) && matches!(request, Request::Write(..));
            let fine = done.result.is_ok() || full || self.may_fail;
            assert!(fine, "seed {seed}: {done:?}");
            match request {
                Request::Read(allowed) if done.result.is_ok() => {
                    check_read(&allowed, done.payload.as_slice(), seed);
                }
                Request::Read(_) => {}
                Request::Write(stamp, stretches) => {
                    let held = &mut self.sectors[usize::from(volume)];
                    for (first, sectors) in stretches {
                        for sector in &mut held[first as usize..][..sectors as usize] {
                            let trimmed = sector.in_flight.is_some_and(|(_, trimmed)| trimmed);
                            if done.result.is_ok() && !trimmed {
                                sector.stamps.clear();
                            }
                            sector.stamps.push(stamp);
                            sector.in_flight = None;
                        }
                    }
                }
            }
        }
    }
}

fn check_read(allowed: &[Vec<u32>], bytes: &[u8], seed: u64) {
    assert_eq!(bytes.len(), allowed.len() * 512, "seed {seed}");
    for (place, (sector, allowed)) in bytes.chunks(512).zip(allowed).enumerate() {
        let stamp = u32::from_le_bytes([sector[0], sector[1], sector[2], sector[3]]);
        let whole = sector.chunks(4).all(|word| word == stamp.to_le_bytes());
        let right = whole && allowed.contains(&stamp);
        assert!(
            right,
            "seed {seed}: sector {place} holds {stamp}, not {allowed:?}"
        );
    }
}

/// A pool with everything on, its rules drawn from the seed.
fn settings(random: &mut Xoshiro256PlusPlus) -> PoolSettings {
    let mut settings = pool_settings(8, &GROUPS);
    let pick = |random: &mut Xoshiro256PlusPlus, count| random.random_range(0..count);
    settings.policy.allocation = [
        AllocationName::Msa,
        AllocationName::HighestFirst,
        AllocationName::SpinningFirst,
    ][pick(random, 3)];
    settings.policy.tiering.policy = [
        TieringName::ScanRankMove,
        TieringName::Heat,
        TieringName::Lru,
        TieringName::Lru2,
    ][pick(random, 4)];
    settings.policy.tiering.move_limit_mib = 1;
    settings.policy.tiering.moves_in_flight_max = 1 + pick(random, 6) as u32;
    settings.policy.tiering.half_life_s = 10.0;
    settings.policy.tiering.free_pages = 2;
    settings.policy.tiering.swap_ratio = 1.0;
    settings.policy.tiering.swap_margin = 0.0;
    settings.policy.tiering.cold_score = 0.1;
    let on_write = ["invalidate", "release", "track", "update"][pick(random, 4)];
    let (widen, admit_after_misses) = (pick(random, 4) > 0, 1 + pick(random, 2));
    settings.read_cache = cache_settings(&format!(
        "line_kib = {}\non_write = \"{on_write}\"\n\
         fill = {{ widen_reads = {widen}, admit_after_misses = {admit_after_misses}, in_flight_max = 3 }}",
        [1, 2][pick(random, 2)]
    ));
    if let Some(cache) = &mut settings.read_cache {
        cache.policy.replacement = [
            ReplacementName::Lru,
            ReplacementName::Lru2,
            ReplacementName::Arc,
            ReplacementName::S3Fifo,
        ][pick(random, 4)];
    }
    settings
}

fn volumes() -> Vec<PoolVolume> {
    let mut volumes: Vec<PoolVolume> = (0..3_u16)
        .zip(VOLUME_PAGES)
        .map(|(number, pages)| volume(number, pages * PAGE_SECTORS))
        .collect();
    volumes[1].affinity = Affinity::Performance;
    volumes[2].thick = true;
    volumes
}

/// What happens between two steps of the groups.
fn happen(rig: &mut Rig<Bytes>, model: &mut Model, random: &mut Xoshiro256PlusPlus, fails: bool) {
    match random.random_range(0..200) {
        0..30 if model.in_flight.len() < 12 => model.read(rig, random),
        30..55 if model.in_flight.len() < 12 => model.write(rig, random),
        55..58 => model.trim(rig, random),
        58..66 => rig.tick(),
        66 => rig.pool.fail_over(),
        67 => {
            let group = random.random_range(0..2);
            let critical = random.random();
            if rig.groups.groups[group].state != GroupState::Failed {
                rig.groups.groups[group].state = if critical {
                    GroupState::Critical
                } else {
                    GroupState::Healthy
                };
            }
        }
        68 if random.random_range(0..20) == 0 => {
            rig.groups.groups[4].state = GroupState::Failed;
        }
        69 if fails && random.random_range(0..4) == 0 => {
            let group = random.random_range(0..4);
            rig.groups.groups[group].state = GroupState::Failed;
            model.may_fail = true;
        }
        _ => rig.step(random),
    }
}

fn run(seed: u64) -> crate::pool::PoolCounters {
    let random = &mut Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut rig = Rig::<Bytes>::new(&settings(random), &GROUPS, &volumes());
    rig.pool = rig.pool.warped([1, 60][random.random_range(0..2)]);
    let mut model = Model::new();
    let fails = seed % 5 == 4;
    for _ in 0..1200 {
        happen(&mut rig, &mut model, random, fails);
        model.take_done(&mut rig, seed);
    }
    while rig.groups.in_flight() > 0 {
        rig.step(random);
        model.take_done(&mut rig, seed);
    }
    assert_eq!(rig.pool.in_flight(), 0, "seed {seed}");
    assert_eq!(model.in_flight.len(), 0, "seed {seed}");
    let under_way = rig.pool.counters().moves_under_way;
    assert_eq!(under_way, 0, "seed {seed}: moves that never end");
    rig.pool.check_pages();
    for (volume, pages) in (0..3).zip(VOLUME_PAGES) {
        let held = &model.sectors[usize::from(volume)];
        let allowed: Vec<Vec<u32>> = held.iter().map(|sector| sector.stamps.clone()).collect();
        let sectors = (pages * PAGE_SECTORS) as u32;
        for _ in 0..2 {
            let request = Request::Read(allowed.clone());
            let owner_id = model.push(volume, 0, request);
            rig.read(owner_id, volume, 0, sectors);
            while rig.groups.in_flight() > 0 {
                rig.step(random);
            }
            model.take_done(&mut rig, seed);
        }
    }
    rig.pool.counters()
}

#[test]
fn never_a_wrong_byte() {
    let mut sum = crate::pool::PoolCounters::default();
    for seed in 0..2_000 {
        let counters = run(seed);
        let cache = counters.read_cache;
        sum.pages_moved_up += counters.pages_moved_up;
        sum.pages_moved_down += counters.pages_moved_down;
        sum.moves_abandoned += counters.moves_abandoned;
        sum.sectors_copied_again += counters.sectors_copied_again;
        sum.writes_held += counters.writes_held;
        sum.pages_zeroed += counters.pages_zeroed;
        sum.read_cache.hits += cache.hits;
        sum.read_cache.fills += cache.fills;
        sum.read_cache.fills_cancelled += cache.fills_cancelled;
        sum.read_cache.invalidations += cache.invalidations;
        sum.read_cache.updates += cache.updates;
        sum.read_cache.evictions += cache.evictions;
        sum.read_cache.losses += cache.losses;
    }
    // Everything that can go wrong was on the way often.
    let cache = sum.read_cache;
    for (what, times) in [
        ("moves up", sum.pages_moved_up),
        ("moves down", sum.pages_moved_down),
        ("moves abandoned", sum.moves_abandoned),
        ("sectors copied again", sum.sectors_copied_again),
        ("writes held", sum.writes_held),
        ("pages zeroed", sum.pages_zeroed),
        ("hits", cache.hits),
        ("fills", cache.fills),
        ("fills cancelled", cache.fills_cancelled),
        ("invalidations", cache.invalidations),
        ("updates", cache.updates),
        ("evictions", cache.evictions),
        ("losses", cache.losses),
    ] {
        assert!(times > 500, "{what}: {times}");
    }
}
