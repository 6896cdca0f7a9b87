//! How a figure of a run differs from that of the first run.

use measure::display::Better;
use measure::metric::Unit;

use crate::number::{self, quantity};

/// Changes smaller than this share, or this many percentage points, are not called better or worse.
const NOTABLE_FRACTION: f64 = 0.01;
/// A value this many times the first is written as a multiple of it.
const WRITTEN_AS_MULTIPLE: f64 = 10.0;

/// A figure of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value {
    /// `None` when it was not measured.
    pub(super) value: Option<f64>,
    /// Half-width of its 95 % confidence interval, in the same unit, where there is one.
    pub(super) half_width: Option<f64>,
}

impl From<Option<f64>> for Value {
    fn from(value: Option<f64>) -> Self {
        Self {
            value,
            half_width: None,
        }
    }
}

impl Value {
    /// The value, `NaN` when it was not measured.
    pub(super) fn number(self) -> f64 {
        self.value.unwrap_or(f64::NAN)
    }

    /// The value with its confidence interval, where there is one.
    pub(super) fn text(self, unit: Unit) -> String {
        let text = quantity(self.number(), unit);
        let half_width = self.half_width.filter(|half| half.is_finite());
        match half_width.filter(|_| self.number().is_finite()) {
            None => text,
            Some(half) if unit == Unit::Milliseconds => {
                format!(
                    "{text} \u{b1} {}",
                    number::latency_beside(half, self.number())
                )
            }
            Some(half) => format!("{text} \u{b1} {}", number::figure(half)),
        }
    }

    /// Whether the confidence intervals of both overlap.
    fn overlaps(self, other: Self) -> bool {
        let half_widths = self.half_width.zip(other.half_width);
        half_widths.is_some_and(|(one, two)| (self.number() - other.number()).abs() <= one + two)
    }
}

/// How a value differs from that of the first run.
struct Difference {
    /// Without its direction, such as `14.7 %`.
    text: String,
    is_higher: bool,
    /// Whether the text says how many times the first value it is.
    is_multiple: bool,
    /// Whether it is large enough to be called better or worse.
    is_notable: bool,
}

impl Difference {
    /// The difference in percent of the first value, or as a multiple of it; the text alone when there is none.
    fn relative(value: f64, base: f64) -> Result<Self, String> {
        let ratio = value / base;
        let text = number::change(value, base);
        let Some(digits) = text.strip_prefix(['+', '-']).filter(|_| ratio.is_finite()) else {
            return Err(text);
        };
        let text = match ratio >= WRITTEN_AS_MULTIPLE {
            true => format!("{} x", number::figure(ratio)),
            false => digits.to_owned(),
        };
        Ok(Self {
            text,
            is_higher: ratio > 1.0,
            is_multiple: ratio >= WRITTEN_AS_MULTIPLE,
            is_notable: (ratio - 1.0).abs() >= NOTABLE_FRACTION,
        })
    }

    /// The difference of two shares in percentage points; the text alone when there is none.
    fn of_shares(value: f64, base: f64, whole: f64) -> Result<Self, String> {
        let points = (value - base) * 100.0 / whole;
        if !points.is_finite() {
            return Err(number::ABSENT.to_owned());
        }
        let text = quantity(points.abs(), Unit::PercentagePoints);
        if points.abs() < 0.05 {
            return Err(quantity(0.0, Unit::PercentagePoints));
        }
        Ok(Self {
            text,
            is_higher: points > 0.0,
            is_multiple: false,
            is_notable: points.abs() >= NOTABLE_FRACTION * 100.0,
        })
    }
}

/// The change against the first run in words: `14.7 % lower (better)`, `0 %`, `12.0 x (worse)`; that of
/// a share in percentage points.
pub(super) fn change(value: Value, base: Value, unit: Unit, better: Option<Better>) -> String {
    let (is, was) = (value.number(), base.number());
    let difference = match unit {
        Unit::Fraction => Difference::of_shares(is, was, 1.0),
        Unit::Percent | Unit::PercentOfCore => Difference::of_shares(is, was, 100.0),
        _ => Difference::relative(is, was),
    };
    let difference = match difference {
        Ok(difference) => difference,
        Err(text) => return text,
    };
    let judgement = match better {
        _ if value.overlaps(base) => " (within 95 % CI)",
        Some(better) if difference.is_notable => {
            match difference.is_higher == (better == Better::Higher) {
                true => " (better)",
                false => " (worse)",
            }
        }
        _ => "",
    };
    let direction = match difference.is_higher {
        true if difference.is_multiple => "",
        true => " higher",
        false => " lower",
    };
    format!("{}{direction}{judgement}", difference.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(value: f64) -> Value {
        Value::from(Some(value))
    }

    #[test]
    fn changes_say_which_way_and_whether_that_is_better() {
        let of = |value, base, better| {
            change(plain(value), plain(base), Unit::Milliseconds, Some(better))
        };
        assert_eq!(of(120.0, 100.0, Better::Higher), "20.0 % higher (better)");
        assert_eq!(of(120.0, 100.0, Better::Lower), "20.0 % higher (worse)");
        assert_eq!(of(85.3, 100.0, Better::Lower), "14.7 % lower (better)");
        assert_eq!(of(100.5, 100.0, Better::Lower), "0.5 % higher");
        assert_eq!(of(100.0, 100.0, Better::Lower), "0 %");
        assert_eq!(of(1.0, 0.0, Better::Lower), "-");
        assert_eq!(of(f64::NAN, 1.0, Better::Lower), "-");
        assert_eq!(of(47_536.0, 100.0, Better::Lower), "475 x (worse)");
        assert_eq!(of(999.0, 100.0, Better::Lower), "899 % higher (worse)");
    }

    #[test]
    fn an_amount_of_io_is_neither_better_nor_worse() {
        assert_eq!(
            change(plain(29.0), plain(100.0), Unit::Iops, None),
            "71.0 % lower"
        );
    }

    #[test]
    fn shares_differ_by_percentage_points() {
        let of = |value, base, unit| change(plain(value), plain(base), unit, Some(Better::Lower));
        assert_eq!(
            of(0.566, 0.583, Unit::Fraction),
            "1.70 percentage points lower (better)"
        );
        assert_eq!(
            of(25.0, 20.0, Unit::Percent),
            "5.00 percentage points higher (worse)"
        );
        assert_eq!(
            of(0.2, 0.0, Unit::Fraction),
            "20.0 percentage points higher (worse)"
        );
        assert_eq!(of(0.2, 0.2, Unit::Fraction), "0 percentage points");
        assert_eq!(of(f64::NAN, 0.2, Unit::Fraction), "-");
    }

    #[test]
    fn where_intervals_overlap_nothing_is_judged() {
        let known = |value, half_width| Value {
            value: Some(value),
            half_width: Some(half_width),
        };
        let of = |value, base| change(value, base, Unit::Milliseconds, Some(Better::Lower));
        let base = known(10.0, 0.5);
        assert_eq!(of(known(11.0, 0.5), base), "10.0 % higher (within 95 % CI)");
        assert_eq!(of(known(11.0, 0.4), base), "10.0 % higher (worse)");
        assert_eq!(of(plain(11.0), base), "10.0 % higher (worse)");
    }
}
