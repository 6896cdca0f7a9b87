//! The values of a chart for the script of the page.

use serde_json::{Value, json};

use super::frame::{self, tone};
use super::{Chart, HorizontalAxis, Scale};

/// The drawing's frame, axes and lines as JSON that is safe inside a `<script>` element.
pub(super) fn embedded(chart: &Chart, horizontal: Scale, vertical: Scale) -> String {
    let series: Vec<Value> = chart
        .series
        .iter()
        .map(|series| {
            let x: Vec<Value> = series
                .points
                .iter()
                .map(|point| rounded(point.0, 7))
                .collect();
            let y: Vec<Value> = series
                .points
                .iter()
                .map(|point| rounded(point.1, 4))
                .collect();
            json!({ "name": series.name, "tone": tone(series.tone), "x": x, "y": y })
        })
        .collect();
    let names = if let HorizontalAxis::Names(names) = &chart.horizontal {
        names.clone()
    } else {
        Vec::new()
    };
    let limits: Vec<Value> = chart
        .limits
        .iter()
        .map(|limit| json!({ "name": limit.label, "y": rounded(limit.value, 6) }))
        .collect();
    let value = json!({
        "unit": chart.unit,
        "head": head(&chart.horizontal),
        "frame": [frame::LEFT, frame::RIGHT, frame::TOP, frame::BOTTOM],
        "horizontal": ends(horizontal),
        "vertical": ends(vertical),
        "names": names,
        "series": series,
        "limits": limits,
    });
    value
        .to_string()
        .replace('<', "\\u003c")
        .replace('>', "\\u003e")
        .replace('&', "\\u0026")
}

/// What the first line of the read-out is called.
fn head(horizontal: &HorizontalAxis) -> &str {
    match horizontal {
        HorizontalAxis::Number(name) => name,
        HorizontalAxis::Percentile => "percentile",
        HorizontalAxis::Elapsed | HorizontalAxis::Names(_) => "",
    }
}

fn ends(scale: Scale) -> Value {
    let (low, high) = match scale {
        Scale::Linear { low, high }
        | Scale::Logarithmic { low, high }
        | Scale::Elapsed { low, high } => (low, high),
        Scale::Percentile { nines } => (0.0, nines),
        Scale::Category { count } => (0.0, count as f64),
    };
    json!({ "kind": scale.kind(), "low": low, "high": high })
}

/// `value` with so many significant digits, null when it was not measured.
fn rounded(value: f64, digits: i32) -> Value {
    if !value.is_finite() {
        return Value::Null;
    }
    if value == 0.0 {
        return json!(0);
    }
    let magnitude = value.abs().log10().floor() as i32;
    let places = digits - 1 - magnitude;
    if !(-300..=300).contains(&places) {
        return json!(value);
    }
    // Dividing by a whole power of ten gives the shortest text; multiplying by its inverse not.
    let rounded = if places >= 0 {
        let power = 10f64.powi(places);
        (value * power).round() / power
    } else {
        let power = 10f64.powi(-places);
        (value / power).round() * power
    };
    if !rounded.is_finite() {
        return json!(value);
    }
    if rounded.fract() == 0.0 && rounded.abs() < 1e15 {
        return json!(rounded as i64);
    }
    json!(rounded)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_short_and_gaps_are_null() {
        let text = |value, digits| rounded(value, digits).to_string();
        assert_eq!(text(12.345_678, 4), "12.35");
        assert_eq!(text(0.001_234_567, 4), "0.001235");
        assert_eq!(text(123_456.7, 4), "123500");
        assert_eq!(text(f64::NAN, 4), "null");
        assert_eq!(text(f64::INFINITY, 4), "null");
        assert_eq!(text(15.0, 7), "15");
        assert_eq!(text(0.0, 7), "0");
    }
}
