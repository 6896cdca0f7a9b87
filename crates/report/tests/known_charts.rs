//! Axes and drawings of known values: where marks and points lie, and what stands beside them.

use crate::expected::expect;
use report::chart::{
    Band, Chart, ChartEvent, HorizontalAxis, Limit, Mark, Point, Scale, VerticalAxis, thin,
};

#[test]
fn each_axis_has_its_marks_and_places() {
    let mut scales = Vec::new();
    let tops = [
        0.0, 0.003, 0.047, 0.9, 1.0, 4.7, 18.7, 94.3, 94.4, 100.0, 470.0, 9_400.0, 123_456.0,
        4.7e6, 9.9e7,
    ];
    scales.extend(tops.map(Scale::from_zero));
    let ratios = [
        (0.3, 80.0),
        (0.02, 3_000.0),
        (0.000_4, 90_000.0),
        (5.0, 5.0),
        (1.0, 2.0),
        (0.94, 9.2),
        (2.1, 46.0),
        (0.0, 0.0),
    ];
    scales.extend(ratios.map(|(low, high)| Scale::logarithmic(low, high)));
    let seconds = [
        (0.0, 0.5),
        (0.0, 3.0),
        (0.0, 5.0),
        (0.0, 20.0),
        (0.0, 100.0),
        (0.0, 300.0),
        (0.0, 400.0),
        (0.0, 2_000.0),
        (0.0, 3_600.0),
        (0.0, 5_000.0),
        (0.0, 18_000.0),
        (0.0, 30_000.0),
        (0.0, 90_000.0),
        (0.0, 1e6),
        (100.0, 400.0),
        (7_000.0, 11_000.0),
        (5.0, 5.0),
        (f64::NAN, f64::NAN),
    ];
    scales.extend(seconds.map(|(low, high)| Scale::elapsed(low, high)));
    scales.extend([1.0, 2.0, 3.0, 4.5, 7.0].map(|nines| Scale::Percentile { nines }));
    scales.extend([0, 1, 3, 8, 9, 40].map(|count| Scale::Category { count }));
    let mut text = String::new();
    for scale in scales {
        text += &format!("{} {scale:?}\n", scale.kind());
        for wanted in [0, 5, 8] {
            let marks = scale.marks(wanted);
            let marks: Vec<String> = marks
                .iter()
                .map(|(value, label)| format!("{label} at {:.4}", scale.place(*value)))
                .collect();
            text += &format!("  {}\n", marks.join(", "));
        }
        let values = [-1.0, 0.02, 0.5, 1.7, 29.0, 99.5, 470.0, 8_000.0, f64::NAN];
        let places = values.map(|value| format!("{:.4}", scale.place(value)));
        text += &format!("  places {}\n", places.join(" "));
    }
    expect("scales.txt", &text);
}

fn wave(count: usize, times: f64) -> Vec<Point> {
    (0..count)
        .map(|number| {
            let x = number as f64;
            (15.0 * (x + 1.0), times * (2.0 + (x * 0.7).sin()))
        })
        .collect()
}

fn chart(horizontal: HorizontalAxis, vertical: VerticalAxis) -> Chart {
    let mut chart = Chart::new("chart", "A chart", "ms", horizontal);
    chart.vertical = vertical;
    chart
}

fn limit(label: &str, value: f64, tone: Option<usize>) -> Limit {
    let label = label.to_owned();
    Limit { label, value, tone }
}

/// Charts that differ in what decides how they are drawn.
fn charts() -> Vec<Chart> {
    use HorizontalAxis::{Elapsed, Names, Number, Percentile};
    use VerticalAxis::{ByLimits, Linear, Logarithmic};
    let names = |names: &[&str]| Names(names.iter().map(|name| (*name).to_owned()).collect());

    let mut over_time = chart(Elapsed, ByLimits);
    over_time.note = "A note.".to_owned();
    over_time.add("first", 0, Mark::Line, &wave(20, 3.0));
    over_time.add("second", 9, Mark::Dashed, &wave(40, 4.0));
    over_time.limits = vec![
        limit("low", 2.0, Some(0)),
        limit("near", 9.0, None),
        limit("nearly as near", 9.2, Some(1)),
        limit("far", 90.0, None),
    ];
    let band = |label: &str, from, to| Band {
        is_measured: label == "measured",
        label: label.to_owned(),
        from,
        to,
    };
    over_time.bands = vec![
        band("warm-up", 0.0, 150.0),
        band("a name that is too long for its band", 150.0, 200.0),
        band("measured", 200.0, 500.0),
        band("empty", 500.0, 500.0),
        band("thin", 500.0, 500.2),
        band("close", 500.0, 600.0),
    ];
    over_time.events = [("gone", -5.0), ("breaks", 222.0), ("late", 9e9)]
        .map(|(label, at)| {
            let label = label.to_owned();
            ChartEvent { label, at }
        })
        .to_vec();

    let mut begins_late = chart(Elapsed, Linear);
    let points: Vec<Point> = wave(9, 1.0)
        .iter()
        .map(|one| (one.0 + 900.0, one.1))
        .collect();
    begins_late.add("late", 3, Mark::LineAndDots, &points);
    begins_late.top = Some(100.0);

    let mut flat = chart(Elapsed, ByLimits);
    let gaps = [
        (15.0, 0.3),
        (30.0, f64::NAN),
        (45.0, 0.9),
        (60.0, 1e19),
        (75.0, 0.2),
    ];
    flat.add("with gaps", 1, Mark::Line, &gaps);
    flat.limits = vec![limit("far above", 20.0, None)];

    let mut not_quite_flat = flat.clone();
    not_quite_flat.limits = vec![limit("above", 7.2, None)];

    let mut always = chart(Number("threads".into()), Logarithmic);
    always.add(
        "dots",
        2,
        Mark::Dots,
        &[(1.0, 0.0), (2.0, 1e-9), (8.0, 30.0)],
    );
    always.limit("limit", 45.0, None);
    always.limit("no limit", f64::INFINITY, None);

    let mut distribution = chart(Percentile, Linear);
    let points = [(0.0, 1.0), (50.0, 2.0), (99.0, 3.0), (99.95, 8.0)];
    distribution.add("reads", 0, Mark::Line, &points);

    let mut few = chart(names(&["db1", "db2", "db3"]), Linear);
    few.add("each", 0, Mark::Dots, &[(0.0, 1.0), (1.0, 5.0), (2.0, 4.0)]);
    let long = "a database whose name is so long";
    let mut long_names = chart(names(&[long, long, long]), Linear);
    long_names.add("each", 0, Mark::Dots, &[(0.0, 1.0), (2.0, 4.0)]);
    long_names.top = Some(3.0);

    vec![
        over_time,
        begins_late,
        flat,
        not_quite_flat,
        always,
        distribution,
        few,
        long_names,
    ]
}

#[test]
fn each_drawing_has_its_lines_limits_and_labels() {
    let drawings = charts()
        .into_iter()
        .map(|chart| chart.draw().into_string().replace('<', "\n<"));
    let text: String = drawings.map(|drawing| format!("{drawing}\n")).collect();
    // A line for each element; those that are closed at once say nothing.
    let lines = text
        .lines()
        .filter(|line| !line.starts_with("</") && !line.is_empty());
    let text: String = lines.map(|line| format!("{line}\n")).collect();
    expect("drawings.txt", &text);
}

#[test]
fn of_many_points_the_extremes_are_kept() {
    let points = wave(100, 1.0);
    assert_eq!(thin(&points, 50), points, "as many as may stay");
    let kept = thin(&points, 4);
    // Of each quarter the lowest and the highest, in the order of time.
    let mut wanted = Vec::new();
    for quarter in points.chunks(25) {
        let by_value = |a: &&Point, b: &&Point| a.1.total_cmp(&b.1);
        let (low, high) = (
            quarter.iter().min_by(by_value),
            quarter.iter().max_by(by_value),
        );
        let mut both = [*low.unwrap(), *high.unwrap()];
        both.sort_by(|a, b| a.0.total_cmp(&b.0));
        wanted.extend(both);
    }
    assert_eq!(kept, wanted);
    let flat: Vec<Point> = (0..100).map(|number| (f64::from(number), 1.0)).collect();
    assert_eq!(thin(&flat, 2).len(), 4);
    let nothing: Vec<Point> = (0..100)
        .map(|number| (f64::from(number), f64::NAN))
        .collect();
    let places: Vec<f64> = thin(&nothing, 2).iter().map(|point| point.0).collect();
    assert_eq!(places, [0.0, 50.0]);
    assert_eq!(thin(&points, 0).len(), 2);
}
