//! What to look at next after a run on a real database.

use measure::result::{CheckKind, RunResult};

use super::Advice;
use crate::number::{count, duration, figure};

/// The server did not serve for a while.
pub(super) fn without_service(result: &RunResult) -> Option<Advice> {
    let server = result.server.as_ref()?;
    let first = server.outages.first()?;
    Some(Advice::new(
        "The database did not serve all the time",
        format!(
            "{} in {} of the run: {}. {}",
            match server.outages.len() {
                1 => "Once, for".to_owned() + " " + &duration(server.seconds_without_service),
                times => format!(
                    "{} times, for {}",
                    count(times as u64),
                    duration(server.seconds_without_service)
                ),
            },
            duration(result.duration_s),
            first.reason,
            if server.transactions.without_space > 0 {
                "Make room on its volume: books, indexes and log grow while the load runs."
            } else {
                "Look at the server's own log for the reason, and at 'dmesg' for errors of the \
                 storage or for processes ended for want of memory."
            }
        ),
    ))
}

/// The mix was off: mostly because the run was short.
pub(super) fn off_the_mix(result: &RunResult) -> Option<Advice> {
    let failed = result
        .failed_checks()
        .find(|check| check.kind == CheckKind::Mix)?;
    let value = failed.value.map_or_else(String::new, figure);
    Some(Advice::new(
        "The mix of transactions is not the one asked for",
        format!(
            "{}: {value} points. Results follow their orders after a second, and orders that wait \
             for a price after up to one period of prices, so a run that is short beside \
             brokerage.market.price_period has too few of them. Run longer (--duration), with a \
             longer warm-up, or shorten the period with `--set brokerage.market.price_period=20s`.",
            failed.name
        ),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{Check, OutageResult, ServerResult};

    #[test]
    fn outages_and_a_wrong_mix_are_explained() {
        let mut result = RunResult::default();
        assert!(without_service(&result).is_none());
        result.server = Some(ServerResult {
            outages: vec![OutageResult {
                reason: "it was shut down".to_owned(),
                ..OutageResult::default()
            }],
            ..ServerResult::default()
        });
        let advice = without_service(&result).unwrap();
        assert!(advice.text.contains("it was shut down"), "{}", advice.text);
        assert!(advice.text.contains("dmesg"), "{}", advice.text);
        if let Some(server) = &mut result.server {
            server.transactions.without_space = 3;
        }
        let advice = without_service(&result).unwrap();
        assert!(advice.text.contains("Make room"), "{}", advice.text);
        result.checks.push(Check {
            name: "share of trade-result".to_owned(),
            kind: CheckKind::Mix,
            unit: "points".to_owned(),
            passed: Some(false),
            value: Some(1.7),
            ..Check::default()
        });
        assert!(off_the_mix(&result).unwrap().text.contains("1.7"));
    }
}
