//! The service levels: limit, measured value, pass or fail.

use measure::result::{Bound, Check, CheckKind};

use super::{Cell, Column, Table};
use crate::number::{figure_or_absent, limit};
use crate::tone::Tone;

/// The checks of one service level at all its places.
#[derive(Clone, Debug)]
pub struct CheckGroup<'a> {
    /// The checks, in the order of the result.
    pub checks: Vec<&'a Check>,
}

impl<'a> CheckGroup<'a> {
    /// The check that is furthest on the bad side of its limit, failed ones first.
    #[must_use]
    pub fn worst(&self) -> &'a Check {
        let badness = |check: &Check| match (check.value, check.bound) {
            (Some(value), Bound::AtMost) if value.is_finite() => value,
            (Some(value), Bound::AtLeast) if value.is_finite() => -value,
            _ => f64::NEG_INFINITY,
        };
        let rank = |check: &Check| match Tone::of_check(check) {
            Tone::Fail => 2u8,
            Tone::Open => 1,
            Tone::Pass => 0,
        };
        let mut worst = self.checks[0];
        for check in &self.checks[1..] {
            let better = rank(check).cmp(&rank(worst));
            if better
                .then(badness(check).total_cmp(&badness(worst)))
                .is_gt()
            {
                worst = check;
            }
        }
        worst
    }

    /// Fail when any failed, open when any is open, pass when all passed.
    #[must_use]
    pub fn tone(&self) -> Tone {
        Tone::of_check(self.worst())
    }

    /// How many of its checks did not pass.
    #[must_use]
    pub fn not_passed(&self) -> usize {
        self.checks
            .iter()
            .filter(|check| check.passed != Some(true))
            .count()
    }

    /// The place, or how many places there are.
    #[must_use]
    pub fn place(&self) -> String {
        match (self.checks.len(), self.not_passed()) {
            (1, _) => self.checks[0].place.clone(),
            (all, 0) => format!("all {all}, worst {}", self.worst().place),
            (all, bad) => format!("{bad} of {all}, worst {}", self.worst().place),
        }
    }
}

/// The checks put together by what they ask: same name, side, limit and unit.
#[must_use]
pub fn check_groups(checks: &[Check]) -> Vec<CheckGroup<'_>> {
    let mut groups: Vec<CheckGroup> = Vec::new();
    for check in checks {
        let same = |group: &&mut CheckGroup| {
            let first = group.checks[0];
            first.name == check.name
                && first.bound == check.bound
                && first.limit.total_cmp(&check.limit).is_eq()
                && first.unit == check.unit
        };
        match groups.iter_mut().find(same) {
            Some(group) => group.checks.push(check),
            None => groups.push(CheckGroup {
                checks: vec![check],
            }),
        }
    }
    groups
}

/// One row for each check.
#[must_use]
pub fn checks_table(checks: &[Check]) -> Table {
    let mut table = Table::new(heads());
    for check in checks {
        table.push(row(
            &check.name,
            check.place.clone(),
            check,
            Tone::of_check(check),
        ));
    }
    table
}

/// One row for each service level, with its worst place.
#[must_use]
pub fn grouped_checks_table(checks: &[Check]) -> Table {
    let mut table = Table::new(heads());
    for group in check_groups(checks) {
        let worst = group.worst();
        table.push(row(&worst.name, group.place(), worst, group.tone()));
    }
    table
}

/// The measured value of a check. Errors are counted one by one and stay whole.
pub(crate) fn measured_value(check: &Check) -> String {
    match (check.kind, check.value) {
        (CheckKind::Integrity, Some(value)) => limit(value),
        (_, value) => figure_or_absent(value),
    }
}

fn heads() -> Vec<Column> {
    vec![
        Column::text("service level"),
        Column::text("where"),
        Column::number("limit", ""),
        Column::number("measured", ""),
        Column::text("unit"),
        Column::text("result"),
    ]
}

fn row(name: &str, place: String, check: &Check, tone: Tone) -> Vec<Cell> {
    let bound = format!("{} {}", check.bound.sign(), limit(check.limit));
    vec![
        Cell::new(name),
        Cell::new(place),
        Cell::new(bound),
        Cell::new(measured_value(check)).notable_when(tone == Tone::Fail),
        Cell::new(check.unit.clone()),
        Cell::verdict(tone),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, place: &str, value: Option<f64>, passed: Option<bool>) -> Check {
        let (name, place) = (name.to_string(), place.to_string());
        Check {
            name,
            place,
            limit: 20.0,
            value,
            unit: "ms".into(),
            passed,
            ..Check::default()
        }
    }

    #[test]
    fn errors_are_whole_numbers() {
        let mut errors = check("errors", "run", Some(4.0), Some(false));
        assert_eq!(measured_value(&errors), "4.00");
        errors.kind = CheckKind::Integrity;
        assert_eq!(measured_value(&errors), "4");
    }

    #[test]
    fn the_worst_place_stands_for_the_group() {
        let checks = [
            check("read", "db1", Some(3.0), Some(true)),
            check("read", "db2", Some(25.0), Some(false)),
            check("read", "db3", Some(31.0), Some(false)),
            check("read", "db4", None, None),
            check("write", "db1", Some(1.0), Some(true)),
        ];
        let groups = check_groups(&checks);
        assert_eq!(groups.len(), 2);
        assert_eq!(groups[0].place(), "3 of 4, worst db3");
        assert_eq!(groups[0].tone(), Tone::Fail);
        assert_eq!(groups[1].place(), "db1");
    }

    #[test]
    fn an_open_check_outranks_passed_ones() {
        let checks = [
            check("read", "db1", Some(19.0), Some(true)),
            check("read", "db2", None, None),
        ];
        assert_eq!(check_groups(&checks)[0].tone(), Tone::Open);
    }

    #[test]
    fn for_a_lower_bound_the_lowest_is_the_worst() {
        let mut checks = [
            check("rate", "db1", Some(30.0), Some(true)),
            check("rate", "db2", Some(22.0), Some(true)),
        ];
        for check in &mut checks {
            check.bound = Bound::AtLeast;
        }
        assert_eq!(check_groups(&checks)[0].worst().place, "db2");
    }
}
