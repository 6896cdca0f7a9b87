//! `[run]` and `[tuning]`: how long a run lasts, what it samples, and how it finds its threads.

use measure::steady::SteadyRule;

use super::quantity::TimeSpan;
use super::setting::{Choice, Named, OrWord, Setting, SettingVisitor, Switch, Within};
use crate::pacing::arrivals::Spacing;

/// The course of a run.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Length of the measured part.
    pub duration: TimeSpan,
    /// Length of one sample.
    pub sample_interval: TimeSpan,
    /// A rate to hold, in database reads and writes per second over all databases. `None` lets
    /// the sessions go as fast as the storage answers.
    pub held_rate: Option<f64>,
    /// How the transactions of a held rate are spread over time.
    pub arrivals: Spacing,
    /// Start of every random choice.
    pub seed: u64,
    /// Whether every page is read and verified after the run.
    pub verify_after_run: bool,
    /// When measuring may begin.
    pub warm_up: WarmUp,
    /// What counts as a steady run.
    pub steady_state: SteadyState,
}

/// `[run.warm_up]`: what must hold before measuring begins.
#[derive(Clone, Debug, PartialEq)]
pub struct WarmUp {
    /// How full every cache must be.
    pub cache_fill_percent: f64,
    /// The shortest warm-up.
    pub minimum: TimeSpan,
    /// The longest warm-up; measuring then begins with the cache as it is.
    pub maximum: TimeSpan,
}

/// `[run.steady_state]`: the test of the SNIA performance specification on the rate of the run.
#[derive(Clone, Debug, PartialEq)]
pub struct SteadyState {
    /// Whether a run that is not steady is inconclusive.
    pub required: bool,
    /// Equal parts that the run is cut into.
    pub windows: u32,
    /// Highest minus lowest window, as percent of their average.
    pub max_range_percent: f64,
    /// Rise or fall of the fitted line over the windows, as percent of their average.
    pub max_slope_percent: f64,
}

/// `[tuning]`: how `threads = "auto"` finds its number.
#[derive(Clone, Debug, PartialEq)]
pub struct Tuning {
    /// Sessions to begin with, over all databases; `None` derives them from the rate to reach.
    pub start_threads: Option<u32>,
    /// Sessions never exceeded.
    pub maximum_threads: u32,
    /// Length of one tuning sample.
    pub sample_interval: TimeSpan,
    /// Samples over which the slope of the latency is fitted.
    pub transient_samples: u32,
    /// Samples of a settled state that judge a thread count.
    pub stable_samples: u32,
    /// Slope of the read latency that still counts as settled, in ms per sample.
    pub settled_slope_ms: f64,
    /// Longest time for one thread count to settle.
    pub settle_limit: TimeSpan,
    /// Longest tuning.
    pub total_limit: TimeSpan,
    /// How near the rate must come to the one to reach.
    pub rate_margin_percent: f64,
}

impl Named for Spacing {
    const NAMES: &'static [(&'static str, Self)] =
        &[("even", Self::Even), ("poisson", Self::Poisson)];
}

impl Default for Run {
    fn default() -> Self {
        Self {
            duration: TimeSpan::seconds(2 * 3600),
            sample_interval: TimeSpan::seconds(15),
            held_rate: None,
            arrivals: Spacing::Even,
            seed: 1,
            verify_after_run: true,
            warm_up: WarmUp::default(),
            steady_state: SteadyState::default(),
        }
    }
}

impl Default for WarmUp {
    fn default() -> Self {
        Self {
            cache_fill_percent: 90.0,
            minimum: TimeSpan::seconds(0),
            maximum: TimeSpan::seconds(1800),
        }
    }
}

impl Default for SteadyState {
    fn default() -> Self {
        Self {
            required: true,
            windows: 5,
            max_range_percent: 20.0,
            max_slope_percent: 10.0,
        }
    }
}

impl Default for Tuning {
    fn default() -> Self {
        Self {
            start_threads: None,
            maximum_threads: 4096,
            sample_interval: TimeSpan::seconds(1),
            transient_samples: 30,
            stable_samples: 120,
            settled_slope_ms: 0.5,
            settle_limit: TimeSpan::seconds(600),
            total_limit: TimeSpan::seconds(3600),
            rate_margin_percent: 5.0,
        }
    }
}

const YEAR: TimeSpan = TimeSpan::seconds(365 * 86_400);

impl Run {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section("run", "How long a run lasts and what it samples.");
        v.setting(Setting {
            key: "duration",
            value: &mut Within(&mut self.duration, TimeSpan::seconds(1)..=YEAR),
            meaning: "Length of the measured part (--duration).",
            source: "Jetstress: 2 h for a performance test, 24 h for a stress test.",
        });
        v.setting(Setting {
            key: "sample_interval",
            value: &mut Within(
                &mut self.sample_interval,
                TimeSpan::millis(100)..=TimeSpan::seconds(3600),
            ),
            meaning: "Length of one sample, over which latencies are averaged.",
            source: "JetstressConfig.xml 2013, LogInterval 15000 ms.",
        });
        v.setting(Setting {
            key: "held_rate",
            value: &mut OrWord {
                word: "none",
                value: &mut self.held_rate,
                range: 0.1..=1e8,
            },
            meaning: "Database reads and writes per second to hold over all databases (--rate). \
                      Transactions then start by the clock, and latency counts from the intended \
                      start. \"none\" lets the sessions go as fast as the storage answers.",
            source: "Jetstress has no held rate; a setting.",
        });
        v.setting(Setting {
            key: "arrivals",
            value: &mut Choice(&mut self.arrivals),
            meaning: "How the transactions of a held rate are spread over time: \"even\" at equal \
                      distances, \"poisson\" at random and independently of each other, as many \
                      users cause them, so that some come in bursts. Without a held rate it \
                      means nothing.",
            source: "Jetstress has no held rate; a setting.",
        });
        v.setting(Setting {
            key: "seed",
            value: &mut Within(&mut self.seed, 0..=LARGEST_SEED),
            meaning: "Start of every random choice (--seed). At most 2^63 - 1, which is as far as \
                      whole numbers in TOML go.",
            source: "A setting.",
        });
        v.setting(Setting {
            key: "verify_after_run",
            value: &mut Switch(&mut self.verify_after_run),
            meaning: "Whether every page is read and its checksum verified after the run.",
            source: "JetstressConfig.xml 2013, VerifyChecksum.",
        });
        self.warm_up.visit(v);
        self.steady_state.visit(v);
    }
}

impl WarmUp {
    fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section("run.warm_up", "What must hold before measuring begins.");
        v.setting(Setting {
            key: "cache_fill_percent",
            value: &mut Within(&mut self.cache_fill_percent, 0.0..=99.0),
            meaning: "How full every cache must be; a database smaller than its cache must be \
                      cached as far.",
            source: "JetstressConfig.xml 2013, PreloadJetCache 0.9.",
        });
        v.setting(Setting {
            key: "minimum",
            value: &mut Within(&mut self.minimum, TimeSpan(0)..=YEAR),
            meaning: "The shortest warm-up.",
            source: "A setting.",
        });
        v.setting(Setting {
            key: "maximum",
            value: &mut Within(&mut self.maximum, TimeSpan(0)..=YEAR),
            meaning: "The longest warm-up; measuring then begins with the caches as they are.",
            source: "A setting.",
        });
    }
}

impl SteadyState {
    /// The rule in the form that is judged.
    #[must_use]
    pub fn rule(&self) -> SteadyRule {
        SteadyRule {
            rounds: self.windows as usize,
            range_fraction: self.max_range_percent / 100.0,
            slope_fraction: self.max_slope_percent / 100.0,
            required: self.required,
            ..SteadyRule::default()
        }
    }

    fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "run.steady_state",
            "The steady-state test of the SNIA performance specification, on the rate of the run.",
        );
        v.setting(Setting {
            key: "required",
            value: &mut Switch(&mut self.required),
            meaning: "Whether a run that is not steady is inconclusive (exit status 5).",
            source: "Ours; Jetstress does not ask for it.",
        });
        v.setting(Setting {
            key: "windows",
            value: &mut Within(&mut self.windows, 3..=100),
            meaning: "Equal parts that the run is cut into.",
            source: "SNIA PTS 2.0.2: five rounds.",
        });
        v.setting(Setting {
            key: "max_range_percent",
            value: &mut Within(&mut self.max_range_percent, 0.0..=100.0),
            meaning: "Highest minus lowest window, as percent of their average.",
            source: "SNIA PTS 2.0.2.",
        });
        v.setting(Setting {
            key: "max_slope_percent",
            value: &mut Within(&mut self.max_slope_percent, 0.0..=100.0),
            meaning: "Rise or fall of the fitted line over the windows, as percent of their \
                      average.",
            source: "SNIA PTS 2.0.2.",
        });
    }
}

/// The largest whole number that TOML has.
const LARGEST_SEED: u64 = i64::MAX as u64;

const SLOPE_POST: &str = "Microsoft's post on Jetstress tuning and its latency slope.";

impl Tuning {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section("tuning", "How threads = \"auto\" finds its number.");
        v.setting(Setting {
            key: "start_threads",
            value: &mut OrWord {
                word: "auto",
                value: &mut self.start_threads,
                range: 1..=65_536,
            },
            meaning: "Sessions to begin with, over all databases. \"auto\" derives them from the \
                      rate to reach.",
            source: "A setting; Microsoft's Jetstress 2010 help counts about 135 IOPS per thread.",
        });
        v.setting(Setting {
            key: "maximum_threads",
            value: &mut Within(&mut self.maximum_threads, 1..=65_536),
            meaning: "Sessions that tuning never exceeds.",
            source: "A setting.",
        });
        v.setting(Setting {
            key: "sample_interval",
            value: &mut Within(
                &mut self.sample_interval,
                TimeSpan::millis(10)..=TimeSpan::seconds(600),
            ),
            meaning: "Length of one tuning sample.",
            source: "Unconfirmed, a setting.",
        });
        v.setting(Setting {
            key: "transient_samples",
            value: &mut Within(&mut self.transient_samples, 2..=100_000),
            meaning: "Samples over which the slope of the read latency is fitted.",
            source: SLOPE_POST,
        });
        v.setting(Setting {
            key: "stable_samples",
            value: &mut Within(&mut self.stable_samples, 1..=100_000),
            meaning: "Samples of a settled state that judge a thread count.",
            source: SLOPE_POST,
        });
        v.setting(Setting {
            key: "settled_slope_ms",
            value: &mut Within(&mut self.settled_slope_ms, 0.0..=1000.0),
            meaning: "Rise of the read latency, in ms per sample, that still counts as settled.",
            source: "The code in Microsoft's post on the latency slope; its prose says 5.",
        });
        self.visit_limits(v);
    }

    fn visit_limits(&mut self, v: &mut dyn SettingVisitor) {
        v.setting(Setting {
            key: "settle_limit",
            value: &mut Within(&mut self.settle_limit, TimeSpan::millis(10)..=YEAR),
            meaning: "Longest time for one thread count to settle.",
            source: SLOPE_POST,
        });
        v.setting(Setting {
            key: "total_limit",
            value: &mut Within(&mut self.total_limit, TimeSpan::millis(10)..=YEAR),
            meaning: "Longest tuning.",
            source: SLOPE_POST,
        });
        v.setting(Setting {
            key: "rate_margin_percent",
            value: &mut Within(&mut self.rate_margin_percent, 0.1..=100.0),
            meaning: "How near the achieved rate must come to the rate to reach. Tuning keeps to \
                      half of it, so that chance does not fail the run.",
            source: "JetstressConfig.xml 2013, MarginIops; its use in tuning is unconfirmed.",
        });
    }
}
