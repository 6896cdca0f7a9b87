//! Ratios, bounds and tolerances on results whose numbers are known.

use measure::result::{IoFigures, LatencyFigures};

use super::*;
use config::Source;

fn results(cases: &[(&str, f64)]) -> Results {
    let runs = cases.iter().map(|(name, read_ms)| {
        let mut run = CaseResult::default();
        run.result.totals.reads = IoFigures {
            count: 1,
            per_second: 8.0 / read_ms,
            latency: Some(LatencyFigures {
                average_ms: *read_ms,
                ..LatencyFigures::default()
            }),
            ..IoFigures::default()
        };
        ((*name).to_owned(), run)
    });
    runs.collect()
}

/// A study of one figure with these lines, over cases a (8 ms), b (2 ms) and c (4 ms).
fn judged(lines: &str) -> JudgedFigure {
    let text = format!(
        "title = 's'\nsource = 'n'\n[defaults]\nworkload = 'w'\narray = 'a'\n[case]\na = {{}}\nb = \
         {{}}\nc = {{}}\n[[figure]]\nid = 'F'\nmetric = 'm'\nconfiguration = 'k'\nkind = \
         'measured'\n{lines}"
    );
    let study =
        Study::load(&[Source::file("mine", &text)]).unwrap_or_else(|problem| panic!("{problem}"));
    let own = results(&[("a", 8.0), ("b", 2.0), ("c", 4.0)]);
    let blind = results(&[("a", 16.0), ("b", 2.0), ("c", 2.0)]);
    let mut found = judge("s", &study, &own, &blind);
    assert_eq!(found.len(), 1);
    found.remove(0)
}

const READ: &str = "measure = 'host-read-ms'\n";

#[test]
fn fifteen_percent_to_either_side_are_inside() {
    for (paper, within) in [(7.0, true), (6.95, false), (9.4, true), (9.5, false)] {
        let found = judged(&format!(
            "{READ}unit = 'ms'\npublished = {paper}\ncases = ['a']"
        ));
        assert_eq!(found.within, within, "{paper}");
        assert_eq!(found.predicted, Some(8.0));
        assert_eq!(found.ratio, Some(8.0 / paper));
        assert_eq!(found.blind_predicted, Some(16.0));
        assert_eq!(found.blind_ratio, Some(16.0 / paper));
    }
}

#[test]
fn bounds_are_judged_as_bounds() {
    for (paper, bound, within) in [
        (9.0, "upper", true),
        (100.0, "upper", true),
        (7.9, "upper", false),
        (7.0, "lower", true),
        (8.1, "lower", false),
    ] {
        let lines =
            format!("{READ}unit = 'ms'\npublished = {paper}\nbound = '{bound}'\ncases = ['a']");
        assert_eq!(judged(&lines).within, within, "{bound} {paper}");
    }
}

#[test]
fn cases_are_compared_as_the_paper_does() {
    for (relation, expected) in [
        ("times", 4.0),
        ("times-less", 0.25),
        ("gain-percent", 300.0),
        ("reduction-percent", -300.0),
        ("difference", 6.0),
    ] {
        let found = judged(&format!(
            "{READ}unit = 'x'\npublished = 1\ncases = ['a']\nbaseline_cases = ['b']\ncomparison = '{relation}'"
        ));
        assert_eq!(found.predicted, Some(expected), "{relation}");
    }
}

#[test]
fn several_cases_come_to_one_value() {
    for (over, expected) in [("mean", 3.0), ("least", 2.0), ("greatest", 4.0)] {
        let found = judged(&format!(
            "{READ}unit = 'x'\npublished = 1\ncases = ['a', 'c']\nbaseline_cases = ['b', 'b']\ncomparison = \
             'times'\naggregate = '{over}'"
        ));
        assert_eq!(found.predicted, Some(expected), "{over}");
    }
    // The case with half the latency has twice the reads.
    let by_requests = judged(&format!(
        "{READ}unit = 'ms'\npublished = 1\ncases = ['a', 'c']\naggregate = 'mean-by-requests'"
    ));
    assert_eq!(by_requests.predicted, Some((8.0 * 1.0 + 4.0 * 2.0) / 3.0));
    let one_for_all = judged(&format!(
        "{READ}unit = 'x'\npublished = 1\ncases = ['a', 'c']\nbaseline_cases = ['b']\ncomparison = 'times'"
    ));
    assert_eq!(one_for_all.predicted, Some(3.0));
}

#[test]
fn microseconds_are_a_thousandth_of_what_is_measured() {
    let found = judged(&format!(
        "{READ}unit = 'us'\npublished = 8000\ncases = ['a']"
    ));
    assert_eq!(found.predicted, Some(8000.0));
    let ratio = judged(&format!(
        "{READ}unit = 'us'\npublished = 8000\ncases = ['a']\nbaseline_cases = ['b']\ncomparison = 'difference'"
    ));
    assert_eq!(ratio.predicted, Some(6000.0));
}

#[test]
fn a_zero_has_a_tolerance_and_no_ratio() {
    let lines = |tolerance: f64| {
        format!(
            "{READ}unit = '%'\npublished = 0\ntolerance = {tolerance}\ncases = ['a']\nbaseline_cases = \
             ['b']\ncomparison = 'gain-percent'"
        )
    };
    assert!(!judged(&lines(299.0)).within);
    let inside = judged(&lines(301.0));
    assert!(inside.within);
    assert_eq!(inside.ratio, None);
}

#[test]
fn what_cannot_be_modelled_is_never_inside() {
    let found = judged("unit = 'ms'\npublished = 1\nnot_modelled = 'it is a price.'");
    assert_eq!(
        (found.predicted, found.ratio, found.within),
        (None, None, false)
    );
    assert!(
        found.note.contains("Not modelled: it is a price."),
        "{}",
        found.note
    );
    let missing = judged("measure = 'disk-latency-ms'\nunit = 'ms'\npublished = 1\ncases = ['a']");
    assert_eq!((missing.predicted, missing.within), (None, false));
    assert!(
        missing.note.contains("hold no such value"),
        "{}",
        missing.note
    );
}

#[test]
fn what_its_publication_contradicts_is_predicted_and_does_not_count() {
    let lines = format!("{READ}unit = 'ms'\npublished = 8\ncases = ['a']");
    let counted = judged(&lines);
    assert!(counted.is_compared && counted.within);
    let found = judged(&format!("{lines}\nnot_comparable = 'of two tests.'"));
    assert_eq!(found.predicted, counted.predicted);
    assert!(!found.is_compared && !found.within);
    assert!(found.note.ends_with("Not comparable: of two tests."));
}

#[test]
fn a_figure_is_one_object_of_these_keys() {
    let found = judged(&format!("{READ}unit = 'ms'\npublished = 8\ncases = ['a']"));
    let value = serde_json::to_value(&found).unwrap();
    let keys: Vec<&str> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    let mut expected = [
        "study",
        "figure",
        "configuration",
        "unit",
        "published",
        "predicted",
        "ratio",
        "is_compared",
        "within",
        "blind_predicted",
        "blind_ratio",
        "note",
    ];
    let mut keys = keys.clone();
    keys.sort_unstable();
    expected.sort_unstable();
    assert_eq!(keys, expected);
}
