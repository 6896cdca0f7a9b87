//! Spare space spread over the disks of a Vraid: what failed disks held is rebuilt into it.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use crate::common::{extent_bytes, ideal_backend, ideal_disk};
use array::Direction;
use array::group::{
    Backend, BackendSettings, GroupId, GroupRequest, GroupState, Groups, IoClass, StationId,
};
use array::payload::Bytes;

/// Sectors of a disk: 100 segments of 8.
const DISK_SECTORS: u64 = 800;

fn settings(disks: u16, level: &str, protection: &str, size_sectors: u64) -> String {
    format!(
        "[rebuild]\nrate_mb_per_s = 100.0\nunit_kib = 4\nin_flight = 4\n\
         [[disk_group]]\nname='g'\ndisk='d'\ndisks={disks}\nlevel='vraid'\nchunk_kib=1\n\
         protection_level='{protection}'\nplacement = {{ segment_kib = 4, stroke_fraction = 1.0 }}\n\
         [[disk_group.virtual_disk]]\nname='v'\nlevel='{level}'\nsize_gib={:?}\n",
        size_sectors as f64 * 512.0 / 1024.0_f64.powi(3)
    )
}

fn run_out(backend: &mut Backend<Bytes>, now_ns: &mut u64) -> Vec<Bytes> {
    let mut read = Vec::new();
    while let Some(next_ns) = backend.next_event_ns() {
        *now_ns = next_ns;
        backend.advance_one(next_ns);
        while let Some(done) = backend.pop_done() {
            assert_eq!(done.result, Ok(()));
            read.push(done.payload);
        }
    }
    backend.check_invariants().unwrap();
    read
}

fn ask(backend: &mut Backend<Bytes>, now_ns: u64, direction: Direction, payload: Bytes) {
    let sectors = backend.group(GroupId(0)).capacity_sectors as u32;
    let request = GroupRequest {
        owner: 0,
        group: GroupId(0),
        direction,
        first_sector: 0,
        sectors,
        class: IoClass::HostRead,
        payload,
    };
    backend.submit(now_ns, request);
}

#[test]
fn disks_may_fail_one_after_the_other_while_there_is_room() {
    for level in ["vraid1", "vraid5"] {
        let text = settings(8, level, "double", 1000);
        let mut backend = ideal_backend::<Bytes>(&text, DISK_SECTORS, 1, 3);
        let mut now_ns = 0;
        let sectors = backend.group(GroupId(0)).capacity_sectors as u32;
        let contents = extent_bytes(0, sectors, 1);
        ask(&mut backend, now_ns, Direction::Write, contents.clone());
        run_out(&mut backend, &mut now_ns);
        let mut failed = 0;
        for disk in [2, 3, 7] {
            let before: Vec<u64> = written(&backend);
            backend.fail_disk(now_ns, StationId(disk));
            assert_eq!(backend.group(GroupId(0)).state, GroupState::Critical);
            run_out(&mut backend, &mut now_ns);
            failed += 1;
            assert_eq!(
                backend.group(GroupId(0)).state,
                GroupState::Healthy,
                "{level}"
            );
            let grown = written(&backend).into_iter().zip(before);
            let grown: Vec<u64> = grown.map(|(after, before)| after - before).collect();
            let replacements = grown.iter().filter(|&&sectors| sectors > 0).count();
            // The other disk of a pair takes no copy of what it holds already.
            let all = 8 - failed - usize::from(level == "vraid1");
            assert!(
                replacements >= all,
                "{level}: all that are left take a share: {grown:?}"
            );
            assert_eq!(grown[usize::from(disk)], 0);
        }
        ask(&mut backend, now_ns, Direction::Read, Bytes::default());
        assert!(run_out(&mut backend, &mut now_ns) == [contents], "{level}");
    }
}

fn written(backend: &Backend<Bytes>) -> Vec<u64> {
    let stations = backend.stations().iter();
    stations
        .map(|station| station.counters().written_sectors)
        .collect()
}

#[test]
fn without_room_a_new_disk_is_waited_for() {
    // 6 disks of 100 segments; 118 stores of 5 segments leave 10 free.
    let text = settings(6, "vraid5", "none", 118 * 32);
    let mut backend = ideal_backend::<Bytes>(&text, DISK_SECTORS, 1, 3);
    let mut now_ns = 0;
    let sectors = backend.group(GroupId(0)).capacity_sectors as u32;
    let contents = extent_bytes(0, sectors, 1);
    ask(&mut backend, now_ns, Direction::Write, contents.clone());
    run_out(&mut backend, &mut now_ns);
    backend.fail_disk(now_ns, StationId(0));
    run_out(&mut backend, &mut now_ns);
    assert_eq!(backend.group(GroupId(0)).state, GroupState::Critical);
    let disk = ideal_disk(DISK_SECTORS, 100.0, 1, false, 9);
    backend.replace_disk(now_ns, StationId(0), disk).unwrap();
    run_out(&mut backend, &mut now_ns);
    assert_eq!(backend.group(GroupId(0)).state, GroupState::Healthy);
    ask(&mut backend, now_ns, Direction::Read, Bytes::default());
    assert!(run_out(&mut backend, &mut now_ns) == [contents]);
}

#[test]
fn the_protection_level_is_kept_free() {
    let fits = |protection: &str, size_sectors: u64| {
        let text = settings(8, "vraid1", protection, size_sectors);
        let settings: BackendSettings = config::from_toml(&text).unwrap();
        let disks = (0..8).map(|disk| ideal_disk(DISK_SECTORS, 100.0, 1, true, disk));
        Backend::<()>::new(&settings, disks.collect()).is_ok()
    };
    // 800 segments, of which 0, 200 or 400 are reserved; half of the rest holds data.
    for (protection, segments) in [("none", 400), ("single", 300), ("double", 200)] {
        assert!(fits(protection, segments * 8), "{protection}");
        assert!(!fits(protection, segments * 8 + 1), "{protection}");
    }
}
