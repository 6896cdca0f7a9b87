//! The service levels: limit, measured value, pass or fail.

use measure::metric::Unit;
use measure::result::{Check, CheckKind};

use super::{Cell, Column, Table};
use crate::number::{beside_limit, bounded};
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
        let rank = |check: &Check| match Tone::of_check(check) {
            Tone::Fail => 2u8,
            Tone::Open => 1,
            Tone::Pass => 0,
        };
        let mut worst = self.checks[0];
        for check in &self.checks[1..] {
            let better = rank(check).cmp(&rank(worst));
            if better
                .then(check.excess().total_cmp(&worst.excess()))
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

/// The checks grouped by service level: same identifier, subject and limit.
#[must_use]
pub fn check_groups(checks: &[Check]) -> Vec<CheckGroup<'_>> {
    let mut groups: Vec<CheckGroup> = Vec::new();
    for check in checks {
        let same = |group: &&mut CheckGroup| {
            let first = group.checks[0];
            first.id == check.id
                && first.subject == check.subject
                && first.limit.total_cmp(&check.limit).is_eq()
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

/// One row for each check. Those of the mix of transactions are gathered, as few read them.
#[must_use]
pub fn checks_table(checks: &[Check]) -> Table {
    let mut table = Table::new(heads());
    for check in checks.iter().filter(|check| !is_of_mix(check)) {
        table.push(row(
            &check.name,
            check.place.clone(),
            check,
            Tone::of_check(check),
        ));
    }
    add_mix(&mut table, checks);
    table
}

/// One row for each service level, with its worst place.
#[must_use]
pub fn grouped_checks_table(checks: &[Check]) -> Table {
    let mut table = Table::new(heads());
    for group in check_groups(checks) {
        let worst = group.worst();
        if !is_of_mix(worst) {
            table.push(row(&worst.name, group.place(), worst, group.tone()));
        }
    }
    add_mix(&mut table, checks);
    table
}

/// The checks of the mix of transactions as one group, whatever their limits; `None` without any.
#[must_use]
pub fn mix_group(checks: &[Check]) -> Option<CheckGroup<'_>> {
    let checks: Vec<&Check> = checks.iter().filter(|check| is_of_mix(check)).collect();
    (!checks.is_empty()).then_some(CheckGroup { checks })
}

/// Whether a check is about the mix of transactions.
#[must_use]
pub fn is_of_mix(check: &Check) -> bool {
    check.kind() == CheckKind::Mix
}

fn add_mix(table: &mut Table, checks: &[Check]) {
    if let Some(group) = mix_group(checks) {
        let worst = group.worst();
        let place = match group.checks.len() {
            1 => worst.subject.clone(),
            all => format!("worst of {all}: {}", worst.subject),
        };
        table.push(row(MIX, place, worst, group.tone()));
    }
}

/// The measured value of a check, with its unit.
pub(crate) fn measured_value(check: &Check) -> String {
    beside_limit(check.value.unwrap_or(f64::NAN), check.limit, check.unit)
}

/// The same in a column of a table.
pub(crate) fn measured_text(check: &Check) -> String {
    short(&measured_value(check))
}

/// The limit of a check with its side and unit, in a column of a table.
pub(crate) fn limit_text(check: &Check) -> String {
    let limit = short(&bounded(check.limit, check.unit));
    format!("{} {limit}", check.bound.sign())
}

/// Units of many letters make columns too wide; [`MIX`] explains this one.
fn short(text: &str) -> String {
    text.replace(Unit::PercentagePoints.text(), "pp")
}

/// What the checks of the mix of transactions are called together in a table.
pub(crate) const MIX: &str = "mix deviation, percentage points (pp)";

fn heads() -> Vec<Column> {
    vec![
        Column::text("service level"),
        Column::text("where"),
        Column::number("limit", ""),
        Column::number("measured", ""),
        Column::text("result"),
    ]
}

fn row(name: &str, place: String, check: &Check, tone: Tone) -> Vec<Cell> {
    vec![
        Cell::new(name),
        Cell::new(place),
        Cell::new(limit_text(check)),
        Cell::new(measured_text(check)).notable_when(tone == Tone::Fail),
        Cell::verdict(tone),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{Bound, CheckId};

    fn check(id: CheckId, place: &str, value: Option<f64>, passed: Option<bool>) -> Check {
        Check {
            passed,
            ..Check::of(id, place, 20.0, value, String::new())
        }
    }

    const READ: CheckId = CheckId::DatabaseReadAverage;
    const LOG: CheckId = CheckId::LogWriteAverage;

    #[test]
    fn errors_are_whole_numbers_and_latencies_have_their_unit() {
        let errors = check(CheckId::Errors, "run", Some(4.0), Some(false));
        assert_eq!(measured_value(&errors), "4 errors");
        let read = check(READ, "db1", Some(4.0), Some(true));
        assert_eq!(measured_value(&read), "4.00 ms");
        assert_eq!(limit_text(&read), "<= 20 ms");
    }

    #[test]
    fn the_mix_is_one_row_with_its_worst_operation() {
        let of = |subject: &str, value| {
            check(
                CheckId::MixDeviation,
                "run",
                Some(value),
                Some(value <= 1.0),
            )
            .about(subject)
        };
        let checks = [
            of("insert", 0.2),
            check(READ, "db1", Some(4.0), Some(true)),
            of("read", 1.7),
        ];
        for table in [checks_table(&checks), grouped_checks_table(&checks)] {
            let texts: Vec<&str> = table.rows[1]
                .iter()
                .map(|cell| cell.text.as_str())
                .collect();
            assert_eq!(table.rows.len(), 2);
            assert_eq!(texts[..2], [MIX, "worst of 2: read"]);
            assert_eq!(texts[3..], ["1.70 pp", "FAIL"]);
        }
    }

    #[test]
    fn the_worst_place_stands_for_the_group() {
        let checks = [
            check(READ, "db1", Some(3.0), Some(true)),
            check(READ, "db2", Some(25.0), Some(false)),
            check(READ, "db3", Some(31.0), Some(false)),
            check(READ, "db4", None, None),
            check(LOG, "db1", Some(1.0), Some(true)),
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
            check(READ, "db1", Some(19.0), Some(true)),
            check(READ, "db2", None, None),
        ];
        assert_eq!(check_groups(&checks)[0].tone(), Tone::Open);
    }

    #[test]
    fn for_a_lower_bound_the_lowest_is_the_worst() {
        let mut checks = [
            check(READ, "db1", Some(30.0), Some(true)),
            check(READ, "db2", Some(22.0), Some(true)),
        ];
        for check in &mut checks {
            check.bound = Bound::AtLeast;
        }
        assert_eq!(check_groups(&checks)[0].worst().place, "db2");
    }
}
