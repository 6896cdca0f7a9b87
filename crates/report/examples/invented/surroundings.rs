//! What stands around the figures of an invented run: operations, phases, host, tuning, settings.

use measure::metric::Metric;
use measure::result::{
    CheckId, CounterSummary, DeviceResult, OperationResult, PhaseResult, RunResult, SteadyState,
    TuningResult, TuningStep,
};
use serde_json::json;

use super::{Story, requests};

pub fn operations(story: &Story) -> Vec<OperationResult> {
    let per_second = story.reads_per_second * story.databases as f64 * 0.98;
    [
        ("read", 0.35, 1.0),
        ("insert", 0.4, 1.6),
        ("replace", 0.05, 1.8),
        ("delete", 0.2, 1.3),
    ]
    .into_iter()
    .map(|(name, share, times)| {
        let service = requests(story, per_second * share, 0.0, story.read_ms * times, 0.7);
        OperationResult {
            name: name.into(),
            count: service.count,
            per_second: service.per_second,
            failures: 0,
            service_time: service.latency,
            response_time: None,
        }
    })
    .collect()
}

pub fn steadiness(mean: f64) -> SteadyState {
    SteadyState {
        rule: "Steady means that the means of the last five rounds lie within 20 % of their mean, \
               and that the best straight line through them rises or falls by at most 10 %."
            .into(),
        variable: "transactional I/O per second".into(),
        steady: Some(true),
        rounds: [0.99, 1.01, 1.0, 0.995, 1.005]
            .map(|share| share * mean)
            .to_vec(),
        mean,
        range_fraction: 0.02,
        slope_fraction: 0.004,
        reached_at_s: Some(600.0),
        left_at_s: None,
    }
}

pub fn phases(story: &Story) -> Vec<PhaseResult> {
    [
        ("build", 2_280.0),
        ("warm-up", 600.0),
        ("measured", story.seconds()),
        ("checksum", 912.0),
    ]
    .into_iter()
    .map(|(name, duration_s)| PhaseResult {
        name: name.into(),
        started: "2026-03-01T12:00:00Z".into(),
        duration_s,
    })
    .collect()
}

pub fn host(story: &Story, result: &mut RunResult) {
    let host = &mut result.host;
    host.name = "mailhost-07".into();
    host.operating_system = "Debian GNU/Linux 12 (bookworm)".into();
    host.kernel = "6.1.0-28-amd64".into();
    host.cpu_model = "Intel(R) Xeon(R) Silver 4314 CPU @ 2.40GHz".into();
    host.cpus = 32;
    host.memory_bytes = 137_438_953_472;
    let counter = |metric: Metric, average: f64| CounterSummary {
        id: metric.id().into_owned(),
        unit: metric.unit(),
        average,
        minimum: average * 0.8,
        maximum: average * 1.3,
    };
    host.counters = vec![
        counter(Metric::CpuBusy, story.processor_percent),
        counter(Metric::AvailableMemory, 98_000_000_000.0),
    ];
    let reads = &result.totals.reads;
    let writes = &result.totals.writes;
    let device = |name: &str, target: &str, read_ms: Option<f64>, write_ms: f64| DeviceResult {
        name: name.into(),
        model: "MSA 2050 SAN".into(),
        size_bytes: 4_000_787_030_016,
        rotational: Some(true),
        scheduler: "mq-deadline".into(),
        targets: vec![target.into()],
        average_read_ms: read_ms,
        average_write_ms: Some(write_ms),
        ..DeviceResult::default()
    };
    let mut data = device(
        "sdb",
        "/mnt/mail",
        Some(story.read_ms * story.device_share),
        story.read_ms * 0.37,
    );
    data.reads_per_second = reads.per_second + 18.0;
    data.writes_per_second = writes.per_second;
    data.read_bytes_per_second = reads.bytes_per_second();
    data.write_bytes_per_second = writes.bytes_per_second();
    data.average_queue_depth = reads.per_second * story.read_ms / 1_000.0;
    data.busy_fraction = 0.97;
    let mut log = device("sdc", "/mnt/log", None, story.log_ms * 0.9);
    log.writes_per_second = result.totals.log_writes.per_second;
    log.write_bytes_per_second = result.totals.log_writes.bytes_per_second();
    log.average_queue_depth = 0.4;
    log.busy_fraction = 0.31;
    host.devices = vec![data, log];
}

pub fn tuning(story: &Story) -> TuningResult {
    let steps = [4u64, 8, 16, 24, 32, 37, 40, 48];
    let steps = steps
        .iter()
        .map(|threads| {
            let load = *threads as f64 / 37.0;
            let read_ms = story.read_ms * (0.45 + 0.55 * load.powf(1.9));
            TuningStep {
                threads: *threads,
                rate_iops: None,
                duration_s: 75.0,
                achieved_iops: 920.0 * (1.0 - (-2.3 * load).exp()),
                average_database_read_ms: Some(read_ms),
                average_log_write_ms: Some(story.log_ms * (0.6 + 0.4 * load * load)),
                steady: true,
                kept: read_ms <= 20.0,
                missed: (read_ms > 20.0).then_some(CheckId::DatabaseReadAverage),
                conclusion: if read_ms > 20.0 {
                    "too many".into()
                } else {
                    "room left".into()
                },
                ..TuningStep::default()
            }
        })
        .collect();
    TuningResult {
        goal: "Find the most threads that keep every latency within its limit.".into(),
        reached: true,
        chosen: "37 threads".into(),
        steps,
        ..TuningResult::default()
    }
}

pub fn settings(story: &Story) -> std::collections::BTreeMap<String, serde_json::Value> {
    let list = [
        ("databases.count", json!(story.databases)),
        ("databases.mailboxes", json!(500)),
        ("databases.mailbox_size_bytes", json!(429_496_730)),
        ("databases.iops_per_mailbox", json!(0.11)),
        ("engine.page_size_bytes", json!(32_768)),
        ("engine.cache_size_bytes", json!(1_073_741_824)),
        ("engine.log_file_size_bytes", json!(1_048_576)),
        ("engine.log_buffer_bytes", json!(1_048_576)),
        ("engine.checkpoint_depth_bytes", json!(20_971_520)),
        ("engine.max_coalesce_read_bytes", json!(262_144)),
        ("engine.database_writes", json!("write-through")),
        ("engine.torn_page_protection", json!("detect")),
        ("operations.insert_percent", json!(40)),
        ("operations.delete_percent", json!(20)),
        ("operations.replace_percent", json!(5)),
        ("operations.read_percent", json!(35)),
        ("operations.lazy_commit_percent", json!(70)),
        ("maintenance.enabled", json!(true)),
        ("limits.average_database_read_ms", json!(20)),
        ("limits.average_log_write_ms", json!(10)),
    ];
    list.into_iter()
        .map(|(path, value)| (path.to_string(), value))
        .collect()
}
