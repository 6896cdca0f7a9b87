//! Slow machinery that is accelerated (`backend.warp`): its work takes a share of the time, and requests notice no
//! more of it.

use array::description::{Description, PlannedArray, TracedVolume, one_disk};
use array::{Array, Fault, HostOperation, HostRequest, IncidentKind, VolumeId};
use config::Source;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

const S: u64 = 1_000_000_000;
/// How many times as fast.
const WARP: u64 = 20;

/// Five hard disks of 12 GB and a spare.
const ARRAY: &str = "
title = 'Small'

[controllers]
count = 1
ports_per_controller = 1
port = { rate_mb_per_s = 1600.0 }
link = { rate_mb_per_s = 3000.0, transfer_us = 5.0 }
service = { read_us = 5.0, write_us = 5.0 }
failover = { takeover_ms = 2000.0, path_switch_ms = 1000.0 }

[cache]
capacity_mib = 1
line_kib = 4
mirror = false
dirty_limit_percent = 50.0
cache_reads = false
destage.age_ms = 100.0
destage.high_watermark_percent = 80.0
destage.low_watermark_percent = 60.0
destage.idle_ms = 50.0
destage.in_flight = 8
read_ahead = { enabled = false }

[disks.small]
title = 'Small'

[disks.small.hard_disk]
capacity_bytes = 12_000_000_000
rpm = 10_000
heads = 2
tracks_per_surface = 5_720
outer_to_inner_rate_ratio = 1.75
command_overhead_ms = 0.2
head_switch_ms = 0.30
on_board_queue_depth = 16
scheduler = 'shortest_positioning'
aging = 0.02
interface_mb_per_s = 600.0

[disks.small.hard_disk.seek]
read = { single_track_ms = 0.30, average_ms = 3.8, full_stroke_ms = 7.81 }
write = { single_track_ms = 0.56, average_ms = 4.4, full_stroke_ms = 8.18 }

[[group]]
name = 'disks'
disk = 'small'
disk_count = 5
raid = 'raid5'
chunk_kib = 64
spares = 1
";

fn planned(warp: u64) -> PlannedArray {
    let text = format!("{ARRAY}\n[backend]\nwarp = {warp}\nrebuild.rate_mb_per_s = 50.0\n");
    planned_of(&[Source::file("small.toml", &text)])
}

fn planned_of(sources: &[Source]) -> PlannedArray {
    let description = Description::load(sources).expect("an array");
    let volume = TracedVolume {
        name: "probe".to_owned(),
        reach_bytes: 30_000_000_000,
    };
    let planned = description.plan_for_trace(&[volume], None, None);
    planned.expect("a plan").0
}

/// Reads and writes at random moments, 150 a second on average, for a time; their mean response time. A disk fails
/// before, if that is asked, and its rebuild lasts longer.
fn mean_ms(warp: u64, fails: bool, span_s: f64) -> f64 {
    let planned = planned(warp);
    let mut array: Array<()> = Array::new(&planned.settings, 1).expect("an array");
    if fails {
        array.inject(0, Fault::FailDisk(2));
    }
    let mut random = Xoshiro256PlusPlus::seed_from_u64(7);
    let (mut completed, mut now_ns, mut tag) = (Vec::new(), 0, 0);
    while (now_ns as f64) < span_s * 1e9 {
        let gap_s = -random.random::<f64>().ln() / 150.0;
        now_ns += (gap_s * 1e9) as u64;
        tag += 1;
        array.advance_to(now_ns, &mut completed);
        let request = HostRequest {
            tag,
            volume: VolumeId(0),
            operation: match random.random_bool(0.7) {
                true => HostOperation::Read,
                false => HostOperation::Write,
            },
            first_sector: random.random_range(0..50_000_000) / 16 * 16,
            sectors: 16,
            payload: (),
        };
        array.submit(now_ns, request);
    }
    assert_eq!(
        array.rebuilds().count() > 0,
        fails,
        "the rebuild goes on for as long"
    );
    let took = completed
        .iter()
        .map(|one| one.completed_ns - one.submitted_ns);
    took.sum::<u64>() as f64 / completed.len() as f64 / 1e6
}

/// How long a rebuild takes on an idle array, s.
fn rebuild_s(warp: u64) -> f64 {
    let planned = planned(warp);
    let mut array: Array<()> = Array::new(&planned.settings, 1).expect("an array");
    array.inject(S, Fault::FailDisk(2));
    let mut completed = Vec::new();
    while let Some(next_ns) = array.next_event_ns() {
        array.advance_to(next_ns, &mut completed);
        let incidents = array.take_incidents();
        let ended = incidents
            .iter()
            .find(|one| matches!(one.kind, IncidentKind::RebuildEnded(_)));
        if let Some(ended) = ended {
            return (ended.at_ns - S) as f64 / 1e9;
        }
    }
    panic!("the rebuild has not ended");
}

#[test]
fn a_warped_rebuild_takes_a_share_of_the_time_and_no_more_of_the_disks() {
    let (own_s, warped_s) = (rebuild_s(1), rebuild_s(WARP));
    let times = own_s / warped_s / WARP as f64;
    let quiet_ms = mean_ms(1, false, own_s * 0.95);
    let own_ms = mean_ms(1, true, own_s * 0.95);
    let warped_ms = mean_ms(WARP, true, warped_s * 0.95);
    assert!((0.97..1.03).contains(&times), "{own_s} s and {warped_s} s");
    // The steps of a rebuild that is not accelerated are adjacent, and so the disk prefers the next one a little.
    let ratio = warped_ms / own_ms;
    assert!(own_ms > 1.5 * quiet_ms, "{quiet_ms} ms and {own_ms} ms");
    assert!(
        (0.93..1.05).contains(&ratio),
        "{own_ms} ms and {warped_ms} ms"
    );
}

#[test]
fn it_is_said_what_is_accelerated() {
    assert_eq!(planned(1).warning(), None);
    let warning = planned(60).warning().expect("a warning");
    assert!(
        warning.starts_with("Rebuilds and scrubs go on 60 times"),
        "{warning}"
    );
    let mut disk = one_disk("sas-10k-900gb").expect("a bundled disk");
    disk.push(Source::file("my.toml", "[backend]\nwarp = 60\n"));
    let warning = planned_of(&disk).warning().expect("a warning");
    assert!(
        warning.starts_with("Nothing is accelerated by warp 60"),
        "{warning}"
    );
}
