//! Findings and recommendations, derived from the checks that failed and from the figures.
//!
//! Every rule is a function of the result that gives an [`Advice`] or nothing. A rule names the
//! numbers it is based on, so that a reader can disagree with it.

mod causes;
mod errors;
mod evidence;
mod host;
mod latency;
mod load;
mod modelled;

use measure::display::{Advice, AdviceId};
use measure::result::Verdict;

use crate::run::Run;

/// All findings of a run, the most important first, with those that its workload adds.
#[must_use]
pub fn advice(run: &Run) -> Vec<Advice> {
    let (result, own) = (&run.result, &run.contribution);
    let of_run = [
        errors::errors(result, own),
        errors::device_health(result),
        load::interrupted(result),
        causes::causes(result),
        host::busy(result),
        host::paused(run),
        modelled::failures(run),
    ];
    // These give the storage, or the number of threads, as the reason, which the causes put in doubt.
    let of_storage = [
        latency::database_reads(result, &own.words),
        latency::log_slow_database_fast(result),
        latency::log_and_database_slow(result),
        load::target_missed(result),
        load::waits_before_start(result),
        latency::spikes(result),
        latency::slow_tail(result),
    ];
    let of_storage = of_storage.map(|one| one.filter(|_| result.causes.is_empty()));
    let [reads, log, shared, target, waits, spikes, tail] = of_storage;
    let of_figures = [
        latency::one_place_differs(result),
        reads,
        log,
        shared,
        load::page_fault_stalls(result),
        target,
        load::above_target(result),
        waits,
        spikes,
        tail,
        latency::long_request(result),
        load::other_traffic(result),
        load::not_steady(result),
        load::too_short(result),
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
