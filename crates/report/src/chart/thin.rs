//! Fewer points for the eye, none of the peaks lost.

/// A point of a line; `y` is `NaN` where nothing was measured, which breaks the line.
pub type Point = (f64, f64);

/// Keeps at most about `2 * buckets` points: of each run of neighbours the lowest and the highest,
/// in the order they came, so that a single spike of a day stays visible.
#[must_use]
pub fn thin(points: &[Point], buckets: usize) -> Vec<Point> {
    let buckets = buckets.max(1);
    if points.len() <= buckets * 2 {
        return points.to_vec();
    }
    let mut kept = Vec::with_capacity(buckets * 2);
    for bucket in 0..buckets {
        let from = bucket * points.len() / buckets;
        let to = (bucket + 1) * points.len() / buckets;
        kept.extend(extremes(&points[from..to]));
    }
    kept
}

/// The lowest and highest point in order of place; the first one when none was measured.
fn extremes(points: &[Point]) -> Vec<Point> {
    let measured = || {
        points
            .iter()
            .enumerate()
            .filter(|(_, point)| point.1.is_finite())
    };
    let lowest = measured()
        .min_by(|a, b| a.1.1.total_cmp(&b.1.1))
        .map(|(index, _)| index);
    let highest = measured()
        .max_by(|a, b| a.1.1.total_cmp(&b.1.1))
        .map(|(index, _)| index);
    match (lowest, highest) {
        (Some(low), Some(high)) if low == high => vec![points[low]],
        (Some(low), Some(high)) => vec![points[low.min(high)], points[low.max(high)]],
        _ => points.first().copied().into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_gap_stays_a_gap() {
        let points: Vec<Point> = (0..100)
            .map(|i| {
                (
                    f64::from(i),
                    if (40..60).contains(&i) { f64::NAN } else { 1.0 },
                )
            })
            .collect();
        let thinned = thin(&points, 10);
        assert!(thinned.iter().any(|point| point.1.is_nan()));
        assert!(thinned.len() <= 20);
    }

    proptest! {
        #[test]
        fn the_extremes_survive(
            values in proptest::collection::vec(-1e9..1e9f64, 1..3_000),
            buckets in 1usize..300,
        ) {
            let points: Vec<Point> =
                values.iter().enumerate().map(|(index, value)| (index as f64, *value)).collect();
            let thinned = thin(&points, buckets);
            prop_assert!(thinned.len() <= buckets * 2);
            prop_assert!(thinned.windows(2).all(|pair| pair[0].0 < pair[1].0));
            let top = |list: &[Point]| list.iter().map(|p| p.1).fold(f64::MIN, f64::max);
            let bottom = |list: &[Point]| list.iter().map(|p| p.1).fold(f64::MAX, f64::min);
            prop_assert_eq!(top(&thinned), top(&points));
            prop_assert_eq!(bottom(&thinned), bottom(&points));
        }
    }
}
