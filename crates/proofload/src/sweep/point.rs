//! The points of a grid, every one of them checked.

use std::collections::BTreeMap;

use measure::grid::{GridPoint, short_key};

use super::axis::Axis;
use super::flash::Flash;
use crate::predict::Plan;
use crate::scenario::Scenario;
use crate::setting::{Key, Value};
use execution::Error;

/// A prediction that is to be made.
pub struct Point {
    /// Its name, such as `ssd_count=1, threads=8`.
    pub name: String,
    /// The value of each setting that is varied.
    pub values: BTreeMap<String, String>,
    /// The prediction as it was checked, ready to be computed.
    pub plan: Plan,
}

impl Point {
    /// The point with these values, in the order of the axes.
    ///
    /// # Errors
    /// Every fault of the workload or the array at this point, under its name.
    pub fn check(scenario: &Scenario, axes: &[Axis], values: &[&Value]) -> Result<Self, Error> {
        let mut scenario = scenario.clone();
        let mut by_key = BTreeMap::new();
        for (one, value) in axes.iter().zip(values) {
            scenario.set(&one.key, value);
            by_key.insert(one.key.to_string(), value.to_string());
        }
        let name = name(axes, &by_key);
        match Plan::check(&scenario) {
            Ok(plan) => Ok(Self {
                name,
                values: by_key,
                plan,
            }),
            Err(error) => Err(Error::at_point(name, error)),
        }
    }

    /// The same point at another rate, which changes nothing that is checked.
    pub fn at_rate(&self, axes: &[Axis], rate: &Value) -> Self {
        let mut values = self.values.clone();
        values.insert(Key::Rate.to_string(), rate.to_string());
        let mut plan = self.plan.clone();
        plan.profile.run_mut().held_rate = rate.number();
        Self {
            name: name(axes, &values),
            values,
            plan,
        }
    }

    /// What is known of the point before it is computed.
    pub fn entry(&self) -> GridPoint {
        GridPoint {
            name: self.name.clone(),
            values: self.values.clone(),
            verdict_reason: "Not computed.".to_owned(),
            directory: format!("points/{}", self.directory()),
            flash_bytes: self.flash().bytes,
            ..GridPoint::default()
        }
    }

    /// The flash of its array.
    pub fn flash(&self) -> Flash {
        Flash::of(&self.plan.planned)
    }

    /// A name for its directory.
    pub fn directory(&self) -> String {
        let plain = |letter: char| match letter {
            ',' => ',',
            letter if letter.is_ascii_alphanumeric() || "-_.=".contains(letter) => letter,
            _ => '-',
        };
        let name: String = self.name.replace(", ", ",").chars().map(plain).collect();
        let name = name.trim_start_matches('.');
        if name.is_empty() {
            "point".to_owned()
        } else {
            name.to_owned()
        }
    }
}

/// The name of the point with these values.
fn name(axes: &[Axis], values: &BTreeMap<String, String>) -> String {
    let keys: Vec<String> = axes.iter().map(|axis| axis.key.to_string()).collect();
    let part = |key: &String| {
        let short = short_key(key, keys.iter().map(String::as_str));
        Some(format!("{short}={}", values.get(key)?))
    };
    let parts: Vec<String> = keys.iter().filter_map(part).collect();
    parts.join(", ")
}

/// Every combination of the values; the last axis varies fastest.
pub fn combinations(axes: &[Axis]) -> Vec<Vec<&Value>> {
    let mut all: Vec<Vec<&Value>> = vec![Vec::new()];
    for axis in axes {
        let longer = all.iter().flat_map(|head| {
            axis.values.iter().map(move |value| {
                let mut whole = head.clone();
                whole.push(value);
                whole
            })
        });
        all = longer.collect();
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_rate_changes_nothing_else_in_a_name() {
        let axes = ["maintenance.log_read_back_rate=10MiB", "rate=450,900"];
        let axes = axes.map(|text| Axis::parse(text).expect("an axis"));
        let scenario = Scenario::new("exchange-2013").on_array("msa2050");
        let values: Vec<&Value> = axes.iter().map(|axis| &axis.values[0]).collect();
        let point = Point::check(&scenario, &axes, &values).expect("a point");
        let other = point.at_rate(&axes, &axes[1].values[1]);
        assert_eq!(other.name, "log_read_back_rate=10MiB, rate=900");
        let whole = Point::check(&scenario, &axes, &[values[0], &axes[1].values[1]]);
        let whole = whole.expect("a point");
        assert_eq!((other.name, other.values), (whole.name, whole.values));
    }

    #[test]
    fn keys_that_end_alike_are_written_out() {
        let keys = ["mail.mailbox_size", "array.cache_size", "a.size", "b.size"];
        let short = keys.map(|key| short_key(key, keys.into_iter()));
        assert_eq!(short, ["mailbox_size", "cache_size", "a.size", "b.size"]);
    }
}
