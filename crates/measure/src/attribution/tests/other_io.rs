//! Other programs at the devices of a run.

use super::*;
use crate::result::OtherIo;

/// What the reads of [`slow`] move.
const OWN: f64 = 100.0 * 32_768.0;

fn device(name: &str, target: &str, underlying: &[&str], bytes: f64) -> DeviceResult {
    DeviceResult {
        name: name.to_owned(),
        targets: vec![target.to_owned()],
        underlying_devices: underlying.iter().map(|&name| name.to_owned()).collect(),
        read_bytes_per_second: bytes,
        average_read_ms: Some(25.0),
        ..DeviceResult::default()
    }
}

/// A device that accounts for the latency does not speak against other programs there.
#[test]
fn a_busy_device_that_others_use_is_in_doubt() {
    let mut result = slow();
    result.host.devices = vec![device("sda", "/t", &[], OWN)];
    assert_eq!(causes(result.clone()), (Verdict::Fail, vec![]));
    result.host.devices[0].read_bytes_per_second = 20.0 * OWN;
    attribute(&mut result);
    assert_eq!(result.verdict, Verdict::Inconclusive);
    assert_eq!(
        result.causes[0].text,
        "device sda moved 62.5 MiB/s, the run only 3.12 MiB/s of it: other programs used the device for 95.0 % \
         of its bytes."
    );
}

#[test]
fn many_small_reads_of_others_count_and_parts_of_own_reads_do_not() {
    let reads = |per_second: f64| {
        let mut result = slow();
        result.host.devices[0].reads_per_second = per_second;
        causes(result).1
    };
    // A hundred reads of 32 KiB may have become 150 at most, and a fifth of all must be others'.
    assert_eq!(reads(150.0), []);
    assert_eq!(reads(249.0), []);
    assert_eq!(reads(250.0), [CauseId::OtherIo]);
}

#[test]
fn a_device_below_another_carries_its_io_too() {
    let mut result = slow();
    // A file system on a loop device, whose file is on the disk that holds the log.
    result.databases[0].path = "/t/loop/db1.edb".to_owned();
    result.host.devices = vec![
        device("loop0", "/t/loop", &["sda2", "sda"], OWN),
        device("sda2", "/t", &["sda"], OWN),
    ];
    assert_eq!(other_io_at_devices(&result), None);
    result.host.devices[1].read_bytes_per_second = 2.0 * OWN;
    assert!(other_io_at_devices(&result).is_some());
    // Its page cache may have read ahead.
    result.host.devices[0].buffered_loops = vec!["loop0".to_owned()];
    assert_eq!(other_io_at_devices(&result), None);
}

/// A cluster on another partition of the disk.
#[test]
fn the_disk_below_is_compared_with_what_lies_on_it() {
    let mut result = slow();
    result.host.devices = vec![
        device("sda2", "/t", &["sda"], OWN),
        DeviceResult {
            targets: Vec::new(),
            ..device("sda", "", &[], OWN)
        },
    ];
    assert_eq!(causes(result.clone()), (Verdict::Fail, vec![]));
    result.host.devices[1].read_bytes_per_second = 3.0 * OWN;
    let seen = other_io_at_devices(&result).unwrap();
    assert!(seen.starts_with("device sda moved "), "{seen}");
    let expected = (Verdict::Inconclusive, vec![CauseId::OtherIo]);
    assert_eq!(causes(result.clone()), expected);
    // A server's run knows others on its volume, not those beside it.
    server(&mut result, &[(WaitClass::Storage, 80.0)]);
    assert!(other_io_at_devices(&result).is_some());
    assert_eq!(causes(result), expected);
}

#[test]
fn a_slow_sample_is_explained_by_what_the_device_did_in_it() {
    let mut result = slow();
    let mut sample = SlowSample {
        requests: 100,
        average_ms: 150.0,
        ..SlowSample::default()
    };
    let mut column = |metric: Metric, value: f64| {
        let of_device = sample.devices.entry("sda".to_owned()).or_default();
        of_device.insert(metric.id().into_owned(), value);
    };
    column(Metric::DeviceReads, 100.0);
    column(Metric::DeviceReadBytes, OWN);
    column(Metric::DeviceWriteBytes, 0.0);
    column(Metric::DeviceReadAverage, 140.0);
    result.checks = vec![Check {
        slow_samples: vec![sample],
        samples_above: 1,
        ..check(CheckId::DatabaseReadMax, 100.0, 150.0)
    }];
    let mut disturbed = result.clone();
    assert_eq!(causes(result), (Verdict::Fail, vec![]));
    let devices = &mut disturbed.checks[0].slow_samples[0].devices;
    let of_device = devices.get_mut("sda").unwrap();
    of_device.insert(Metric::DeviceWriteBytes.id().into_owned(), OWN);
    assert_eq!(
        causes(disturbed),
        (Verdict::Inconclusive, vec![CauseId::OtherIo])
    );
}

#[test]
fn a_server_counts_the_requests_of_others_itself() {
    let share = |share_percent: f64| {
        let mut result = slow();
        let settings = &mut result.workload.settings;
        let path = "brokerage.service_levels.other_io_percent".to_owned();
        settings.insert(path, 10.0.into());
        server(&mut result, &[(WaitClass::Storage, 80.0)]);
        let server = result.server.as_mut().unwrap();
        server.other_io = Some(OtherIo {
            share_percent,
            ..OtherIo::default()
        });
        causes(result)
    };
    assert_eq!(share(10.0), (Verdict::Fail, vec![]));
    assert_eq!(share(41.7), (Verdict::Inconclusive, vec![CauseId::OtherIo]));
}

#[test]
fn the_share_of_others_that_is_too_much_is_a_setting() {
    let at = |percent: f64| {
        let mut result = slow();
        let settings = &mut result.workload.settings;
        settings.insert("mail.other_io_percent".to_owned(), percent.into());
        result.host.devices[0].read_bytes_per_second = 2.0 * OWN;
        causes(result)
    };
    assert_eq!(at(50.0), (Verdict::Inconclusive, vec![CauseId::OtherIo]));
    assert_eq!(at(51.0), (Verdict::Fail, vec![]));
}
