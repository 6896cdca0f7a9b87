//! A disk that is slow for a while, against the same disk at full speed.

use proptest::prelude::*;

use super::{BUNDLED_DISKS, Disk, DiskDescription, DiskModel, DiskRequest, SlowableDisk};
use crate::Direction;

fn models() -> Vec<DiskModel> {
    let ideal = "title = 't'\n[ideal]\ncapacity_bytes = 1073741824\nservice_us = 1000.0\n\
                 distribution = 'exponential'\nservers = 3\n";
    let ideal: DiskDescription = config::from_toml(ideal).unwrap();
    let bundled = ["sas-10k-900gb", "ssd-sas-800gb"].map(|name| {
        let disk = BUNDLED_DISKS.iter().find(|disk| disk.name == name);
        config::from_toml(disk.expect("a bundled disk").toml).unwrap()
    });
    let descriptions = [ideal].into_iter().chain(bundled);
    descriptions
        .map(|description| DiskModel::new(&description, 7).unwrap())
        .collect()
}

fn request(tag: u32, place: u64) -> DiskRequest {
    DiskRequest {
        tag,
        direction: match place % 3 {
            0 => Direction::Write,
            _ => Direction::Read,
        },
        first_sector: place % 200_000 * 8,
        sectors: 8 + (place % 5) as u32 * 8,
    }
}

/// Everything that a disk completes before `until_ns`: when, and which request.
fn complete_until(disk: &mut impl Disk, until_ns: u64) -> Vec<(u64, u32)> {
    let mut done = Vec::new();
    while let Some(next_ns) = disk
        .next_completion_ns()
        .filter(|next_ns| *next_ns <= until_ns)
    {
        let completion = disk.complete(next_ns);
        assert!(completion.started_ns <= next_ns);
        done.push((next_ns, completion.tag));
    }
    done
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn everything_takes_so_many_times_as_long(
        places in prop::collection::vec((0..4_000_000_u64, 0..1_000_000_u64), 1..60),
        factor in 2..40_u32,
    ) {
        for model in models() {
            let mut usual = model.clone();
            let mut slow = SlowableDisk::new(model);
            slow.set_factor(0, factor);
            let mut now_ns = 0;
            let times = u64::from(factor);
            let (mut of_usual, mut of_slow) = (Vec::new(), Vec::new());
            for (tag, &(pause_ns, place)) in places.iter().enumerate() {
                now_ns += pause_ns;
                of_usual.extend(complete_until(&mut usual, now_ns));
                of_slow.extend(complete_until(&mut slow, now_ns * times));
                if usual.queued() == usual.on_board_queue_depth() {
                    continue;
                }
                usual.submit(now_ns, request(tag as u32, place));
                slow.submit(now_ns * times, request(tag as u32, place));
            }
            of_usual.extend(complete_until(&mut usual, u64::MAX / 100));
            of_slow.extend(complete_until(&mut slow, u64::MAX));
            let expected: Vec<_> = of_usual.iter().map(|(ns, tag)| (ns * times, *tag)).collect();
            prop_assert_eq!(of_slow, expected);
            let (usual, slow) = (usual.counters(), slow.counters());
            prop_assert_eq!(slow.response_ns, usual.response_ns * times);
            prop_assert_eq!(slow.busy_ns, usual.busy_ns * times);
            prop_assert_eq!(slow.service_ns, usual.service_ns * times);
            prop_assert_eq!((slow.reads, slow.writes), (usual.reads, usual.writes));
            prop_assert_eq!(slow.read_sectors, usual.read_sectors);
            prop_assert_eq!(slow.buffer_hits, usual.buffer_hits);
        }
    }

    #[test]
    fn counters_hold_whatever_the_speeds(
        steps in prop::collection::vec((0..3_000_000_u64, 0..1_000_000_u64, 0..8_u32), 1..120),
    ) {
        for model in models() {
            let mut disk = SlowableDisk::new(model);
            let (mut now_ns, mut submitted) = (0, 0_u64);
            let mut done = Vec::new();
            for (tag, &(pause_ns, place, speed)) in steps.iter().enumerate() {
                now_ns += pause_ns;
                done.extend(complete_until(&mut disk, now_ns));
                if speed > 4 {
                    disk.set_factor(now_ns, [1, 7, 50][speed as usize - 5]);
                }
                if disk.queued() < disk.on_board_queue_depth() {
                    disk.submit(now_ns, request(tag as u32, place));
                    submitted += 1;
                }
                disk.counters().check_invariants().unwrap();
                let next_ns = disk.next_completion_ns();
                prop_assert!(next_ns.is_none_or(|next_ns| next_ns >= now_ns));
            }
            done.extend(complete_until(&mut disk, u64::MAX));
            disk.counters().check_invariants().unwrap();
            prop_assert_eq!(done.len() as u64, submitted);
            prop_assert_eq!(disk.counters().completed(), submitted);
            prop_assert!(done.is_sorted_by_key(|(ns, _)| *ns));
        }
    }
}
