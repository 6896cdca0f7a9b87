use super::load::FEW_SAMPLES;
use crate::run::{Run, Sample};
use measure::display::{Advice, AdviceId, Contribution};
use measure::metric::{IoMetric, Metric, RowScope, Stream};
use measure::result::{
    ArrayGroup, ArrayResult, Cause, CauseId, Check, CheckId, CounterSummary, DatabaseFigures,
    DatabaseResult, DeviceResult, ErrorKind, ErrorRecord, EventResult, HealthFigure, IoFigures,
    LatencyFigures, RunKind, RunResult, SteadyState, Verdict,
};
use measure::sample::{Phase, SampleRow};

mod more;

fn advice(result: &RunResult) -> Vec<Advice> {
    advice_with(result, &Contribution::default())
}

fn advice_with(result: &RunResult, own: &Contribution) -> Vec<Advice> {
    super::advice(&Run {
        result: result.clone(),
        contribution: own.clone(),
        ..Run::default()
    })
}

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
        figures: DatabaseFigures {
            reads: requests(engine_ms),
            log_writes: requests(log_ms),
            ..DatabaseFigures::default()
        },
    }];
    let judge = |id, value, limit| Check::of(id, "db1", limit, Some(value), String::new());
    result.checks = vec![
        judge(CheckId::DatabaseReadAverage, engine_ms, 20.0),
        judge(CheckId::LogWriteAverage, log_ms, 10.0),
    ];
    result.host.devices = vec![DeviceResult {
        name: "sda".into(),
        targets: vec!["/mnt/a".into()],
        average_read_ms: Some(device_ms),
        ..DeviceResult::default()
    }];
    result
}

fn ids(result: &RunResult) -> Vec<AdviceId> {
    advice(result).into_iter().map(|one| one.id).collect()
}

fn of(result: &RunResult, id: AdviceId) -> Option<Advice> {
    advice(result).into_iter().find(|one| one.id == id)
}

/// A failed check of the whole run.
fn failed(id: CheckId, value: f64) -> Check {
    Check {
        passed: Some(false),
        ..Check::of_run(id, 0.0, Some(value), String::new())
    }
}

#[test]
fn a_slow_device_is_named() {
    let list = advice(&slow_run(31.0, 28.0, 3.0));
    assert_eq!(list[0].id, AdviceId::DEVICE_SLOW);
    assert!(list[0].text.contains("31.0 ms") && list[0].text.contains("sda"));
}

#[test]
fn a_fast_device_points_above_it() {
    let mut result = slow_run(31.0, 2.0, 3.0);
    assert!(ids(&result).contains(&AdviceId::QUEUE_ABOVE_DEVICE));
    result.host.counters = vec![counter(Metric::CpuBusy, 97.0)];
    assert!(ids(&result).contains(&AdviceId::HOST_BUSY));
}

fn counter(metric: Metric, average: f64) -> CounterSummary {
    CounterSummary {
        id: metric.id().into_owned(),
        unit: metric.unit(),
        average,
        ..CounterSummary::default()
    }
}

#[test]
fn the_log_alone_points_at_flushes() {
    let found = ids(&slow_run(5.0, 4.0, 18.0));
    assert!(found.contains(&AdviceId::LOG_SLOW));
    let both = ids(&slow_run(25.0, 24.0, 18.0));
    assert!(both.contains(&AdviceId::SHARED_DEVICE) && !both.contains(&AdviceId::LOG_SLOW));
}

#[test]
fn one_slow_database_is_named() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    for index in 2..=8 {
        let mut other = result.databases[0].clone();
        other.name = format!("db{index}");
        result.databases.push(other);
    }
    assert!(of(&result, AdviceId::DATABASE_DIFFERS).is_none());
    result.databases[3].figures.reads = requests(15.0);
    let found = of(&result, AdviceId::DATABASE_DIFFERS).expect("there is advice");
    assert_eq!(found.title, "One database differs");
    assert!(found.text.contains("db4"));
}

#[test]
fn stalls_point_at_the_cache_and_a_missed_target_at_threads() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    let stalls = failed(CheckId::PageFaultStalls, 3.0);
    result
        .checks
        .extend([stalls, failed(CheckId::AchievedIops, 100.0)]);
    let found = ids(&result);
    assert!(found.contains(&AdviceId::CACHE_TOO_SMALL));
    assert!(found.contains(&AdviceId::TARGET_MISSED) && !found.contains(&AdviceId::SATURATED));
    result.checks[0].passed = Some(false);
    let found = ids(&result);
    assert!(found.contains(&AdviceId::SATURATED) && !found.contains(&AdviceId::TARGET_MISSED));
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
    let text = |result: &RunResult| {
        of(result, AdviceId::NOT_STEADY)
            .expect("there is advice")
            .text
    };
    let falling = text(&result);
    assert!(falling.contains("It fell"), "{falling}");
    assert!(
        falling.contains("a range of 25.0 % and a slope of 22.0 %"),
        "{falling}"
    );
    if let Some(state) = &mut result.steady_state {
        (state.rounds, state.slope_fraction) = (vec![900.0, 700.0, 890.0], 0.01);
    }
    assert!(!text(&result).contains("It fell"), "it went up and down");
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
    assert_eq!(first.id, AdviceId::ERRORS);
    assert!(first.text.contains("page 1,234") && first.text.contains("db1.edb"));
    assert!(!first.text.contains("reads every page"), "{}", first.text);
    let own = Contribution {
        check_command: Some("check /mnt/a/db1.edb".to_owned()),
        ..Contribution::default()
    };
    let text = &advice_with(&result, &own)[0].text;
    assert!(text.contains("; `check /mnt/a/db1.edb` reads"), "{text}");
}

#[test]
fn a_full_disk_says_nothing_against_the_storage() {
    let mut result = slow_run(31.0, 28.0, 3.0);
    result.errors = vec![ErrorRecord {
        kind: ErrorKind::OutOfSpace,
        file: "/mnt/a/data".into(),
        error: "the file system is full".into(),
        ..ErrorRecord::default()
    }];
    let first = &advice(&result)[0];
    assert_eq!(first.id, AdviceId::OUT_OF_SPACE);
    let full = "No space was left for /mnt/a/data: the file system is full. `proofload run";
    assert!(first.text.starts_with(full), "{}", first.text);
}

#[test]
fn advice_of_the_workload_comes_first_or_takes_the_place_of_a_general_one() {
    let mut result = slow_run(31.0, 28.0, 3.0);
    result.verdict = Verdict::Interrupted;
    let of_workload = |id| Advice::new(id, "of the workload", String::new());
    let own = Contribution {
        advice: vec![
            of_workload(AdviceId("own-1")),
            of_workload(AdviceId::DEVICE_SLOW),
            of_workload(AdviceId("own-2")),
        ],
        ..Contribution::default()
    };
    let list = advice_with(&result, &own);
    let ids: Vec<&str> = list.iter().map(|one| one.id.0).collect();
    assert_eq!(ids, ["interrupted", "own-1", "own-2", "device-slow"]);
    assert_eq!(list[3].title, "of the workload");
}

#[test]
fn a_pass_says_how_much_headroom_is_left() {
    let mut result = slow_run(5.0, 4.0, 9.5);
    result.verdict = Verdict::Pass;
    let last = advice(&result).pop().expect("there is advice");
    assert_eq!(last.id, AdviceId::HEADROOM);
    assert!(last.text.contains("log write") && last.text.contains("95.0 %"));
}

#[test]
fn a_slow_tail_behind_a_good_average_is_found() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    let id = CheckId::DatabaseReadP99;
    let tail = Check::of(id, "db1", 50.0, Some(61.0), String::new());
    result.checks.push(tail);
    let found = ids(&result);
    assert!(found.contains(&AdviceId::TAIL_LATENCY));
    assert!(!found.contains(&AdviceId::DEVICE_SLOW));
}

#[test]
fn operations_that_queue_are_found() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    let latency = |p99_ms| {
        Some(LatencyFigures {
            p99_ms,
            ..LatencyFigures::default()
        })
    };
    result.operations.push(measure::result::OperationResult {
        name: "insert".into(),
        service_time: latency(12.0),
        response_time: latency(480.0),
        ..Default::default()
    });
    let late = |result: &RunResult| of(result, AdviceId::WAITS_BEFORE_START);
    assert!(late(&result).is_none(), "no rate was held");
    result.throughput.rate_iops = Some(900.0);
    let text = late(&result).expect("there is advice").text;
    assert!(
        text.contains("insert has a p99 response time of 480 ms"),
        "{text}"
    );
    assert!(text.contains("rate of 900 IOPS"), "{text}");
    // Ten times as long, and still too little to matter.
    result.operations[0].service_time = latency(0.5);
    result.operations[0].response_time = latency(5.0);
    assert!(late(&result).is_none());
    result.operations[0].response_time = latency(25.0);
    let text = late(&result).expect("there is advice").text;
    assert!(!text.contains("lower the rate"), "{text}");
    result.checks.push(failed(CheckId::AchievedIops, 100.0));
    let text = late(&result).expect("there is advice").text;
    assert!(text.contains("lower the rate"), "{text}");
}

#[test]
fn a_prediction_names_its_busiest_disks_and_no_kernel() {
    let mut result = slow_run(31.0, 2.0, 3.0);
    result.kind = RunKind::Prediction;
    result.host.devices.clear();
    let group = |name: &str, busy| ArrayGroup {
        name: name.into(),
        disk: "sas".into(),
        disks: 10,
        average_busy_fraction: busy - 0.02,
        max_busy_fraction: busy,
        average_disk_queue_depth: 11.0,
        ..ArrayGroup::default()
    };
    result.array = Some(ArrayResult {
        groups: vec![group("b-disks", 0.4), group("a-disks", 0.96)],
        ..ArrayResult::default()
    });
    let found = of(&result, AdviceId::DISKS_BUSY).expect("there is advice");
    assert_eq!(found.title, "The disks of a-disks are the bottleneck");
    for words in [
        "the busiest 96.0 %",
        "11.0 requests",
        "10 x sas",
        "fewer clients",
    ] {
        assert!(found.text.contains(words), "{}", found.text);
    }
    assert!(
        advice(&result)
            .iter()
            .all(|one| !one.text.contains("kernel"))
    );
    for group in &mut result.array.as_mut().expect("an array").groups {
        group.max_busy_fraction = 0.4;
    }
    let found = of(&result, AdviceId::DISKS_BUSY).expect("there is advice");
    assert!(found.title.contains("not busy all the time"));
}

#[test]
fn nothing_gives_the_storage_as_the_reason_that_the_causes_put_in_doubt() {
    let mut result = slow_run(25.0, 24.0, 18.0);
    result.checks.push(failed(CheckId::AchievedIops, 100.0));
    let of_storage = [
        AdviceId::DEVICE_SLOW,
        AdviceId::SHARED_DEVICE,
        AdviceId::SATURATED,
    ];
    assert!(of_storage.iter().all(|id| ids(&result).contains(id)));
    result.verdict = Verdict::Inconclusive;
    result.causes = vec![cause()];
    let found = ids(&result);
    assert_eq!(found[0], AdviceId::NOT_SHOWN);
    assert!(of_storage.iter().all(|id| !found.contains(id)), "{found:?}");
}

fn cause() -> Cause {
    Cause {
        id: CauseId::HostBusy,
        text: "the CPUs were 100 % busy, most of it with other programs.".into(),
        remedy: "Stop other programs.".into(),
    }
}

#[test]
fn busy_processors_are_named_when_every_level_was_met() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.verdict = Verdict::Pass;
    result.host.cpus = 2;
    result.host.counters = vec![
        counter(Metric::CpuBusy, 89.0),
        counter(Metric::ProcessCpu, 20.0),
    ];
    result.steady_state = Some(SteadyState {
        steady: Some(false),
        ..SteadyState::default()
    });
    let unsteady = |result: &RunResult| of(result, AdviceId::NOT_STEADY).expect("advice").text;
    assert!(of(&result, AdviceId::HOST_BUSY).is_none());
    assert!(unsteady(&result).contains("Usual causes"));
    result.host.counters[0].average = 100.0;
    let text = of(&result, AdviceId::HOST_BUSY)
        .expect("there is advice")
        .text;
    assert!(
        text.contains("100 % busy") && text.contains("only 10.0 %"),
        "{text}"
    );
    assert!(!unsteady(&result).contains("Usual causes"));
    // The cause says it already.
    result.verdict = Verdict::Inconclusive;
    result.causes = vec![cause()];
    assert!(of(&result, AdviceId::HOST_BUSY).is_none());
    let first = advice(&result).remove(0);
    assert_eq!(first.title, "The host may have disturbed the measurement");
    assert!(!unsteady(&result).contains("Usual causes"));
}

#[test]
fn a_prediction_is_not_signed_off() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.verdict = Verdict::Pass;
    let headroom = |result: &RunResult| of(result, AdviceId::HEADROOM).expect("advice").text;
    assert!(headroom(&result).contains("run 24 hours"));
    result.kind = RunKind::Prediction;
    for slow_ms in [1.0, 19.0] {
        result.checks[0].value = Some(slow_ms);
        let text = headroom(&result);
        assert!(!text.contains("sign"), "{text}");
    }
}

#[test]
fn a_planned_failure_is_named_with_the_latency_before_and_after() {
    let mut run = Run::default();
    run.result.kind = RunKind::Prediction;
    run.result.events = vec![EventResult {
        at_s: 60.0,
        measured_at_s: 30.0,
        what: "disk-fails".into(),
        planned: true,
        text: "Disk 3 of a-disks fails.".into(),
    }];
    run.result.steady_state = Some(SteadyState {
        steady: Some(false),
        ..SteadyState::default()
    });
    let sample = |ends_s: f64, average_ms: f64| Sample {
        ends_s,
        length_s: 30.0,
        phase: Phase::Measured,
        rows: vec![SampleRow {
            sample: 0,
            phase: Phase::Measured,
            begins_s: ends_s - 30.0,
            length_s: 30.0,
            name: "all".into(),
            scope: RowScope::Total,
            values: [(IoMetric::Rate, 100.0), (IoMetric::Average, average_ms)]
                .map(|(metric, value)| (Metric::Io(Stream::DatabaseRead, metric), Some(value)))
                .into_iter()
                .collect(),
        }],
    };
    run.timeline = vec![sample(60.0, 5.0), sample(90.0, 9.0)];
    let list = super::advice(&run);
    let found = |id| list.iter().find(|one| one.id == id).expect("advice");
    assert_eq!(
        found(AdviceId::PLANNED_FAILURE).text,
        "After 30 s of the measured phase: Disk 3 of a-disks fails. The average database read \
         latency rose from 5.00 ms to 9.00 ms."
    );
    let unsteady = &found(AdviceId::NOT_STEADY).text;
    assert!(unsteady.contains("required=false"), "{unsteady}");
    run.timeline[1] = sample(90.0, 5.1);
    let list = super::advice(&run);
    let text = &list[0].text;
    assert!(
        text.contains("was 5.00 ms before and 5.10 ms after"),
        "{text}"
    );
    run.result.events[0].what = "disk-recovers".into();
    let list = super::advice(&run);
    assert!(list.iter().all(|one| one.id != AdviceId::PLANNED_FAILURE));
    run.result.events[0].what = "disk-slows".into();
    let list = super::advice(&run);
    assert!(list.iter().any(|one| one.id == AdviceId::PLANNED_FAILURE));
}

#[test]
fn other_programs_at_a_device_are_named_once() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.databases[0].figures.reads = requests(5.0);
    result.databases[0].path = "/t/db1.edb".into();
    let own = result.databases[0].figures.reads.bytes_per_second();
    result.host.devices = vec![DeviceResult {
        name: "sda".into(),
        targets: vec!["/t".into()],
        read_bytes_per_second: own + 1e6,
        ..DeviceResult::default()
    }];
    assert!(of(&result, AdviceId::OTHER_IO).is_none());
    result.host.devices[0].read_bytes_per_second = own * 2.0 + 2e6;
    assert!(of(&result, AdviceId::OTHER_IO).is_some());
    result.causes = vec![Cause {
        id: CauseId::OtherIo,
        ..Cause::default()
    }];
    assert!(of(&result, AdviceId::OTHER_IO).is_none());
}
