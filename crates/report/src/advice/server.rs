//! Findings of runs on a real database.

use measure::result::{CheckKind, RunResult};

use super::{Advice, AdviceId};
use crate::number::{count, duration};
use crate::table::measured_value;

/// The server was down for a while.
pub(super) fn downtime(result: &RunResult) -> Option<Advice> {
    let server = result.server.as_ref()?;
    let first = server.outages.first()?;
    let times = match server.outages.len() {
        1 => "once".to_owned(),
        times => format!("{} times", count(times as u64)),
    };
    Some(Advice::new(
        AdviceId::Downtime,
        "The database server was down for a while",
        format!(
            "It was down {times}, for {} of {} in all: {}. {}",
            duration(server.downtime_s),
            duration(result.duration_s),
            first.reason,
            if server.transactions.out_of_space > 0 {
                "Free space on its volume: tables, indexes and log grow during the run."
            } else {
                "Check the server's log for the reason, and 'dmesg' for errors of the storage or \
                 processes killed for want of memory."
            }
        ),
    ))
}

/// The mix deviates: mostly because the run was short.
pub(super) fn wrong_mix(result: &RunResult) -> Option<Advice> {
    let failed = result
        .failed_checks()
        .find(|check| check.kind() == CheckKind::Mix)?;
    Some(Advice::new(
        AdviceId::WrongMix,
        "The transaction mix is not the one asked for",
        format!(
            "{}: {}. Trade results follow their orders after a second, limit orders after up to one \
             price period, so a run that is short compared with brokerage.market.price_period has \
             too few of them. Run longer (--duration), with a longer warm-up, or shorten the period \
             with `--set brokerage.market.price_period=20s`.",
            failed.name,
            measured_value(failed)
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{Check, CheckId, OutageResult, ServerResult};

    #[test]
    fn outages_and_a_wrong_mix_are_explained() {
        let mut result = RunResult::default();
        assert!(downtime(&result).is_none());
        result.server = Some(ServerResult {
            outages: vec![OutageResult {
                reason: "it was shut down".to_owned(),
                ..OutageResult::default()
            }],
            ..ServerResult::default()
        });
        let advice = downtime(&result).unwrap();
        assert!(advice.text.contains("it was shut down"), "{}", advice.text);
        assert!(advice.text.contains("dmesg"), "{}", advice.text);
        if let Some(server) = &mut result.server {
            server.transactions.out_of_space = 3;
        }
        let advice = downtime(&result).unwrap();
        assert!(advice.text.contains("Free space"), "{}", advice.text);
        let id = CheckId::MixDeviation;
        let check = Check::of_run(id, 1.0, Some(1.7), String::new());
        result.checks.push(check.about("trade-result"));
        assert!(wrong_mix(&result).unwrap().text.contains("1.7"));
    }
}
