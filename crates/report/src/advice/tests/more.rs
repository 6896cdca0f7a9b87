//! More of what is advised, and when.

use super::*;

#[test]
fn failed_requests_without_a_record_are_found() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.checks.push(failed(CheckId::Errors, 3.0));
    assert!(advice(&result)[0].text.starts_with("3 errors were counted"));
}

#[test]
fn busy_processors_are_attributed() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.checks.push(failed(CheckId::AchievedIops, 100.0));
    result.host.cpus = 4;
    for (own, words) in [(20.0, "only 5.00 %"), (380.0, "a bigger host")] {
        result.host.counters = vec![
            counter(Metric::CpuBusy, 97.0),
            counter(Metric::ProcessCpu, own),
        ];
        let found = of(&result, AdviceId::TARGET_MISSED).expect("there is advice");
        assert!(found.text.contains(words), "{}", found.text);
    }
}

#[test]
fn a_pause_is_named_with_its_length_and_time() {
    let sample = |ends_s: f64, pause_ms: f64| Sample {
        ends_s,
        length_s: 15.0,
        phase: Phase::Measured,
        rows: vec![SampleRow {
            sample: 0,
            phase: Phase::Measured,
            begins_s: ends_s - 15.0,
            length_s: 15.0,
            name: "all".into(),
            scope: RowScope::Total,
            values: [(Metric::LongestPause, Some(pause_ms))]
                .into_iter()
                .collect(),
        }],
    };
    let mut run = Run {
        result: RunResult {
            verdict: Verdict::Pass,
            ..RunResult::default()
        },
        timeline: vec![
            sample(15.0, 60.0),
            sample(30.0, 5_010.0),
            sample(45.0, 999.0),
        ],
        ..Run::default()
    };
    let found = |run: &Run| {
        let all = super::super::advice(run).into_iter();
        let mut pauses = all.filter(|one| one.id == AdviceId::PAUSED);
        pauses.next().map(|one| one.text)
    };
    let text = found(&run).expect("a finding");
    assert!(text.contains("5.01 s, between 15 s and 30 s"), "{text}");
    run.timeline.remove(1);
    assert_eq!(found(&run), None, "a busy machine is no pause");
    for sample in &mut run.timeline {
        let values = &mut sample.rows[0].values;
        *values = [
            (Metric::LongestPause, Some(500.0)),
            (Metric::Paused, Some(30.0)),
        ]
        .into_iter()
        .collect();
    }
    run.result.host.counters = vec![CounterSummary {
        id: Metric::Paused.id().into_owned(),
        average: 30.0,
        ..CounterSummary::default()
    }];
    let text = found(&run).expect("a finding");
    assert!(
        text.contains("did not run for 500 ms, between 30 s and 45 s"),
        "{text}"
    );
    assert!(
        text.contains("2 samples have a pause of 200 ms or more. Pauses take 30.0 %"),
        "{text}"
    );
}

#[test]
fn a_run_without_samples_claims_nothing() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    for (samples, words) in [
        (0, "No full sample was taken."),
        (1, "One sample"),
        (19, "19 samples"),
    ] {
        result.samples.count = samples;
        let found = of(&result, AdviceId::SHORT_RUN).expect("there is advice");
        assert!(found.text.starts_with(words), "{}", found.text);
        assert!(!found.text.contains("works"), "{}", found.text);
    }
    result.samples.count = FEW_SAMPLES;
    assert!(of(&result, AdviceId::SHORT_RUN).is_none());
}

#[test]
fn a_single_long_request_is_named_where_every_level_was_met() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.verdict = Verdict::Pass;
    let mut with_max = |max_ms| {
        let log_writes = &mut result.databases[0].figures.log_writes;
        log_writes.latency.as_mut().expect("latencies").max_ms = max_ms;
        of(&result, AdviceId::LONG_REQUEST).map(|one| one.text)
    };
    assert_eq!(with_max(999.0), None);
    let text = with_max(5_020.0).expect("there is advice");
    assert!(
        text.starts_with("A log write of db1 took 5,020 ms"),
        "{text}"
    );
    result.kind = RunKind::Prediction;
    assert!(of(&result, AdviceId::LONG_REQUEST).is_none());
}

#[test]
fn a_level_that_few_requests_met_is_named() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.samples.count = FEW_SAMPLES;
    result.databases[0].figures.reads.count = 41;
    let found = of(&result, AdviceId::SHORT_RUN).expect("there is advice");
    let words = "was met by 41 requests only; fewer than 100 show little. To sign off";
    assert!(found.text.contains(words), "{}", found.text);
    result
        .checks
        .iter_mut()
        .for_each(|one| one.passed = Some(false));
    assert!(of(&result, AdviceId::SHORT_RUN).is_none());
}

#[test]
fn an_option_that_was_given_is_not_advised() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.steady_state = Some(SteadyState {
        steady: Some(false),
        ..SteadyState::default()
    });
    result.events = vec![EventResult {
        planned: true,
        ..EventResult::default()
    }];
    let text = |result: &RunResult| of(result, AdviceId::NOT_STEADY).expect("advice").text;
    let option = "run.steady_state.required";
    assert!(text(&result).contains(option), "{}", text(&result));
    let settings = &mut result.workload.settings;
    settings.insert(option.to_owned(), false.into());
    assert!(!text(&result).contains(option), "{}", text(&result));
}

#[test]
fn a_device_that_counts_errors_is_a_finding_of_a_run_that_passes() {
    let mut result = RunResult {
        verdict: Verdict::Pass,
        ..RunResult::default()
    };
    let figure = |name: &str, is_bad| HealthFigure {
        device: "sdb".to_owned(),
        name: name.to_owned(),
        before: Some(2.0),
        after: Some(9.0),
        is_bad,
    };
    result.host.health = vec![figure("temperature, C", false)];
    assert!(of(&result, AdviceId::DEVICE_HEALTH).is_none());
    result.host.health.push(figure("media errors", true));
    let found = of(&result, AdviceId::DEVICE_HEALTH).expect("there is advice");
    let words = "After the run, sdb: media errors: 9.00 (2.00 before). ";
    assert!(found.text.starts_with(words), "{}", found.text);
}
