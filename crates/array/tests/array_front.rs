//! The array as a host sees it.

use array::payload::{Bytes, Payload};
use array::{
    Array, ArraySettings, HostCompletion, HostError, HostOperation, HostRequest, VolumeId,
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
    toml::from_str(SETTINGS).expect("the settings are valid")
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
    array.check_laws();
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
