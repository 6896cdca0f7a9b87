//! The order of pages against sorted lists, and what each rule plans.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::ranked::RankedPages;
use super::{AnyTiering, PlannedMove, TierSpace, TieringPolicy, Touch};
use crate::pool::settings::{Affinity, TieringName, TieringSettings};
use crate::pool::tier::Tier;

#[test]
fn ranks_pages_as_sorted_scores_would() {
    for seed in 0..60_u64 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        // The higher the growth, the more often all scores are scaled down.
        let growth = [1.0, 1.01, 2.0, 300.0][(seed % 4) as usize];
        let pages = random.random_range(1..80_u32);
        let mut ranked = RankedPages::new(growth);
        ranked.resize(pages);
        let mut model: Vec<(f64, Option<Tier>)> = vec![(0.0, None); pages as usize];
        for _ in 0..600 {
            let page = random.random_range(0..pages);
            let (score, tier) = &mut model[page as usize];
            match random.random_range(0..20) {
                0 => {
                    ranked.remove(page);
                    (*score, *tier) = (0.0, None);
                }
                1..4 => {
                    let to = Tier::ALL[random.random_range(0..3)];
                    ranked.place(page, to);
                    *tier = Some(to);
                }
                4 => {
                    ranked.tick();
                    for (score, _) in &mut model {
                        *score /= f64::from(growth);
                    }
                }
                _ => {
                    let count = random.random_range(1..4_u8);
                    ranked.count(page, f32::from(count));
                    *score += f64::from(count);
                }
            }
        }
        for (page, &(score, _)) in model.iter().enumerate() {
            let kept = f64::from(ranked.score(page as u32));
            let near = (kept - score).abs() <= score * 1e-3 + 1e-12;
            assert!(near, "seed {seed}: page {page} has {kept}, not {score}");
        }
        for tier in Tier::ALL {
            let hot: Vec<u32> = ranked.hottest(tier).collect();
            let cold: Vec<u32> = ranked.coldest(tier).collect();
            let mut listed = hot.clone();
            listed.sort_unstable();
            let on_tier = |&page: &u32| model[page as usize].1 == Some(tier);
            let expected: Vec<u32> = (0..pages).filter(on_tier).collect();
            assert_eq!(listed, expected, "seed {seed}");
            // In order up to the width of a bucket.
            let falls = |pair: &[u32]| ranked.score(pair[0]) >= ranked.score(pair[1]) * 0.888;
            assert!(hot.windows(2).all(falls), "seed {seed}");
            let rises = |pair: &[u32]| ranked.score(pair[1]) >= ranked.score(pair[0]) * 0.888;
            assert!(cold.windows(2).all(rises), "seed {seed}");
        }
    }
}

/// A rule over 100 pages, the first 10 of them on the performance tier, which is full.
fn rule(settings: &TieringSettings) -> AnyTiering {
    let mut rule = AnyTiering::new(settings.policy, settings);
    rule.add_pages(100, Affinity::None);
    for page in 0..100 {
        let tier = if page < 10 {
            Tier::Performance
        } else {
            Tier::Standard
        };
        rule.placed(page, tier);
    }
    rule
}

fn touch(rule: &mut AnyTiering, page: u32, times: u32) {
    for _ in 0..times {
        rule.touched(Touch {
            page,
            sectors: 8,
            sequential: false,
        });
    }
}

fn room(free: u32, budget: u32) -> TierSpace {
    TierSpace {
        slots: [10, 200, 0],
        free: [free, 100, 0],
        budget,
    }
}

fn settings(policy: TieringName) -> TieringSettings {
    TieringSettings {
        policy,
        free_pages: 4,
        ..TieringSettings::default()
    }
}

const RULES: [TieringName; 4] = [
    TieringName::ScanRankMove,
    TieringName::Heat,
    TieringName::Lru,
    TieringName::Lru2,
];

#[test]
fn the_hottest_pages_go_up_and_no_more_than_the_limit() {
    for policy in RULES {
        let mut rule = rule(&settings(policy));
        for (times, page) in (40..50).enumerate() {
            touch(&mut rule, page, 4 << times);
        }
        let moves = rule.plan(&room(10, 3), &|_| true);
        let promoted = |page| PlannedMove {
            page,
            to: Tier::Performance,
        };
        assert_eq!(
            moves,
            [promoted(49), promoted(48), promoted(47)],
            "{policy:?}"
        );
        let moves = rule.plan(&room(10, 0), &|_| true);
        assert_eq!(moves, [], "{policy:?}");
    }
}

#[test]
fn the_coldest_pages_make_room_for_hotter_ones() {
    for policy in RULES {
        let mut rule = rule(&settings(policy));
        for page in 0..10 {
            touch(&mut rule, page, 2);
        }
        touch(&mut rule, 3, 20);
        touch(&mut rule, 2, 9);
        for page in 50..52 {
            touch(&mut rule, page, 50);
        }
        let moves = rule.plan(&room(0, 20), &|page| page != 1);
        let demoted: Vec<u32> = moves.iter().map(|planned| planned.page).collect();
        assert_eq!(demoted, [0, 4], "{policy:?}");
        assert!(moves.iter().all(|planned| planned.to == Tier::Standard));
    }
}

#[test]
fn equal_pages_stay_where_they_are() {
    for policy in [TieringName::ScanRankMove, TieringName::Heat] {
        let mut rule = rule(&settings(policy));
        for round in 0..200 {
            for page in 0..100 {
                touch(&mut rule, (page + round) % 100, 2);
            }
            assert_eq!(rule.plan(&room(0, 20), &|_| true), [], "{policy:?}");
        }
    }
}

#[test]
fn streams_and_long_requests_heat_nothing() {
    for policy in RULES {
        let mut rule = rule(&settings(policy));
        for (sectors, sequential) in [(8, true), (1024, false)] {
            for _ in 0..100 {
                let page = 60;
                rule.touched(Touch {
                    page,
                    sectors,
                    sequential,
                });
            }
        }
        assert_eq!(rule.plan(&room(10, 20), &|_| true), [], "{policy:?}");
    }
}

#[test]
fn heat_demotes_what_has_become_cold() {
    let mut rule = rule(&TieringSettings {
        cold_score: 1.0,
        half_life_s: 5.0,
        ..settings(TieringName::Heat)
    });
    for page in 0..10 {
        touch(&mut rule, page, 3);
    }
    let planned = |rule: &mut AnyTiering| rule.plan(&room(0, 20), &|_| true).len();
    let by_interval: Vec<usize> = (0..4).map(|_| planned(&mut rule)).collect();
    assert_eq!(by_interval, [0, 0, 4, 4]);
}

#[test]
fn affinity_shifts_the_threshold() {
    let policy = TieringName::ScanRankMove;
    let mut rule = AnyTiering::new(policy, &settings(policy));
    for (pages, affinity) in [
        (1, Affinity::None),
        (2, Affinity::Performance),
        (3, Affinity::Archive),
    ] {
        rule.add_pages(pages, affinity);
    }
    for page in 0..3 {
        rule.placed(page, Tier::Standard);
        touch(&mut rule, page, if page == 2 { 9 } else { 1 });
    }
    // After half an hour, half a half-life by default, one I/O counts 0.7.
    for _ in 0..1800 / 5 {
        rule.plan(&room(0, 0), &|_| true);
    }
    let moves = rule.plan(&room(10, 20), &|_| true);
    let pages: Vec<u32> = moves.iter().map(|planned| planned.page).collect();
    assert_eq!(pages, [1]);
}

#[test]
fn a_page_of_the_archive_can_rise_to_any_tier() {
    let mut rule = rule(&settings(TieringName::ScanRankMove));
    rule.placed(90, Tier::Archive);
    rule.placed(91, Tier::Archive);
    for page in [90, 91, 50] {
        touch(&mut rule, page, page);
    }
    let room = TierSpace {
        slots: [10, 200, 50],
        free: [2, 100, 10],
        budget: 20,
    };
    let moves = rule.plan(&room, &|_| true);
    let to = |page, to| PlannedMove { page, to };
    assert_eq!(
        moves[..2],
        [to(91, Tier::Performance), to(90, Tier::Performance)]
    );
    assert!(
        moves[2..]
            .iter()
            .all(|planned| planned.to == Tier::Standard)
    );
}
