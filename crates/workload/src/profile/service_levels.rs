//! `[service_levels]`: the limits that decide the verdict, held in the type that judges them.

use measure::service_level::ServiceLevels;

use super::quantity::TimeSpan;
use super::setting::{Limit, Setting, SettingVisitor, Within};

const THRESHOLDS: &str = "JetstressConfig.xml 2013, Thresholds.";
const YEAR: TimeSpan = TimeSpan::seconds(365 * 86_400);

/// Lists the service levels.
pub(super) fn visit(levels: &mut ServiceLevels, v: &mut dyn SettingVisitor) {
    v.section(
        "service_levels",
        "The limits that decide the verdict. Each database is judged by itself; a value at its \
         limit passes.",
    );
    let latencies = [
        (
            "average_database_read",
            &mut levels.average_database_read_ms,
            "Limit of the average latency of database reads over the run.",
            THRESHOLDS,
        ),
        (
            "average_log_write",
            &mut levels.average_log_write_ms,
            "Limit of the average latency of log writes over the run.",
            THRESHOLDS,
        ),
        (
            "maximum_database_read_strict",
            &mut levels.maximum_database_read_strict_ms,
            "Limit of the average database read latency within any one sample.",
            THRESHOLDS,
        ),
        (
            "maximum_database_read_lenient",
            &mut levels.maximum_database_read_lenient_ms,
            "The same in a run longer than lenient_above.",
            THRESHOLDS,
        ),
        (
            "maximum_log_write_strict",
            &mut levels.maximum_log_write_strict_ms,
            "Limit of the average log write latency within any one sample.",
            THRESHOLDS,
        ),
        (
            "maximum_log_write_lenient",
            &mut levels.maximum_log_write_lenient_ms,
            "The same in a run longer than lenient_above.",
            THRESHOLDS,
        ),
        (
            "p99_database_read",
            &mut levels.p99_database_read_ms,
            "Limit that 99 of 100 database reads must keep.",
            "Jetstress knows no percentiles.",
        ),
        (
            "p99_log_write",
            &mut levels.p99_log_write_ms,
            "Limit that 99 of 100 log writes must keep.",
            "Jetstress knows no percentiles.",
        ),
    ];
    for (key, value, meaning, source) in latencies {
        v.setting(Setting {
            key,
            value: &mut Limit::millis(value),
            meaning,
            source,
        });
    }
    visit_rules(levels, v);
}

fn visit_rules(levels: &mut ServiceLevels, v: &mut dyn SettingVisitor) {
    v.setting(Setting {
        key: "lenient_above",
        value: &mut Limit::seconds(&mut levels.lenient_above_s, YEAR),
        meaning: "Runs longer than this are judged by the lenient sample limits.",
        source: "Microsoft's Jetstress help: a performance test above 6 h becomes a stress test.",
    });
    v.setting(Setting {
        key: "allowed_maximum_violations",
        value: &mut Within(&mut levels.allowed_maximum_violations, 0..=u32::MAX),
        meaning: "Samples of each database that may lie above a sample limit.",
        source: "JetstressConfig.xml 2013 ships MaximumLatencyErrors 6, yet its authors report \
                 that one spike fails a test; the strict reading.",
    });
    v.setting(Setting {
        key: "page_fault_stalls_per_second",
        value: &mut Within(&mut levels.page_fault_stalls_per_second, 0.0..=1e6),
        meaning: "Limit of the average number of reads per second that had to wait for a free \
                  page in the cache.",
        source: "The failure text of Jetstress 2013: not higher than 1.",
    });
    v.setting(Setting {
        key: "achieved_margin_fraction",
        value: &mut Within(&mut levels.achieved_margin_fraction, 0.0..=1.0),
        meaning: "How far below the rate to reach the achieved one may stay, as a fraction of it.",
        source: "JetstressConfig.xml 2013, MarginIops.",
    });
    v.setting(Setting {
        key: "allowed_errors",
        value: &mut Within(&mut levels.allowed_errors, 0..=u64::MAX / 2),
        meaning: "I/O errors and bad pages that are allowed.",
        source: "Jetstress 2013: a single one fails the test.",
    });
    let mut samples = u32::try_from(levels.fewest_samples).unwrap_or(u32::MAX);
    v.setting(Setting {
        key: "fewest_samples",
        value: &mut Within(&mut samples, 1..=1_000_000),
        meaning: "A run with fewer samples is inconclusive.",
        source: "A setting.",
    });
    levels.fewest_samples = samples as usize;
}
