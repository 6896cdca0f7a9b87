//! Numbers of traces: whole ones, and times that are exact to the nanosecond.

/// Longer times than 100 years are mistakes.
const LONGEST_NS: i128 = 100 * 366 * 86_400 * 1_000_000_000;

/// A decimal number times `unit_ns`, rounded to the nearest nanosecond. `None` when it is not a
/// number, or larger than any time.
pub(super) fn time_ns(text: &str, unit_ns: u64) -> Option<i64> {
    let text = text.trim();
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let total = match digits.bytes().any(|byte| byte == b'e' || byte == b'E') {
        true => exponential(digits, unit_ns)?,
        false => decimal(digits, unit_ns)?,
    };
    if total > LONGEST_NS {
        return None;
    }
    let total = i64::try_from(total).ok()?;
    Some(if negative { -total } else { total })
}

fn decimal(digits: &str, unit_ns: u64) -> Option<i128> {
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, ""));
    if whole.is_empty() && fraction.is_empty() {
        return None;
    }
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    if !all_digits(whole) || !all_digits(fraction) || whole.len() > 18 {
        return None;
    }
    let unit = i128::from(unit_ns);
    let whole: i128 = if whole.is_empty() {
        0
    } else {
        whole.parse().ok()?
    };
    // Digits beyond these are less than a nanosecond in every unit.
    let fraction = &fraction[..fraction.len().min(18)];
    let scale = 10_i128.pow(fraction.len() as u32);
    let part: i128 = if fraction.is_empty() {
        0
    } else {
        fraction.parse().ok()?
    };
    Some(whole * unit + (part * unit + scale / 2) / scale)
}

fn exponential(digits: &str, unit_ns: u64) -> Option<i128> {
    let begins_well = digits.starts_with(|first: char| first.is_ascii_digit() || first == '.');
    let value: f64 = digits.parse().ok().filter(|_| begins_well)?;
    let ns = (value * unit_ns as f64).round();
    (ns.is_finite() && ns < 1e30).then_some(ns as i128)
}

/// A whole number that is not negative, also in the form 4096.0.
pub(super) fn whole(text: &str) -> Option<u64> {
    let text = text.trim();
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    // Some programs write whole numbers as 4096.0.
    let plain = || text.strip_suffix(".0").and_then(|rest| rest.parse().ok());
    if digits { text.parse().ok() } else { plain() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const S: u64 = 1_000_000_000;
    const MS: u64 = 1_000_000;

    #[test]
    fn times_are_exact_to_the_nanosecond() {
        assert_eq!(time_ns("1.234567891", S), Some(1_234_567_891));
        assert_eq!(time_ns("0.1", MS), Some(100_000));
        assert_eq!(
            time_ns(" 1700000000.000000001 ", S),
            Some(1_700_000_000_000_000_001)
        );
        assert_eq!(time_ns(".5", S), Some(500_000_000));
        assert_eq!(time_ns("3.", S), Some(3_000_000_000));
        assert_eq!(time_ns("-2.5", MS), Some(-2_500_000));
        assert_eq!(time_ns("1e-3", S), Some(1_000_000));
        assert_eq!(time_ns("0.00000000049", S), Some(0));
        assert_eq!(time_ns("0.0000000005", S), Some(1));
    }

    #[test]
    fn what_is_no_time_is_refused() {
        for text in [
            "", ".", "abc", "1.2.3", "1,5", "inf", "nan", "1e40", "--1", "0x10", "e5",
        ] {
            assert_eq!(time_ns(text, S), None, "{text}");
        }
        assert_eq!(time_ns("9999999999999", S), None);
    }

    #[test]
    fn whole_numbers_have_no_sign_and_no_fraction() {
        assert_eq!(whole(" 4096 "), Some(4096));
        assert_eq!(whole("4096.0"), Some(4096));
        for text in ["", "-1", "+1", "1.5", "4k", "99999999999999999999"] {
            assert_eq!(whole(text), None, "{text}");
        }
    }
}
