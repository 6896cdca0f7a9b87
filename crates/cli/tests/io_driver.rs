//! Runs with each I/O driver: threads where io_uring is refused, as containers and some kernels do, and
//! each by itself where it is asked for.

mod common;

use std::fs;

use common::seccomp::{IO_URING_SETUP, without};
use common::{Ended, SMALL, Scratch, WIDE};
use runtime::{IoDriver, Runtime, WallClockOptions};
use rustix::io::Errno;
use serde_json::Value;

const FORCE_IO_URING: &str = "--set run.io_driver=io-uring";
const FORCE_THREADS: &str = "--set run.io_driver=threads";

fn scratch() -> Scratch {
    let here = Scratch::new();
    here.directory("target");
    here
}

/// What a container's filter of system calls does.
fn in_container<T: Send>(what: impl FnOnce() -> T + Send) -> T {
    without(
        IO_URING_SETUP,
        Errno::PERM.raw_os_error().unsigned_abs(),
        what,
    )
}

fn host_of(here: &Scratch) -> Value {
    let text = fs::read_to_string(here.path("out/result.json")).expect("a result");
    let result: Value = serde_json::from_str(&text).expect("one document");
    result["host"].clone()
}

fn has_io_uring() -> bool {
    let options = WallClockOptions::with_driver(Some(IoDriver::IoUring));
    let has_it = Runtime::wall_clock(&options).is_ok();
    if !has_it {
        test_support::skip("io_uring is not available");
    }
    has_it
}

fn run(here: &Scratch, more: &str) -> Ended {
    here.proofload(&format!("{SMALL} {WIDE} {more}"))
}

#[test]
fn a_run_where_io_uring_is_refused_takes_threads_and_says_so() {
    let here = scratch();
    in_container(|| {
        run(&here, "--keep")
            .exits(0)
            .prints("PASS")
            .prints("I/O driver threads")
            .prints("this process may not use io_uring");
        let host = host_of(&here);
        assert_eq!(host["io_driver"], "threads");
        let reason = host["io_driver_reason"].as_str().expect("a reason");
        assert!(reason.contains("io_uring_disabled"), "{reason}");
        let page = fs::read_to_string(here.path("out/report.html")).expect("a page");
        assert!(page.contains("threads (this process may not"));
        here.proofload("edb check target/mail-001/mail-001.edb")
            .exits(0)
            .prints("sound");
    });
    // What threads have written the other driver reads, and the other way round.
    fs::rename(here.path("out"), here.path("first")).expect("the results aside");
    run(&here, "--reuse").exits(0);
    fs::rename(here.path("out"), here.path("second")).expect("the results aside");
    in_container(|| run(&here, "--reuse").exits(0));
}

#[test]
fn the_driver_is_named_before_the_run() {
    let here = scratch();
    let plan = |more: &str| run(&here, &format!("--dry-run {more}"));
    plan(FORCE_THREADS).exits(0).prints("I/O driver: threads\n");
    if has_io_uring() {
        plan("").exits(0).prints("I/O driver: io_uring\n");
    }
    let no_such_call = Errno::NOSYS.raw_os_error().unsigned_abs();
    without(IO_URING_SETUP, no_such_call, || {
        plan("")
            .exits(0)
            .prints("I/O driver: threads (this kernel has no usable io_uring, or the filter of system calls");
    });
}

#[test]
fn a_driver_that_is_asked_for_is_the_only_one() {
    let here = scratch();
    run(&here, FORCE_THREADS).exits(0);
    let host = host_of(&here);
    assert_eq!(host["io_driver"], "threads");
    assert_eq!(host["io_driver_reason"], Value::Null);
    in_container(|| {
        let other = scratch();
        run(&other, FORCE_IO_URING)
            .exits(3)
            .says("may not use io_uring")
            .says("\"threads\"");
        assert!(!other.path("out/result.json").exists());
    });
    if has_io_uring() {
        let other = scratch();
        run(&other, FORCE_IO_URING).exits(0);
        assert_eq!(host_of(&other)["io_driver"], "io-uring");
    }
}

#[test]
fn a_host_without_either_driver_is_an_error_with_a_remedy() {
    let here = scratch();
    let number_of_eventfd2 = match std::env::consts::ARCH {
        "x86_64" => 290,
        "aarch64" => 19,
        other => return test_support::skip(format_args!("no number of eventfd2 for {other}")),
    };
    let too_many = Errno::MFILE.raw_os_error().unsigned_abs();
    without(number_of_eventfd2, too_many, || {
        run(&here, "").exits(3).says("ulimit -n");
    });
}
