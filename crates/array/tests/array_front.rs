//! The array as a host sees it.

use array::payload::{Bytes, Payload};
use array::{
    Array, ArraySettings, Fault, HostCompletion, HostError, HostOperation, HostRequest, VolumeId,
};

const SETTINGS: &str = r#"
title = "Two controllers"

[controllers]
count = 2
ports_per_controller = 2
port = { rate_mb_per_s = 1600, command_us = 1 }
service = { read_us = 5, write_us = 10 }
link = { rate_mb_per_s = 4000, transfer_us = 5 }

[cache]
capacity_mib = 64
line_kib = 64
mirror = true
dirty_limit_percent = 50

[cache.destage]
age_ms = 1000
high_watermark_percent = 80
low_watermark_percent = 60
idle_ms = 100
in_flight = 16

[disks.plain]
title = "Plain"
[disks.plain.ideal]
capacity_bytes = 4_294_967_296
service_us = 1000
distribution = "fixed"
servers = 1

[[backend.disk_group]]
name = "pair"
disk = "plain"
disks = 2
level = "raid0"
chunk_kib = 64

[[volumes]]
name = "first"
capacity_mib = 1024
group = "pair"

[[volumes]]
name = "second"
capacity_mib = 1024
group = "pair"
owner = 1
"#;

fn settings() -> ArraySettings {
    config::from_toml(SETTINGS).expect("the settings are valid")
}

fn request<P: Payload>(
    tag: u64,
    operation: HostOperation,
    first_sector: u64,
    payload: P,
) -> HostRequest<P> {
    HostRequest {
        tag,
        volume: VolumeId(1),
        operation,
        first_sector,
        sectors: 2,
        payload,
    }
}

fn end_of_all<P: Payload>(array: &mut Array<P>) -> Vec<HostCompletion<P>> {
    let mut completed = Vec::new();
    while let Some(next_ns) = array.next_event_ns() {
        array.advance_to(next_ns, &mut completed);
    }
    array.check_invariants();
    completed
}

#[test]
fn what_was_written_is_read() {
    let mut array = Array::<Bytes>::new(&settings(), 1).expect("the array can be built");
    let written = Bytes::new((0..1024u32).map(|byte| byte as u8).collect());
    array.submit(0, request(7, HostOperation::Write, 127, written.clone()));
    let completed = end_of_all(&mut array);
    assert_eq!(completed.len(), 1);
    assert_eq!((completed[0].tag, completed[0].result), (7, Ok(())));
    array.submit(
        array.counters().now_ns,
        request(8, HostOperation::Read, 127, Bytes::default()),
    );
    assert_eq!(end_of_all(&mut array)[0].payload, written);
}

#[test]
fn what_lies_outside_is_refused() {
    let mut array = Array::<()>::new(&settings(), 1).expect("the array can be built");
    let capacity_sectors = array
        .capacity_sectors(VolumeId(1))
        .expect("there is a volume");
    array.submit(0, request(1, HostOperation::Read, capacity_sectors - 1, ()));
    let mut unknown = request(2, HostOperation::Read, 0, ());
    unknown.volume = VolumeId(2);
    array.submit(0, unknown);
    let results: Vec<_> = end_of_all(&mut array)
        .iter()
        .map(|end| (end.tag, end.result))
        .collect();
    let expected = [
        (2, Err(HostError::NoSuchVolume)),
        (1, Err(HostError::OutOfRange)),
    ];
    for end in expected {
        assert!(results.contains(&end), "{end:?} is missing in {results:?}");
    }
}

/// When a lone write of two sectors ends, ns after its submission.
fn write_latency_ns(array: &mut Array<()>, volume: u16) -> u64 {
    let mut asked = request(1, HostOperation::Write, 0, ());
    asked.volume = VolumeId(volume);
    let now_ns = array.counters().now_ns;
    array.submit(now_ns, asked);
    let ends = end_of_all(array);
    assert_eq!(ends[0].result, Ok(()));
    ends[0].completed_ns - ends[0].submitted_ns
}

#[test]
fn a_write_is_acknowledged_from_the_mirrored_cache_and_through_without_a_battery() {
    let mut array = Array::<()>::new(&settings(), 1).expect("the array can be built");
    // Port 1 us + 1024 B at 1600 MB/s, CPU 10 us, link 5 us + 1024 B at 4000 MB/s.
    assert_eq!(
        write_latency_ns(&mut array, 1),
        1_000 + 640 + 10_000 + 5_000 + 256
    );
    let now_ns = array.counters().now_ns;
    array.inject(now_ns, Fault::LoseCacheBattery(1));
    end_of_all(&mut array);
    assert_eq!(
        write_latency_ns(&mut array, 1),
        1_000 + 640 + 10_000 + 1_000_000
    );
    assert_eq!(
        write_latency_ns(&mut array, 0),
        1_000 + 640 + 10_000 + 5_000 + 256
    );
    let now_ns = array.counters().now_ns;
    array.inject(now_ns, Fault::RestoreCacheBattery(1));
    end_of_all(&mut array);
    assert_eq!(
        write_latency_ns(&mut array, 1),
        1_000 + 640 + 10_000 + 5_000 + 256
    );
}

#[test]
fn a_read_hits_once_it_has_missed() {
    let mut array = Array::<()>::new(&settings(), 1).expect("the array can be built");
    for read in 0..3 {
        let now_ns = array.counters().now_ns;
        array.submit(now_ns, request(read, HostOperation::Read, 0, ()));
        end_of_all(&mut array);
    }
    let volume = array.counters().volumes[1];
    assert_eq!((volume.read_misses, volume.read_hits), (1, 2));
    // Port 1 us, CPU 5 us, 1024 B back at 1600 MB/s; a miss waits for a disk besides.
    assert_eq!(volume.read_hit_latency_sum_ns, 2 * (1_000 + 5_000 + 640));
    assert_eq!(
        volume.read_miss_latency_sum_ns,
        1_000 + 5_000 + 640 + 1_000_000
    );
}

#[test]
fn a_failed_controllers_volumes_are_served_by_its_partner_after_the_takeover() {
    let mut array = Array::<()>::new(&settings(), 1).expect("the array can be built");
    array.inject(0, Fault::FailController(1));
    let mut completed = Vec::new();
    array.advance_to(1, &mut completed);
    array.submit(1, request(1, HostOperation::Read, 0, ()));
    let ends = end_of_all(&mut array);
    assert_eq!(ends[0].result, Ok(()));
    // The takeover takes 2 s by default.
    assert_eq!(
        ends[0].completed_ns,
        2_000_000_000 + 5_000 + 1_000_000 + 640
    );
}

/// An array whose controllers hold dirty lines for ever and whose link takes 1 s for 50 of them.
fn slow_link() -> Array<()> {
    let mut slow = settings();
    slow.controllers.failover.write_back_alone = true;
    slow.controllers
        .link
        .as_mut()
        .expect("a link")
        .rate_mb_per_s = 3.2768;
    slow.cache.destage.age_ms = 1e8;
    slow.cache.destage.idle_ms = 0.0;
    Array::new(&slow, 1).expect("the array can be built")
}

/// Fifty lines are written while the partner is away. It is back at 1 s; the owner fails at 1.2 s
/// and is back at 1.4 s, so that the copies are complete at 2.4 s, not at 2 s. Gives the sectors
/// that are lost when the owner fails for good at `fails_ns`, and then its battery.
fn lost_at(fails_ns: u64) -> u64 {
    let mut array = slow_link();
    let second = 1_000_000_000;
    array.inject(0, Fault::FailController(0));
    let mut completed = Vec::new();
    array.advance_to(1000, &mut completed);
    for line in 0..50 {
        array.submit(1000, request(line, HostOperation::Write, line * 128, ()));
    }
    array.advance_to(second, &mut completed);
    assert_eq!(completed.len(), 50);
    array.inject(second, Fault::RestoreController(0));
    array.inject(second + second / 5, Fault::FailController(1));
    array.inject(second + second / 5 * 2, Fault::RestoreController(1));
    array.inject(fails_ns, Fault::FailController(1));
    array.inject(fails_ns, Fault::LoseCacheBattery(1));
    array.advance_to(fails_ns + second, &mut completed);
    array.check_invariants();
    array.counters().lost_sectors
}

#[test]
fn copies_that_a_failure_cut_off_keep_nothing() {
    assert_eq!(
        lost_at(2_200_000_000),
        50 * 2,
        "the copies are on their way"
    );
    assert_eq!(lost_at(2_600_000_000), 0, "the copies have arrived");
}

#[test]
fn what_goes_through_the_cache_is_kept_for_reads() {
    let mut through = settings();
    through.volumes[1].policy.write_policy = array::settings::WritePolicy::WriteThrough;
    let mut array = Array::<Bytes>::new(&through, 1).expect("the array can be built");
    let bytes = |byte: u8| Bytes::new(vec![byte; 1024]);
    array.submit(0, request(1, HostOperation::Write, 7, bytes(1)));
    end_of_all(&mut array);
    let read = |array: &mut Array<Bytes>, first_sector| {
        let now_ns = array.counters().now_ns;
        let asked = request(2, HostOperation::Read, first_sector, Bytes::default());
        array.submit(now_ns, asked);
        end_of_all(array)[0].payload.clone()
    };
    assert_eq!(read(&mut array, 7), bytes(1));
    assert_eq!(array.counters().volumes[1].read_hits, 1);
    // Of two that overlap only the disks know which is the last.
    let now_ns = array.counters().now_ns;
    for (tag, byte) in [(3, 2), (4, 3)] {
        array.submit(
            now_ns,
            request(tag, HostOperation::Write, 20 + tag, bytes(byte)),
        );
    }
    end_of_all(&mut array);
    let (first, second) = (read(&mut array, 23), read(&mut array, 24));
    assert_eq!(array.counters().volumes[1].read_misses, 2);
    assert_eq!(first.part(1, 1), second.part(0, 1));
    assert_eq!(second.part(1, 1), bytes(3).part(0, 1));
}

#[test]
fn an_array_that_cannot_exist_is_refused_with_the_path_of_the_key() {
    let mut broken = settings();
    broken.controllers.count = 1;
    broken.cache.limit_mib = Some(32);
    broken.volumes[0].group = Some("nowhere".to_string());
    let paths: Vec<String> = broken.check().into_iter().map(|each| each.path).collect();
    for path in [
        "cache.mirror",
        "cache.capacity_mib",
        "volumes.0.group",
        "volumes.1.owner",
    ] {
        assert!(
            paths.iter().any(|found| found == path),
            "{path} is missing in {paths:?}"
        );
    }
    let mut large = settings();
    large.volumes[1].capacity_mib = 1024 * 1024;
    let error = Array::<()>::new(&large, 1)
        .expect_err("the volume does not fit")
        .to_string();
    assert!(error.contains("volumes.1.capacity_mib"), "{error}");
}
