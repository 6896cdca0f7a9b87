use super::*;
use proptest::prelude::*;

fn latency() -> Chart {
    let mut chart = Chart::new(
        "latency",
        "Latency <over> time",
        "ms",
        HorizontalAxis::Elapsed,
    );
    chart.vertical = VerticalAxis::ByLimits;
    chart.add(
        "reads & more",
        0,
        Mark::Line,
        &[(15.0, 8.0), (30.0, f64::NAN), (45.0, 9.0)],
    );
    chart.limit("limit 20 ms", 20.0, None);
    chart.limit("limit 100 ms", 100.0, Some(1));
    chart
}

#[test]
fn limits_are_drawn_or_named_at_the_edge() {
    let drawing = latency().draw().into_string();
    assert!(drawing.contains("data-limit=\"20\""));
    assert!(drawing.contains("limit 20 ms"));
    assert!(drawing.contains("\u{2191} limit 100 ms"));
}

#[test]
fn a_line_is_broken_where_nothing_was_measured() {
    let mut chart = latency();
    let points: Vec<Point> = (0..10_000).map(|i| (f64::from(i), 1.0)).collect();
    chart.add("writes", 1, Mark::Line, &points);
    chart.break_lines(5_000.0);
    let broken = |chart: &Chart, series: usize| {
        let points = &chart.series[series].points;
        let place = points.iter().position(|point| point.1.is_nan())?;
        Some((points[place - 1].0, points[place + 1].0))
    };
    let (before, after) = broken(&chart, 1).unwrap();
    assert!(before <= 5_000.0 && after > 5_000.0, "{before} {after}");
    // Nothing is between the ends of a line and the edges.
    let mut whole = Chart::new("a", "a", "ms", HorizontalAxis::Elapsed);
    whole.add("a", 0, Mark::Line, &[(1.0, 1.0), (2.0, 1.0)]);
    whole.break_lines(0.5);
    whole.break_lines(2.0);
    assert_eq!(broken(&whole, 0), None);
}

#[test]
fn a_fast_device_switches_to_a_logarithmic_scale() {
    let mut chart = latency();
    assert!(!chart.draw().into_string().contains("logarithmic"));
    chart.series.clear();
    chart.add("reads", 0, Mark::Line, &[(15.0, 0.3), (30.0, 0.4)]);
    let drawing = chart.draw().into_string();
    assert!(drawing.contains("logarithmic"));
    assert!(!drawing.contains('\u{2191}'));
}

#[test]
fn a_gap_ends_the_line() {
    let drawing = latency().draw().into_string();
    let start = drawing
        .find("class=\"line tone-1\" d=\"M4")
        .expect("the line is drawn");
    let path = &drawing[start + 23..start + 23 + drawing[start + 23..].find("\"></path>").unwrap()];
    assert_eq!(path.matches('L').count(), 0);
}

#[test]
fn text_is_escaped_everywhere() {
    let mut chart = latency();
    chart.add(
        "</script><script>alert(1)</script>",
        2,
        Mark::Line,
        &[(1.0, 1.0)],
    );
    let drawing = chart.draw().into_string();
    assert!(!drawing.contains("<script>"));
    assert_eq!(drawing.matches("</script>").count(), 1);
    assert!(drawing.contains("Latency &lt;over&gt; time"));
}

#[test]
fn nothing_measured_draws_nothing() {
    let mut chart = Chart::new("empty", "Empty", "ms", HorizontalAxis::Elapsed);
    chart.add(
        "reads",
        0,
        Mark::Line,
        &[(0.0, f64::NAN), (1.0, f64::INFINITY)],
    );
    assert!(chart.is_empty());
    assert_eq!(chart.draw().into_string(), "");
}

proptest! {
    #[test]
    fn any_values_draw(
        points in proptest::collection::vec((any::<f64>(), any::<f64>()), 0..60),
        limit in any::<f64>(),
    ) {
        for horizontal in [
            HorizontalAxis::Elapsed,
            HorizontalAxis::Number("threads".into()),
            HorizontalAxis::Percentile,
            HorizontalAxis::Names(vec!["a".into(), "b".into()]),
        ] {
            for vertical in [VerticalAxis::Linear, VerticalAxis::Logarithmic, VerticalAxis::ByLimits] {
                let mut chart = Chart::new("any", "Any", "ms", horizontal.clone());
                chart.vertical = vertical;
                chart.add("values", 0, Mark::Line, &points);
                chart.limit("limit", limit, None);
                let drawing = chart.draw().into_string();
                prop_assert!(!drawing.contains("NaN") && !drawing.contains(">inf"));
            }
        }
    }
}
