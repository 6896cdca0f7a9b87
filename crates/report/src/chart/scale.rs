//! Axes: where a value stands between the ends of an axis, and which marks the axis carries.

use crate::number;

/// How an axis maps values to places.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scale {
    /// Even steps from `low` to `high`.
    Linear {
        /// Value at the start of the axis.
        low: f64,
        /// Value at the end of the axis.
        high: f64,
    },
    /// Even ratios from `low` (above zero) to `high`.
    Logarithmic {
        /// Value at the start of the axis.
        low: f64,
        /// Value at the end of the axis.
        high: f64,
    },
    /// Seconds since the start, marked as minutes and hours.
    Elapsed {
        /// Seconds at the start of the axis.
        low: f64,
        /// Seconds at the end of the axis.
        high: f64,
    },
    /// Percentiles spread by their nines: 0, 90, 99, 99.9 are evenly apart.
    Percentile {
        /// How many nines fit on the axis.
        nines: f64,
    },
    /// One place for each of `count` things that stand side by side: 0, 1, 2 and so on.
    Category {
        /// How many things there are.
        count: usize,
    },
}

impl Scale {
    /// The place of `value` between 0 (start) and 1 (end); values beyond an end stay at the end.
    #[must_use]
    pub fn place(self, value: f64) -> f64 {
        let raw = match self {
            Self::Linear { low, high } | Self::Elapsed { low, high } => {
                (value - low) / (high - low)
            }
            Self::Logarithmic { low, high } => {
                (value.max(low).log10() - low.log10()) / (high.log10() - low.log10())
            }
            Self::Percentile { nines } => nines_of(value) / nines,
            Self::Category { count } => (value + 0.5) / count.max(1) as f64,
        };
        if raw.is_finite() {
            raw.clamp(0.0, 1.0)
        } else {
            0.0
        }
    }

    /// The marks of the axis: value and label, about `wanted` of them.
    #[must_use]
    pub fn marks(self, wanted: usize) -> Vec<(f64, String)> {
        match self {
            Self::Linear { low, high } => linear_marks(low, high, wanted),
            Self::Elapsed { low, high } => elapsed_marks(low, high, wanted),
            Self::Logarithmic { low, high } => logarithmic_marks(low, high),
            Self::Percentile { nines } => percentile_marks(nines),
            Self::Category { count } => category_marks(count, wanted),
        }
    }

    /// The name under which the page's script knows this kind of axis.
    #[must_use]
    pub fn kind(self) -> &'static str {
        match self {
            Self::Linear { .. } => "linear",
            Self::Logarithmic { .. } => "log",
            Self::Elapsed { .. } => "elapsed",
            Self::Percentile { .. } => "percentile",
            Self::Category { .. } => "category",
        }
    }

    /// A linear axis from zero that leaves some room above `highest`.
    #[must_use]
    pub fn from_zero(highest: f64) -> Self {
        let highest = drawable(highest).unwrap_or(1.0);
        let roomy = highest * 1.06;
        let step = round_step(roomy / 5.0);
        Self::Linear {
            low: 0.0,
            high: (roomy / step).ceil() * step,
        }
    }

    /// A logarithmic axis that holds `lowest` and `highest`, widened to a mark below and above.
    #[must_use]
    pub fn logarithmic(lowest: f64, highest: f64) -> Self {
        let lowest = drawable(lowest).unwrap_or(0.1);
        let highest = drawable(highest)
            .filter(|highest| *highest > lowest)
            .unwrap_or(lowest * 10.0);
        let low = [1.0, 2.0, 5.0]
            .iter()
            .map(|digit| digit * decade(lowest))
            .rfind(|mark| *mark <= lowest * 0.95)
            .unwrap_or(decade(lowest) / 2.0);
        let high = [1.0, 2.0, 5.0, 10.0]
            .iter()
            .map(|digit| digit * decade(highest))
            .find(|mark| *mark >= highest * 1.1)
            .unwrap_or(decade(highest) * 20.0);
        Self::Logarithmic { low, high }
    }

    /// An axis of elapsed seconds; an empty span becomes one second wide.
    #[must_use]
    pub fn elapsed(low: f64, high: f64) -> Self {
        let low = if low.is_finite() { low } else { 0.0 };
        let high = if high.is_finite() && high > low {
            high
        } else {
            low + 1.0
        };
        Self::Elapsed { low, high }
    }
}

/// A positive value with room around it: at the very ends of what a number can hold, a mark above
/// would be infinite and one below zero.
fn drawable(value: f64) -> Option<f64> {
    (value.is_finite() && value > 0.0).then(|| value.clamp(1e-300, 1e300))
}

/// How many nines a percentile has: 90 is one, 99 is two.
fn nines_of(percentile: f64) -> f64 {
    -(1.0 - percentile.clamp(0.0, 99.999_999_99) / 100.0).log10()
}

/// The power of ten at or below `value`.
fn decade(value: f64) -> f64 {
    10f64.powf(value.log10().floor())
}

/// The smallest of 1, 2, 2.5 and 5 times a power of ten that is at least `rough`.
fn round_step(rough: f64) -> f64 {
    let base = decade(rough);
    [1.0, 2.0, 2.5, 5.0]
        .iter()
        .map(|digit| digit * base)
        .find(|step| *step >= rough * 0.999_999)
        .unwrap_or(base * 10.0)
}

fn linear_marks(low: f64, high: f64, wanted: usize) -> Vec<(f64, String)> {
    let step = round_step((high - low) / wanted.max(1) as f64);
    let decimals = (0..=9)
        .find(|d| is_whole(step * 10f64.powi(*d)))
        .unwrap_or(9) as usize;
    let first = (low / step - 1e-9).ceil();
    (0..=wanted * 3)
        .map(|index| (first + index as f64) * step)
        .take_while(|value| *value <= high + step * 1e-9)
        .map(|value| (value, mark_label(value, decimals)))
        .collect()
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() < 1e-6
}

fn mark_label(value: f64, decimals: usize) -> String {
    if value.abs() >= 1e6 {
        let millions = value / 1e6;
        return format!("{millions}M");
    }
    if value.abs() >= 1_000.0 {
        number::figure(value)
    } else {
        format!("{value:.decimals$}")
    }
}

fn elapsed_marks(low: f64, high: f64, wanted: usize) -> Vec<(f64, String)> {
    const STEPS: [f64; 21] = [
        0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 30.0, 60.0, 120.0, 300.0, 600.0, 900.0, 1_800.0,
        3_600.0, 7_200.0, 14_400.0, 21_600.0, 43_200.0, 86_400.0,
    ];
    let rough = (high - low) / wanted.max(1) as f64;
    let step = STEPS
        .iter()
        .copied()
        .find(|step| *step >= rough)
        .unwrap_or_else(|| (rough / 86_400.0).ceil() * 86_400.0);
    let first = (low / step - 1e-9).ceil();
    (0..=wanted * 3)
        .map(|index| (first + index as f64) * step)
        .take_while(|value| *value <= high + step * 1e-9)
        .map(|value| (value, elapsed_label(value, step)))
        .collect()
}

/// `30 s`, `5 min`, `1:30 h`: the unit follows the step, so that all marks of an axis agree.
fn elapsed_label(seconds: f64, step: f64) -> String {
    if seconds == 0.0 {
        return "0".to_string();
    }
    if step < 1.0 {
        format!("{seconds:.1} s")
    } else if step < 60.0 {
        if seconds < 60.0 {
            return format!("{seconds:.0} s");
        }
        format!(
            "{}:{:02} min",
            (seconds / 60.0).floor(),
            (seconds % 60.0).round()
        )
    } else if step < 3_600.0 {
        if seconds < 3_600.0 {
            return format!("{:.0} min", seconds / 60.0);
        }
        format!(
            "{}:{:02} h",
            (seconds / 3_600.0).floor(),
            (seconds % 3_600.0 / 60.0).round()
        )
    } else {
        format!("{:.0} h", seconds / 3_600.0)
    }
}

fn logarithmic_marks(low: f64, high: f64) -> Vec<(f64, String)> {
    let decades = (high / low).log10();
    let digits: &[f64] = match decades {
        d if d < 3.2 => &[1.0, 2.0, 5.0],
        d if d < 5.0 => &[1.0, 3.0],
        _ => &[1.0],
    };
    let mut marks = Vec::new();
    let mut base = decade(low * 1.000_001);
    while base <= high * 1.000_001 && marks.len() < 60 {
        for digit in digits {
            let value = digit * base;
            if value >= low * 0.999_999 && value <= high * 1.000_001 {
                marks.push((value, logarithmic_label(value)));
            }
        }
        base *= 10.0;
    }
    marks
}

fn logarithmic_label(value: f64) -> String {
    let decimals = if value >= 0.999 {
        0
    } else {
        -(value.log10() + 1e-9).floor() as usize
    };
    mark_label((value * 1e9).round() / 1e9, decimals)
}

fn percentile_marks(nines: f64) -> Vec<(f64, String)> {
    [
        0.0, 50.0, 90.0, 99.0, 99.9, 99.99, 99.999, 99.9999, 99.99999,
    ]
    .into_iter()
    .filter(|percentile| nines_of(*percentile) <= nines + 1e-9)
    .map(|percentile| (percentile, format!("{percentile}")))
    .collect()
}

fn category_marks(count: usize, wanted: usize) -> Vec<(f64, String)> {
    let stride = count.div_ceil(wanted.max(1)).max(1);
    (0..count)
        .step_by(stride)
        .map(|index| (index as f64, (index + 1).to_string()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn labels(scale: Scale, wanted: usize) -> Vec<String> {
        scale
            .marks(wanted)
            .into_iter()
            .map(|(_, label)| label)
            .collect()
    }

    #[test]
    fn marks_are_round_numbers() {
        assert_eq!(
            labels(Scale::from_zero(18.7), 5),
            ["0", "5", "10", "15", "20"]
        );
        assert_eq!(
            labels(Scale::from_zero(0.9), 5),
            ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]
        );
        assert_eq!(
            labels(Scale::from_zero(9_400.0), 5),
            ["0", "2,000", "4,000", "6,000", "8,000", "10,000"]
        );
        assert_eq!(
            labels(Scale::elapsed(0.0, 7_200.0), 6),
            ["0", "30 min", "1:00 h", "1:30 h", "2:00 h"]
        );
        assert_eq!(
            labels(Scale::elapsed(0.0, 86_400.0), 6),
            ["0", "4 h", "8 h", "12 h", "16 h", "20 h", "24 h"]
        );
        assert_eq!(
            labels(Scale::logarithmic(0.3, 80.0), 6),
            ["0.2", "0.5", "1", "2", "5", "10", "20", "50", "100"]
        );
        assert_eq!(
            labels(Scale::Percentile { nines: 3.0 }, 6),
            ["0", "50", "90", "99", "99.9"]
        );
    }

    proptest! {
        #[test]
        fn every_value_has_a_place_and_marks_stay_inside(
            value in proptest::num::f64::ANY,
            high in 1e-6..1e12f64,
        ) {
            for scale in [
                Scale::from_zero(high),
                Scale::elapsed(0.0, high),
                Scale::logarithmic(high / 3e5, high),
                Scale::logarithmic(value, high),
                Scale::from_zero(value),
                Scale::Percentile { nines: 4.0 },
                Scale::Category { count: 40 },
            ] {
                let place = scale.place(value);
                prop_assert!((0.0..=1.0).contains(&place));
                let marks = scale.marks(6);
                prop_assert!(marks.len() < 70);
                for (mark, label) in marks {
                    prop_assert!(mark.is_finite() && !label.is_empty());
                }
            }
        }

        #[test]
        fn the_highest_value_fits_under_a_linear_axis(high in 1e-6..1e12f64) {
            let Scale::Linear { low, high: end } = Scale::from_zero(high) else { panic!() };
            prop_assert!(low == 0.0 && end >= high && end < high * 2.0);
        }
    }
}
