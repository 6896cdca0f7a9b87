//! What theory says of a read cache under uniform access and of the time to fill a tier, also of one whose moves are accelerated.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::behaviour::tiered;
use super::{Rig, cache_settings, pool_settings, volume};
use crate::FirstWrite;
use crate::group::IoClass;
use crate::pool::settings::{ReplacementName, TieringName};
use crate::pool::tier::Tier;

const NAMES: [ReplacementName; 4] = [
    ReplacementName::Lru,
    ReplacementName::Lru2,
    ReplacementName::Arc,
    ReplacementName::S3Fifo,
];

/// The share of reads that hit, under uniform access to `data` lines of which the cache holds
/// `capacity`, with that share of reads, after the cache has become as warm as it will.
fn hit_share(replacement: ReplacementName, on_write: &str, capacity: u64, reads: f64) -> f64 {
    const DATA_LINES: u64 = 2_000;
    const LINE_SECTORS: u64 = 16;
    let groups = [
        ("disks", Some(Tier::Standard), DATA_LINES * LINE_SECTORS, 64),
        ("cache", None, capacity * LINE_SECTORS, LINE_SECTORS),
    ];
    let mut settings = pool_settings(64, &groups);
    let text = format!("line_kib = 8\non_write = \"{on_write}\"");
    settings.read_cache = cache_settings(&text);
    if let Some(cache) = &mut settings.read_cache {
        cache.policy.replacement = replacement;
    }
    let sectors = DATA_LINES * LINE_SECTORS;
    let mut rig = Rig::<()>::new(&settings, &groups, &[volume(0, sectors)]);
    let laid_out = rig
        .pool
        .map_for_write(crate::VolumeId(0), 0, sectors, FirstWrite::Sequential);
    assert_eq!(laid_out, Ok(()));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut warm = (0, 0);
    for access in 0..150_000 {
        let line = random.random_range(0..DATA_LINES);
        if random.random_bool(reads) {
            rig.read(0, 0, line * LINE_SECTORS, LINE_SECTORS as u32);
        } else {
            rig.write(0, 0, &[(line * LINE_SECTORS, LINE_SECTORS as u32, ())]);
        }
        rig.settle();
        if access == 50_000 {
            let counters = rig.pool.counters().read_cache;
            warm = (counters.hits, counters.misses);
        }
    }
    let counters = rig.pool.counters().read_cache;
    let (hits, misses) = (counters.hits - warm.0, counters.misses - warm.1);
    hits as f64 / (hits + misses) as f64
}

fn assert_near(share: f64, expected: f64, what: &str) {
    assert!(
        (share - expected).abs() < 0.012,
        "{what}: {share}, not {expected}"
    );
}

#[test]
fn uniform_reads_hit_as_often_as_the_data_fits() {
    for name in NAMES {
        let share = hit_share(name, "invalidate", 800, 1.0);
        assert_near(share, 0.4, &format!("{name:?}"));
    }
}

#[test]
fn writes_that_invalidate_leave_the_share_of_reads() {
    let lru = ReplacementName::Lru;
    // Every access takes a place, a read leaves it readable.
    assert_near(hit_share(lru, "track", 800, 0.6), 0.6 * 0.4, "track");
    // Reads take a place, and the oldest read leaves: a place is held for a time T such that
    // 1 - exp(-r T) = C / D, and can be read if no write came since: r (1 - exp(-T)).
    let held: f64 = 1.0 - 0.4;
    let expected = 0.6 * (1.0 - held.powf(1.0 / 0.6));
    assert_near(
        hit_share(lru, "invalidate", 800, 0.6),
        expected,
        "invalidate",
    );
    assert_near(
        hit_share(lru, "invalidate", 2_000, 0.6),
        0.6,
        "invalidate, all fits",
    );
    // The place is free: the cache is full, or it holds every line last read.
    assert_near(hit_share(lru, "release", 800, 0.6), 0.4, "release");
    assert_near(hit_share(lru, "release", 1_600, 0.6), 0.6, "release, large");
    // The copy is brought up to date: nothing is lost.
    assert_near(hit_share(lru, "update", 800, 0.6), 0.4, "update");
}

#[test]
fn a_cold_cache_warms_as_an_exponential() {
    const LINES: u64 = 4_000;
    let groups = [
        ("disks", Some(Tier::Standard), LINES * 16, 64),
        ("cache", None, LINES * 16, 16),
    ];
    let mut settings = pool_settings(64, &groups);
    settings.read_cache = cache_settings("line_kib = 8");
    let mut rig = Rig::<()>::new(&settings, &groups, &[volume(0, LINES * 16)]);
    let laid_out = rig
        .pool
        .map_for_write(crate::VolumeId(0), 0, LINES * 16, FirstWrite::Random);
    assert_eq!(laid_out, Ok(()));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(2);
    for reads in 1..=12_000_u64 {
        rig.read(0, 0, random.random_range(0..LINES) * 16, 16);
        rig.settle();
        if reads % 2_000 == 0 {
            let warm = rig.pool.counters().read_cache.lines as f64 / LINES as f64;
            let expected = 1.0 - (-(reads as f64) / LINES as f64).exp();
            assert_near(warm, expected, &format!("after {reads} reads"));
        }
    }
}

/// A 1.6 GB tier of 4 MB pages over data laid out by a sequential fill; every page used alike.
/// Returns after how many intervals the tier was full, and what was moved until long after.
fn fill_tier(policy: TieringName) -> (u64, u64, u64) {
    const PAGE: u64 = 8192;
    let groups = [
        ("ssd", Some(Tier::Performance), 400 * PAGE, PAGE),
        ("sas", Some(Tier::Standard), 1_200 * PAGE, PAGE),
    ];
    let mut settings = pool_settings(4096, &groups);
    settings.policy.tiering.policy = policy;
    settings.policy.tiering.move_limit_mib = 80;
    let mut rig = Rig::<()>::new(&settings, &groups, &[volume(0, 1_000 * PAGE)]);
    let volume = crate::VolumeId(0);
    let laid_out = rig
        .pool
        .map_for_write(volume, 0, 1_000 * PAGE, FirstWrite::Sequential);
    assert_eq!(laid_out, Ok(()));
    assert_eq!(rig.pool.counters().pages, [0, 1_000, 0]);
    let mut full_after = 0;
    for interval in 1..=200 {
        for page in 0..1_000 {
            for place in 0..2 {
                rig.read(0, 0, page * PAGE + place * 64, 64);
            }
        }
        rig.settle();
        let before = rig.pool.counters();
        rig.tick();
        rig.settle();
        let after = rig.pool.counters();
        let moved = after.bytes_moved_up() + after.bytes_moved_down();
        let moved = moved - before.bytes_moved_up() - before.bytes_moved_down();
        assert!(moved <= 80 << 20, "{moved} bytes in an interval");
        if full_after == 0 && after.pages[0] == 400 {
            full_after = interval;
        }
    }
    rig.pool.check_pages();
    let counters = rig.pool.counters();
    (
        full_after,
        counters.pages_moved_up,
        counters.pages_moved_down,
    )
}

#[test]
fn a_tier_fills_in_its_bytes_over_the_rate() {
    for policy in [
        TieringName::ScanRankMove,
        TieringName::Heat,
        TieringName::Lru,
        TieringName::Lru2,
    ] {
        // 400 pages at 20 per interval; then pages that are alike stay where they are. (The
        // rules by recency stay because the pages are used in the same order every time.)
        assert_eq!(fill_tier(policy), (20, 400, 0), "{policy:?}");
    }
}

#[test]
fn noise_alone_moves_little() {
    const PAGE: u64 = 8192;
    let groups = [
        ("ssd", Some(Tier::Performance), 200 * PAGE, PAGE),
        ("sas", Some(Tier::Standard), 600 * PAGE, PAGE),
    ];
    let mut settings = pool_settings(4096, &groups);
    settings.policy.tiering.policy = TieringName::ScanRankMove;
    let mut rig = Rig::<()>::new(&settings, &groups, &[volume(0, 500 * PAGE)]);
    let volume = crate::VolumeId(0);
    let laid_out = rig
        .pool
        .map_for_write(volume, 0, 500 * PAGE, FirstWrite::Sequential);
    assert_eq!(laid_out, Ok(()));
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    // An hour at 20 random I/Os per second over 500 pages: 144 per page and half-life.
    for _ in 0..720 {
        for _ in 0..100 {
            rig.read(0, 0, random.random_range(0..500) * PAGE, 64);
        }
        rig.settle();
        rig.tick();
        rig.settle();
    }
    let counters = rig.pool.counters();
    assert_eq!(counters.pages, [200, 300, 0]);
    assert!(counters.pages_moved_down < 100, "{counters:?}");
}

#[test]
fn pages_of_a_warped_pool_move_in_the_time_of_one() {
    let mut rig = tiered();
    rig.pool = rig.pool.warped(3);
    rig.tick();
    let in_flight = [IoClass::Migration, IoClass::Warped];
    let in_flight = in_flight.map(|class| rig.groups.in_flight_of(class));
    assert_eq!(in_flight, [2, 2]);
    rig.settle();
    let counters = rig.pool.counters();
    assert_eq!((counters.pages, counters.pages_moved_up), ([4, 4, 0], 4));
    assert_eq!(counters.moves_under_way, 0);
    rig.pool.check_pages();
}
