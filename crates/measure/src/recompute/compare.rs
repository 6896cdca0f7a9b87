//! Two results, field by field.

use serde_json::Value;

use super::{Difference, Verified};
use crate::result::RunResult;
use crate::run_directory::RESULT_FILE;

/// Fields of a result that follow from the samples.
const FIGURES: [&str; 7] = [
    "duration_s",
    "samples",
    "throughput",
    "databases",
    "totals",
    "operations",
    "steady_state",
];

/// Compares what was recorded with what was recomputed. Both must be results that JSON can express.
pub(super) fn compare(recorded: &RunResult, recomputed: &RunResult, verified: &mut Verified) {
    let values = (
        serde_json::to_value(recorded),
        serde_json::to_value(recomputed),
    );
    let (Ok(recorded), Ok(recomputed)) = values else {
        verified.cannot("The result holds a figure that is no number, and was not compared.");
        return;
    };
    walk("", &recorded, &recomputed, verified);
}

/// Compares two values and everything in them.
fn walk(path: &str, recorded: &Value, recomputed: &Value, verified: &mut Verified) {
    match (recorded, recomputed) {
        (Value::Object(a), Value::Object(b)) => {
            let mut names: Vec<&String> = a.keys().chain(b.keys()).collect();
            names.sort();
            names.dedup();
            for name in names {
                let path = match path {
                    "" => name.clone(),
                    path => format!("{path}.{name}"),
                };
                let value = |of: &serde_json::Map<String, Value>| of.get(name).cloned();
                let (a, b) = (value(a).unwrap_or_default(), value(b).unwrap_or_default());
                walk(&path, &a, &b, verified);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                walk(&format!("{path}[{index}]"), a, b, verified);
            }
        }
        (a, b) => leaf(path, a, b, verified),
    }
}

fn leaf(path: &str, recorded: &Value, recomputed: &Value, verified: &mut Verified) {
    let root = path.split(['.', '[']).next().unwrap_or_default();
    let is_of_host = path.starts_with("host.counters") || path.starts_with("host.devices");
    if (FIGURES.contains(&root) || is_of_host) && recorded.is_number() {
        verified.figures += 1;
    }
    let same = match (recorded.as_f64(), recomputed.as_f64()) {
        (Some(a), Some(b)) => (a - b).abs() <= tolerance(path, a, b),
        _ => recorded == recomputed,
    };
    if !same {
        verified.differences.add(Difference {
            file: RESULT_FILE.to_owned(),
            field: path.to_owned(),
            recorded: text(recorded),
            recomputed: text(recomputed),
        });
    }
}

/// How far a figure may be from the recomputed one: samples are written with six digits behind the
/// point, histograms are true to three digits.
fn tolerance(path: &str, a: f64, b: f64) -> f64 {
    let is_whole = a.fract() == 0.0 && b.fract() == 0.0;
    // Averages of response times are in the histograms only, which do not distinguish nanoseconds.
    let is_from_histogram = path.contains("response_time.");
    let least = if is_from_histogram {
        1e-3
    } else if path.starts_with("steady_state.") && path.ends_with("_fraction") {
        // A difference of rates that are nearly the same.
        1e-4
    } else {
        2e-6
    };
    let relative = if path.starts_with("host.counters") || path.starts_with("host.devices") {
        // The host is read a moment after the sample has ended, so its samples are not as long.
        0.03
    } else if path.contains("half_width") {
        5e-3
    } else if is_from_histogram {
        2e-3
    } else if path.ends_with(".bytes") {
        1e-6
    } else if is_whole {
        return 0.0;
    } else {
        2e-5
    };
    least + relative * a.abs().max(b.abs())
}

/// A value for a line of a table.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) => format!("{} entries", items.len()),
        Value::Object(_) => "an entry".to_owned(),
        Value::Null => "-".to_owned(),
        other => other.to_string(),
    }
}
