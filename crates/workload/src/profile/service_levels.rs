//! `[service_levels]`: the limits that decide the verdict.

use super::quantity::TimeSpan;
use super::setting::{Setting, SettingVisitor, Within};

/// The limits of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct ServiceLevels {
    /// Limit of the average latency of database reads, per database.
    pub average_database_read: TimeSpan,
    /// Limit of the average latency of log writes, per database.
    pub average_log_write: TimeSpan,
    /// Limit of a sample's average read latency.
    pub strict_maximum_database_read: TimeSpan,
    /// Limit of a sample's average log write latency.
    pub strict_maximum_log_write: TimeSpan,
    /// The read limit of a long run.
    pub lenient_maximum_database_read: TimeSpan,
    /// The log write limit of a long run.
    pub lenient_maximum_log_write: TimeSpan,
    /// Runs longer than this use the lenient maxima.
    pub lenient_above: TimeSpan,
    /// Samples of a database that may lie above a maximum.
    pub tolerated_spikes: u32,
    /// Limit of page fault stalls per second, on average.
    pub page_fault_stalls_per_second: f64,
    /// How far below the target rate a run may stay.
    pub rate_margin_percent: f64,
}

impl Default for ServiceLevels {
    fn default() -> Self {
        Self {
            average_database_read: TimeSpan::millis(20),
            average_log_write: TimeSpan::millis(10),
            strict_maximum_database_read: TimeSpan::millis(100),
            strict_maximum_log_write: TimeSpan::millis(100),
            lenient_maximum_database_read: TimeSpan::millis(200),
            lenient_maximum_log_write: TimeSpan::millis(200),
            lenient_above: TimeSpan::seconds(6 * 3600),
            tolerated_spikes: 6,
            page_fault_stalls_per_second: 1.0,
            rate_margin_percent: 5.0,
        }
    }
}

const THRESHOLDS: &str = "JetstressConfig.xml 2013, Thresholds.";
const LONGEST: TimeSpan = TimeSpan::seconds(600);
const SHORTEST: TimeSpan = TimeSpan(1_000);

impl ServiceLevels {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "service_levels",
            "The limits that decide the verdict. Each database is judged by itself.",
        );
        let averages = [
            (
                "average_database_read",
                &mut self.average_database_read,
                "Limit of the average latency of database reads over the run.",
            ),
            (
                "average_log_write",
                &mut self.average_log_write,
                "Limit of the average latency of log writes over the run.",
            ),
            (
                "strict_maximum_database_read",
                &mut self.strict_maximum_database_read,
                "Limit of the average database read latency within any one sample.",
            ),
            (
                "strict_maximum_log_write",
                &mut self.strict_maximum_log_write,
                "Limit of the average log write latency within any one sample.",
            ),
            (
                "lenient_maximum_database_read",
                &mut self.lenient_maximum_database_read,
                "The sample limit of database reads in a long run.",
            ),
            (
                "lenient_maximum_log_write",
                &mut self.lenient_maximum_log_write,
                "The sample limit of log writes in a long run.",
            ),
        ];
        for (key, value, meaning) in averages {
            v.setting(Setting {
                key,
                value: &mut Within(value, SHORTEST..=LONGEST),
                meaning,
                source: THRESHOLDS,
            });
        }
        self.visit_rules(v);
    }

    fn visit_rules(&mut self, v: &mut dyn SettingVisitor) {
        v.setting(Setting {
            key: "lenient_above",
            value: &mut Within(
                &mut self.lenient_above,
                TimeSpan(0)..=TimeSpan::seconds(365 * 86_400),
            ),
            meaning: "Runs longer than this use the lenient sample limits.",
            source: "Microsoft's Jetstress help: a performance test above 6 h becomes a stress \
                     test.",
        });
        v.setting(Setting {
            key: "tolerated_spikes",
            value: &mut Within(&mut self.tolerated_spikes, 0..=u32::MAX),
            meaning: "Samples of one database that may lie above a sample limit before the run \
                      fails; 0 lets a single one fail it.",
            source: "JetstressConfig.xml 2013, MaximumLatencyErrors; how Jetstress counts is \
                     unconfirmed.",
        });
        v.setting(Setting {
            key: "page_fault_stalls_per_second",
            value: &mut Within(&mut self.page_fault_stalls_per_second, 0.0..=1e6),
            meaning: "Limit of the average number of reads per second that had to wait for a free \
                      page in the cache.",
            source: "The failure text of Jetstress 2013: not higher than 1.",
        });
        v.setting(Setting {
            key: "rate_margin_percent",
            value: &mut Within(&mut self.rate_margin_percent, 0.0..=100.0),
            meaning: "How far below the rate to reach the achieved one may stay.",
            source: "JetstressConfig.xml 2013, MarginIops.",
        });
    }
}
