//! What a search for a load came to, in words.

use super::number::{bounded, quantity};
use crate::metric::Unit;
use crate::result::{SearchEnd, TuningResult};

/// The outcome in short: the maximum, what stopped the search, the target that was not reached.
/// `None` when a load that reaches the target was found, or nothing was tried.
#[must_use]
pub fn tuning_outcome(tuning: &TuningResult) -> Option<String> {
    if tuning.steps.is_empty() || (!tuning.finds_maximum && !tuning.misses_target()) {
        return None;
    }
    let found = match tuning.maximum_iops {
        // Without a load that missed a level just above it the highest one is not known to be the maximum.
        Some(maximum) => {
            let how = match tuning.ended {
                SearchEnd::ServiceLevel => "maximum found",
                _ => "at least",
            };
            format!("{how} {}", quantity(maximum, Unit::Iops))
        }
        None => "no load that was tried kept every service level".to_owned(),
    };
    let stopped = tuning.stopped_by();
    let stopped = stopped.map_or(String::new(), |what| format!(", stopped by {what}"));
    let missed = tuning.target_iops.filter(|_| tuning.misses_target());
    let missed = missed.map_or(String::new(), |target| {
        format!("; target {} not reached", bounded(target, Unit::Iops))
    });
    Some(format!("{found}{stopped}{missed}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{CheckId, TuningStep};

    fn searched(change: impl FnOnce(&mut TuningResult)) -> Option<String> {
        let mut tuning = TuningResult {
            finds_maximum: true,
            maximum_iops: Some(900.0),
            ended: SearchEnd::ServiceLevel,
            stopped_by: Some(CheckId::LogWriteAverage),
            steps: vec![TuningStep {
                kept: true,
                ..TuningStep::default()
            }],
            ..TuningResult::default()
        };
        change(&mut tuning);
        tuning_outcome(&tuning)
    }

    #[test]
    fn the_maximum_and_what_stopped_the_search_are_named() {
        let label = CheckId::LogWriteAverage.label();
        assert_eq!(
            searched(|_| ()),
            Some(format!("maximum found 900 IOPS, stopped by {label}"))
        );
        assert_eq!(
            searched(|one| one.target_iops = Some(5_000.0)),
            Some(format!(
                "maximum found 900 IOPS, stopped by {label}; target 5,000 IOPS not reached"
            ))
        );
        for (ended, by) in [
            (
                SearchEnd::Time,
                ", stopped by the longest time for a search, before a limit was found",
            ),
            (
                SearchEnd::LargestLoad,
                ", stopped by the largest load that is tried, which met every level",
            ),
            (SearchEnd::Unknown, ""),
        ] {
            let found = searched(|one| one.ended = ended);
            assert_eq!(found, Some(format!("at least 900 IOPS{by}")));
        }
        let missed = |one: &mut TuningResult| {
            one.ended = SearchEnd::Time;
            one.steps = [true, false]
                .map(|kept| TuningStep {
                    kept,
                    ..TuningStep::default()
                })
                .to_vec();
        };
        let between = searched(missed).expect("an outcome");
        assert!(between.starts_with("at least 900 IOPS"), "{between}");
        assert!(
            between.ends_with("before the limit above was known closely"),
            "{between}"
        );
        let below = searched(|one| {
            missed(one);
            one.maximum_iops = None;
        });
        let below = below.expect("an outcome");
        assert!(
            below.ends_with("before a lower one that keeps them was found"),
            "{below}"
        );
        let none = searched(|one| {
            one.maximum_iops = None;
            one.ended = SearchEnd::Unknown;
        });
        let none = none.expect("an outcome");
        assert_eq!(none, "no load that was tried kept every service level");
    }

    #[test]
    fn a_search_that_reached_its_target_has_no_outcome_of_its_own() {
        let reached = |one: &mut TuningResult| {
            one.finds_maximum = false;
            one.target_iops = Some(800.0);
            one.reached = true;
        };
        assert_eq!(searched(reached), None);
        assert_eq!(searched(|one| one.steps.clear()), None);
        let missed = searched(|one| {
            reached(one);
            one.reached = false;
        });
        assert!(missed.is_some_and(|text| text.ends_with("target 800 IOPS not reached")));
    }
}
