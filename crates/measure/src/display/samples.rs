//! How many samples a measured phase has, in words.

use super::number::{count, duration};

/// Part of a sample by which all of them together may be longer or shorter than they should be.
const NEGLIGIBLE: f64 = 0.05;

/// Samples of this length in a measured phase. What is left of the phase is in a sample that is too short to be
/// counted and judged, and enters all totals: that is said, and so is that a counted one is shorter.
#[must_use]
pub fn samples(number: u64, interval_s: f64, measured_s: f64) -> String {
    let interval = duration(interval_s);
    let (counted, noun) = match number {
        0 if measured_s > 0.0 => return format!("no sample of {interval}, only shorter ones"),
        0 => return "no samples".to_owned(),
        1 => ("one".to_owned(), "sample"),
        number => (count(number), "samples"),
    };
    let rest = measured_s / interval_s - number as f64;
    if rest < -NEGLIGIBLE {
        return format!("{counted} {noun} of {interval} or less");
    }
    let shorter = match rest {
        rest if rest <= NEGLIGIBLE => "",
        // One of half the length counts, and samples end some milliseconds beside their time.
        rest if rest < 0.5 + NEGLIGIBLE => " and a shorter one",
        // A run that was interrupted has some.
        _ => " and shorter ones",
    };
    format!("{counted} {noun} of {interval}{shorter}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_that_is_not_counted_is_mentioned() {
        for (number, measured_s, text) in [
            (0, 0.0, "no samples"),
            (0, 0.4, "no sample of 1 s, only shorter ones"),
            (1, 1.002, "one sample of 1 s"),
            (5, 5.002, "5 samples of 1 s"),
            (5, 5.45, "5 samples of 1 s and a shorter one"),
            (5, 5.505, "5 samples of 1 s and a shorter one"),
            (6, 5.6, "6 samples of 1 s or less"),
            (5, 6.2, "5 samples of 1 s and shorter ones"),
            (86_400, 86_400.04, "86,400 samples of 1 s"),
        ] {
            assert_eq!(samples(number, 1.0, measured_s), text);
        }
    }
}
