//! Where the limits of a chart are drawn, and where their labels stand.
//!
//! Limits above the drawing are named at its upper edge, so that none is missing. Limits whose
//! lines fall together share one label; labels that would touch are spread.

use maud::{Markup, html};

use super::frame::{BOTTOM, Frame, LEFT, RIGHT, TOP, short};
use super::{Limit, Scale, frame};

/// Room a label needs upwards.
const LABEL_HEIGHT: f64 = 13.0;
/// The highest and the lowest place of a label.
const FIRST: f64 = TOP + 9.0;
const LAST: f64 = BOTTOM - 4.0;
/// Lines nearer to each other than this look like one.
const TOGETHER: f64 = 2.5;
/// Letters that fit on one line.
const LONGEST_LABEL: usize = 60;

/// Limits that share a label.
struct Group<'a> {
    limits: Vec<&'a Limit>,
    /// Height of the first line; `None` above the drawing.
    line_y: Option<f64>,
    label: String,
    label_y: f64,
}

/// The lines and labels of all limits.
pub(super) fn draw(limits: &[Limit], frame: Frame) -> Markup {
    let groups = place(limits, frame);
    html! {
        @for group in &groups {
            @let above = group.line_y.is_none();
            g class={ "limit" (tone(&group.limits)) (if above { " above" } else { "" }) }
                data-limit=(group.limits[0].value) {
                @for limit in group.limits.iter().filter(|_| !above) {
                    path d=(format!("M{LEFT} {:.1}H{RIGHT}", frame.y(limit.value))) {}
                }
                text x=(short(RIGHT - 4.0)) y=(short(group.label_y)) {
                    @if above { "\u{2191} " }
                    (group.label)
                }
            }
        }
    }
}

/// The colour that all limits of a group have.
fn tone(limits: &[&Limit]) -> String {
    let first = limits[0].tone;
    match first {
        Some(tone) if limits.iter().all(|limit| limit.tone == first) => {
            format!(" tone-{}", frame::tone(tone))
        }
        _ => String::new(),
    }
}

/// Groups the limits, highest first, and finds a place for every label.
fn place(limits: &[Limit], frame: Frame) -> Vec<Group<'_>> {
    let top = match frame.vertical {
        Scale::Linear { high, .. } | Scale::Logarithmic { high, .. } => high,
        _ => f64::INFINITY,
    };
    let mut sorted: Vec<&Limit> = limits.iter().collect();
    sorted.sort_by(|a, b| b.value.total_cmp(&a.value));
    let mut groups: Vec<Group> = Vec::new();
    for limit in sorted {
        let line_y = (limit.value <= top).then(|| frame.y(limit.value));
        if let Some(last) = groups.last_mut().filter(|last| joins(last, limit, line_y)) {
            last.label = format!("{}, {}", last.label, limit.label);
            last.limits.push(limit);
            continue;
        }
        groups.push(Group {
            limits: vec![limit],
            line_y,
            label: limit.label.clone(),
            label_y: line_y.map_or(FIRST, |y| y - 4.0),
        });
    }
    spread(&mut groups);
    groups
}

fn joins(group: &Group, limit: &Limit, line_y: Option<f64>) -> bool {
    let near = match (group.line_y, line_y) {
        (None, None) => true,
        (Some(one), Some(other)) => (one - other).abs() < TOGETHER,
        _ => false,
    };
    near && group.label.chars().count() + limit.label.chars().count() + 2 <= LONGEST_LABEL
}

/// Pushes labels down until none touches the one above, and up again where they would leave the
/// drawing. More labels than the drawing has room for overlap at its upper edge.
fn spread(groups: &mut [Group]) {
    let mut next = FIRST;
    for group in groups.iter_mut() {
        group.label_y = group.label_y.max(next);
        next = group.label_y + LABEL_HEIGHT;
    }
    let mut next = LAST;
    for group in groups.iter_mut().rev() {
        group.label_y = group.label_y.min(next).max(FIRST);
        next = group.label_y - LABEL_HEIGHT;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn limit(label: &str, value: f64) -> Limit {
        Limit {
            label: label.to_string(),
            value,
            tone: None,
        }
    }

    fn frame() -> Frame {
        Frame {
            horizontal: Scale::from_zero(1.0),
            vertical: Scale::from_zero(10_000.0),
        }
    }

    #[test]
    fn limits_that_fall_together_share_a_label() {
        let limits = [
            limit("at least 0.044 IOPS", 0.044),
            limit("target 0.047 IOPS", 0.047),
            limit("high", 20_000.0),
            limit("higher", 30_000.0),
        ];
        let groups = place(&limits, frame());
        let labels: Vec<&str> = groups.iter().map(|group| group.label.as_str()).collect();
        assert_eq!(
            labels,
            ["higher, high", "target 0.047 IOPS, at least 0.044 IOPS"]
        );
        assert!(
            groups[1].label_y < BOTTOM,
            "not among the marks of the axis"
        );
    }

    proptest! {
        #[test]
        fn labels_stay_inside_and_apart(
            values in proptest::collection::vec(0.0..15_000.0f64, 1..12),
        ) {
            let label = "a label so long that it cannot share its line";
            let limits: Vec<Limit> = values.iter().map(|value| limit(label, *value)).collect();
            let groups = place(&limits, frame());
            prop_assert_eq!(groups.len(), limits.len());
            for group in &groups {
                prop_assert!((FIRST..=LAST).contains(&group.label_y));
            }
            for pair in groups.windows(2) {
                prop_assert!(pair[1].label_y - pair[0].label_y >= LABEL_HEIGHT - 1e-6);
            }
        }
    }
}
