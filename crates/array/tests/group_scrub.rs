//! Scrubs: what cannot be read is found and repaired, what is wrong is found, and repaired where it
//! is known what is right.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use crate::common::{extent_bytes, ideal_backend};
use array::group::{
    Backend, GroupError, GroupId, GroupRequest, GroupState, Groups, IoClass, StationId,
};
use array::payload::{Bytes, Payload};
use array::{Direction, IncidentKind, SectorDamage};
use rand::SeedableRng;
use rand_xoshiro::Xoshiro256PlusPlus;

const DISK_SECTORS: u64 = 64;

fn disk_group(level: &str, disks: u16, extra: &str) -> String {
    format!("[[disk_group]]\nname='g'\ndisk='d'\ndisks={disks}\nlevel='{level}'\n{extra}\n")
}

fn finish(backend: &mut Backend<Bytes>, now_ns: &mut u64) {
    while let Some(next_ns) = backend.next_event_ns() {
        *now_ns = next_ns;
        backend.advance_one(next_ns);
    }
    backend.check_invariants().unwrap();
}

fn request(direction: Direction, capacity: u64, payload: Bytes) -> GroupRequest<Bytes> {
    GroupRequest {
        owner: 0,
        group: GroupId(0),
        direction,
        first_sector: 0,
        sectors: capacity as u32,
        class: IoClass::HostWrite,
        payload,
    }
}

/// A group filled with known contents.
fn filled(layout: &str, now_ns: &mut u64) -> Backend<Bytes> {
    let mut backend = ideal_backend(layout, DISK_SECTORS, 1, 5);
    let capacity = backend.group(GroupId(0)).capacity_sectors;
    let payload = extent_bytes(0, capacity as u32, 1);
    backend.submit(*now_ns, request(Direction::Write, capacity, payload));
    finish(&mut backend, now_ns);
    backend.pop_done().unwrap().result.unwrap();
    backend
}

fn read(backend: &mut Backend<Bytes>, now_ns: &mut u64) -> Result<bool, GroupError> {
    let capacity = backend.group(GroupId(0)).capacity_sectors;
    backend.submit(
        *now_ns,
        request(Direction::Read, capacity, Bytes::default()),
    );
    finish(backend, now_ns);
    let done = backend.pop_done().unwrap();
    done.result
        .map(|()| done.payload == extent_bytes(0, capacity as u32, 1))
}

fn scrub(backend: &mut Backend<Bytes>, now_ns: &mut u64) {
    let passes = backend.scrub_passes();
    backend.start_scrub(*now_ns);
    finish(backend, now_ns);
    assert_eq!(backend.scrub_passes(), passes + 1);
}

fn bad_sectors(backend: &Backend<Bytes>) -> usize {
    backend
        .stations()
        .iter()
        .map(array::station::Station::bad_sectors)
        .sum()
}

#[test]
fn sectors_that_cannot_be_read_are_repaired() {
    for layout in [
        disk_group("raid1", 2, ""),
        disk_group("raid10", 4, "chunk_kib=4"),
        disk_group("raid5", 5, "chunk_kib=4"),
        disk_group("raid6", 6, "chunk_kib=4"),
    ] {
        let mut now_ns = 0;
        let mut backend = filled(&layout, &mut now_ns);
        // Bad sectors in rows of their own.
        backend.mark_sectors_unreadable(StationId(0), 3, 2);
        backend.mark_sectors_unreadable(StationId(1), 17, 1);
        assert_eq!(bad_sectors(&backend), 3);
        scrub(&mut backend, &mut now_ns);
        assert_eq!(bad_sectors(&backend), 0, "{layout}");
        let counters = *backend.group(GroupId(0)).counters;
        assert_eq!((counters.repaired_sectors, counters.mismatches), (3, 0));
        assert_eq!(read(&mut backend, &mut now_ns), Ok(true));
        // A read repairs as well.
        backend.mark_sectors_unreadable(StationId(0), 40, 1);
        assert_eq!(read(&mut backend, &mut now_ns), Ok(true));
        // Nothing is lost after that if the other disks of the stripe go.
        scrub(&mut backend, &mut now_ns);
        backend.fail_disk(now_ns, StationId(1));
        assert_eq!(read(&mut backend, &mut now_ns), Ok(true), "{layout}");
    }
}

#[test]
fn more_bad_sectors_than_the_level_bears_are_an_error_until_they_are_written() {
    let mut now_ns = 0;
    let mut backend = filled(&disk_group("raid5", 5, "chunk_kib=4"), &mut now_ns);
    backend.mark_sectors_unreadable(StationId(0), 3, 1);
    backend.mark_sectors_unreadable(StationId(1), 3, 1);
    let failed = read(&mut backend, &mut now_ns);
    assert!(matches!(failed, Err(GroupError::Unreadable { .. })));
    assert_eq!(backend.group(GroupId(0)).state, GroupState::Healthy);
    // A rebuild carries the loss over and does not make anything up.
    backend.fail_disk(now_ns, StationId(1));
    let disk = crate::common::ideal_disk(DISK_SECTORS, 100.0, 1, true, 8);
    backend.replace_disk(now_ns, StationId(1), disk).unwrap();
    finish(&mut backend, &mut now_ns);
    assert_eq!(bad_sectors(&backend), 2);
    let failed = read(&mut backend, &mut now_ns);
    assert!(matches!(failed, Err(GroupError::Unreadable { .. })));
    // Writing the whole stripe makes it readable again.
    let capacity = backend.group(GroupId(0)).capacity_sectors;
    let payload = extent_bytes(0, capacity as u32, 1);
    backend.submit(now_ns, request(Direction::Write, capacity, payload));
    finish(&mut backend, &mut now_ns);
    backend.pop_done().unwrap().result.unwrap();
    assert_eq!(bad_sectors(&backend), 0);
    assert_eq!(read(&mut backend, &mut now_ns), Ok(true));
}

#[test]
fn wrong_contents_are_found_and_repaired_where_the_right_ones_are_known() {
    let wrong = Bytes::new(vec![0xa5; 2 * 512]);
    for (layout, stations) in [
        (disk_group("raid6", 6, "chunk_kib=4"), 6),
        (disk_group("raid1", 3, ""), 3),
    ] {
        for station in 0..stations {
            let mut now_ns = 0;
            let mut backend = filled(&layout, &mut now_ns);
            backend.corrupt_sectors(StationId(station), 10, 2, &wrong);
            scrub(&mut backend, &mut now_ns);
            let counters = *backend.group(GroupId(0)).counters;
            assert_eq!((counters.mismatches, counters.repaired_sectors), (2, 2));
            assert_eq!(
                read(&mut backend, &mut now_ns),
                Ok(true),
                "{layout} {station}"
            );
            scrub(&mut backend, &mut now_ns);
            assert_eq!(backend.group(GroupId(0)).counters.mismatches, 2);
        }
    }
    // RAID 5 cannot know which is wrong; the data are kept and the parity follows them.
    let mut now_ns = 0;
    let mut backend = filled(&disk_group("raid5", 5, "chunk_kib=4"), &mut now_ns);
    // Parity of the first stripe is on the last disk.
    backend.corrupt_sectors(StationId(4), 0, 2, &wrong);
    scrub(&mut backend, &mut now_ns);
    assert_eq!(backend.group(GroupId(0)).counters.mismatches, 2);
    backend.fail_disk(now_ns, StationId(0));
    assert_eq!(read(&mut backend, &mut now_ns), Ok(true));
    assert!(wrong.as_bytes().is_some());
}

#[test]
fn a_scrub_that_is_enabled_goes_round_at_its_pace() {
    let layout = format!(
        "[scrub]\nenabled = true\nrate_mb_per_s = 1.0\n{}",
        disk_group("raid6", 6, "chunk_kib=4")
    );
    let mut now_ns = 0;
    let mut backend: Backend<Bytes> = ideal_backend(&layout, DISK_SECTORS, 1, 5);
    while backend.scrub_passes() < 5 {
        now_ns = backend.next_event_ns().unwrap();
        backend.advance_one(now_ns);
    }
    // Every pass reads 64 sectors of each disk: 32.768 ms at 1 MB/s.
    let passes = now_ns as f64 / 32.768e6;
    assert!((4.8..5.2).contains(&passes), "{passes}");
    let reads = backend.stations()[0].counters().read_sectors;
    assert_eq!(reads, 5 * DISK_SECTORS);
}

/// Places of a disk that holds data, chosen by chance.
fn damage(backend: &mut Backend<Bytes>, now_ns: u64, places: u32, damage: SectorDamage) -> u32 {
    let random = Xoshiro256PlusPlus::seed_from_u64(3);
    backend.damage_sectors(now_ns, StationId(0), places, damage, random);
    let incidents = backend.take_incidents();
    match incidents.last().unwrap().kind {
        IncidentKind::SectorsDamaged {
            disk: 0,
            places,
            damage: found,
        } if found == damage => places,
        kind => panic!("{kind:?}"),
    }
}

#[test]
fn places_that_hold_data_are_damaged_and_a_scrub_repairs_them() {
    let mut now_ns = 0;
    let layout = disk_group("raid6", 6, "chunk_kib=4");
    let mut backend = filled(&layout, &mut now_ns);
    assert_eq!(damage(&mut backend, now_ns, 5, SectorDamage::Unreadable), 5);
    assert_eq!(bad_sectors(&backend), 5 * 8);
    scrub(&mut backend, &mut now_ns);
    assert_eq!(bad_sectors(&backend), 0);
    assert_eq!(read(&mut backend, &mut now_ns), Ok(true));
    // More than there are: all of the disk, which has data in some of its rows and parity in others.
    assert_eq!(
        damage(&mut backend, now_ns, 100, SectorDamage::Corrupted),
        8
    );
    assert_eq!(
        read(&mut backend, &mut now_ns),
        Ok(false),
        "no error, and other bytes"
    );
    scrub(&mut backend, &mut now_ns);
    assert!(backend.group(GroupId(0)).counters.mismatches > 0);
    assert_eq!(read(&mut backend, &mut now_ns), Ok(true));
    // Where nothing was written there is nothing to damage.
    let mut empty: Backend<Bytes> = ideal_backend(&layout, DISK_SECTORS, 1, 5);
    for kind in [SectorDamage::Unreadable, SectorDamage::Corrupted] {
        assert_eq!(damage(&mut empty, 0, 10, kind), 0);
    }
}
