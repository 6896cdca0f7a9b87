//! The figures in the shape of fio's JSON output, for programs that plot or collect that.
//!
//! Each database is a job with its reads and writes; its log is a job with its writes. Fields that
//! a run does not measure (smallest latency, standard deviation, submission latency, CPU
//! time of a job) are left out, never invented. Sources of the names: fio's HOWTO, "Normal output
//! and JSON"; bandwidth `bw` is in KiB/s, `runtime` in milliseconds.

use measure::result::{DatabaseResult, IoFigures, RunResult};
use serde_json::{Map, Value, json};

use crate::run::Run;

const NS_PER_MS: f64 = 1e6;

/// The figures of a run as fio's JSON, indented.
#[must_use]
pub fn fio_json(run: &Run) -> String {
    let result = &run.result;
    let mut jobs = Vec::new();
    for database in &result.databases {
        jobs.push(database_job(result, database));
        jobs.push(job(
            result,
            &format!("{}-log", database.name),
            &database.log_path,
            [
                ("read", &database.figures.log_reads),
                ("write", &database.figures.log_writes),
            ],
        ));
    }
    let disks: Vec<Value> = result
        .host
        .devices
        .iter()
        .map(|device| {
            json!({
                "name": device.name,
                "util": finite(device.busy_fraction * 100.0),
            })
        })
        .collect();
    let document = json!({
        "fio version": format!("proofload-{}", result.version),
        "time": result.started,
        "global options": { "ioengine": "proofload", "direct": "1" },
        "jobs": jobs,
        "disk_util": disks,
    });
    format!("{document:#}")
}

fn database_job(result: &RunResult, database: &DatabaseResult) -> Value {
    job(
        result,
        &database.name,
        &database.path,
        [
            ("read", &database.figures.reads),
            ("write", &database.figures.writes),
        ],
    )
}

fn job(result: &RunResult, name: &str, file: &str, directions: [(&str, &IoFigures); 2]) -> Value {
    let mut job = Map::new();
    job.insert("jobname".into(), json!(name));
    job.insert("groupid".into(), json!(0));
    let errors: u64 = directions.iter().map(|(_, figures)| figures.errors).sum();
    job.insert("error".into(), json!(errors));
    job.insert("elapsed".into(), finite(result.duration_s.round()));
    job.insert("job options".into(), json!({ "filename": file }));
    for (direction, figures) in directions {
        job.insert(direction.into(), stream(result, figures));
    }
    job.insert("trim".into(), stream(result, &IoFigures::default()));
    Value::Object(job)
}

fn stream(result: &RunResult, figures: &IoFigures) -> Value {
    let rate = figures.bytes_per_second();
    let mut stream = Map::new();
    stream.insert("io_bytes".into(), json!(figures.bytes));
    stream.insert("io_kbytes".into(), json!(figures.bytes / 1_024));
    stream.insert("bw_bytes".into(), finite(rate.round()));
    stream.insert("bw".into(), finite((rate / 1_024.0).round()));
    stream.insert("iops".into(), finite(figures.per_second));
    stream.insert(
        "runtime".into(),
        finite((result.duration_s * 1_000.0).round()),
    );
    stream.insert("total_ios".into(), json!(figures.count));
    if let Some(latency) = figures.latency {
        let percentiles: Map<String, Value> = [
            ("50.000000", latency.p50_ms),
            ("90.000000", latency.p90_ms),
            ("95.000000", latency.p95_ms),
            ("99.000000", latency.p99_ms),
            ("99.900000", latency.p99_9_ms),
        ]
        .into_iter()
        .map(|(name, value)| (name.to_string(), nanoseconds(value)))
        .collect();
        let distribution = json!({
            "max": nanoseconds(latency.max_ms),
            "mean": finite(latency.average_ms * NS_PER_MS),
            "N": figures.count,
            "percentile": percentiles,
        });
        stream.insert("clat_ns".into(), distribution.clone());
        stream.insert("lat_ns".into(), distribution);
    }
    Value::Object(stream)
}

fn nanoseconds(value_ms: f64) -> Value {
    finite((value_ms * NS_PER_MS).round())
}

/// A whole number without a fraction, any other as it is, null when it is not a number.
fn finite(value: f64) -> Value {
    if value.is_finite() && value.fract() == 0.0 && value.abs() < 9e15 {
        json!(value as i64)
    } else {
        json!(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{DatabaseFigures, LatencyFigures};

    #[test]
    fn a_reader_of_fio_finds_its_fields() {
        let mut run = Run::default();
        run.result.duration_s = 60.0;
        let latency = LatencyFigures {
            average_ms: 2.5,
            p99_ms: 9.0,
            ..LatencyFigures::default()
        };
        run.result.databases.push(DatabaseResult {
            name: "db1".into(),
            figures: DatabaseFigures {
                reads: IoFigures {
                    count: 6_000,
                    per_second: 100.0,
                    bytes: 6_000 * 32_768,
                    average_bytes: 32_768.0,
                    errors: 0,
                    latency: Some(latency),
                },
                ..DatabaseFigures::default()
            },
            ..DatabaseResult::default()
        });
        let document: Value = serde_json::from_str(&fio_json(&run)).expect("valid JSON");
        let read = &document["jobs"][0]["read"];
        assert_eq!(document["jobs"][0]["jobname"], "db1");
        assert_eq!(document["jobs"][1]["jobname"], "db1-log");
        assert_eq!(read["iops"], 100);
        assert_eq!(read["bw"], 3_200);
        assert_eq!(read["runtime"], 60_000);
        assert_eq!(read["total_ios"], 6_000);
        assert_eq!(read["clat_ns"]["mean"], 2_500_000);
        assert_eq!(read["clat_ns"]["percentile"]["99.000000"], 9_000_000);
    }
}
