//! Interruptions of a run in words.

use super::number::duration;
use crate::result::Interruption;

/// An interruption as a sentence.
#[must_use]
pub fn interruption(interruption: &Interruption) -> String {
    let pause_s = (interruption.resumed_at_s - interruption.last_sample_s).max(0.0);
    let digit = if pause_s < 10.0 { 10.0 } else { 1.0 };
    let lost = match interruption.lost_s {
        lost_s if lost_s > 0.0 => format!(
            " Samples of another {} were missing in its files, as after a power cut, and are in no figure.",
            duration((lost_s * 10.0).ceil() / 10.0)
        ),
        _ => String::new(),
    };
    format!(
        "The run was interrupted when {} had been measured, and went on {} after its last sample.{lost}",
        duration(interruption.measured_s),
        duration((pause_s * digit).round() / digit)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interruption_says_what_was_measured_and_how_long_it_took() {
        let text = interruption(&Interruption {
            last_sample_s: 3_700.2,
            resumed_at_s: 4_420.0,
            measured_s: 3_600.0,
            lost_s: 0.0,
        });
        assert!(text.contains("when 1 h had been measured"), "{text}");
        assert!(text.ends_with("12 min after its last sample."), "{text}");
        let text = interruption(&Interruption {
            measured_s: 5.5,
            ..Interruption::default()
        });
        assert!(text.contains("when 5.50 s had been measured"), "{text}");
        let text = interruption(&Interruption {
            lost_s: 4.01,
            ..Interruption::default()
        });
        assert!(
            text.contains("Samples of another 4.10 s were missing"),
            "{text}"
        );
    }
}
