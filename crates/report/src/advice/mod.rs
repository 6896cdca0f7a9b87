//! What to look at next, derived from the checks that failed and from the evidence in the figures.
//!
//! Every rule is a function of the result that gives an [`Advice`] or nothing. A rule names the
//! numbers it rests on, so that a reader can disagree with it.

mod books;
mod evidence;
mod latency;
mod load;
mod server;

use measure::result::{RunResult, Verdict};

/// One piece of advice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What to look at, in a few words.
    pub title: String,
    /// Why, with the numbers, and what to do.
    pub text: String,
}

impl Advice {
    fn new(title: &str, text: String) -> Self {
        Self {
            title: title.to_string(),
            text,
        }
    }
}

/// All advice for a run, the most pressing first.
#[must_use]
pub fn advice(result: &RunResult) -> Vec<Advice> {
    let rules: [fn(&RunResult) -> Option<Advice>; 17] = [
        load::errors,
        load::interrupted,
        server::without_service,
        server::off_the_mix,
        latency::one_place_differs,
        latency::database_reads,
        latency::log_slow_database_fast,
        latency::log_and_database_slow,
        load::page_fault_stalls,
        load::target_missed,
        load::piling_up,
        latency::spikes,
        latency::slow_tail,
        load::other_traffic,
        load::not_steady,
        load::too_few_samples,
        load::maintenance_share,
    ];
    let mut list: Vec<Advice> = rules.iter().filter_map(|rule| rule(result)).collect();
    if result.verdict == Verdict::Pass {
        list.extend(load::room_left(result));
    }
    list
}

#[cfg(test)]
mod tests;
