//! Pass, fail or open, shown by a word, a sign and a colour together, never by colour alone.

use crate::result::{Check, Verdict};

/// Good, bad, or open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    /// A limit was kept.
    Pass,
    /// A limit was not kept, or something broke.
    Fail,
    /// It could not be judged.
    Open,
}

impl Tone {
    /// The tone of a whole run.
    #[must_use]
    pub fn of_verdict(verdict: Verdict) -> Self {
        match verdict {
            Verdict::Pass => Self::Pass,
            Verdict::Fail | Verdict::Error => Self::Fail,
            Verdict::Inconclusive | Verdict::Interrupted | Verdict::Built => Self::Open,
        }
    }

    /// The tone of one check.
    #[must_use]
    pub fn of_check(check: &Check) -> Self {
        match check.passed {
            Some(true) => Self::Pass,
            Some(false) => Self::Fail,
            None => Self::Open,
        }
    }

    /// The class of the style sheet.
    #[must_use]
    pub fn class(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "fail",
            Self::Open => "open",
        }
    }

    /// The word in a table.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Pass => "pass",
            Self::Fail => "FAIL",
            Self::Open => "not judged",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::display::Cell;
    use crate::result::CheckId;

    #[test]
    fn each_tone_has_its_word_and_a_failure_stands_out() {
        for (tone, word, class) in [
            (Tone::Pass, "pass", "pass"),
            (Tone::Fail, "FAIL", "fail"),
            (Tone::Open, "not judged", "open"),
        ] {
            assert_eq!((tone.word(), tone.class()), (word, class));
            let cell = Cell::verdict(tone);
            assert_eq!((cell.text.as_str(), cell.tone), (word, Some(tone)));
            assert_eq!(cell.notable, tone == Tone::Fail);
            assert!(!cell.is_empty);
        }
    }

    #[test]
    fn what_could_not_be_judged_is_neither_good_nor_bad() {
        for (value, tone) in [
            (Some(20.0), Tone::Pass),
            (Some(20.5), Tone::Fail),
            (None, Tone::Open),
        ] {
            let id = CheckId::DatabaseReadAverage;
            let check = Check::of(id, "db1", 20.0, value, String::new());
            assert_eq!(Tone::of_check(&check), tone);
        }
        for (verdict, tone) in [
            (Verdict::Pass, Tone::Pass),
            (Verdict::Fail, Tone::Fail),
            (Verdict::Error, Tone::Fail),
            (Verdict::Inconclusive, Tone::Open),
            (Verdict::Interrupted, Tone::Open),
            (Verdict::Built, Tone::Open),
        ] {
            assert_eq!(Tone::of_verdict(verdict), tone, "{verdict}");
        }
    }
}
