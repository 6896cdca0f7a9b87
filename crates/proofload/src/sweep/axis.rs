//! What a sweep varies: a setting and its values.

use std::collections::BTreeSet;

use execution::Error;
use measure::grid::GridAxis;

use crate::setting::{Key, Value};

/// No setting is tried with more values than this.
const MOST_VALUES: usize = 1000;

const HELP: &str = "Write --sweep threads=8..40:8, --sweep array.pool.ssd_count=0,1,2,4 or \
                    --sweep array=msa2050,msa2050-tier.";

/// A setting with the values to predict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Axis {
    /// Which setting is varied.
    pub key: Key,
    /// Its values, none twice.
    pub values: Vec<Value>,
}

impl Axis {
    /// The values of the setting that `name` stands for, such as `threads` or
    /// `array.pool.ssd_count`.
    pub fn new<V: Into<Value>>(name: &str, values: impl IntoIterator<Item = V>) -> Self {
        Self {
            key: Key::named(name),
            values: values.into_iter().map(Into::into).collect(),
        }
    }

    /// Reads `threads=8..40:8` or `array.pool.ssd_count=0,1,2,4`.
    ///
    /// # Errors
    /// What is no such text.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let Some((key, values)) = text.split_once('=') else {
            return Err(wrong(text, "has no values"));
        };
        let key = key.trim();
        let words = values.split(',').map(str::trim);
        let mut axis = Self {
            key: Key::named(key),
            values: Vec::new(),
        };
        for word in words {
            if word.is_empty() {
                return Err(wrong(text, "has an empty value"));
            }
            match range(word) {
                Some(Ok(values)) => axis.values.extend(values.into_iter().map(Value::of_text)),
                Some(Err(problem)) => return Err(wrong(text, &problem)),
                None => axis.values.push(Value::from(word)),
            }
        }
        if key.is_empty() {
            return Err(wrong(text, "names no setting"));
        }
        if axis.values.len() > MOST_VALUES {
            return Err(wrong(text, &format!("has more than {MOST_VALUES} values")));
        }
        let mut seen = BTreeSet::new();
        if let Some(twice) = axis.values.iter().find(|value| !seen.insert(*value)) {
            return Err(wrong(text, &format!("has the value {twice} twice")));
        }
        Ok(axis)
    }

    /// The axis in a result.
    pub(crate) fn entry(&self) -> GridAxis {
        GridAxis {
            key: self.key.to_string(),
            values: self.values.iter().map(Value::to_string).collect(),
        }
    }
}

fn wrong(text: &str, problem: &str) -> Error {
    Error::usage(format!("--sweep {text} {problem}."), HELP)
}

/// The values of `8..40:8`; `None` when the text is no range of numbers.
fn range(text: &str) -> Option<Result<Vec<String>, String>> {
    let (from, rest) = text.split_once("..")?;
    let (until, step) = rest.split_once(':').unwrap_or((rest, "1"));
    let numbers: Option<Vec<f64>> = [from, until, step]
        .iter()
        .map(|word| word.trim().parse().ok())
        .collect();
    let [from_value, until_value, step_value] = numbers?[..] else {
        return None;
    };
    if !(step_value > 0.0 && until_value >= from_value && until_value.is_finite()) {
        return Some(Err(format!("has a range, {text}, that contains nothing")));
    }
    let count = ((until_value - from_value) / step_value + 1e-9).floor();
    if count >= MOST_VALUES as f64 {
        return Some(Err(format!("has more than {MOST_VALUES} values in {text}")));
    }
    let places = [from, until, step].map(decimals).into_iter().max()?;
    let value = |number: u64| from_value + step_value * number as f64;
    let values = (0..=count as u64).map(|number| format!("{:.places$}", value(number)));
    Some(Ok(values.collect()))
}

/// Digits after the point.
fn decimals(text: &str) -> usize {
    text.trim()
        .split_once('.')
        .map_or(0, |(_, part)| part.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values(text: &str) -> Vec<String> {
        let axis = Axis::parse(text).expect("a sweep");
        axis.values.iter().map(Value::to_string).collect()
    }

    #[test]
    fn lists_and_ranges_are_written_out() {
        assert_eq!(values("threads=8..40:8"), ["8", "16", "24", "32", "40"]);
        assert_eq!(values("threads=1..3,10"), ["1", "2", "3", "10"]);
        assert_eq!(values("array.x=0.5..1:0.25"), ["0.50", "0.75", "1.00"]);
        assert_eq!(
            values("array=../mine.toml,msa2050"),
            ["../mine.toml", "msa2050"]
        );
        assert_eq!(values("duration=10m,2h"), ["10m", "2h"]);
    }

    #[test]
    fn what_is_no_sweep_is_refused() {
        for wrong in [
            "threads",
            "threads=",
            "threads=8,,9",
            "=8",
            "threads=9..8",
            "threads=1..8:0",
            "threads=1..8:-1",
            "threads=1..1e9",
            "threads=1..inf",
            "threads=8,8",
        ] {
            let error = Axis::parse(wrong).expect_err(wrong);
            assert_eq!(error.class(), workload::ErrorClass::Usage, "{wrong}");
        }
    }
}
