//! Confidence in an average: 95 % intervals by batch means.
//!
//! Latencies that follow each other are alike, so the usual error of a mean would be far too
//! small. Batch means (A. M. Law, Simulation Modeling and Analysis, chapter 9) cut the run into a
//! few long batches, whose means hardly depend on each other, and take the spread of those.

/// Fewer samples than this give no interval.
pub const FEWEST_BATCHES: usize = 10;

/// With twice as many samples or more, they are joined into this many batches.
pub const MOST_BATCHES: usize = 20;

/// A part of a run: how many values, and what they add up to.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Part {
    /// Number of values; a part with 0 is left out.
    pub count: f64,
    /// Sum of the values.
    pub total: f64,
}

/// Half-width of the 95 % confidence interval of (sum of totals) / (sum of counts), in the unit of
/// the values. Parts without values are left out. `None` when fewer than [`FEWEST_BATCHES`] parts
/// have values.
///
/// The mean of all values is a ratio, so the variance is that of the ratio estimator over batches:
/// `b / (b - 1) * sum((total_i - mean * count_i)^2) / (sum of counts)^2`. With equal counts this is
/// the plain variance of the batch means.
pub fn half_width_95(parts: &[Part]) -> Option<f64> {
    let used: Vec<Part> = parts.iter().copied().filter(|p| p.count > 0.0).collect();
    if used.len() < FEWEST_BATCHES {
        return None;
    }
    let batch_count = if used.len() >= 2 * MOST_BATCHES {
        MOST_BATCHES
    } else {
        used.len()
    };
    let batches = batches_of(&used, batch_count);
    let count: f64 = batches.iter().map(|b| b.count).sum();
    let mean = batches.iter().map(|b| b.total).sum::<f64>() / count;
    let squares: f64 = batches
        .iter()
        .map(|b| (b.total - mean * b.count).powi(2))
        .sum();
    let freedom = (batch_count - 1) as f64;
    let variance = batch_count as f64 / freedom * squares / (count * count);
    Some(student_t_975(freedom) * variance.sqrt())
}

/// Joins neighbours into `batch_count` batches of as equal length as can be.
fn batches_of(parts: &[Part], batch_count: usize) -> Vec<Part> {
    (0..batch_count)
        .map(|b| {
            let range = b * parts.len() / batch_count..(b + 1) * parts.len() / batch_count;
            let joined = &parts[range];
            Part {
                count: joined.iter().map(|part| part.count).sum(),
                total: joined.iter().map(|part| part.total).sum(),
            }
        })
        .collect()
}

/// The 97.5 % quantile of Student's t distribution for 9 degrees of freedom or more, by the
/// expansion around the normal quantile (Abramowitz and Stegun, 26.7.5); true to 0.0005.
fn student_t_975(freedom: f64) -> f64 {
    assert!(
        freedom >= (FEWEST_BATCHES - 1) as f64,
        "the expansion is too rough below 9"
    );
    let z: f64 = 1.959_963_985;
    let (z3, z5, z7) = (z.powi(3), z.powi(5), z.powi(7));
    z + (z3 + z) / (4.0 * freedom)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * freedom.powi(2))
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * freedom.powi(3))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parts(means: &[f64]) -> Vec<Part> {
        means
            .iter()
            .map(|&m| Part {
                count: 100.0,
                total: 100.0 * m,
            })
            .collect()
    }

    #[test]
    fn the_t_quantile_agrees_with_the_printed_tables() {
        for (freedom, printed) in [(9.0, 2.262), (12.0, 2.179), (19.0, 2.093), (38.0, 2.024)] {
            let t = student_t_975(freedom);
            assert!((t - printed).abs() < 0.001, "{freedom}: {t} and {printed}");
        }
    }

    #[test]
    fn a_known_example_is_met() {
        // Ten batches 1..10: mean 5.5, standard deviation 3.02765, so 2.262 * 3.02765 / sqrt(10).
        let means: Vec<f64> = (1..=10).map(f64::from).collect();
        let half = half_width_95(&parts(&means)).unwrap();
        assert!((half - 2.1657).abs() < 0.001, "{half}");
    }

    /// By another program, from the same formulas; the printed tables have three digits only.
    #[test]
    fn intervals_agree_with_another_computation() {
        for (freedom, wanted) in [(9.0, 2.261_901_306_014), (38.0, 2.024_393_392_636)] {
            assert!((student_t_975(freedom) - wanted).abs() < 1e-11, "{freedom}");
        }
        let part = |number: u32| {
            let count = f64::from(10 * (number % 4 + 1));
            let total = count * f64::from(3 + number * number % 7);
            Part { count, total }
        };
        let half = |parts: u32| half_width_95(&(0..parts).map(part).collect::<Vec<_>>());
        // Each part a batch; as many as that can be; 20 batches of two or three parts.
        for (parts, wanted) in [
            (12, 0.933_855_569_516),
            (39, 0.509_831_039_115),
            (43, 0.537_962_111_531),
        ] {
            let found = half(parts).unwrap();
            assert!((found - wanted).abs() < 1e-11, "{parts}: {found}");
        }
        let (mut idle, parts) = (vec![Part::default()], (0..12).map(part));
        idle.extend(parts);
        assert_eq!(half_width_95(&idle), half(12));
    }

    #[test]
    fn few_samples_give_no_interval() {
        assert_eq!(half_width_95(&parts(&[1.0; 9])), None);
        let mut idle = parts(&[1.0; 9]);
        idle.push(Part::default());
        assert_eq!(
            half_width_95(&idle),
            None,
            "a sample without values does not count"
        );
    }

    proptest! {
        #[test]
        fn equal_samples_leave_no_doubt(n in 10usize..200, value in 0.01f64..1000.0) {
            let half = half_width_95(&parts(&vec![value; n])).unwrap();
            prop_assert!(half <= value * 1e-9, "{half}");
        }

        #[test]
        fn the_interval_scales_with_the_values(
            means in prop::collection::vec(0.1f64..100.0, 10..120),
        ) {
            let doubled: Vec<f64> = means.iter().map(|m| 2.0 * m).collect();
            let (a, b) =
                (half_width_95(&parts(&means)).unwrap(), half_width_95(&parts(&doubled)).unwrap());
            prop_assert!((b - 2.0 * a).abs() <= 1e-9 * b.max(1.0), "{a} and {b}");
        }
    }
}
