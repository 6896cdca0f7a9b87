//! Sizes and times as people write them: `"32KiB"`, `"2GB"`, `"15s"`, `"1h30m"`.

use std::fmt;
use std::time::Duration;

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct ByteSize(pub u64);

/// A span of time, in whole nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(pub u64);

/// Units of size, the largest first, with the bytes each stands for.
const SIZE_UNITS: [(&str, u64); 11] = [
    ("PiB", 1 << 50),
    ("PB", 1_000_000_000_000_000),
    ("TiB", 1 << 40),
    ("TB", 1_000_000_000_000),
    ("GiB", 1 << 30),
    ("GB", 1_000_000_000),
    ("MiB", 1 << 20),
    ("MB", 1_000_000),
    ("KiB", 1 << 10),
    ("KB", 1_000),
    ("B", 1),
];

/// Units of time, the largest first, with the nanoseconds each stands for.
const TIME_UNITS: [(&str, u64); 8] = [
    ("d", 86_400_000_000_000),
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

impl ByteSize {
    /// `count` times 1024 bytes.
    #[must_use]
    pub const fn kib(count: u64) -> Self {
        Self(count << 10)
    }

    /// `count` times 1024^2 bytes.
    #[must_use]
    pub const fn mib(count: u64) -> Self {
        Self(count << 20)
    }

    /// `count` times 1024^3 bytes.
    #[must_use]
    pub const fn gib(count: u64) -> Self {
        Self(count << 30)
    }

    /// The number of bytes.
    #[must_use]
    pub const fn bytes(self) -> u64 {
        self.0
    }

    /// Reads `"32KiB"`, `"1.5 GB"` or `"4096"` (bytes). Upper and lower case mean the same.
    ///
    /// # Errors
    /// A sentence saying what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let (number, unit) = split_number(trimmed);
        let factor = if unit.is_empty() {
            Some(1)
        } else {
            find_unit(&SIZE_UNITS, unit)
        };
        let factor = factor.ok_or_else(|| unknown_size_unit(trimmed, number, unit))?;
        scaled(number, factor).map(Self).ok_or_else(|| {
            format!("'{trimmed}' is not a size; write one like \"32KiB\" or \"2GB\"")
        })
    }
}

impl TimeSpan {
    /// A span of `count` seconds.
    #[must_use]
    pub const fn seconds(count: u64) -> Self {
        Self(count * 1_000_000_000)
    }

    /// A span of `count` milliseconds.
    #[must_use]
    pub const fn millis(count: u64) -> Self {
        Self(count * 1_000_000)
    }

    /// The span in nanoseconds.
    #[must_use]
    pub const fn as_ns(self) -> u64 {
        self.0
    }

    /// The span in milliseconds, with its fraction.
    #[must_use]
    pub fn as_ms(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// The span in seconds, with its fraction.
    #[must_use]
    pub fn as_seconds(self) -> f64 {
        self.0 as f64 / 1e9
    }

    /// The span as the standard library holds it.
    #[must_use]
    pub const fn duration(self) -> Duration {
        Duration::from_nanos(self.0)
    }

    /// Reads `"90ms"`, `"15s"`, `"2h"` or a sum of parts such as `"1h30m"`. A unit is always
    /// needed, only `"0"` goes without.
    ///
    /// # Errors
    /// A sentence saying what would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let trimmed = text.trim();
        let wrong =
            || format!("'{trimmed}' is not a time; write one like \"90ms\", \"15s\" or \"2h\"");
        if trimmed == "0" {
            return Ok(Self(0));
        }
        let mut rest = trimmed;
        let mut total: u64 = 0;
        while !rest.is_empty() {
            let (number, after) = split_number(rest);
            let end = after
                .find(|c: char| !c.is_ascii_alphabetic())
                .unwrap_or(after.len());
            let (unit, next) = after.split_at(end);
            let factor = find_unit(&TIME_UNITS, unit).ok_or_else(wrong)?;
            let part = scaled(number, factor).ok_or_else(wrong)?;
            total = total.checked_add(part).ok_or_else(wrong)?;
            rest = next.trim_start();
        }
        if trimmed.is_empty() {
            return Err(wrong());
        }
        Ok(Self(total))
    }
}

impl fmt::Display for ByteSize {
    /// The largest unit that holds the size in whole numbers, so that it reads back exactly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, factor) = SIZE_UNITS
            .iter()
            .find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor))
            .unwrap_or(&("B", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}

impl fmt::Display for TimeSpan {
    /// The largest unit that holds the span in whole numbers, so that it reads back exactly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, factor) = TIME_UNITS
            .iter()
            .find(|(_, factor)| self.0 >= *factor && self.0.is_multiple_of(*factor))
            .unwrap_or(&("s", 1));
        write!(f, "{}{unit}", self.0 / factor)
    }
}

fn find_unit(units: &[(&str, u64)], name: &str) -> Option<u64> {
    units
        .iter()
        .find(|(unit, _)| unit.eq_ignore_ascii_case(name))
        .map(|(_, factor)| *factor)
}

/// Splits `"1.5 GiB"` into its number and its unit.
fn split_number(text: &str) -> (&str, &str) {
    let end = text
        .find(|c: char| !c.is_ascii_digit() && c != '.' && c != '_')
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    (number, unit.trim_start())
}

/// A decimal number times a factor, exact and rounded down; `None` when it is no number or too
/// large.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let digits: String = number.chars().filter(|c| *c != '_').collect();
    let (whole, fraction) = digits.split_once('.').unwrap_or((&digits, ""));
    if fraction.len() > 15 {
        return None;
    }
    let factor = u128::from(factor);
    let mut total = whole.parse::<u128>().ok()?.checked_mul(factor)?;
    if !fraction.is_empty() {
        let scale = 10_u128.pow(u32::try_from(fraction.len()).ok()?);
        total = total.checked_add(fraction.parse::<u128>().ok()? * factor / scale)?;
    }
    u64::try_from(total).ok()
}

/// `"20G"` is the usual slip: say which two units it could mean.
fn unknown_size_unit(text: &str, number: &str, unit: &str) -> String {
    let letter = unit
        .trim_end_matches(['i', 'I', 'b', 'B'])
        .to_ascii_uppercase();
    if !number.is_empty() && ["K", "M", "G", "T", "P"].contains(&letter.as_str()) {
        return format!(
            "'{unit}' is not a unit of size; write \"{number}{letter}iB\" (powers of 1024) or \
             \"{number}{letter}B\" (powers of 1000)"
        );
    }
    format!("'{text}' is not a size; write one like \"32KiB\", \"2GB\" or 4096 (bytes)")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sizes_read_as_people_write_them() {
        assert_eq!(ByteSize::parse("32KiB"), Ok(ByteSize(32768)));
        assert_eq!(ByteSize::parse("2 gb"), Ok(ByteSize(2_000_000_000)));
        assert_eq!(ByteSize::parse("1.5MiB"), Ok(ByteSize(1_572_864)));
        assert_eq!(ByteSize::parse("4_096"), Ok(ByteSize(4096)));
        for wrong in [
            "",
            "KiB",
            "12 parsecs",
            "-1KiB",
            "1..5KB",
            "99999PiB",
            "1e3",
        ] {
            assert!(ByteSize::parse(wrong).is_err(), "{wrong}");
        }
        assert!(ByteSize::parse("20G").unwrap_err().contains("\"20GiB\""));
    }

    #[test]
    fn times_need_a_unit() {
        assert_eq!(TimeSpan::parse("1h30m"), Ok(TimeSpan::seconds(5400)));
        assert_eq!(TimeSpan::parse("0.5ms"), Ok(TimeSpan(500_000)));
        assert_eq!(TimeSpan::parse("0"), Ok(TimeSpan(0)));
        for wrong in ["", "15", "h", "1h30", "2 weeks", "999999999d", "1h-30m"] {
            assert!(TimeSpan::parse(wrong).is_err(), "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn what_is_shown_reads_back_exactly(number: u64) {
            prop_assert_eq!(ByteSize::parse(&ByteSize(number).to_string()), Ok(ByteSize(number)));
            prop_assert_eq!(TimeSpan::parse(&TimeSpan(number).to_string()), Ok(TimeSpan(number)));
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in ".*") {
            let _ = ByteSize::parse(&text);
            let _ = TimeSpan::parse(&text);
        }
    }
}
