//! A level that was missed, or met, for a reason that is not the storage: the verdict names the reason.
//! Limits are set so that the verdict does not depend on how fast the machine is.

mod common;

use std::fs;
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::{LoopDevice, LoopMount, Running, SMALL, Scratch, WIDE};
use serde_json::Value;

/// A level that no run meets.
const MISSED: &str = "--set service_levels.average_database_read=1us";

fn result(here: &Scratch) -> Value {
    let text = fs::read(here.path("out/result.json")).expect("a result");
    serde_json::from_slice(&text).expect("one document")
}

/// The causes that the result names.
fn causes(result: &Value) -> Vec<&str> {
    let causes = result["causes"].as_array().expect("causes");
    causes.iter().filter_map(|one| one["id"].as_str()).collect()
}

#[test]
fn ten_thousand_sessions_wait_above_the_device() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} {MISSED}").replace("--threads 2", "--threads 10000");
    here.proofload(&line).exits(5).prints("INCONCLUSIVE");
    let result = result(&here);
    // On a virtual machine the hypervisor may have taken the CPUs that so many sessions need; and where other
    // tests keep the device busy, it accounts for the latency, and the cache fills slowly.
    let of_load = [
        "cache-filling",
        "above-device",
        "cpu-steal",
        "load-generator-busy",
        "run-queue",
        "host-busy",
    ];
    let named = causes(&result);
    assert!(named.iter().any(|id| of_load.contains(id)), "{named:?}");
}

/// Each sample has a pause in it that is longer than a second.
#[test]
fn the_pause_of_a_process_is_no_failure_of_the_storage() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!(
        "{SMALL} {WIDE} --set service_levels.maximum_database_read_strict=1us \
         --set run.sample_interval=4s"
    );
    let line = line.replace("--duration 2s", "--duration 8s");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("warming up");
    let end = Instant::now() + Duration::from_secs(60);
    while running.is_alive() && Instant::now() < end {
        running.signal("STOP");
        sleep(Duration::from_millis(1_300));
        running.signal("CONT");
        sleep(Duration::from_millis(300));
    }
    running.end().exits(5).prints("INCONCLUSIVE");
    let result = result(&here);
    assert!(causes(&result).contains(&"paused"), "{result}");
    let reason = result["verdict_reason"].as_str().unwrap_or_default();
    assert!(
        reason.contains("it was paused, or the machine was suspended"),
        "{reason}"
    );
}

#[test]
fn a_cache_that_still_fills_is_no_failure_of_the_storage() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} {MISSED} --rate 20");
    here.proofload(&line).exits(5).prints("INCONCLUSIVE");
    let result = result(&here);
    assert!(causes(&result).contains(&"cache-filling"), "{result}");
}

#[test]
fn threads_that_are_too_few_for_the_rate_are_no_failure_of_the_storage() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} --set service_levels.achieved_margin_fraction=0.01")
        .replace("--threads 2", "--threads 1")
        .replace(
            "--target-size",
            "--set mail.iops_per_mailbox=1000 --target-size",
        );
    here.proofload(&line).exits(5).prints("INCONCLUSIVE");
    assert!(causes(&result(&here)).contains(&"few-threads"));
}

/// Sessions that pause a hundred times as long as they work. Where others keep the device or the CPUs busy, another
/// cause is right, and a session may be in its first pause all the time; the run is then repeated, each time later.
#[test]
fn sessions_that_hardly_work_are_no_failure_of_the_storage() {
    let here = Scratch::new();
    let line = format!(
        "{SMALL} {WIDE} --set service_levels.achieved_margin_fraction=0.01 \
         --set mail.iops_per_mailbox=1000 --set mail.session_pause_factor=100"
    );
    for wait_s in 0..10 {
        here.directory("target");
        here.proofload(&line).exits(5).prints("INCONCLUSIVE");
        let result = result(&here);
        let found = causes(&result);
        if found.contains(&"idle-sessions") {
            return;
        }
        let devices = result["host"]["devices"].as_array().expect("devices");
        let busy = |one: &Value| one["busy_fraction"].as_f64() >= Some(0.9);
        let is_disturbed =
            devices.iter().any(busy) || found.contains(&"host-busy") || found.contains(&"other-io");
        assert!(is_disturbed, "{result}");
        sleep(Duration::from_secs(wait_s));
        for name in ["target", "out"] {
            fs::remove_dir_all(here.path(name)).expect("what the run left");
        }
    }
}

#[test]
fn data_that_fits_the_cache_of_the_engine_passes_only_when_allowed() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE}").replace(
        "cache_size_per_database=8MiB",
        "cache_size_per_database=512MiB",
    );
    here.proofload(&line)
        .exits(5)
        .prints("a cache may have been measured")
        .prints("--allow-cached");
    assert!(causes(&result(&here)).contains(&"engine-cache"));
    fs::remove_dir_all(here.path("out")).expect("results to remove");
    here.proofload(&format!("{line} --allow-cached")).exits(0);
    let result = result(&here);
    assert!(causes(&result).contains(&"engine-cache"));
    let headline = result["headline"].as_str().unwrap_or_default();
    assert!(headline.contains("cache"), "{headline}");
}

/// A file system on a loop device that keeps written pages in the memory of the host.
#[test]
fn a_loop_device_through_the_page_cache_passes_only_when_allowed() {
    let here = Scratch::new();
    let target = here.directory("target");
    let device = LoopDevice::buffered(&here.path("image"), 400 << 20);
    let mount = device.and_then(|device| LoopMount::on(device, &target));
    if mount.is_none() {
        test_support::skip("no file system on a loop device can be mounted (needs root)");
        return;
    }
    here.proofload(&format!("{SMALL} {WIDE}"))
        .exits(5)
        .prints("goes through the page cache of this host")
        .prints("losetup --direct-io=on");
    assert!(causes(&result(&here)).contains(&"buffered-loop"));
    fs::remove_dir_all(here.path("out")).expect("results to remove");
    here.proofload(&format!("{SMALL} {WIDE} --allow-cached"))
        .exits(0);
    assert!(causes(&result(&here)).contains(&"buffered-loop"));
}

/// Flushes that the file system keeps from a device whose writes need them.
#[test]
fn a_file_system_that_sends_no_flushes_does_not_pass() {
    let here = Scratch::new();
    let target = here.directory("target");
    let device = LoopDevice::new(&here.path("image"), 400 << 20);
    let mount = device.and_then(|device| LoopMount::on(device, &target));
    let remounted = mount.as_ref().is_some_and(|_| {
        let mut remount = Command::new("mount");
        remount.args(["-o", "remount,nobarrier"]).arg(&target);
        remount.status().is_ok_and(|status| status.success())
    });
    if !remounted {
        test_support::skip("no file system on a loop device can be mounted without barriers");
        return;
    }
    here.proofload(&format!("{SMALL} {WIDE} --allow-cached"))
        .exits(5)
        .prints("is mounted with 'nobarrier'");
    let result = result(&here);
    assert!(causes(&result).contains(&"no-flushes"), "{result}");
    assert_eq!(
        result["target"]["databases"][0]["unflushed_by"],
        "nobarrier"
    );
}
