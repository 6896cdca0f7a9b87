//! `[run]` and `[tuning]`: how long a run lasts, what it samples, and how it finds its threads.

use super::io_driver::IoDriverChoice;
use crate::pacing::arrivals::Spacing;
use crate::tuning::cycle::MOST_WINDOWS;
use config::{TimeSpan, choice, list, or_word, settings, within};
use measure::steady::SteadyRule;

/// The shortest limit of the time for all of the tuning.
const SHORTEST_TUNING: TimeSpan = TimeSpan::seconds(60);

/// Shortest tuning sample of a run that is too short for the ones of the profile, in seconds.
const SHORTEST_TUNING_SAMPLE_S: f64 = 0.1;

/// Steps that a search should find time for.
const STEPS_FOR_THREADS: f64 = 8.0;
const STEPS_FOR_MAXIMUM: f64 = 16.0;

/// The longest warm-up on real storage unless it is set.
const LONGEST_WARM_UP: TimeSpan = TimeSpan::seconds(900);

/// The longest warm-up of a prediction unless it is set.
const LONGEST_SIMULATED_WARM_UP: TimeSpan = TimeSpan::seconds(1800);

/// Samples that a run has at least unless their length is set.
const FEWEST_SAMPLES: u64 = 20;

/// Lengths of samples that a run chooses from, the longest first.
const SAMPLE_INTERVALS: [TimeSpan; 7] = [
    TimeSpan::seconds(15),
    TimeSpan::seconds(10),
    TimeSpan::seconds(5),
    TimeSpan::seconds(2),
    TimeSpan::seconds(1),
    TimeSpan::millis(500),
    TimeSpan::millis(200),
];

/// Samples of two series are each a multiple of this long, so that a tick is never very short.
pub(super) const COMMON_STEP: TimeSpan = TimeSpan::millis(50);

/// The shortest length of a sample.
const SHORTEST_SAMPLE: TimeSpan = TimeSpan::millis(100);

const YEAR: TimeSpan = TimeSpan::seconds(365 * 86_400);

/// The largest whole number that TOML has.
const LARGEST_SEED: u64 = i64::MAX as u64;

const SLOPE_POST: &str = "Microsoft's post on Jetstress tuning and its latency slope.";

settings! {
    /// How long a run lasts and what it samples.
    pub struct Run {
        /// Length of the measured phase (--duration).
        pub duration: TimeSpan = TimeSpan::seconds(2 * 3600),
            as within(TimeSpan::seconds(1)..=YEAR),
            source "Jetstress: 2 h for a performance test, 24 h for a stress test.";
        /// A prediction ends its measured phase earlier when the 95 % confidence intervals of the mean and
        /// of the 99th percentile of database read latencies, and of log write latencies, reach no
        /// further than this percentage of the figure to either side (--until). All databases
        /// count together; after 20 samples at the earliest, and only in a steady state where that is required.
        pub until_percent: Option<f64> = None,
            as or_word("never", within(0.1..=50.0)), source "A setting.";
        /// Length of one sample, over which latencies are averaged. "auto" is 15 s, and less in a run
        /// of under 5 minutes, so that it has at least 20 samples.
        pub sample_interval: Option<TimeSpan> = None,
            as or_word("auto", within(TimeSpan::millis(100)..=TimeSpan::seconds(3600))),
            source "JetstressConfig.xml 2013, LogInterval 15000 ms.";
        /// Length of the samples of a second series, with the same figures, in samples-2.csv and
        /// histograms-2.hlog. Verdict, steady state and charts use the samples of run.sample_interval only.
        pub second_sample_interval: Option<TimeSpan> = None,
            as or_word("none", within(TimeSpan::millis(100)..=TimeSpan::seconds(3600))),
            source "JetstressConfig.xml 2013, LogInterval2 5000 ms; none here unless it is set.";
        /// Database reads and writes per second to hold over all databases (--rate). Transactions
        /// then start by the clock, and latency counts from the intended start. "none" lets the
        /// sessions go as fast as the storage answers.
        pub held_rate: Option<f64> = None,
            as or_word("none", within(0.1..=1e8)), source "Jetstress has no held rate; a setting.";
        /// How the transactions of a held rate are spread over time: "even" at equal distances,
        /// "poisson" at random and independently of each other, as many users cause them, so that
        /// some come in bursts. Without a held rate it means nothing.
        pub arrivals: Spacing = Spacing::Even,
            source "Jetstress has no held rate; a setting.";
        /// Seed of the random number generator (--seed). At most 2^63 - 1, which is as far as whole
        /// numbers in TOML go.
        pub seed: u64 = 1,
            as within(0..=LARGEST_SEED), source "Project default.";
        /// Whether every page is read and its checksum verified after the run.
        pub verify_after_run: bool = true,
            source "JetstressConfig.xml 2013, VerifyChecksum.";
        /// Errors beyond service_levels.allowed_errors after which the load ends early; the databases
        /// are verified all the same. 0 ends it at the first error that is not allowed, "never" goes on
        /// whatever their number (--continue-on-errors). A bad page counts once.
        pub stop_after_errors: Option<u64> = Some(1000),
            as or_word("never", within(0..=u64::MAX / 2)),
            source "A setting.";
        /// A request that is not answered for so long is hung: it is reported while it hangs and counts
        /// as an error. A run whose storage answers nothing any more ends some time after.
        pub hung_request_after: TimeSpan = TimeSpan::seconds(30),
            as within(TimeSpan::seconds(1)..=TimeSpan::seconds(3600)),
            source "ESE: HungIOThreshold 30000 ms.";
        /// How requests reach the kernel. "auto" is io_uring, and threads where the kernel or a container
        /// refuses it; the result names what was used.
        pub io_driver: IoDriverChoice = IoDriverChoice::Auto,
            source "A setting.";
        /// What must hold before measuring begins.
        pub warm_up: WarmUp = WarmUp::default();
        /// When the measured phase counts as steady.
        pub steady_state: SteadyState = SteadyState::default();
    }
}

settings! {
    /// What must hold before measuring begins.
    pub struct WarmUp {
        /// How full every database cache must be; a database smaller than its cache must be cached as far.
        pub cache_fill_percent: f64 = 90.0,
            as within(0.0..=99.0), source "JetstressConfig.xml 2013, PreloadJetCache 0.9.";
        /// The shortest warm-up, even if the caches are full before. "auto" is none, and 15 min of
        /// simulated time before a predicted brokerage.
        pub minimum: Option<TimeSpan> = None,
            as or_word("auto", within(TimeSpan(0)..=YEAR)), source "Project default.";
        /// The longest warm-up; measuring then begins with the caches as they are. "auto" is 15 min on
        /// real storage, and 30 min of simulated time.
        pub maximum: Option<TimeSpan> = None,
            as or_word("auto", within(TimeSpan(0)..=YEAR)), source "Project default.";
        /// Whether a run on real storage also waits until the load is steady: operations and database
        /// reads in rounds of a sixtieth of the measured phase, 15 s at most, by the rule of
        /// run.steady_state or as near to it as chance allows. It waits no longer than the measured
        /// phase lasts. A prediction waits for full database caches only; --settled and --find
        /// begin it with read caches and tiers as they are after days of the load.
        pub until_steady: bool = true,
            source "Project default; SNIA PTS: preconditioning until steady.";
    }
}

settings! {
    /// The steady-state test of the SNIA performance specification, on the rate of the run.
    pub struct SteadyState {
        /// Whether a run that is not steady is inconclusive (exit status 5).
        pub required: bool = true,
            source "Project default; Jetstress does not ask for it.";
        /// Equal parts that the run is cut into.
        pub windows: u32 = 5,
            as within(3..=100), source "SNIA PTS 2.0.2: five rounds.";
        /// Highest minus lowest window, as percent of their average.
        pub max_range_percent: f64 = 20.0,
            as within(0.0..=100.0), source "SNIA PTS 2.0.2.";
        /// Rise or fall of the fitted line over the windows, as percent of their average.
        pub max_slope_percent: f64 = 10.0,
            as within(0.0..=100.0), source "SNIA PTS 2.0.2.";
    }
}

choice! {
    /// Which load a run looks for before it measures.
    pub enum FindLoad default None {
        /// None, unless threads = "auto" has to find its number.
        None = "none",
        /// The highest rate that is carried with every service level met.
        MaxIops = "max-iops",
    }
}

settings! {
    /// How threads = "auto" finds its number, and how the highest load is found.
    pub struct Tuning {
        /// Which load is looked for before the measured phase, which then holds it (--find). With
        /// "max-iops" a run holds one rate after the other and closes in on the highest that is carried
        /// with every service level met; run.held_rate is then the target that the maximum is compared
        /// with, and mail.threads the most transactions at once.
        pub find: FindLoad = FindLoad::None,
            source "Jetstress 2007 finds the maximum throughput first; a setting here.";
        /// Part of the highest rate found that the measured phase holds (--throughput-percent).
        /// Without effect unless "find" is set.
        pub held_percent: f64 = 100.0,
            as within(1.0..=100.0),
            source "JetstressConfig.xml 2013, ThroughputPercentage 100.";
        /// Parts of a rate, in percent, that are held one after the other before the measured phase
        /// (--curve): of the highest rate if "find" is set, else of run.held_rate.
        pub curve_percent: Vec<f64> = Vec::new(),
            as list(within(1.0..=200.0)), source "A setting.";
        /// Sessions to begin with, over all databases. "auto" derives them from the target rate.
        pub start_threads: Option<u32> = None,
            as or_word("auto", within(1..=65_536)),
            source "A setting; Microsoft's Jetstress 2010 help counts about 135 IOPS per thread.";
        /// Sessions that tuning never exceeds.
        pub maximum_threads: u32 = 4096,
            as within(1..=65_536), source "Project default.";
        /// Length of one tuning sample.
        pub sample_interval: TimeSpan = TimeSpan::seconds(1),
            as within(TimeSpan::millis(10)..=TimeSpan::seconds(600)),
            source "Unconfirmed, a setting.";
        /// Samples over which the slope of the read latency is fitted.
        pub transient_samples: u32 = 30,
            as within(2..=100_000), source SLOPE_POST;
        /// Samples of a settled state that judge a thread count.
        pub stable_samples: u32 = 120,
            as within(1..=100_000), source SLOPE_POST;
        /// Rise of the read latency, in ms per sample, that still counts as settled.
        pub settled_slope_ms: f64 = 0.5,
            as within(0.0..=1000.0),
            source "The code in Microsoft's post on the latency slope; its prose says 5.";
        /// Longest time for one thread count to settle.
        pub settle_limit: TimeSpan = TimeSpan::seconds(600),
            as within(TimeSpan::millis(10)..=YEAR), source SLOPE_POST;
        /// Length of tuning: no step begins that would usually end later, but the last one may take longer.
        pub total_limit: TimeSpan = TimeSpan::seconds(3600),
            as within(TimeSpan::millis(10)..=YEAR), source SLOPE_POST;
        /// How near the achieved rate must come to the target rate. Tuning keeps to half of it,
        /// so that chance does not fail the run. A search also keeps average
        /// latencies this far below their limits.
        pub rate_margin_percent: f64 = 5.0,
            as within(0.1..=100.0),
            source "JetstressConfig.xml 2013, MarginIops; its use in tuning is unconfirmed.";
    }
}

/// How long a warm-up lasts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WarmUpLength {
    /// It lasts at least so long.
    pub shortest: TimeSpan,
    /// It lasts at most so long.
    pub longest: TimeSpan,
    /// Whether it waits for a steady load, besides full caches.
    pub until_steady: bool,
}

impl WarmUp {
    /// The warm-up of a run on real storage.
    #[must_use]
    pub fn on_storage(&self) -> WarmUpLength {
        let shortest = self.minimum.unwrap_or_default();
        WarmUpLength {
            shortest,
            longest: self.maximum.unwrap_or(shortest.max(LONGEST_WARM_UP)),
            until_steady: self.until_steady,
        }
    }

    /// The warm-up of a prediction that takes at least `usual` if nothing is set.
    #[must_use]
    pub fn in_prediction(&self, usual: TimeSpan) -> WarmUpLength {
        let longest = self.maximum.unwrap_or(LONGEST_SIMULATED_WARM_UP);
        let shortest = self.minimum.unwrap_or(usual.min(longest));
        WarmUpLength {
            shortest,
            longest: longest.max(shortest),
            until_steady: false,
        }
    }
}

impl Run {
    /// Length of one sample.
    #[must_use]
    pub fn sample_interval(&self) -> TimeSpan {
        let fits = |interval: &TimeSpan| self.duration.as_ns() / interval.as_ns() >= FEWEST_SAMPLES;
        self.sample_interval
            .or_else(|| SAMPLE_INTERVALS.into_iter().find(fits))
            .unwrap_or(SHORTEST_SAMPLE)
    }

    /// How often counts are taken: no less often than at the end of each sample and after `longest`. With
    /// two series every sample takes a whole number of ticks.
    #[must_use]
    pub fn tick(&self, longest: TimeSpan) -> TimeSpan {
        let first = self.sample_interval();
        match self.second_sample_interval {
            None => first.min(longest),
            Some(second) => {
                let common_ns = greatest_common_divisor(first.as_ns(), second.as_ns());
                TimeSpan(common_ns / common_ns.div_ceil(longest.as_ns()))
            }
        }
    }
}

fn greatest_common_divisor(a: u64, b: u64) -> u64 {
    match b {
        0 => a,
        _ => greatest_common_divisor(b, a % b),
    }
}

/// The times of a search before a certain run, which are shorter before a run that is shorter than they are.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchTimes {
    /// Longest search for a load; no longer than the run itself, and one minute at least.
    pub search_s: f64,
    /// Length of one sample.
    pub sample_s: f64,
    /// Longest time for one load to settle.
    pub settle_s: f64,
    /// A step that settles at once and is steady.
    pub shortest_step_s: f64,
    /// Length of the window of a step that is judged first.
    pub window_s: f64,
}

impl Tuning {
    /// The times of a search before this run.
    #[must_use]
    pub fn times(&self, run: &Run) -> SearchTimes {
        let search = run.duration.0.max(SHORTEST_TUNING.0);
        let search_s = TimeSpan(self.total_limit.0.min(search)).as_seconds();
        let samples = f64::from(self.transient_samples + self.stable_samples);
        let wanted_s = self.sample_interval.as_seconds();
        let steps = match self.find {
            FindLoad::None => STEPS_FOR_THREADS,
            FindLoad::MaxIops => STEPS_FOR_MAXIMUM,
        };
        let fitting_s = (search_s / steps / samples).max(SHORTEST_TUNING_SAMPLE_S);
        let sample_s = wanted_s.min(fitting_s);
        SearchTimes {
            search_s,
            sample_s,
            settle_s: self.settle_limit.as_seconds() * sample_s / wanted_s,
            shortest_step_s: samples * sample_s,
            window_s: f64::from(self.stable_samples) * sample_s,
        }
    }

    /// The longest time for all steps before the measured phase of this run: a search for `searches`, and the
    /// steps of a curve.
    #[must_use]
    pub fn longest(&self, run: &Run, searches: bool) -> TimeSpan {
        let times = self.times(run);
        let curve_s = self.curve_percent.len() as f64 * times.longest_step_s();
        // The last step of the search may take longer than it usually does.
        let search_s = times.search_s + times.longest_step_s() - times.shortest_step_s;
        let search_s = if searches { search_s } else { 0.0 };
        TimeSpan(((search_s + curve_s) * 1e9) as u64)
    }
}

impl SearchTimes {
    /// A step that settles at the last moment and is not steady then.
    #[must_use]
    pub fn longest_step_s(&self) -> f64 {
        self.settle_s + f64::from(MOST_WINDOWS) * self.window_s
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_samples_of_two_series_take_whole_ticks_of_a_second_at_most() {
        let tick_ms = |first_ms, second_ms: Option<u64>| {
            let run = Run {
                sample_interval: Some(TimeSpan::millis(first_ms)),
                second_sample_interval: second_ms.map(TimeSpan::millis),
                ..Run::default()
            };
            run.tick(TimeSpan::seconds(1)).as_ns() as f64 / 1e6
        };
        for (first_ms, second_ms, expected_ms) in [
            (15_000, None, 1000.0),
            (250, None, 250.0),
            (15_000, Some(5_000), 1000.0),
            (15_000, Some(15_000), 1000.0),
            (2_000, Some(1_000), 1000.0),
            (1_500, Some(4_500), 750.0),
            (1_000, Some(700), 100.0),
            (250, Some(100), 50.0),
            (250, Some(500), 250.0),
        ] {
            let found_ms = tick_ms(first_ms, second_ms);
            assert_eq!(found_ms, expected_ms, "{first_ms} {second_ms:?}");
        }
    }
}
