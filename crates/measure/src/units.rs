//! Numbers as people read them.

/// A size in powers of 1024 with about three digits, such as `2.50 TiB`.
#[must_use]
pub fn size(bytes: u64) -> String {
    self::bytes(bytes as f64)
}

/// Bytes in binary units with three digits, whole numbers without a point: `512 B`, `32 KiB`,
/// `1.50 GiB`.
#[must_use]
pub fn bytes(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_string();
    }
    let units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut size = value;
    let mut unit = 0;
    // 1,023.5 would show as 1,024, so the next unit begins there.
    while size.abs() >= 1023.5 && unit + 1 < units.len() {
        size /= 1024.0;
        unit += 1;
    }
    let text = if unit == 0 {
        grouped(&format!("{size:.0}"))
    } else {
        figure(size)
    };
    let whole = text.trim_end_matches('0').strip_suffix('.');
    format!("{} {}", whole.unwrap_or(&text), units[unit])
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

/// The text with a period at its end, unless it has one: an error may end with a remedy, which is a sentence.
#[must_use]
pub fn end_sentence(text: String) -> String {
    if text.ends_with('.') {
        text
    } else {
        text + "."
    }
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

/// A figure with three significant digits, and all digits of a larger whole part: `0.0123`, `1.23`,
/// `12.3`, `123`, `12,345`. Less than half a millionth is 0.
#[must_use]
pub fn figure(value: f64) -> String {
    if !value.is_finite() {
        return ABSENT.to_string();
    }
    let size = value.abs();
    if size >= 1e15 {
        return format!("{value:.2e}");
    }
    if size < 0.000_000_5 {
        return "0".to_owned();
    }
    // The power of ten of the first digit, once rounded to three: 9.996 begins with a ten.
    let rounded = format!("{size:.2e}");
    let power = rounded.split_once('e').map_or("0", |(_, power)| power);
    let decimals = usize::try_from(2 - power.parse::<i32>().unwrap_or(0)).unwrap_or(0);
    grouped(&format!("{value:.decimals$}"))
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
    format!("{} {noun}{ending}", count_of(number))
}

/// `1 database of 700 MiB`, `2 databases of 700 MiB each`.
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
    fn sizes_are_in_powers_of_1024() {
        let shown = [0, 1023, 1024, 10 << 20, 2_684_354, 5 << 39].map(size);
        assert_eq!(
            shown,
            ["0 B", "1,023 B", "1 KiB", "10 MiB", "2.56 MiB", "2.50 TiB"]
        );
    }

    #[test]
    fn the_largest_unit_has_none_above_it() {
        assert_eq!(bytes(4096.0 * (1_u64 << 60) as f64), "4,096 EiB");
    }

    #[test]
    fn each_unit_begins_where_the_one_before_would_be_rounded_up() {
        let shown = [1_023, 1_024, 1_048_063, 1_048_064, 10_234, 102_349].map(size);
        let expected = [
            "1,023 B",
            "1 KiB",
            "1,023 KiB",
            "1 MiB",
            "9.99 KiB",
            "100 KiB",
        ];
        assert_eq!(shown, expected);
        assert_eq!(size(u64::MAX), "16 EiB");
        let shown = [89.9, 90.0, 5_399.0, 5_400.0, 172_799.0, 172_800.0].map(rough_time);
        assert_eq!(shown, ["90 s", "2 min", "90 min", "2 h", "48 h", "2 days"]);
    }

    #[test]
    fn figures_have_three_digits() {
        for (value, shown) in [
            (0.0, "0"),
            (0.000_000_4, "0"),
            (0.000_000_499, "0"),
            (0.000_000_5, "0.000000500"),
            (0.000_000_6, "0.000000600"),
            (0.001_254, "0.00125"),
            (0.009_99, "0.00999"),
            (0.009_996, "0.0100"),
            (0.5, "0.500"),
            (0.999_4, "0.999"),
            (0.999_5, "1.00"),
            (9.994, "9.99"),
            (9.996, "10.0"),
            (-1.234, "-1.23"),
            (99.94, "99.9"),
            (99.95, "100"),
            (1_234_567.8, "1,234,568"),
            (-1_234.0, "-1,234"),
            (1e15, "1.00e15"),
            (-1e15, "-1.00e15"),
            (9.9e14, "990,000,000,000,000"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ] {
            assert_eq!(figure(value), shown, "{value}");
        }
    }

    #[test]
    fn numbers_stand_in_sentences() {
        let shown = ["1", "123", "1234", "-123456", "1234567.891"].map(grouped);
        assert_eq!(shown, ["1", "123", "1,234", "-123,456", "1,234,567.891"]);
        assert_eq!(count_of(1_250_000), "1,250,000");
        assert_eq!(sentence(&"no room: -x"), "No room: -x");
        assert_eq!(sentence(&"--option"), "--option");
        assert_eq!([count(1, "disk"), count(2, "disk")], ["1 disk", "2 disks"]);
        let one = count_of_size(1, "database", 700_000_000);
        assert_eq!(one, "1 database of 668 MiB");
        let two = count_of_size(2, "database", 700_000_000);
        assert_eq!(two, "2 databases of 668 MiB each");
    }
}
