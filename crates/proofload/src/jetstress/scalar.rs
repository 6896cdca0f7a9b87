//! Values as Jetstress writes them, and how foreign text is shown.

use config::TimeSpan;

/// Letters of a foreign text that a message shows.
const LONGEST_SHOWN: usize = 60;

/// A foreign text as part of a message: on one line, without control characters, not too long.
pub(super) fn shown(text: &str) -> String {
    let plain = text
        .chars()
        .map(|one| if one.is_control() { ' ' } else { one });
    let mut plain = plain.take(LONGEST_SHOWN + 1).collect::<String>();
    if plain.chars().count() > LONGEST_SHOWN {
        plain = plain.chars().take(LONGEST_SHOWN).collect();
        plain.push_str("...");
    }
    plain
}

/// A type of value in a configuration.
pub(super) trait Scalar: Sized {
    /// The value of a text; the error says what would be right.
    fn parse(text: &str) -> Result<Self, String>;
}

impl Scalar for bool {
    fn parse(text: &str) -> Result<Self, String> {
        match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Ok(true),
            "false" | "0" => Ok(false),
            _ => Err("true or false".to_owned()),
        }
    }
}

impl Scalar for u32 {
    fn parse(text: &str) -> Result<Self, String> {
        text.parse()
            .map_err(|_| format!("a whole number from 0 to {}", u32::MAX))
    }
}

impl Scalar for f64 {
    fn parse(text: &str) -> Result<Self, String> {
        // The standard library would take "nan", "inf" and 1e300 as well.
        let is_plain = text
            .bytes()
            .all(|byte| byte.is_ascii_digit() || byte == b'.');
        let number = text.parse().ok().filter(|_| is_plain && text.len() <= 30);
        number.ok_or_else(|| "a number of 0 or more".to_owned())
    }
}

impl Scalar for String {
    fn parse(text: &str) -> Result<Self, String> {
        Ok(text.to_owned())
    }
}

impl Scalar for TimeSpan {
    /// A duration of XML Schema, such as `P0Y0M0DT2H0M0S`.
    fn parse(text: &str) -> Result<Self, String> {
        duration(text).ok_or_else(|| {
            "a duration in days, hours, minutes and seconds such as P0Y0M0DT2H0M0S".to_owned()
        })
    }
}

/// Years and months have no fixed length, so they must be 0.
fn duration(text: &str) -> Option<TimeSpan> {
    let rest = text.strip_prefix('P')?;
    let (date, time) = rest.split_once('T').unwrap_or((rest, ""));
    let units = [('Y', 0), ('M', 0), ('D', 86_400)];
    let days_s = seconds(date, &units)?;
    let time_s = seconds(time, &[('H', 3_600), ('M', 60), ('S', 1)])?;
    let total_ms = days_s.checked_add(time_s)?;
    (!rest.is_empty()).then_some(TimeSpan(total_ms.checked_mul(1_000_000)?))
}

/// Parts such as `2H30M`, each unit at most once and in this order, in milliseconds. A unit of 0 seconds must
/// be counted 0 times.
fn seconds(text: &str, units: &[(char, u64)]) -> Option<u64> {
    let mut rest = text;
    let mut total_ms: u64 = 0;
    let mut units = units.iter();
    while !rest.is_empty() {
        let end = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(end);
        let unit = after.chars().next()?;
        let (_, seconds) = units.find(|known| known.0 == unit)?;
        let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
        let milliseconds: String = format!("{fraction}000").chars().take(3).collect();
        let count = whole.parse::<u64>().ok()?;
        if *seconds == 0 && count > 0 || unit != 'S' && !fraction.is_empty() {
            return None;
        }
        let count_ms = count
            .checked_mul(1_000)?
            .checked_add(milliseconds.parse().ok()?)?;
        total_ms = total_ms.checked_add(count_ms.checked_mul(*seconds)?)?;
        rest = &after[1..];
    }
    Some(total_ms)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_read_as_jetstress_writes_them() {
        for (text, right) in [
            ("P0Y0M0DT2H0M0S", Some(7_200_000)),
            ("P0Y0M1DT0H0M0S", Some(86_400_000)),
            ("PT1.5S", Some(1_500)),
            ("P0Y0M0DT0H0M0S", Some(0)),
            ("P0Y1M0DT0H0M0S", None),
            ("2H", None),
            ("P", None),
            ("P-1D", None),
            ("PT1M1H", None),
            ("PT99999999999999999999S", None),
            ("PT18446744073709551615S", None),
            ("PT2H30", None),
        ] {
            let found = duration(text);
            assert_eq!(found, right.map(TimeSpan::millis), "{text}");
        }
    }

    #[test]
    fn numbers_are_plain_and_not_negative() {
        for wrong in ["-1", "nan", "inf", "1e9", "", ".", "1,5", &"9".repeat(31)] {
            assert!(<f64 as Scalar>::parse(wrong).is_err(), "{wrong}");
        }
        assert_eq!(<f64 as Scalar>::parse("0.05"), Ok(0.05));
        assert!(<u32 as Scalar>::parse("4294967296").is_err());
        assert_eq!(<bool as Scalar>::parse("True"), Ok(true));
    }

    #[test]
    fn foreign_text_stays_on_one_line() {
        assert_eq!(shown("a\nb\u{1b}[31m"), "a b [31m");
        assert_eq!(shown(&"x".repeat(100)).len(), LONGEST_SHOWN + 3);
    }
}
