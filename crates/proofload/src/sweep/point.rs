//! The points of a grid, every one of them checked.

use std::collections::BTreeMap;

use measure::grid::GridPoint;

use super::axis::{self, Axis};
use super::flash::Flash;
use crate::predict::Plan;
use crate::scenario::Scenario;
use crate::setting::Value;
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
        let mut parts = Vec::new();
        let mut by_key = BTreeMap::new();
        for (one, value) in axes.iter().zip(values) {
            scenario.set(&one.key, value);
            parts.push(format!("{}={value}", axis::short_key(&one.key, axes)));
            by_key.insert(one.key.to_string(), value.to_string());
        }
        let name = parts.join(", ");
        match Plan::check(&scenario) {
            Ok(plan) => Ok(Self {
                name,
                values: by_key,
                plan,
            }),
            Err(error) => Err(Error::at_point(name, error)),
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
