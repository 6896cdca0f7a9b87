use super::*;
use crate::limits::{self, Limits};
use crate::run::Sample;
use measure::metric::Metric;
use measure::metric::RowScope;
use measure::result::ArrayResult;
use measure::sample::{Phase, SampleRow};
use serde_json::json;

fn run(name: &str, threads: u64, achieved_iops: f64) -> Run {
    let mut run = Run {
        name: name.into(),
        ..Run::default()
    };
    run.result.throughput.threads = Some(threads);
    run.result.throughput.achieved_iops = achieved_iops;
    run.result
        .workload
        .settings
        .insert("engine.page_size_bytes".into(), json!(32_768));
    run
}

fn texts(table: &Table) -> Vec<Vec<&str>> {
    table
        .rows
        .iter()
        .map(|row| row.iter().map(|cell| cell.text.as_str()).collect())
        .collect()
}

#[test]
fn runs_of_one_name_get_numbers() {
    let runs = [
        run("a", 1, 1.0),
        run("a", 1, 1.0),
        run("", 1, 1.0),
        run("b", 1, 1.0),
    ];
    assert_eq!(
        Comparison::new(&runs).names(),
        ["a (1)", "a (2)", "run 3", "b"]
    );
}

#[test]
fn settings_of_the_array_are_compared() {
    let mut runs = [run("a", 8, 1.0), run("b", 8, 1.0)];
    for (run, disks) in runs.iter_mut().zip([6, 10]) {
        run.result.array = Some(ArrayResult {
            description: format!("[pool]\ndisk_count = {disks}\nraid = \"raid6\"\n"),
            ..ArrayResult::default()
        });
    }
    assert_eq!(
        texts(&Comparison::new(&runs).settings_table()),
        [vec!["array.pool.disk_count", "6", "10"]]
    );
}

#[test]
fn only_what_differs_is_listed() {
    let mut runs = [run("a", 8, 1.0), run("b", 16, 1.0)];
    runs[1]
        .result
        .workload
        .settings
        .insert("engine.lru_k".into(), json!(2));
    let comparison = Comparison::new(&runs);
    let table = comparison.settings_table();
    assert_eq!(
        texts(&table),
        [vec!["threads", "8", "16"], vec!["engine.lru_k", "-", "2"]]
    );
}

#[test]
fn changes_are_against_the_first() {
    let runs = [run("a", 8, 800.0), run("b", 8, 1_000.0), run("c", 8, 400.0)];
    let comparison = Comparison::new(&runs);
    let both = comparison.figures_table(Shown::Both);
    let first = &texts(&both)[0];
    assert_eq!(
        first[..],
        [
            "transactional I/O",
            "800 IOPS",
            "1,000 IOPS",
            "25.0 % higher (better)",
            "400 IOPS",
            "50.0 % lower (worse)"
        ]
    );
    let changes = comparison.figures_table(Shown::Changes);
    assert_eq!(
        texts(&changes)[0][1..],
        ["25.0 % higher (better)", "50.0 % lower (worse)"]
    );
    let values = comparison.figures_table(Shown::Values);
    assert_eq!(
        texts(&values)[0][1..],
        ["800 IOPS", "1,000 IOPS", "400 IOPS"]
    );
}

#[test]
fn only_limits_of_all_runs_stand_in_common_charts() {
    let limited = |name, limit| {
        let mut run = run(name, 1, 1.0);
        let id = measure::result::CheckId::DatabaseReadAverage;
        let check = measure::result::Check::of(id, "db1", limit, None, String::new());
        run.result.checks.push(check);
        run
    };
    let same = limits::database_read(&limited("a", 20.0).result);
    let other = limits::database_read(&limited("b", 0.1).result);
    assert_eq!(same.clone().in_both(&same), same);
    assert_eq!(same.in_both(&other), Limits::default());
}

#[test]
fn the_short_rest_of_a_phase_is_no_point_of_a_curve() {
    let mut run = run("a", 1, 1.0);
    run.result.samples.interval_s = 2.0;
    let sample = |ends_s, length_s, rate| Sample {
        ends_s,
        length_s,
        phase: Phase::Measured,
        rows: vec![SampleRow {
            sample: 0,
            phase: Phase::Measured,
            begins_s: ends_s - length_s,
            length_s,
            scope: RowScope::Total,
            name: "all".to_owned(),
            values: [(Metric::Iops, Some(rate))].into_iter().collect(),
        }],
    };
    run.timeline = vec![
        sample(2.0, 2.0, 400.0),
        sample(4.0, 2.0, 410.0),
        sample(4.01, 0.01, 19_000.0),
    ];
    let points = charts::measured(&run, |sample| sample.get(Metric::Iops));
    assert_eq!(points, [(2.0, 400.0), (4.0, 410.0)]);
}

#[test]
fn operations_are_compared_by_average_and_90th_percentile() {
    let with = |name, operations: &[(&str, f64)]| {
        let mut run = run(name, 1, 1.0);
        run.result.operations = operations
            .iter()
            .map(|&(name, average_ms)| measure::result::OperationResult {
                name: name.to_owned(),
                service_time: Some(measure::result::LatencyFigures {
                    average_ms,
                    p90_ms: average_ms * 2.0,
                    ..Default::default()
                }),
                ..Default::default()
            })
            .collect();
        run.contribution.compared_operation = Some("transaction");
        run
    };
    let runs = [
        with("a", &[("read", 8.0)]),
        with("b", &[("read", 4.0), ("insert", 1.0)]),
    ];
    let comparison = Comparison::new(&runs);
    assert_eq!(
        texts(&comparison.operations_table(Shown::Both)),
        [
            vec![
                "read, average",
                "8.00 ms",
                "4.00 ms",
                "50.0 % lower (better)"
            ],
            vec!["read, p90", "16.0 ms", "8.00 ms", "50.0 % lower (better)"],
            vec!["insert, average", "-", "1.00 ms", "-"],
            vec!["insert, p90", "-", "2.00 ms", "-"],
        ]
    );
    assert_eq!(comparison.operations_title(), "Transaction latency");
    let mut others = [with("c", &[("read", 8.0)])];
    others[0].contribution.compared_operation = None;
    let table = Comparison::new(&others).operations_table(Shown::Both);
    assert!(table.is_empty());
}
