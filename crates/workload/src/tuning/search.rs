//! The search for a load: more and more, then closing in.

use super::cycle::CycleOutcome;
use measure::display::number::{limit, percent};
use measure::result::{SearchEnd, TuningResult, TuningStep};

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The least load that reaches this rate (database reads plus writes per second) with every
    /// service level kept.
    Rate(f64),
    /// The highest load with every service level kept.
    Maximum,
}

/// The figure of the load that the search varies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Axis {
    /// The number of sessions of a closed loop.
    Threads,
    /// The rate of database reads and writes per second that is held, with so many sessions at most.
    Rate {
        /// Sessions that may be at work at once.
        sessions: u32,
    },
}

/// The bounds of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSettings {
    /// What is looked for.
    pub goal: Goal,
    /// What is varied: sessions, or I/Os per second.
    pub axis: Axis,
    /// The rate that was asked for, when the highest load is looked for all the same.
    pub asked_iops: Option<f64>,
    /// How far below the wanted rate still counts as reached, 0.05 for 5 %.
    pub rate_margin: f64,
    /// The load to begin with; `None` derives it from the goal.
    pub start: Option<u32>,
    /// The smallest load that makes sense.
    pub minimum: u32,
    /// The largest load to try.
    pub maximum: u32,
    /// Longest search in seconds.
    pub total_limit_s: f64,
    /// The shortest step in seconds: without time for it no further step begins.
    pub step_s: f64,
}

/// I/O per second that one session reaches on common disk arrays (Microsoft's Jetstress 2010 help
/// counts 107 database and 33 log I/Os), its pauses included.
const IOPS_PER_SESSION: f64 = 107.0;

/// Times the load before, while nothing was too much, and while it is far below every limit.
const GROWTH: u32 = 2;
const FAST_GROWTH: u32 = 4;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Run a step with this load.
    Try(u32),
    /// The search is over: run the load with so much.
    Done(u32),
}

/// A search under way. [`Search::step`] says what to run, [`Search::judged`] takes the outcome.
#[derive(Debug)]
pub struct Search {
    settings: SearchSettings,
    trying: u32,
    growth: u32,
    /// The largest load known to be too little for the rate, or (looking for the maximum) to be fine.
    low: u32,
    /// The smallest load known to be enough, or to be too much.
    high: Option<u32>,
    /// The best load so far: every level kept, and the highest rate among those.
    best: Option<(u32, f64)>,
    /// Whether `best` reaches the goal.
    reached: bool,
    elapsed_s: f64,
    out_of_time: bool,
    steps: Vec<TuningStep>,
}

impl Search {
    /// A search that begins now.
    #[must_use]
    pub fn new(settings: SearchSettings) -> Self {
        assert!(1 <= settings.minimum && settings.minimum <= settings.maximum);
        let derived = match settings.goal {
            Goal::Rate(iops) => (iops / IOPS_PER_SESSION).ceil() as u32,
            Goal::Maximum => settings.minimum,
        };
        let start = settings.start.unwrap_or(derived);
        Self {
            trying: start.clamp(settings.minimum, settings.maximum),
            growth: GROWTH,
            low: settings.minimum - 1,
            high: None,
            best: None,
            reached: false,
            elapsed_s: 0.0,
            out_of_time: false,
            steps: Vec::new(),
            settings,
        }
    }

    /// What to do now.
    #[must_use]
    pub fn step(&self) -> Step {
        if self.is_over() {
            // Without any load that kept the levels, the least one tried asks for the least.
            let least = self.steps.iter().map(|step| self.load_of(step)).min();
            let chosen = self.best.map(|(load, _)| load).or(least);
            return Step::Done(chosen.unwrap_or(self.settings.minimum));
        }
        Step::Try(self.trying)
    }

    fn load_of(&self, step: &TuningStep) -> u32 {
        match self.settings.axis {
            Axis::Threads => step.threads as u32,
            Axis::Rate { .. } => step.rate_iops.unwrap_or(0.0) as u32,
        }
    }

    /// Takes the outcome of a step with the load that [`Search::step`] asked for.
    pub fn judged(&mut self, judged: &CycleOutcome) {
        assert!(!self.is_over(), "the search is over");
        let load = self.trying;
        self.elapsed_s += judged.duration_s;
        self.out_of_time = self.elapsed_s + self.settings.step_s > self.settings.total_limit_s;
        self.growth = match judged.comfortable && self.settings.goal == Goal::Maximum {
            true => FAST_GROWTH,
            false => GROWTH,
        };
        let enough = match self.settings.goal {
            Goal::Rate(iops) => judged.achieved_iops >= iops * (1.0 - self.settings.rate_margin),
            Goal::Maximum => false,
        };
        let conclusion = match (judged.kept, enough) {
            (true, true) => {
                self.reached = true;
                self.best = Some((load, judged.achieved_iops));
                self.high = Some(load);
                "the target rate is reached and ".to_owned() + &judged.finding
            }
            (true, false) => {
                self.low = load;
                if !self.reached
                    && self
                        .best
                        .is_none_or(|(_, best)| judged.achieved_iops > best)
                {
                    self.best = Some((load, judged.achieved_iops));
                }
                judged.finding.clone()
            }
            (false, _) => {
                self.high = Some(load);
                judged.finding.clone()
            }
        };
        let step = self.entry(load, judged, conclusion);
        self.steps.push(step);
        self.trying = self.next_try();
    }

    fn next_try(&self) -> u32 {
        match self.high {
            None => self
                .low
                .saturating_mul(self.growth)
                .clamp(1, self.settings.maximum),
            Some(high) => self.low + (high - self.low) / 2,
        }
    }

    fn is_over(&self) -> bool {
        let at_the_top = self.high.is_none() && self.low >= self.settings.maximum;
        self.out_of_time || at_the_top || self.has_closed_in()
    }

    /// Whether too little and too much lie side by side: closer than 3 % of the number is closer than two runs
    /// agree.
    fn has_closed_in(&self) -> bool {
        self.high
            .is_some_and(|high| high - self.low <= 1 + high / 32)
    }

    fn entry(&self, load: u32, judged: &CycleOutcome, conclusion: String) -> TuningStep {
        let (threads, rate_iops) = match self.settings.axis {
            Axis::Threads => (load, None),
            Axis::Rate { sessions } => (sessions, Some(f64::from(load))),
        };
        TuningStep {
            conclusion,
            ..judged.entry(threads, rate_iops)
        }
    }

    /// The figure of the load that the search varies.
    #[must_use]
    pub fn axis(&self) -> Axis {
        self.settings.axis
    }

    /// Steps that were judged.
    #[must_use]
    pub fn tried(&self) -> usize {
        self.steps.len()
    }

    /// Steps until the search has closed in; `None` while nothing was too much.
    #[must_use]
    pub fn steps_left(&self) -> Option<u32> {
        let high = self.high?;
        let apart = f64::from(high - self.low) / f64::from(1 + high / 32);
        Some(apart.max(1.0).log2().ceil() as u32)
    }

    /// Everything that was tried and what came of it.
    #[must_use]
    pub fn result(&self) -> TuningResult {
        let goal = self.settings.goal;
        let mut result = TuningResult {
            goal: self.goal_sentence(),
            finds_maximum: goal == Goal::Maximum,
            target_iops: match goal {
                Goal::Rate(iops) => Some(iops),
                Goal::Maximum => self.settings.asked_iops,
            },
            maximum_iops: self.best.map(|(_, iops)| iops),
            steps: self.steps.clone(),
            ..TuningResult::default()
        };
        let Step::Done(chosen) = self.step() else {
            return result;
        };
        result.chosen = match self.settings.axis {
            Axis::Threads if self.reached && !self.has_closed_in() => {
                format!(
                    "{chosen} threads, and the time for the search was over before fewer were tried"
                )
            }
            Axis::Threads => format!("{chosen} threads"),
            Axis::Rate { .. } => format!("{} IOPS", limit(f64::from(chosen))),
        };
        result.ended = self.end();
        let above = self.steps.iter().filter(|step| !step.kept);
        let above = above.min_by_key(|step| self.load_of(step));
        result.stopped_by = above
            .filter(|_| result.ended == SearchEnd::ServiceLevel)
            .and_then(|step| step.missed);
        result.reached = match (goal, self.settings.asked_iops) {
            (Goal::Rate(_), _) => self.reached,
            (Goal::Maximum, None) => self.best.is_some() && result.ended != SearchEnd::Time,
            (Goal::Maximum, Some(asked)) => self.best.is_some_and(|(load, _)| {
                f64::from(load) >= asked * (1.0 - self.settings.rate_margin)
            }),
        };
        result
    }

    fn end(&self) -> SearchEnd {
        match self.high {
            _ if self.reached => SearchEnd::RateReached,
            Some(_) if self.has_closed_in() => SearchEnd::ServiceLevel,
            None if self.low >= self.settings.maximum => SearchEnd::LargestLoad,
            _ => SearchEnd::Time,
        }
    }

    fn goal_sentence(&self) -> String {
        match (self.settings.goal, self.settings.axis) {
            (Goal::Rate(iops), _) => format!(
                "The fewest threads that reach {} IOPS of database reads and writes (less a margin \
                 of {} %) with every service level met.",
                limit(iops),
                percent(self.settings.rate_margin)
            ),
            (Goal::Maximum, Axis::Threads) => {
                "The most threads with every service level met.".to_owned()
            }
            (Goal::Maximum, Axis::Rate { .. }) => {
                "The highest rate of database reads and writes that is carried with every service \
                 level met."
                    .to_owned()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use measure::display::tuning_outcome;

    use super::*;
    use measure::result::CheckId;
    use proptest::prelude::*;

    fn settings(goal: Goal) -> SearchSettings {
        SearchSettings {
            goal,
            axis: Axis::Threads,
            asked_iops: None,
            rate_margin: 0.05,
            start: None,
            minimum: 1,
            maximum: 4096,
            total_limit_s: 1e9,
            step_s: 150.0,
        }
    }

    /// A storage that gives 100 IOPS per session until `knee`, and keeps its levels until there.
    fn search(settings: SearchSettings, knee: u32) -> (u32, TuningResult) {
        let mut search = Search::new(settings);
        for _ in 0..100 {
            let threads = match search.step() {
                Step::Try(threads) => threads,
                Step::Done(chosen) => return (chosen, search.result()),
            };
            search.judged(&CycleOutcome {
                steady: true,
                kept: threads <= knee,
                comfortable: threads <= knee / 8,
                missed: (threads > knee).then_some(CheckId::LogWriteAverage),
                achieved_iops: f64::from(threads.min(knee)) * 100.0,
                database_read_ms: Some(5.0),
                database_read_p99_ms: Some(9.0),
                log_write_ms: None,
                log_write_p99_ms: None,
                stalls_per_second: 0.0,
                finding: "found".to_owned(),
                judged_s: 120.0,
                duration_s: 150.0,
            });
        }
        panic!("the search does not end");
    }

    proptest! {
        #[test]
        fn the_knee_is_found(knee in 1_u32..3_000) {
            let (chosen, result) = search(settings(Goal::Maximum), knee);
            prop_assert!(result.reached);
            prop_assert!(chosen <= knee && knee - chosen <= 1 + knee / 30, "{} {}", chosen, knee);
            prop_assert!(result.steps.len() <= 20);
            prop_assert_eq!(result.ended, SearchEnd::ServiceLevel);
            prop_assert_eq!(result.stopped_by, Some(CheckId::LogWriteAverage));
        }

        #[test]
        fn the_highest_rate_is_found(knee in 10_u32..300_000, start in 10_u32..300_000) {
            let axis = Axis::Rate { sessions: 64 };
            let from = SearchSettings { axis, start: Some(start), maximum: 1_000_000, ..settings(Goal::Maximum) };
            let (chosen, result) = search(from, knee);
            prop_assert!(chosen <= knee && knee - chosen <= 1 + knee / 30, "{} {}", chosen, knee);
            prop_assert!(result.steps.len() <= 24);
            prop_assert!(result.steps.iter().all(|step| step.threads == 64));
        }

        #[test]
        fn the_fewest_sessions_for_a_rate_are_found(needed in 1_u32..2_000) {
            let goal = Goal::Rate(f64::from(needed) * 100.0);
            let (chosen, result) = search(settings(goal), 4_000);
            let fewest = (f64::from(needed) * 0.95).ceil() as u32;
            prop_assert!(result.reached);
            prop_assert!(chosen >= fewest && chosen - fewest <= 1 + fewest / 30, "{} {}", chosen, fewest);
        }
    }

    #[test]
    fn a_search_that_ends_by_its_time_says_that_fewer_may_do() {
        let (_, whole) = search(settings(Goal::Rate(200.0)), 4_000);
        assert_eq!(whole.chosen, "2 threads");
        let short = SearchSettings {
            start: Some(19),
            total_limit_s: 320.0,
            ..settings(Goal::Rate(200.0))
        };
        let (chosen, result) = search(short, 4_000);
        assert!(chosen > 2 && result.reached, "{chosen}");
        assert!(result.chosen.contains("the time for the search was over"));
    }

    #[test]
    fn a_rate_out_of_reach_ends_at_the_best_that_passes() {
        let (chosen, result) = search(settings(Goal::Rate(100_000.0)), 100);
        assert!(!result.reached && (96..=100).contains(&chosen), "{chosen}");
        let tried: Vec<u64> = result.steps.iter().map(|step| step.threads).collect();
        assert_eq!(tried[0], 935, "{tried:?}");
    }

    #[test]
    fn time_ends_the_search() {
        let limited = SearchSettings {
            total_limit_s: 300.0,
            ..settings(Goal::Maximum)
        };
        let (chosen, result) = search(limited, 1_000);
        assert_eq!((chosen, result.reached, result.steps.len()), (4, false, 2));
        assert_eq!((result.ended, result.stopped_by), (SearchEnd::Time, None));
    }

    #[test]
    fn a_target_above_the_maximum_is_said_to_be_missed() {
        let asked = |iops| SearchSettings {
            asked_iops: Some(iops),
            start: Some(iops as u32),
            axis: Axis::Rate { sessions: 64 },
            maximum: 1_000_000,
            ..settings(Goal::Maximum)
        };
        let (chosen, result) = search(asked(9_000.0), 3_200);
        assert!((3_100..=3_200).contains(&chosen) && !result.reached);
        let outcome = tuning_outcome(&result).unwrap();
        let end = "stopped by average log write latency; target 9,000 IOPS not reached";
        assert!(outcome.ends_with(end), "{outcome}");
        let (chosen, result) = search(asked(1_000.0), 3_200);
        assert!((3_100..=3_200).contains(&chosen) && result.reached);
        assert!(!tuning_outcome(&result).unwrap().contains("target"));
    }
}
