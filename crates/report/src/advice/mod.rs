//! Findings and recommendations, derived from the checks that failed and from the figures.
//!
//! Every rule is a function of the result that gives an [`Advice`] or nothing. A rule names the
//! numbers it is based on, so that a reader can disagree with it.

mod causes;
mod evidence;
mod latency;
mod load;

use measure::display::{Advice, AdviceId, Contribution};
use measure::result::{RunResult, Verdict};

/// All findings of a run, the most important first; `own` is what its workload adds.
#[must_use]
pub fn advice(result: &RunResult, own: &Contribution) -> Vec<Advice> {
    let of_run = [
        load::errors(result, own),
        load::interrupted(result),
        causes::causes(result),
    ];
    let of_figures = [
        latency::one_place_differs(result),
        latency::database_reads(result, &own.words),
        latency::log_slow_database_fast(result),
        latency::log_and_database_slow(result),
        load::page_fault_stalls(result),
        load::target_missed(result),
        load::above_target(result),
        load::not_sustained(result),
        latency::spikes(result),
        latency::slow_tail(result),
        load::other_traffic(result),
        load::not_steady(result),
        load::too_few_samples(result),
        load::maintenance_share(result),
        load::headroom(result, &own.words).filter(|_| result.verdict == Verdict::Pass),
    ];
    let mut list: Vec<Advice> = of_run.into_iter().flatten().collect();
    let mut next = list.len();
    list.extend(of_figures.into_iter().flatten());
    for advice in own.advice.iter().cloned() {
        if let Some(general) = list.iter_mut().find(|one| one.id == advice.id) {
            *general = advice;
        } else {
            list.insert(next, advice);
            next += 1;
        }
    }
    list
}

#[cfg(test)]
mod tests;
