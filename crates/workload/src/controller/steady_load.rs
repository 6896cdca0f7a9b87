//! Whether the load has become steady, so that the warm-up may end.

use super::ticks::Tick;
use crate::profile::Run;
use measure::steady::SteadyRule;
use std::collections::VecDeque;

/// The longest round, in seconds.
const LONGEST_ROUND_S: f64 = 15.0;

/// Rounds of this length would fit the measured phase.
const ROUNDS_OF_RUN: f64 = 60.0;

/// Follows the last rounds of the warm-up: how many operations ended, and how many database reads.
///
/// Reads show more than I/O in all: they become fewer while the caches fill, also where a rate is held.
#[derive(Debug)]
pub struct SteadyLoad {
    rule: SteadyRule,
    round_s: f64,
    /// The last rounds that are complete, the oldest first.
    rounds: VecDeque<Round>,
    under_way: Round,
}

/// What was counted in a round.
#[derive(Debug, Clone, Copy, Default)]
struct Round {
    length_s: f64,
    operations: u64,
    reads: u64,
}

impl SteadyLoad {
    /// Follows a run with these settings.
    #[must_use]
    pub fn new(run: &Run) -> Self {
        let round_s = run.duration.as_seconds() / ROUNDS_OF_RUN;
        Self {
            rule: run.steady_state.rule(),
            round_s: round_s.min(LONGEST_ROUND_S),
            rounds: VecDeque::new(),
            under_way: Round::default(),
        }
    }

    /// Counts the operations and reads of a tick in the current round.
    pub fn add(&mut self, tick: &Tick) {
        let round = &mut self.under_way;
        round.length_s += tick.io.length_s;
        round.operations += tick.operations;
        let reads = tick.io.databases.iter().map(|one| one.reads);
        round.reads += reads.sum::<u64>();
        if round.length_s >= self.round_s {
            self.rounds.push_back(std::mem::take(round));
            if self.rounds.len() > self.rule.fewest_samples() {
                self.rounds.pop_front();
            }
        }
    }

    /// Whether neither operations nor reads have risen, fallen or varied over the last rounds by more
    /// than the rule or chance allows.
    #[must_use]
    pub fn is_steady(&self) -> bool {
        let is_steady = |count: fn(&Round) -> u64| {
            let counts = self.rounds.iter().map(|round| {
                // All rounds in the length of one: they end with a tick, so they differ a little.
                count(round) as f64 * self.round_s / round.length_s
            });
            self.rule.allows_counts(&counts.collect::<Vec<f64>>())
        };
        self.rounds.len() == self.rule.fewest_samples()
            && is_steady(|round| round.operations)
            && is_steady(|round| round.reads)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profile::TimeSpan;
    use crate::tuning::TuningSample;
    use crate::tuning::sample::DatabaseLatency;
    use measure::sample::Phase;

    fn tick(operations: u64, reads: u64) -> Tick {
        let database = DatabaseLatency {
            reads,
            ..DatabaseLatency::default()
        };
        Tick {
            phase: Phase::WarmUp,
            io: TuningSample {
                length_s: 1.0,
                databases: vec![database],
                ..TuningSample::default()
            },
            operations,
        }
    }

    fn steady_after(ticks: impl IntoIterator<Item = (u64, u64)>, duration_s: u64) -> Option<usize> {
        let mut load = SteadyLoad::new(&Run {
            duration: TimeSpan::seconds(duration_s),
            ..Run::default()
        });
        let mut ticks = ticks.into_iter();
        let at = ticks.position(|(operations, reads)| {
            load.add(&tick(operations, reads));
            load.is_steady()
        });
        at.map(|index| index + 1)
    }

    #[test]
    fn a_constant_load_is_steady_after_five_rounds() {
        let constant = || std::iter::repeat_n((1_000, 500), 1_000);
        assert_eq!(steady_after(constant(), 60), Some(5));
        assert_eq!(steady_after(constant(), 300), Some(25));
        assert_eq!(
            steady_after(constant(), 24 * 3600),
            Some(75),
            "15 s at most"
        );
    }

    #[test]
    fn reads_that_become_fewer_keep_the_warm_up_going() {
        let filling = (0..200_u64).map(|second| (1_000, 100_000 / (second + 10)));
        let steady = steady_after(filling, 60).unwrap();
        // From 100,000/40 to 100,000/44 is a fall of 10 %.
        assert!((30..60).contains(&steady), "{steady}");
        let falling = (0..60_u64).map(|second| (1_000, 1_000_000_u64 >> (second / 3)));
        assert_eq!(steady_after(falling.take(50), 60), None);
    }

    #[test]
    fn few_operations_may_vary_as_chance_has_it() {
        let chance = [9, 12, 8, 11, 13].map(|count| (count, count));
        assert_eq!(steady_after(chance, 60), Some(5));
        let more = chance.map(|(count, _)| (count * 1_000, count * 1_000));
        assert_eq!(steady_after(more, 60), None);
        assert_eq!(
            steady_after([(0, 0); 5], 60),
            Some(5),
            "nothing to wait for"
        );
    }
}
