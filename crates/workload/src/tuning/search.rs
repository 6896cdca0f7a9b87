//! The search for a number of sessions: doubling, then closing in.

use super::cycle::CycleOutcome;
use measure::display::number::{limit, percent};
use measure::result::{TuningResult, TuningStep};

/// What is looked for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Goal {
    /// The fewest sessions that reach this rate (database reads plus writes per second) with every
    /// service level kept.
    Rate(f64),
    /// The most sessions with every service level kept.
    Maximum,
}

/// The bounds of a search.
#[derive(Debug, Clone, PartialEq)]
pub struct SearchSettings {
    /// What is looked for.
    pub goal: Goal,
    /// How far below the wanted rate still counts as reached, 0.05 for 5 %.
    pub rate_margin: f64,
    /// The number to begin with; `None` derives it from the goal.
    pub start: Option<u32>,
    /// The smallest number that makes sense.
    pub minimum: u32,
    /// The largest number to try.
    pub maximum: u32,
    /// Longest search in seconds.
    pub total_limit_s: f64,
}

/// I/O per second that one session reaches on common disk arrays (Microsoft's Jetstress 2010 help
/// counts 107 database and 33 log I/Os), its pauses included.
const IOPS_PER_SESSION: f64 = 107.0;

/// What to do next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// Run a cycle with so many sessions.
    Try(u32),
    /// The search is over: run the load with so many sessions.
    Done(u32),
}

/// A search under way. [`Search::step`] says what to run, [`Search::judged`] takes the outcome.
#[derive(Debug)]
pub struct Search {
    settings: SearchSettings,
    trying: u32,
    /// The largest number known to be too few for the rate, or (looking for the maximum) to be fine.
    low: u32,
    /// The smallest number known to be enough, or to be too much.
    high: Option<u32>,
    /// The best number so far: every level kept, and the highest rate among those.
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
            // Without any number that kept the levels, the fewest tried are the least load.
            let fewest = self.steps.iter().map(|step| step.threads as u32).min();
            let chosen = self.best.map(|(threads, _)| threads).or(fewest);
            return Step::Done(chosen.unwrap_or(self.settings.minimum));
        }
        Step::Try(self.trying)
    }

    /// Takes the outcome of a cycle with the number that [`Search::step`] asked for.
    pub fn judged(&mut self, judged: &CycleOutcome) {
        assert!(!self.is_over(), "the search is over");
        let threads = self.trying;
        self.elapsed_s += judged.duration_s;
        self.out_of_time = self.elapsed_s >= self.settings.total_limit_s;
        let enough = match self.settings.goal {
            Goal::Rate(iops) => judged.achieved_iops >= iops * (1.0 - self.settings.rate_margin),
            Goal::Maximum => false,
        };
        let conclusion = match (judged.kept, enough) {
            (true, true) => {
                self.reached = true;
                self.best = Some((threads, judged.achieved_iops));
                self.high = Some(threads);
                "the target rate is reached and ".to_owned() + &judged.finding
            }
            (true, false) => {
                self.low = threads;
                if !self.reached
                    && self
                        .best
                        .is_none_or(|(_, best)| judged.achieved_iops > best)
                {
                    self.best = Some((threads, judged.achieved_iops));
                }
                judged.finding.clone()
            }
            (false, _) => {
                self.high = Some(threads);
                judged.finding.clone()
            }
        };
        self.record(threads, judged, conclusion);
        self.trying = self.next_try();
    }

    fn next_try(&self) -> u32 {
        match self.high {
            None => self.low.saturating_mul(2).clamp(1, self.settings.maximum),
            Some(high) => self.low + (high - self.low) / 2,
        }
    }

    fn is_over(&self) -> bool {
        // Closer than 3 % of the number is closer than two runs agree.
        let near = |high: u32| high - self.low <= 1 + high / 32;
        let at_the_top = self.high.is_none() && self.low >= self.settings.maximum;
        self.out_of_time || at_the_top || self.high.is_some_and(near)
    }

    fn record(&mut self, threads: u32, judged: &CycleOutcome, conclusion: String) {
        self.steps.push(TuningStep {
            threads: u64::from(threads),
            rate_iops: None,
            duration_s: judged.duration_s,
            achieved_iops: judged.achieved_iops,
            average_database_read_ms: judged.database_read_ms,
            average_log_write_ms: judged.log_write_ms,
            steady: judged.settled,
            conclusion,
        });
    }

    /// Everything that was tried and what came of it.
    #[must_use]
    pub fn result(&self) -> TuningResult {
        let Step::Done(chosen) = self.step() else {
            return TuningResult {
                goal: self.goal_sentence(),
                reached: false,
                chosen: String::new(),
                steps: self.steps.clone(),
            };
        };
        let reached = match self.settings.goal {
            Goal::Rate(_) => self.reached,
            Goal::Maximum => self.best.is_some() && !self.out_of_time,
        };
        TuningResult {
            goal: self.goal_sentence(),
            reached,
            chosen: format!("{chosen} threads"),
            steps: self.steps.clone(),
        }
    }

    fn goal_sentence(&self) -> String {
        match self.settings.goal {
            Goal::Rate(iops) => format!(
                "The fewest threads that reach {} IOPS of database reads and writes (less a margin \
                 of {} %) with every service level met.",
                limit(iops),
                percent(self.settings.rate_margin)
            ),
            Goal::Maximum => "The most threads with every service level met.".to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn settings(goal: Goal) -> SearchSettings {
        SearchSettings {
            goal,
            rate_margin: 0.05,
            start: None,
            minimum: 1,
            maximum: 4096,
            total_limit_s: 1e9,
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
                settled: true,
                kept: threads <= knee,
                achieved_iops: f64::from(threads.min(knee)) * 100.0,
                database_read_ms: Some(5.0),
                log_write_ms: None,
                finding: "found".to_owned(),
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
        assert_eq!((chosen, result.reached, result.steps.len()), (2, false, 2));
    }
}
