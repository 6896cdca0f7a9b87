//! The short path of a RAID card: who takes it, and what it saves.

#![allow(clippy::unwrap_used)] // In a test a failed unwrap is a failed test.

use array::{Array, ArraySettings, Fault, HostOperation, HostRequest, VolumeId};

const READ_US: u64 = 60;
const WRITE_US: u64 = 90;
const MISS_US: u64 = 7;
const FAST_US: u64 = 15;
const PARITY_US: u64 = 40;
const DISK_US: u64 = 100;
const STRIP_SECTORS: u64 = 128;

/// What the card is asked to do with a volume.
const FAST: &str = "write_policy = 'write-through'\ndirect_io = true\nread_ahead = false";
const READS_AHEAD: &str = "write_policy = 'write-through'\ndirect_io = true\nread_ahead = true";
const CACHED: &str = "write_policy = 'write-through'\nread_ahead = false";
const WRITE_BACK: &str = "read_ahead = false";

fn array(level: &str, disks: u32, volume: &str) -> Array<()> {
    let text = format!(
        r#"
title = "A card"
[controllers]
count = 1
ports_per_controller = 1
port = {{ rate_mb_per_s = 1000000 }}
service = {{ read_us = {READ_US}, write_us = {WRITE_US}, read_miss_us = {MISS_US}, fast_path_us = {FAST_US}, parity_write_us = {PARITY_US} }}
[cache]
capacity_mib = 16
line_kib = 64
mirror = false
dirty_limit_percent = 50
[cache.destage]
age_ms = 1000
high_watermark_percent = 80
low_watermark_percent = 60
idle_ms = 0
in_flight = 16
[disks.plain]
title = "Plain"
ideal = {{ capacity_bytes = 67108864, service_us = {DISK_US}, distribution = "fixed", servers = 8 }}
[[backend.disk_group]]
name = "g"
disk = "plain"
disks = {disks}
level = "{level}"
chunk_kib = 64
[[volumes]]
name = "v"
capacity_mib = 64
group = "g"
{volume}
"#
    );
    let settings: ArraySettings = config::from_toml(&text).unwrap();
    Array::new(&settings, 1).unwrap()
}

/// Latency of a lone request in whole microseconds; what the port takes is far less than one.
fn latency_us(array: &mut Array<()>, operation: HostOperation, first: u64, sectors: u32) -> u64 {
    let now_ns = array.counters().now_ns + 1_000_000;
    let mut completed = Vec::new();
    array.advance_to(now_ns, &mut completed);
    array.submit(
        now_ns,
        HostRequest {
            tag: 1,
            volume: VolumeId(0),
            operation,
            first_sector: first,
            sectors,
            payload: (),
        },
    );
    while completed.is_empty() {
        let next_ns = array.next_event_ns().unwrap();
        array.advance_to(next_ns, &mut completed);
    }
    assert_eq!(completed[0].result, Ok(()));
    (completed[0].completed_ns - completed[0].submitted_ns) / 1000
}

fn read_us(array: &mut Array<()>, first: u64) -> u64 {
    latency_us(array, HostOperation::Read, first, 16)
}

fn write_us(array: &mut Array<()>, first: u64) -> u64 {
    latency_us(array, HostOperation::Write, first, 16)
}

#[test]
fn raid0_takes_the_short_path_both_ways() {
    let mut array = array("raid0", 4, FAST);
    assert_eq!(read_us(&mut array, 0), FAST_US + DISK_US);
    assert_eq!(write_us(&mut array, 0), FAST_US + DISK_US);
}

#[test]
fn what_crosses_a_strip_takes_the_long_path() {
    let mut array = array("raid0", 4, FAST);
    let last = STRIP_SECTORS - 16;
    assert_eq!(read_us(&mut array, last), FAST_US + DISK_US);
    assert_eq!(
        read_us(&mut array, last + 1),
        READ_US + MISS_US + DISK_US,
        "one sector over"
    );
    assert_eq!(write_us(&mut array, last + 1), WRITE_US + DISK_US);
}

#[test]
fn writes_of_protected_levels_never_take_it() {
    let mut raid5 = array("raid5", 4, FAST);
    assert_eq!(read_us(&mut raid5, 0), FAST_US + DISK_US);
    // The old contents are read, then data and parity are written.
    assert_eq!(write_us(&mut raid5, 0), WRITE_US + PARITY_US + 2 * DISK_US);
    let mut raid10 = array("raid10", 4, FAST);
    assert_eq!(read_us(&mut raid10, 0), FAST_US + DISK_US);
    assert_eq!(write_us(&mut raid10, 0), WRITE_US + DISK_US);
}

#[test]
fn read_ahead_caching_and_write_back_switch_it_off() {
    let mut ahead = array("raid0", 4, READS_AHEAD);
    assert_eq!(read_us(&mut ahead, 0), READ_US + MISS_US + DISK_US);
    assert_eq!(write_us(&mut ahead, 0), WRITE_US + DISK_US);
    let mut cached = array("raid0", 4, CACHED);
    assert_eq!(read_us(&mut cached, 0), READ_US + MISS_US + DISK_US);
    assert_eq!(write_us(&mut cached, 0), WRITE_US + DISK_US);
    let mut back = array("raid0", 4, WRITE_BACK);
    assert_eq!(read_us(&mut back, 0), READ_US + MISS_US + DISK_US);
    assert_eq!(write_us(&mut back, 0), WRITE_US, "the cache answers");
}

#[test]
fn a_group_without_a_disk_leaves_it() {
    let mut array = array("raid5", 4, FAST);
    array.inject(0, Fault::FailDisk(3));
    // Stripe 0 has its parity on the last disk: nothing of it is missing, but the way is long.
    assert_eq!(read_us(&mut array, 0), READ_US + MISS_US + DISK_US);
}
