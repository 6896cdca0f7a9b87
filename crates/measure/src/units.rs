//! Numbers as people read them.

/// A size with three digits in powers of 1000, such as `2.50 TB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["B", "KB", "MB", "GB", "TB", "PB"];
    let mut value = bytes as f64;
    let mut unit = 0;
    // 999.5 would show as 1000, so the next unit begins there.
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1000.0;
        unit += 1;
    }
    let decimals = match value {
        _ if unit == 0 => 0,
        v if v < 9.995 => 2,
        v if v < 99.95 => 1,
        _ => 0,
    };
    format!("{value:.decimals$} {}", UNITS[unit])
}

/// A length of time to one or two digits: `40 s`, `25 min`, `11 h`, `3 days`.
#[must_use]
pub fn rough_time(seconds: f64) -> String {
    match seconds {
        s if s < 90.0 => format!("{s:.0} s"),
        s if s < 5400.0 => format!("{:.0} min", s / 60.0),
        s if s < 172_800.0 => format!("{:.0} h", s / 3600.0),
        s => format!("{:.0} days", s / 86_400.0),
    }
}

/// A number with its thousands apart, such as `1,250,000`.
#[must_use]
pub fn count_of(number: u64) -> String {
    grouped(&number.to_string())
}

/// The text of an error as the beginning of a sentence. Options keep their letters.
#[must_use]
pub fn sentence(error: &dyn std::fmt::Display) -> String {
    let text = error.to_string();
    let mut letters = text.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    first.unwrap_or_default() + letters.as_str()
}

/// What stands where nothing was measured.
pub const ABSENT: &str = "-";

/// A figure with about three significant digits: `0.0123`, `1.23`, `12.3`, `123`, `12,345`.
#[must_use]
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_string();
    }
    let size = value.abs();
    if size >= 1e15 {
        return format!("{value:.2e}");
    }
    let decimals = match size {
        s if s == 0.0 || s >= 99.95 => 0,
        s if s >= 9.995 => 1,
        s if s >= 0.9995 => 2,
        s if s >= 0.009_995 => 3,
        s if s >= 0.000_000_5 => 6,
        _ => 0,
    };
    let text = format!("{value:.decimals$}");
    if decimals == 6 {
        text.trim_end_matches('0').to_string()
    } else {
        grouped(&text)
    }
}

/// Sets commas between the thousands of a plain decimal number.
#[must_use]
pub fn grouped(text: &str) -> String {
    let (sign, digits) = text
        .strip_prefix('-')
        .map_or(("", text), |rest| ("-", rest));
    let (whole, fraction) = digits.split_once('.').map_or((digits, ""), |(w, f)| (w, f));
    let mut out = String::from(sign);
    for (index, digit) in whole.chars().enumerate() {
        if index > 0 && (whole.len() - index).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

/// `1 database`, `2 databases`.
#[must_use]
pub fn count(number: u64, noun: &str) -> String {
    let ending = if number == 1 { "" } else { "s" };
    format!("{number} {noun}{ending}")
}

/// `1 database of 700 MB`, `2 databases of 700 MB each`.
#[must_use]
pub fn count_of_size(number: u64, noun: &str, bytes: u64) -> String {
    let each = if number == 1 { "" } else { " each" };
    format!("{} of {}{each}", count(number, noun), size(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_rough() {
        let shown = [4.2, 89.0, 1500.0, 40_000.0, 250_000.0].map(rough_time);
        assert_eq!(shown, ["4 s", "89 s", "25 min", "11 h", "3 days"]);
    }

    #[test]
    fn sizes_have_three_digits() {
        let shown: Vec<String> = [0, 999, 1000, 9_996_000, 99_960_000_000, 2_500_000_000_000]
            .into_iter()
            .map(size)
            .collect();
        assert_eq!(
            shown,
            ["0 B", "999 B", "1.00 KB", "10.0 MB", "100 GB", "2.50 TB"]
        );
    }
}
