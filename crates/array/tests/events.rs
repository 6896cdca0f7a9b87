//! Events of a description: what is wrong with them, what is expected of them, and what they do.

use array::description::{Description, PlannedArray};
use array::{Array, Fault, FirstWrite, HostOperation, HostRequest, IncidentKind, VolumeId};
use config::Source;
use test_support::set;

/// Eight fast little disks of 64 MiB and a spare, two controllers.
const ARRAY: &str = r#"
title = "Small"

[controllers]
count = 2
ports_per_controller = 1
port = { rate_mb_per_s = 1600.0 }
link = { rate_mb_per_s = 3000.0, transfer_us = 5.0 }
service = { read_us = 5.0, write_us = 5.0 }
failover = { takeover_ms = 2000.0, path_switch_ms = 1000.0 }

[cache]
capacity_mib = 1
line_kib = 4
mirror = true
dirty_limit_percent = 50.0
cache_reads = false
destage.age_ms = 100.0
destage.high_watermark_percent = 80.0
destage.low_watermark_percent = 60.0
destage.idle_ms = 50.0
destage.in_flight = 8
read_ahead = { enabled = false }

[backend.rebuild]
rate_mb_per_s = 8.0

[disks.little]
title = "Little"
[disks.little.ideal]
capacity_bytes = 67108864
service_us = 1000.0
distribution = "exponential"

[[group]]
name = "disks"
disk = "little"
disk_count = 8
raid = "raid6"
chunk_kib = 64
spares = 1

[[volume]]
name = "all"
size_gb = 0.3
read_ahead = false
holds = "nothing"
"#;

const S: u64 = 1_000_000_000;

fn plan(events: &str) -> Result<(Description, PlannedArray), String> {
    let text = format!("{ARRAY}\n{events}");
    let description = Description::load(&[Source::file("small.toml", &text)]);
    let description = description.map_err(|error| error.to_string())?;
    let planned = description.plan(&[]).map_err(|error| error.to_string())?;
    Ok((description, planned))
}

fn event(keys: &str) -> String {
    format!("[[event]]\n{}\n", keys.replace("; ", "\n"))
}

#[test]
fn every_event_becomes_a_fault_at_its_time() {
    let (_, planned) = plan(
        &[
            event("at = \"2h\"; what = \"disk-fails\"; disk = 3"),
            event("at = \"1h30m\"; what = \"controller-fails\"; controller = 1"),
            event("at = \"1.5h\"; what = \"cache-battery-fails\"; controller = 0"),
            event("at = \"3h\"; what = \"disk-replaced\"; group = \"disks\"; disk = 3"),
            event("at = \"4h\"; what = \"controller-returns\"; controller = 1"),
            event("at = \"5h\"; what = \"cache-battery-returns\"; controller = 0"),
            event("at = \"6h\"; what = \"disk-slows\"; disk = 4; factor = 20; lasts = \"2h\""),
            event("at = \"7h\"; what = \"disk-recovers\"; disk = 6"),
            event("at = \"9h\"; what = \"disk-fails\"; disk = 5; lasts = \"1h\""),
            event("at = \"9h\"; what = \"controller-fails\"; controller = 0; lasts = \"2h\""),
            event("at = \"9h\"; what = \"cache-battery-fails\"; controller = 1; lasts = \"3h\""),
        ]
        .concat(),
    )
    .expect("a plan");
    let found: Vec<(u64, Fault)> = planned
        .events
        .iter()
        .map(|event| (event.at_ns / S, event.fault))
        .collect();
    assert_eq!(
        found,
        [
            (5400, Fault::FailController(1)),
            (5400, Fault::LoseCacheBattery(0)),
            (7200, Fault::FailDisk(3)),
            (10_800, Fault::ReplaceDisk(3)),
            (14_400, Fault::RestoreController(1)),
            (18_000, Fault::RestoreCacheBattery(0)),
            (
                21_600,
                Fault::SlowDisk {
                    disk: 4,
                    factor: 20
                }
            ),
            (25_200, Fault::SlowDisk { disk: 6, factor: 1 }),
            (28_800, Fault::SlowDisk { disk: 4, factor: 1 }),
            (32_400, Fault::FailDisk(5)),
            (32_400, Fault::FailController(0)),
            (32_400, Fault::LoseCacheBattery(1)),
            (36_000, Fault::ReplaceDisk(5)),
            (39_600, Fault::RestoreController(0)),
            (43_200, Fault::RestoreCacheBattery(1)),
        ]
    );
    assert!(planned.notes.is_empty(), "{:?}", planned.notes);
    let words: Vec<String> = planned.events_in_words().collect();
    assert_eq!(words[0], "Event at 90 min: controller 1 fails.");
    assert_eq!(words.len(), planned.events.len());
}

#[test]
fn a_slow_time_is_not_ended_by_another_one() {
    let slow = |hour: u32, disk: u32, rest: &str| {
        event(&format!(
            "at = \"{hour}h\"; what = \"disk-slows\"; disk = {disk}; factor = 4{rest}"
        ))
    };
    let first = slow(1, 2, "; lasts = \"3h\"");
    let recovers = event("at = \"2h\"; what = \"disk-recovers\"; disk = 2");
    for second in [slow(2, 2, "; lasts = \"1h\""), slow(3, 2, ""), recovers] {
        let said = plan(&format!("{first}{second}"))
            .map(|_| ())
            .expect_err(&second);
        assert!(
            said.contains("disk 2 is slow already, and as fast as before at 4 h"),
            "{said}"
        );
    }
    for second in [
        slow(2, 3, "; lasts = \"1h\""),
        slow(4, 2, "; lasts = \"1h\""),
        slow(5, 2, ""),
    ] {
        assert!(plan(&format!("{first}{second}")).is_ok(), "{second}");
    }
    // What does not end by itself can change.
    assert!(plan(&format!("{}{}", slow(1, 2, ""), slow(2, 2, ""))).is_ok());
}

#[test]
fn faults_of_events_are_shown_at_their_line() {
    let first = 1 + ARRAY.lines().count() as u64 + 1;
    for (keys, line, message) in [
        (
            "at = \"soon\"; what = \"disk-fails\"; disk = 1",
            1,
            "'soon' is not a time",
        ),
        (
            "at = \"1h\"; what = \"disk-explodes\"; disk = 1",
            2,
            "none of the words",
        ),
        (
            "at = \"1h\"; what = \"disk-fails\"; disk = 9",
            3,
            "there is no disk 9",
        ),
        (
            "at = \"1h\"; what = \"disk-fails\"; disk = 1; group = \"x\"",
            4,
            "there is no disk group 'x'",
        ),
        (
            "at = \"1h\"; what = \"disk-fails\"",
            0,
            "nothing says which disk",
        ),
        (
            "at = \"1h\"; what = \"controller-fails\"; controller = 2",
            3,
            "there is no controller 2",
        ),
        (
            "at = \"1h\"; what = \"controller-fails\"; disk = 2",
            3,
            "has no disk",
        ),
        (
            "at = \"1h\"; what = \"disk-fails\"; disk = 1; when = 3",
            4,
            "'when'",
        ),
        (
            "at = \"1h\"; what = \"disk-slows\"; disk = 1",
            0,
            "by how much",
        ),
        (
            "at = \"1h\"; what = \"disk-fails\"; disk = 1; factor = 3",
            4,
            "only a disk that slows",
        ),
        (
            "at = \"1h\"; what = \"disk-recovers\"; disk = 1; lasts = \"1m\"",
            4,
            "is a repair",
        ),
        (
            "at = \"1h\"; what = \"tier-fills\"; group = \"disks\"",
            3,
            "no pool has pages in a disk group 'disks'",
        ),
        (
            "at = \"1h\"; what = \"tier-fills\"",
            0,
            "nothing says which disk group",
        ),
        (
            "at = \"1h\"; what = \"tier-freed\"; disk = 2",
            3,
            "has no disk",
        ),
        ("what = \"disk-fails\"; disk = 1", 0, "'at' is missing"),
    ] {
        let said = plan(&event(keys)).map(|_| ()).expect_err(keys);
        assert!(said.contains(message), "{keys}: {said}");
        let place = format!("small.toml:{}: ", first + line);
        assert!(said.starts_with(&place), "{keys}: {place} {said}");
    }
    let text = event("at = \"2h\"; what = \"disk-fails\"; disk = 1");
    let (description, planned) = plan(&text).expect("a plan");
    assert!(
        description
            .check_events_until(&planned, 3 * 3600 * S)
            .is_ok()
    );
    let late = description
        .check_events_until(&planned, 7200 * S)
        .expect_err("too late");
    let said = late.to_string();
    assert!(
        said.contains("this happens after 2 h") && said.contains("--duration"),
        "{said}"
    );
}

#[test]
fn what_lasts_may_outlast_the_run() {
    let text = event("at = \"1h\"; what = \"disk-slows\"; disk = 1; factor = 9; lasts = \"5h\"");
    let (description, planned) = plan(&text).expect("a plan");
    assert_eq!(planned.events.len(), 2);
    let checked = description.check_events_until(&planned, 2 * 3600 * S);
    assert!(checked.is_ok(), "{checked:?}");
    let checked = description.check_events_until(&planned, 3600 * S);
    assert!(checked.is_err());
}

#[test]
fn what_is_more_than_the_level_bears_is_said_beforehand() {
    let fails = |hour: u32, disk: u32| {
        event(&format!(
            "at = \"{hour}h\"; what = \"disk-fails\"; disk = {disk}"
        ))
    };
    let notes = |events: &[String]| plan(&events.concat()).expect("a plan").1.notes;
    assert!(notes(&[fails(1, 0), fails(2, 1)]).is_empty());
    // The third is borne if the spare was filled in time, the fourth is not.
    let found = notes(&[fails(1, 0), fails(2, 1), fails(3, 2)]);
    assert!(
        found[0].contains("unless the spare has been filled"),
        "{found:?}"
    );
    let found = notes(&[fails(1, 0), fails(2, 1), fails(3, 2), fails(4, 3)]);
    assert!(
        found[1].contains("the data of the group are lost"),
        "{found:?}"
    );
    assert!(found[1].starts_with("After 4 h disk 3 of group 'disks' fails: that is more than"));
    let replaced = event("at = \"150m\"; what = \"disk-replaced\"; disk = 0");
    assert!(notes(&[fails(1, 0), fails(2, 1), replaced, fails(3, 2)]).len() <= 1);
    let both = [0, 1].map(|number| {
        event(&format!(
            "at = \"1h\"; what = \"controller-fails\"; controller = {number}"
        ))
    });
    assert!(notes(&both)[0].contains("no controller works"));
    assert!(notes(&[fails(1, 0), fails(2, 0)])[0].contains("failed already"));
}

#[test]
fn events_of_a_workload_join_those_of_the_array() {
    let own = event("at = \"1h\"; what = \"disk-fails\"; disk = 1");
    let array = format!("{ARRAY}\n{own}");
    let profile = "kind = \"mail\"\n[[event]]\nat = \"2h\"\nwhat = \"disk-replaced\"\ndisk = 9\n";
    let sources = [
        Source::file("small.toml", &array),
        Source::list("mine.toml", "event", profile),
    ];
    let description = Description::load(&sources).expect("a description");
    let said = description.plan(&[]).expect_err("no such disk").to_string();
    assert!(
        said.starts_with("mine.toml:5: there is no disk 9"),
        "{said}"
    );
    let disk = Source::value("--set array.", "event.1.disk", "1");
    let sources = [sources[0].clone(), sources[1].clone(), disk];
    let planned = Description::load(&sources)
        .expect("a description")
        .plan(&[]);
    assert_eq!(planned.expect("a plan").events.len(), 2);
    let inline = "event=[{at=\"1s\", what=\"disk-fails\", disk=0}]";
    let sources = [Source::file("small.toml", ARRAY), set(inline)];
    let description = Description::load(&sources).expect("a description");
    assert_eq!(description.plan(&[]).expect("a plan").events.len(), 1);
    let again = [Source::file("again.toml", &description.to_toml())];
    let planned = Description::load(&again).expect("a description").plan(&[]);
    assert_eq!(planned.expect("a plan").events.len(), 1);
}

/// Reads all over the volume every 4 ms; response times in ms by the time of arrival.
fn read_through(events: &[(u64, Fault)], seconds: u64) -> (Array<()>, Vec<(f64, f64)>) {
    let (_, planned) = plan("").expect("a plan");
    let mut array = Array::<()>::new(&planned.settings, 7).expect("an array");
    let volume = VolumeId(0);
    let capacity = array.capacity_sectors(volume).expect("a volume");
    array
        .lay_out(volume, 0, capacity, FirstWrite::Sequential)
        .expect("room");
    for &(at_ns, fault) in events {
        array.inject(at_ns, fault);
    }
    let mut state = 1_u64;
    let mut completed = Vec::new();
    let gap_ns = 4_000_000;
    for number in 0..seconds * S / gap_ns {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let now_ns = number * gap_ns;
        array.advance_to(now_ns, &mut completed);
        let request = HostRequest {
            tag: number,
            volume,
            operation: HostOperation::Read,
            first_sector: (state >> 33) % (capacity / 8) * 8,
            sectors: 8,
            payload: (),
        };
        array.submit(now_ns, request);
    }
    array.advance_to((seconds + 60) * S, &mut completed);
    let times = completed.iter().map(|end| {
        assert_eq!(end.result, Ok(()));
        let took_ms = (end.completed_ns - end.submitted_ns) as f64 / 1e6;
        (end.submitted_ns as f64 / 1e9, took_ms)
    });
    let times: Vec<(f64, f64)> = times.collect();
    (array, times)
}

fn mean_between(times: &[(f64, f64)], from_s: f64, until_s: f64) -> f64 {
    let within = times
        .iter()
        .filter(|(at_s, _)| (from_s..until_s).contains(at_s));
    let (count, sum) = within.fold((0, 0.0), |(count, sum), (_, took)| (count + 1, sum + took));
    sum / f64::from(count)
}

#[test]
fn reads_are_slower_until_the_spare_is_filled() {
    let (mut array, times) = read_through(&[(20 * S, Fault::FailDisk(2))], 60);
    let incidents = array.take_incidents();
    let kinds: Vec<&str> = incidents
        .iter()
        .map(|incident| incident.kind.word())
        .collect();
    assert_eq!(
        kinds,
        [
            "disk-fails",
            "group-degraded",
            "rebuild-begins",
            "rebuild-ends",
            "group-healthy"
        ]
    );
    assert_eq!(incidents[0].at_ns, 20 * S);
    // 64 MiB at 8 MB/s.
    let took_s = (incidents[3].at_ns - incidents[2].at_ns) as f64 / 1e9;
    assert!((8.2..10.0).contains(&took_s), "{took_s}");
    assert_eq!(incidents[3].kind, IncidentKind::RebuildEnded(8));
    let ends_s = incidents[3].at_ns as f64 / 1e9;
    let before = mean_between(&times, 0.0, 20.0);
    let during = mean_between(&times, 20.0, ends_s);
    let after = mean_between(&times, ends_s, 60.0);
    // One read in eight waits for the slowest of six disks, 2.45 ms on average, and the rebuild
    // stands in the way of the others.
    assert!((1.1..1.6).contains(&(during / before)), "{before} {during}");
    assert!((after / before - 1.0).abs() < 0.1, "{before} {after}");
    assert!(array.take_incidents().is_empty() && array.rebuilds().count() == 0);
}

#[test]
fn a_slow_disk_is_felt_by_its_share_of_the_reads_while_it_lasts() {
    let slow = |at_s: u64, factor| (at_s * S, Fault::SlowDisk { disk: 2, factor });
    let (mut array, times) = read_through(&[slow(20, 30), slow(40, 1), slow(50, 1)], 60);
    let incidents = array.take_incidents();
    let kinds: Vec<&str> = incidents
        .iter()
        .map(|incident| incident.kind.word())
        .collect();
    assert_eq!(
        kinds,
        ["disk-slows", "disk-recovers"],
        "50: it is as fast already"
    );
    let times: Vec<(f64, f64)> = times
        .iter()
        .copied()
        .filter(|(at_s, _)| *at_s < 60.0)
        .collect();
    let before = mean_between(&times, 0.0, 20.0);
    let during = mean_between(&times, 20.0, 39.0);
    let after = mean_between(&times, 42.0, 60.0);
    // One read in eight goes to the slow disk: a read every 32 ms that takes 30 ms, in a queue.
    assert!(during > 5.0 * before, "{before} {during}");
    assert!((after / before - 1.0).abs() < 0.1, "{before} {after}");
    let counters = array.counters();
    let busy = |disk: usize| counters.disks[disk].disk.busy_ns as f64 / 1e9;
    assert!(busy(2) > 15.0, "{}", busy(2));
    assert!(busy(3) < 4.0, "{}", busy(3));
    array.check_invariants();
}

#[test]
fn a_failed_controller_is_felt_until_its_partner_has_taken_over() {
    let (mut array, times) = read_through(&[(10 * S, Fault::FailController(0))], 30);
    let incidents = array.take_incidents();
    let kinds: Vec<&str> = incidents
        .iter()
        .map(|incident| incident.kind.word())
        .collect();
    assert_eq!(kinds, ["controller-fails", "controller-takes-over"]);
    assert_eq!(incidents[1].at_ns, 12 * S);
    let before = mean_between(&times, 0.0, 9.0);
    let longest = times.iter().map(|(_, took)| *took).fold(0.0, f64::max);
    assert!((1990.0..2500.0).contains(&longest), "{longest}");
    let bump = mean_between(&times, 10.0, 12.0);
    assert!(
        (800.0..1300.0).contains(&bump),
        "waits of 2 s down to none: {bump}"
    );
    let after = mean_between(&times, 13.0, 30.0);
    assert!((after / before - 1.0).abs() < 0.15, "{before} {after}");
}
