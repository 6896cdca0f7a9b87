//! Each rule on a place that it is about, and on one that it is not about.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use measure::host::{BlockDevice, BlockDeviceKind, DeviceTraffic, Mount, Surroundings};
use measure::result::TargetPath;
use storage::{Examination, Obstacle, ObstacleKind};
use workload::Refusal;

use super::findings::{of_host, of_place};
use super::{Finding, HostReport, PlaceReport, ReadLatency, Severity};

fn device() -> BlockDevice {
    BlockDevice {
        name: "sda".to_owned(),
        kind: BlockDeviceKind::Disk,
        label: String::new(),
        vendor: String::new(),
        model: String::new(),
        serial: String::new(),
        firmware: String::new(),
        size_bytes: 1 << 40,
        rotational: Some(false),
        scheduler: "none".to_owned(),
        write_cache: "write through".to_owned(),
        logical_sector_bytes: Some(512),
        physical_sector_bytes: Some(4096),
        misaligned_bytes: 0,
        queue_requests: Some(64),
        read_only: false,
        missing_members: 0,
        array_action: String::new(),
        is_buffered: false,
        backing_file: String::new(),
        members: Vec::new(),
    }
}

/// A place where nothing is amiss.
fn place() -> PlaceReport {
    PlaceReport {
        given: "/mnt".to_owned(),
        target: Some(TargetPath {
            free_bytes: 50,
            capacity_bytes: 100,
            ..TargetPath::default()
        }),
        mount: Some(Mount {
            mount_point: "/mnt".to_owned(),
            file_system: "xfs".to_owned(),
            source: "/dev/sda".to_owned(),
            options: vec!["rw".to_owned(), "relatime".to_owned()],
        }),
        devices: vec![device()],
        direct_io: Some(true),
        idle_reads: vec![reads(0.2, 0.4)],
        foreign_traffic: vec![traffic(1.0, 4096.0)],
        findings: Vec::new(),
    }
}

fn reads(p50_ms: f64, p99_ms: f64) -> ReadLatency {
    ReadLatency {
        block_bytes: 32 << 10,
        reads: 300,
        p50_ms,
        p99_ms,
        max_ms: p99_ms,
    }
}

fn traffic(iops: f64, bytes_per_second: f64) -> DeviceTraffic {
    DeviceTraffic {
        device: "sda".to_owned(),
        iops,
        bytes_per_second,
    }
}

fn examination(kinds: &[ObstacleKind]) -> Examination {
    let obstacles = kinds.iter().map(|kind| Obstacle {
        kind: *kind,
        refusal: Refusal::environment("It is so.", "Change it."),
    });
    Examination {
        target: None,
        obstacles: obstacles.collect(),
    }
}

fn ids(findings: &[Finding]) -> Vec<String> {
    findings.iter().map(|finding| finding.id.text()).collect()
}

/// The findings after a change.
fn after(change: impl FnOnce(&mut PlaceReport)) -> Vec<Finding> {
    let mut place = place();
    change(&mut place);
    of_place(&place, &examination(&[]))
}

#[test]
fn a_good_place_has_no_findings() {
    assert_eq!(after(|_| {}), []);
}

#[test]
fn each_rule_of_a_device_fires_alone() {
    let only = |change: &dyn Fn(&mut BlockDevice)| {
        let findings = after(|place| change(&mut place.devices[0]));
        ids(&findings).join(" ")
    };
    assert_eq!(
        only(&|one| one.logical_sector_bytes = Some(8192)),
        "large-sectors"
    );
    assert_eq!(only(&|one| one.is_buffered = true), "buffered-loop");
    assert_eq!(only(&|one| one.missing_members = 1), "degraded-array");
    assert_eq!(
        only(&|one| one.array_action = "resync".to_owned()),
        "busy-array"
    );
    assert_eq!(only(&|one| one.misaligned_bytes = 512), "misaligned");
    assert_eq!(only(&|one| one.scheduler = "bfq".to_owned()), "scheduler");
    assert_eq!(
        only(&|one| one.write_cache = "write back".to_owned()),
        "volatile-write-cache"
    );
    assert_eq!(
        only(&|one| one.kind = BlockDeviceKind::Encrypted),
        "encrypted"
    );
    let paths = |count: usize| {
        only(&|one| {
            one.kind = BlockDeviceKind::Multipath;
            one.members = vec!["sdb".to_owned(); count];
        })
    };
    assert_eq!((paths(1).as_str(), paths(2).as_str()), ("single-path", ""));
}

#[test]
fn each_rule_of_a_file_system_fires_alone() {
    let option = |text: &str| {
        let text = text.to_owned();
        ids(&after(|place| {
            place.mount.as_mut().unwrap().options.push(text);
        }))
    };
    assert_eq!(option("sync"), ["mount-option"]);
    assert_eq!(option("nobarrier"), ["mount-option"]);
    assert!(option("noatime").is_empty());
    let kind = |text: &str| {
        let text = text.to_owned();
        ids(&after(|place| {
            place.mount.as_mut().unwrap().file_system = text;
        }))
    };
    assert_eq!(kind("nfs4"), ["indirect-file-system"]);
    assert_eq!(kind("fuse.sshfs"), ["indirect-file-system"]);
    assert!(kind("ext4").is_empty());
    let full = after(|place| place.target.as_mut().unwrap().free_bytes = 9);
    assert_eq!(ids(&full), ["nearly-full"]);
}

#[test]
fn latencies_and_traffic_are_judged() {
    let read = |p50_ms, p99_ms| {
        ids(&after(|place| {
            place.idle_reads = vec![reads(p50_ms, p99_ms)];
        }))
    };
    assert_eq!(read(25.0, 600.0), ["slow-idle-reads"]);
    assert_eq!(read(0.2, 6.0), ["uneven-idle-reads"]);
    assert!(read(0.1, 3.0).is_empty() && read(8.0, 40.0).is_empty());
    let rotating = |p50_ms| {
        ids(&after(|place| {
            place.devices[0].rotational = Some(true);
            place.idle_reads = vec![reads(p50_ms, p50_ms)];
        }))
    };
    assert_eq!(rotating(0.1), ["cached-reads"]);
    assert!(rotating(6.0).is_empty());
    let busy = |iops, rate| {
        ids(&after(|place| {
            place.foreign_traffic = vec![traffic(iops, rate)];
        }))
    };
    assert_eq!(busy(500.0, 1.0), ["foreign-io"]);
    assert_eq!(busy(2.0, 2e6), ["foreign-io"]);
    let mut in_use = place();
    in_use.foreign_traffic = vec![traffic(500.0, 1e9)];
    let found = of_place(&in_use, &examination(&[ObstacleKind::InUse]));
    assert_eq!(ids(&found), ["in-use"]);
}

#[test]
fn what_makes_a_run_impossible_comes_first() {
    let mut place = place();
    place.devices[0].write_cache = "write back".to_owned();
    place.foreign_traffic = vec![traffic(500.0, 1e9)];
    let found = of_place(
        &place,
        &examination(&[ObstacleKind::NotEmpty, ObstacleKind::NoDirectIo]),
    );
    assert_eq!(
        ids(&found),
        [
            "no-direct-io",
            "foreign-io",
            "not-empty",
            "volatile-write-cache"
        ]
    );
    assert_eq!(found[0].severity, Severity::NotSuitable);
    assert_eq!(
        (found[0].message.as_str(), found[0].remedy.as_str()),
        ("It is so.", "Change it.")
    );
    assert_eq!(found[2].severity, Severity::Note);
}

#[test]
fn the_host_is_judged() {
    let host = HostReport {
        name: String::new(),
        operating_system: String::new(),
        kernel: String::new(),
        cpu_model: String::new(),
        cpus: 2,
        surroundings: Surroundings {
            memory_bytes: 8 << 30,
            available_memory_bytes: 4 << 30,
            cpu_governors: vec!["performance".to_owned()],
        },
        io_driver: Some("io-uring"),
        io_driver_reason: None,
        findings: Vec::new(),
    };
    let found = |change: &dyn Fn(&mut HostReport)| {
        let mut host = host.clone();
        change(&mut host);
        of_host(&host)
    };
    assert_eq!(found(&|_| {}), []);
    let threads = found(&|host| {
        host.io_driver = Some("threads");
        host.io_driver_reason = Some("it is refused".to_owned());
    });
    assert_eq!(ids(&threads), ["io-driver-threads"]);
    assert!(threads[0].remedy.contains("it is refused"));
    let none = found(&|host| {
        host.io_driver = None;
        host.io_driver_reason = Some("no threads".to_owned());
    });
    assert_eq!(none[0].severity, Severity::NotSuitable);
    let slow = found(&|host| host.surroundings.cpu_governors = vec!["powersave".to_owned()]);
    assert_eq!(ids(&slow), ["cpu-governor"]);
    let little = found(&|host| host.surroundings.available_memory_bytes = 100 << 20);
    assert_eq!(ids(&little), ["little-memory"]);
}
