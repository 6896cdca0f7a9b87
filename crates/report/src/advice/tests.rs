use super::*;
use measure::result::{
    Check, CheckKind, CounterSummary, DatabaseResult, DeviceResult, ErrorKind, ErrorRecord,
    IoFigures, LatencyFigures, Scope, SteadyState,
};

fn requests(average_ms: f64) -> IoFigures {
    let latency = LatencyFigures {
        average_ms,
        ..LatencyFigures::default()
    };
    let (per_second, average_bytes) = (100.0, 32_768.0);
    let latency = Some(latency);
    IoFigures {
        count: 6_000,
        per_second,
        average_bytes,
        latency,
        ..IoFigures::default()
    }
}

fn slow_run(engine_ms: f64, device_ms: f64, log_ms: f64) -> RunResult {
    let mut result = RunResult {
        verdict: Verdict::Fail,
        ..RunResult::default()
    };
    result.samples.count = 480;
    result.databases = vec![DatabaseResult {
        name: "db1".into(),
        path: "/mnt/a/db1.edb".into(),
        log_path: "/mnt/a/logs".into(),
        reads: requests(engine_ms),
        log_writes: requests(log_ms),
        ..DatabaseResult::default()
    }];
    let judge = |name: &str, scope, value, limit| Check {
        name: name.into(),
        scope,
        place: "db1".into(),
        value: Some(value),
        limit,
        passed: Some(value <= limit),
        unit: "ms".into(),
        ..Check::default()
    };
    result.checks = vec![
        judge(
            "average database read latency",
            Scope::Database,
            engine_ms,
            20.0,
        ),
        judge("average log write latency", Scope::Log, log_ms, 10.0),
    ];
    result.host.devices = vec![DeviceResult {
        name: "sda".into(),
        targets: vec!["/mnt/a".into()],
        average_read_ms: Some(device_ms),
        ..DeviceResult::default()
    }];
    result
}

fn titles(result: &RunResult) -> String {
    advice(result)
        .into_iter()
        .map(|advice| advice.title)
        .collect::<Vec<_>>()
        .join("; ")
}

#[test]
fn a_slow_device_is_named() {
    let list = advice(&slow_run(31.0, 28.0, 3.0));
    assert_eq!(list[0].title, "The device itself is too slow for this load");
    assert!(list[0].text.contains("31.0 ms") && list[0].text.contains("sda"));
}

#[test]
fn a_fast_device_points_above_it() {
    let mut result = slow_run(31.0, 2.0, 3.0);
    assert!(titles(&result).contains("Requests wait above the device"));
    result.host.counters = vec![CounterSummary {
        name: "processor time".into(),
        unit: "%".into(),
        average: 97.0,
        ..CounterSummary::default()
    }];
    assert!(titles(&result).contains("The host is the bottleneck"));
}

#[test]
fn the_log_alone_points_at_flushes() {
    let found = titles(&slow_run(5.0, 4.0, 18.0));
    assert!(found.contains("The log is slow, the database is not"));
    let both = titles(&slow_run(25.0, 24.0, 18.0));
    assert!(both.contains("share one device") && !both.contains("The log is slow"));
}

#[test]
fn one_slow_database_is_named() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    for index in 2..=8 {
        let mut other = result.databases[0].clone();
        other.name = format!("db{index}");
        result.databases.push(other);
    }
    assert!(!titles(&result).contains("differ"));
    result.databases[3].reads = requests(15.0);
    let list = advice(&result);
    let found = list
        .iter()
        .find(|advice| advice.title == "One database differs");
    assert!(found.expect("there is advice").text.contains("db4"));
}

#[test]
fn stalls_point_at_the_cache_and_a_missed_target_at_threads() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    let mut stalls = result.checks[0].clone();
    stalls.kind = CheckKind::Resource;
    stalls.passed = Some(false);
    let mut rate = stalls.clone();
    rate.kind = CheckKind::Throughput;
    result.checks.extend([stalls, rate]);
    let found = titles(&result);
    assert!(found.contains("cache is too small"));
    assert!(found.contains("although latency is good"));
}

#[test]
fn an_unsteady_run_should_be_longer() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.steady_state = Some(SteadyState {
        steady: Some(false),
        variable: "transactional I/O per second".into(),
        rounds: vec![900.0, 800.0, 700.0],
        range_fraction: 0.25,
        slope_fraction: 0.22,
        ..SteadyState::default()
    });
    let told = |result: &RunResult| {
        let mut list = advice(result).into_iter();
        let found = list.find(|advice| advice.title == "The run was not steady");
        found.expect("there is advice").text
    };
    assert!(told(&result).contains("It fell"));
    if let Some(state) = &mut result.steady_state {
        (state.rounds, state.slope_fraction) = (vec![900.0, 700.0, 890.0], 0.01);
    }
    assert!(!told(&result).contains("It fell"), "it went up and down");
}

#[test]
fn errors_come_first() {
    let mut result = slow_run(31.0, 28.0, 3.0);
    result.errors.push(ErrorRecord {
        file: "/mnt/a/db1.edb".into(),
        page: Some(1_234),
        operation: "database read".into(),
        error: "the checksum is wrong".into(),
        ..ErrorRecord::default()
    });
    let first = &advice(&result)[0];
    assert!(first.title.contains("errors"));
    assert!(first.text.contains("page 1,234") && first.text.contains("db1.edb"));
    assert!(first.text.contains("edb check /mnt/a/db1.edb"));
    result.errors[0].file = "/mnt/a/log-001/E00tmp.log".into();
    result.errors[0].page = None;
    let first = &advice(&result)[0];
    assert!(!first.text.contains("edb check"), "{}", first.text);
}

#[test]
fn a_full_disk_asks_for_room() {
    let mut result = slow_run(31.0, 28.0, 3.0);
    for (file, remedy) in [
        ("/mnt/a/mail-001/mail-001.edb", "--target-size"),
        ("/mnt/a/log-001/E00tmp.log", "circular_logging"),
    ] {
        result.errors = vec![ErrorRecord {
            kind: ErrorKind::OutOfSpace,
            file: file.into(),
            ..ErrorRecord::default()
        }];
        let first = &advice(&result)[0];
        assert!(first.title.contains("room"));
        assert!(first.text.contains(file) && first.text.contains(remedy));
        assert!(!first.text.contains("edb check"), "{}", first.text);
    }
}

#[test]
fn a_pass_says_how_much_room_is_left() {
    let mut result = slow_run(5.0, 4.0, 9.5);
    result.verdict = Verdict::Pass;
    let last = advice(&result).pop().expect("there is advice");
    assert_eq!(last.title, "How much room is left");
    assert!(last.text.contains("log write") && last.text.contains("95.0 %"));
}

#[test]
fn a_slow_tail_behind_a_good_average_is_told() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    let mut tail = result.checks[0].clone();
    tail.name = "99th percentile of database read latency".into();
    (tail.limit, tail.value, tail.passed) = (50.0, Some(61.0), Some(false));
    result.checks.push(tail);
    let found = titles(&result);
    assert!(found.contains("the slow requests are too slow"));
    assert!(!found.contains("device itself"));
}

#[test]
fn work_that_piles_up_is_told() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    let latency = |p99_ms| {
        Some(LatencyFigures {
            p99_ms,
            ..LatencyFigures::default()
        })
    };
    result.operations.push(measure::result::OperationResult {
        name: "insert".into(),
        service: latency(12.0),
        from_intended_start: latency(480.0),
        ..Default::default()
    });
    assert!(!titles(&result).contains("start late"), "no rate was held");
    result.throughput.rate_iops = Some(900.0);
    let list = advice(&result);
    let found = list
        .iter()
        .find(|advice| advice.title == "Operations start late");
    assert!(
        found
            .expect("there is advice")
            .text
            .contains("one insert of a hundred ended 480 ms")
    );
    // Ten times as long, and still nothing that anybody would feel.
    result.operations[0].service = latency(0.5);
    result.operations[0].from_intended_start = latency(5.0);
    assert!(!titles(&result).contains("start late"));
    result.operations[0].from_intended_start = latency(25.0);
    assert!(titles(&result).contains("start late"));
}

#[test]
fn traffic_of_stacked_devices_counts_once() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.totals.reads = requests(5.0);
    let own = result.totals.reads.bytes_per_second();
    let device = |name: &str, lies_on: &[&str], bytes: f64| DeviceResult {
        name: name.into(),
        lies_on: lies_on.iter().map(|&name| name.into()).collect(),
        read_bytes_per_second: bytes,
        ..DeviceResult::default()
    };
    // A file system on a loop device, whose file lies on the disk that holds the log.
    result.host.devices = vec![
        device("loop0", &["sda2", "sda"], own),
        device("sda2", &["sda"], own),
    ];
    assert!(!titles(&result).contains("Somebody else"));
    // Two partitions of one disk that is no target itself.
    result.host.devices[0] = device("sda1", &["sda"], own);
    assert!(titles(&result).contains("Somebody else"));
}

#[test]
fn failed_requests_without_a_record_are_told() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    let mut check = result.checks[0].clone();
    (check.kind, check.scope) = (CheckKind::Integrity, Scope::Run);
    (check.value, check.unit, check.passed) = (Some(3.0), "errors".into(), Some(false));
    result.checks.push(check);
    assert!(advice(&result)[0].text.starts_with("3 errors were counted"));
}

#[test]
fn busy_processors_are_laid_to_whom_they_worked_for() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    let mut missed = result.checks[0].clone();
    (missed.kind, missed.scope) = (CheckKind::Throughput, Scope::Run);
    (missed.value, missed.passed) = (Some(100.0), Some(false));
    result.checks.push(missed);
    result.host.cpus = 4;
    let counter = |name: &str, unit: &str, average| CounterSummary {
        name: name.into(),
        unit: unit.into(),
        average,
        ..CounterSummary::default()
    };
    for (own, words) in [(20.0, "only 5.00 %"), (380.0, "a bigger host")] {
        result.host.counters = vec![
            counter("processor time, all processors", "%", 97.0),
            counter("processor time of this process", "% of one", own),
        ];
        let list = advice(&result);
        let found = list.iter().find(|one| one.text.contains("processors"));
        let text = &found.expect("there is advice").text;
        assert!(text.contains(words), "{text}");
    }
}
