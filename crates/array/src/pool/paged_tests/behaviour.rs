//! Single rules of a pool of pages, one by one.

use super::{Rig, cache_settings, pool_settings, volume};
use crate::group::{GroupError, GroupId, GroupState, IoClass};
use crate::payload::{Bytes, Payload};
use crate::pool::settings::{TieringName, TieringSettings};
use crate::pool::tier::Tier;
use crate::pool::{Extent, Place, PoolError, PoolFull, PoolWrite};
use crate::{Direction, FirstWrite, VolumeId};

const PAGE: u64 = 16;
const GROUPS: [super::TestGroup; 4] = [
    ("ssd", Some(Tier::Performance), 4 * PAGE, 16),
    ("sas-a", Some(Tier::Standard), 8 * PAGE, 16),
    ("sas-b", Some(Tier::Standard), 4 * PAGE, 16),
    ("cache", None, 64, 16),
];

fn rig(volume_pages: u64) -> Rig<Bytes> {
    Rig::new(
        &pool_settings(8, &GROUPS),
        &GROUPS,
        &[volume(0, volume_pages * PAGE)],
    )
}

fn lay_out(rig: &mut Rig<Bytes>, pages: std::ops::Range<u64>, how: FirstWrite) {
    let (first, sectors) = (pages.start * PAGE, (pages.end - pages.start) * PAGE);
    let taken = rig.pool.map_for_write(VolumeId(0), first, sectors, how);
    assert_eq!(taken, Ok(()));
}

#[test]
fn streams_begin_on_disks_and_random_writes_on_solid_state() {
    let mut rig = rig(16);
    lay_out(&mut rig, 0..3, FirstWrite::Sequential);
    lay_out(&mut rig, 3..9, FirstWrite::Random);
    let counters = rig.pool.counters();
    assert_eq!(counters.pages, [4, 5, 0]);
    assert_eq!(counters.slots, [4, 12, 0]);
    let write = PoolWrite {
        owner_id: 0,
        volume: VolumeId(0),
        class: IoClass::HostWrite,
        sequential: true,
    };
    let piece = (9 * PAGE, 4, Bytes::zeroed(4));
    rig.pool.write(0, write, &[piece], &mut rig.groups);
    assert_eq!(rig.settle().len(), 1);
    assert_eq!(rig.pool.counters().pages, [4, 6, 0]);
}

#[test]
fn groups_of_a_tier_fill_alike_from_their_beginning() {
    let mut rig = rig(16);
    lay_out(&mut rig, 0..6, FirstWrite::Sequential);
    let mut extents = Vec::new();
    rig.pool.map(VolumeId(0), 0, 16 * PAGE as u32, &mut extents);
    let in_group = |group| {
        let first_sectors = extents.iter().filter_map(|extent| match extent.place {
            Place::Group {
                group: GroupId(number),
                first_sector,
            } if number == group => Some((first_sector, extent.sectors)),
            _ => None,
        });
        let mut ends: Vec<u64> = first_sectors.map(|(at, n)| at + u64::from(n)).collect();
        ends.sort_unstable();
        ends.last().copied()
    };
    // Twice as many pages in the group that is twice as large, both from sector 0 on.
    assert_eq!((in_group(1), in_group(2)), (Some(4 * PAGE), Some(2 * PAGE)));
    let rest = Extent {
        place: Place::Unallocated,
        sectors: 10 * PAGE as u32,
    };
    assert_eq!(extents.last(), Some(&rest));
}

#[test]
fn a_full_pool_says_so_and_takes_nothing() {
    let mut rig = rig(20);
    lay_out(&mut rig, 0..14, FirstWrite::Sequential);
    let more = rig
        .pool
        .map_for_write(VolumeId(0), 13 * PAGE, 4 * PAGE, FirstWrite::Random);
    assert_eq!(more, Err(PoolFull { needed: 3, free: 2 }));
    lay_out(&mut rig, 14..16, FirstWrite::Random);
    rig.write(5, 0, &[(16 * PAGE, 1, Bytes::zeroed(1))]);
    let done = rig.settle();
    assert_eq!(done[0].result, Err(PoolError::Full));
    let counters = rig.pool.counters();
    assert_eq!(counters.refused_first_writes, 2);
    assert!(counters.is_overcommitted());
    // 50, 75 and 95 percent.
    assert_eq!(counters.warnings, 3);
    rig.pool.trim(VolumeId(0), 3, 3 * PAGE);
    assert_eq!(rig.pool.counters().pages.iter().sum::<u64>(), 14);
    rig.pool.check_pages();
}

#[test]
fn data_of_others_leaves_no_room_until_it_is_removed() {
    let mut rig = rig(16);
    let pages = |rig: &Rig<Bytes>| {
        rig.pool.check_pages();
        rig.pool.counters().pages
    };
    lay_out(&mut rig, 0..1, FirstWrite::Random);
    assert!(rig.pool.fill_group(GroupId(0), true));
    lay_out(&mut rig, 1..3, FirstWrite::Random);
    assert_eq!(pages(&rig), [1, 2, 0]);
    // What a page has left can be taken again.
    rig.pool.trim(VolumeId(0), 0, PAGE);
    lay_out(&mut rig, 3..5, FirstWrite::Random);
    assert_eq!(pages(&rig), [1, 3, 0]);
    assert!(rig.pool.fill_group(GroupId(0), false));
    lay_out(&mut rig, 5..9, FirstWrite::Random);
    assert_eq!(pages(&rig), [4, 4, 0]);
    assert!(!rig.pool.fill_group(GroupId(3), true), "of the read cache");
}

#[test]
fn a_page_used_before_reads_as_zeros_and_is_zeroed_by_its_first_write() {
    let mut rig = rig(20);
    lay_out(&mut rig, 0..16, FirstWrite::Random);
    for page in 0..16 {
        rig.write(1, 0, &[(page * PAGE, 16, Bytes::new(vec![7; 16 * 512]))]);
    }
    rig.settle();
    rig.pool.trim(VolumeId(0), 0, PAGE);
    lay_out(&mut rig, 17..18, FirstWrite::Random);
    let requests = rig.groups.submitted.len();
    rig.read(2, 0, 17 * PAGE, 16);
    assert_eq!(rig.settle()[0].payload, Bytes::zeroed(16));
    assert_eq!(rig.groups.submitted.len(), requests, "nothing was read");
    rig.write(3, 0, &[(17 * PAGE + 3, 1, Bytes::new(vec![9; 512]))]);
    assert_eq!(rig.settle().len(), 1);
    rig.read(4, 0, 17 * PAGE, 16);
    let mut expected = Bytes::zeroed(16);
    expected.overlay(3, &Bytes::new(vec![9; 512]));
    assert_eq!(rig.settle()[0].payload, expected);
    assert_eq!(rig.pool.counters().pages_zeroed, 1);
}

/// Eight pages on disks, the first four of them hot.
pub(super) fn tiered() -> Rig<Bytes> {
    let mut settings = pool_settings(8, &GROUPS);
    settings.policy.tiering.policy = TieringName::ScanRankMove;
    let mut rig = Rig::new(&settings, &GROUPS, &[volume(0, 12 * PAGE)]);
    lay_out(&mut rig, 0..8, FirstWrite::Sequential);
    for page in 0..4 {
        rig.write(
            0,
            0,
            &[(page * PAGE, 16, Bytes::new(vec![page as u8; 16 * 512]))],
        );
    }
    rig.settle();
    rig
}

#[test]
fn pages_move_as_background_work_in_the_limit() {
    let mut rig = tiered();
    rig.groups.submitted.clear();
    rig.tick();
    assert_eq!(rig.groups.in_flight_of(IoClass::Migration), 4);
    rig.settle();
    let counters = rig.pool.counters();
    assert_eq!((counters.pages, counters.pages_moved_up), ([4, 4, 0], 4));
    assert_eq!(counters.bytes_moved_up(), 4 * 8192);
    let moved = |direction| {
        let submitted = rig.groups.submitted.iter();
        let of_kind = submitted.filter(|r| r.1 == direction && r.2 == IoClass::Migration);
        of_kind.map(|request| u64::from(request.4)).sum::<u64>()
    };
    assert_eq!(moved(Direction::Read), 4 * PAGE);
    assert_eq!(moved(Direction::Write), 4 * PAGE);
    rig.pool.check_pages();
}

#[test]
fn a_tier_that_is_full_of_others_takes_no_hot_page() {
    let mut rig = tiered();
    assert!(rig.pool.fill_group(GroupId(0), true));
    rig.tick();
    rig.settle();
    assert_eq!(rig.pool.counters().pages, [0, 8, 0]);
    assert!(rig.pool.fill_group(GroupId(0), false));
    for page in 0..4 {
        rig.write(1, 0, &[(page * PAGE, 16, Bytes::zeroed(16))]);
    }
    rig.settle();
    rig.tick();
    rig.settle();
    assert_eq!(rig.pool.counters().pages, [4, 4, 0]);
    rig.pool.check_pages();
}

#[test]
fn a_write_to_a_moving_page_does_not_wait_for_the_page() {
    let mut rig = tiered();
    rig.tick();
    // The copies of all four pages are being read.
    rig.write(6, 0, &[(2, 1, Bytes::new(vec![99; 512]))]);
    assert_eq!(rig.groups.in_flight_of(IoClass::Destage), 1);
    rig.settle();
    let counters = rig.pool.counters();
    assert_eq!(
        (counters.writes_held, counters.sectors_copied_again),
        (0, 1)
    );
    rig.read(7, 0, 0, 16);
    let mut expected = Bytes::zeroed(16);
    expected.overlay(2, &Bytes::new(vec![99; 512]));
    assert_eq!(rig.settle()[0].payload, expected);
    assert_eq!(rig.pool.counters().pages, [4, 4, 0]);
}

#[test]
fn a_move_that_cannot_end_leaves_the_page_where_it_was() {
    let mut rig = tiered();
    rig.tick();
    rig.groups.groups[0].state = GroupState::Failed;
    rig.settle();
    let counters = rig.pool.counters();
    assert_eq!((counters.pages, counters.moves_abandoned), ([0, 8, 0], 4));
    rig.read(1, 0, PAGE, 16);
    assert_eq!(rig.settle()[0].payload, Bytes::new(vec![1; 16 * 512]));
    rig.tick();
    assert_eq!(rig.groups.in_flight(), 0, "nothing moves to a failed group");
    rig.pool.check_pages();
}

#[test]
fn a_critical_performance_tier_is_emptied_and_used_again_once_it_is_healthy() {
    let mut rig = tiered();
    rig.tick();
    rig.settle();
    assert_eq!(rig.pool.counters().pages, [4, 4, 0]);
    rig.groups.groups[0].state = GroupState::Critical;
    rig.tick();
    rig.settle();
    let counters = rig.pool.counters();
    assert_eq!((counters.pages, counters.pages_moved_down), ([0, 8, 0], 4));
    lay_out(&mut rig, 8..9, FirstWrite::Random);
    assert_eq!(rig.pool.counters().pages, [0, 9, 0]);
    for page in 0..4 {
        rig.read(1, 0, page * PAGE, 16);
        let done = rig.settle();
        assert_eq!(done[0].payload, Bytes::new(vec![page as u8; 16 * 512]));
    }
    rig.groups.groups[0].state = GroupState::Healthy;
    rig.tick();
    rig.settle();
    assert_eq!(rig.pool.counters().pages, [4, 5, 0]);
}

fn cached(text: &str) -> Rig<Bytes> {
    let mut settings = pool_settings(8, &GROUPS);
    settings.read_cache = cache_settings(text);
    let mut rig = Rig::new(&settings, &GROUPS, &[volume(0, 12 * PAGE)]);
    lay_out(&mut rig, 0..12, FirstWrite::Sequential);
    rig
}

#[test]
fn a_small_read_is_widened_to_its_line_or_not_copied() {
    let mut rig = cached("line_kib = 4");
    rig.read(1, 0, 5, 1);
    rig.settle();
    let disk_read = rig.groups.submitted[0];
    assert_eq!(
        (disk_read.1, disk_read.3 % 16, disk_read.4),
        (Direction::Read, 0, 8)
    );
    let fill = rig.groups.submitted[1];
    assert_eq!(
        (fill.0, fill.2, fill.4),
        (GroupId(3), IoClass::CacheFill, 8)
    );
    rig.read(1, 0, 7, 1);
    rig.settle();
    assert_eq!(rig.groups.submitted[2].0, GroupId(3));

    let mut rig = cached("line_kib = 4\nfill = { widen_reads = false }");
    rig.read(1, 0, 5, 10);
    rig.settle();
    assert_eq!(rig.pool.counters().read_cache.fills, 0);
    rig.read(1, 0, 5, 11);
    rig.settle();
    assert_eq!(rig.pool.counters().read_cache.fills, 1);
}

#[test]
fn the_cache_is_lost_at_a_failover_and_with_its_disk_and_nothing_else_is() {
    let mut rig = cached("line_kib = 4");
    rig.write(0, 0, &[(0, 16, Bytes::new(vec![3; 16 * 512]))]);
    rig.settle();
    let read = |rig: &mut Rig<Bytes>| {
        rig.read(1, 0, 0, 8);
        let done = rig.settle();
        assert_eq!(
            (done[0].result, &done[0].payload),
            (Ok(()), &Bytes::new(vec![3; 4096]))
        );
        rig.pool.counters().read_cache
    };
    read(&mut rig);
    assert_eq!(read(&mut rig).hits, 1);
    rig.pool.fail_over();
    let after = read(&mut rig);
    assert_eq!((after.hits, after.losses), (1, 1));
    assert_eq!(read(&mut rig).hits, 2);
    rig.groups.groups[3].state = GroupState::Failed;
    let after = read(&mut rig);
    assert_eq!((after.losses, after.lines), (2, 0));
    let requests = rig.groups.submitted.len();
    read(&mut rig);
    assert_eq!(
        rig.groups.submitted.len(),
        requests + 1,
        "only the disks are asked"
    );
}

#[test]
fn lines_are_copied_at_the_miss_the_rule_says_and_streams_are_not() {
    let mut rig = cached("line_kib = 4\nfill = { admit_after_misses = 3 }");
    for _ in 0..4 {
        rig.read(1, 0, 0, 8);
        rig.settle();
    }
    let counters = rig.pool.counters().read_cache;
    assert_eq!((counters.misses, counters.hits, counters.fills), (3, 1, 1));
}

#[test]
fn only_lines_of_hot_pages_are_copied_if_the_rule_says_so() {
    // No tier to move to: the pages are ranked all the same.
    let mut settings = pool_settings(8, &GROUPS[1..]);
    settings.policy.tiering.policy = TieringName::ScanRankMove;
    settings.policy.tiering.promote_score = 3.0;
    settings.read_cache = cache_settings("line_kib = 4\nfill = { hot_pages_only = true }");
    let mut rig: Rig<Bytes> = Rig::new(&settings, &GROUPS[1..], &[volume(0, 4 * PAGE)]);
    for page in 0..2 {
        rig.write(1, 0, &[(page * PAGE, 16, Bytes::zeroed(16))]);
    }
    let read = |rig: &mut Rig<Bytes>, page: u64, times: u32| {
        rig.settle();
        for id in 0..times {
            rig.read(id, 0, page * PAGE, 8);
            rig.settle();
        }
        let counters = rig.pool.counters().read_cache;
        (counters.fills, counters.hits)
    };
    assert_eq!(read(&mut rig, 0, 4), (0, 0), "nothing was ranked yet");
    assert_eq!(read(&mut rig, 1, 1), (0, 0));
    rig.tick();
    assert_eq!(
        read(&mut rig, 1, 2),
        (0, 0),
        "a write and a read are too few"
    );
    assert_eq!(read(&mut rig, 0, 2), (1, 1));
}

#[test]
fn a_failed_disk_group_is_reported() {
    let mut rig = rig(4);
    lay_out(&mut rig, 0..1, FirstWrite::Random);
    rig.groups.groups[0].state = GroupState::Failed;
    rig.read(1, 0, 0, 8);
    let failed = GroupError::GroupFailed { group: GroupId(0) };
    assert_eq!(rig.settle()[0].result, Err(PoolError::Group(failed)));
}

#[test]
fn a_pool_may_begin_where_hours_of_moving_and_filling_lead() {
    let mut settings = pool_settings(8, &GROUPS);
    settings.policy.tiering.settled_percent = 50.0;
    let mut rig: Rig<Bytes> = Rig::new(&settings, &GROUPS, &[volume(0, 8 * PAGE)]);
    let taken = rig
        .pool
        .lay_out(VolumeId(0), 0, 8 * PAGE, FirstWrite::Sequential);
    assert_eq!(taken, Ok(()));
    assert_eq!(rig.pool.counters().pages, [4, 4, 0]);

    let mut settings = pool_settings(8, &GROUPS);
    settings.read_cache = cache_settings("line_kib = 4\nfill = { warm_percent = 100.0 }");
    let mut rig: Rig<Bytes> = Rig::new(&settings, &GROUPS, &[volume(0, 4 * PAGE)]);
    let taken = rig
        .pool
        .lay_out(VolumeId(0), 0, 4 * PAGE, FirstWrite::Sequential);
    assert_eq!(taken, Ok(()));
    assert_eq!(rig.pool.counters().read_cache.lines, 8, "as many as fit");
    rig.read(1, 0, 0, 8);
    let done = rig.settle();
    assert_eq!(rig.groups.submitted[0].0, GroupId(3), "read from the cache");
    let contents = done[0].result.as_ref().ok().and(done[0].payload.as_bytes());
    assert_eq!(
        contents,
        Some(&[0; 8 * 512][..]),
        "what was never written is zero"
    );
    // A write still drops the copy.
    rig.write(0, 0, &[(0, 8, Bytes::new(vec![7; 8 * 512]))]);
    rig.settle();
    rig.read(1, 0, 0, 8);
    let done = rig.settle();
    assert_eq!(done[0].payload.as_bytes(), Some(&[7; 8 * 512][..]));
}

#[test]
fn scattered_pages_lie_all_over_a_group() {
    let mut settings = pool_settings(8, &GROUPS[1..2]);
    settings.policy.page_spread_percent = 100.0;
    let mut rig: Rig<Bytes> = Rig::new(&settings, &GROUPS[1..2], &[volume(0, 4 * PAGE)]);
    lay_out(&mut rig, 0..4, FirstWrite::Sequential);
    let mut extents = Vec::new();
    rig.pool.map(VolumeId(0), 0, 4 * PAGE as u32, &mut extents);
    let mut places: Vec<u64> = extents
        .iter()
        .filter_map(|extent| match extent.place {
            Place::Group { first_sector, .. } => Some(first_sector / PAGE),
            Place::Unallocated => None,
        })
        .collect();
    places.sort_unstable();
    places.dedup();
    assert_eq!(places.len(), 4);
    assert!(places[3] > 3, "eight slots, four pages: {places:?}");
}

/// Eight pages on disks, page 5 asked for most, then page 2, and a tier with the load of two pages
/// behind it after 20 seconds of counting.
fn aged<P: Payload>() -> Rig<P> {
    let mut settings = pool_settings(8, &GROUPS);
    settings.policy.tiering = TieringSettings {
        policy: TieringName::ScanRankMove,
        move_limit_mib: 1,
        instant_moves_s: 60.0,
        // A plan moves 128 pages at most, so this is the time for two and a half.
        prior_load_h: 2.5 * 5.0 / 3600.0 / 128.0,
        ..settings.policy.tiering
    };
    let mut rig: Rig<P> = Rig::new(&settings, &GROUPS, &[volume(0, 8 * PAGE)]);
    let taken = rig
        .pool
        .lay_out(VolumeId(0), 0, 8 * PAGE, FirstWrite::Sequential);
    assert_eq!(taken, Ok(()));
    for (page, times) in [(0, 1), (2, 5), (3, 2), (5, 9)] {
        for _ in 0..times {
            rig.read(1, 0, page * PAGE, 8);
            rig.settle();
        }
    }
    rig.groups.submitted.clear();
    while rig.now_ns < 15_000_000_000 {
        rig.tick();
        rig.settle();
    }
    assert_eq!(rig.pool.counters().pages, [0, 8, 0], "it only counts");
    rig.tick();
    rig
}

#[test]
fn a_tier_with_hours_behind_it_holds_what_was_asked_for_most() {
    let mut rig: Rig<()> = aged();
    assert_eq!(rig.groups.submitted.len(), 0, "there is nothing to copy");
    assert_eq!(rig.pool.counters().pages, [2, 6, 0]);
    for page in [5, 2] {
        rig.read(1, 0, page * PAGE, 8);
    }
    rig.settle();
    let solid_state = |request: &(GroupId, _, _, _, _)| request.0 == GroupId(0);
    assert!(rig.groups.submitted.iter().all(solid_state));
    rig.pool.check_pages();
    // The rule goes on at its own pace, with copies.
    rig.tick();
    assert_eq!(rig.groups.in_flight_of(IoClass::Migration), 1);
    rig.settle();
    assert_eq!(rig.pool.counters().pages, [3, 5, 0]);
    rig.pool.check_pages();
}

#[test]
fn a_head_start_copies_where_bytes_are_carried() {
    let mut rig: Rig<Bytes> = aged();
    assert_eq!(rig.groups.in_flight_of(IoClass::Migration), 2);
    rig.settle();
    assert_eq!(rig.pool.counters().pages[0], 2);
    rig.pool.check_pages();
}
