//! Numbers as people read them: about three significant digits, thousands separators, a unit that
//! fits. A value that was not measured (`NaN`, infinite) is a dash, never a word.

use crate::metric::Unit;
use crate::units::grouped as group;
pub use crate::units::{ABSENT, bytes, figure};

/// A value with its unit: `12.3 ms`, `1.94 us`, `4,489 IOPS`, `42.1 %`, `1.50 GiB`.
#[must_use]
pub fn quantity(value: f64, unit: Unit) -> String {
    let number = in_column(value, unit);
    match column_unit(unit) {
        "" => number,
        _ if number == ABSENT => number,
        text if number == "1" => format!("1 {}", singular(unit).unwrap_or(text)),
        text => format!("{number} {text}"),
    }
}

/// The unit of one thing, where it is not that of several.
fn singular(unit: Unit) -> Option<&'static str> {
    match unit {
        Unit::Errors => Some("error"),
        Unit::Pages => Some("page"),
        Unit::LogFiles => Some("log file"),
        Unit::Requests => Some("request"),
        _ => None,
    }
}

/// A value in a column whose head says [`column_unit`]: latencies, sizes and times carry their own
/// unit, which depends on how large they are.
#[must_use]
pub fn in_column(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Milliseconds => latency(value),
        Unit::Seconds => duration(value),
        Unit::Bytes => bytes(value),
        Unit::BytesPerSecond if value.is_finite() => format!("{}/s", bytes(value)),
        Unit::Fraction => percent(value),
        Unit::Count | Unit::Pages | Unit::LogFiles | Unit::Errors => limit(value),
        _ => figure(value),
    }
}

/// What stands in the head of a column of [`in_column`] values; empty where each has its own unit.
#[must_use]
pub fn column_unit(unit: Unit) -> &'static str {
    match unit {
        Unit::Milliseconds | Unit::Seconds | Unit::Bytes | Unit::BytesPerSecond => "",
        Unit::Fraction => "%",
        other => other.text(),
    }
}

/// A limit with its unit; whole numbers stay whole: `20 ms`, `1 stalls/s`.
#[must_use]
pub fn bounded(value: f64, unit: Unit) -> String {
    match unit {
        Unit::Bytes | Unit::BytesPerSecond | Unit::Fraction => quantity(value, unit),
        Unit::Milliseconds if value < 1.0 => latency(value),
        _ => format!("{} {}", limit(value), unit.text())
            .trim_end()
            .to_string(),
    }
}

/// A value beside a limit: as [`quantity`] writes it, with more digits where it would read like a
/// limit that it is not equal to: `20.04 ms` beside `20 ms`.
#[must_use]
pub fn beside_limit(value: f64, limit: f64, unit: Unit) -> String {
    let text = quantity(value, unit);
    let is_alike = text == quantity(limit, unit) && value.total_cmp(&limit).is_ne();
    if !is_alike || !value.is_finite() || !limit.is_finite() {
        return text;
    }
    let factor = if unit == Unit::Fraction { 100.0 } else { 1.0 };
    let name = if unit == Unit::Fraction {
        "%"
    } else {
        unit.text()
    };
    (1..=9)
        .map(|decimals| [value, limit].map(|one| format!("{:.decimals$}", one * factor)))
        .find(|[value, limit]| value != limit)
        .map_or(text, |[value, _]| {
            format!("{} {name}", group(&value)).trim_end().to_owned()
        })
}

/// A latency given in milliseconds: `1.94 us`, `0.250 ms`, `12.3 ms`, `4,210 ms`, `12.3 s`.
#[must_use]
pub fn latency(value_ms: f64) -> String {
    latency_beside(value_ms, value_ms)
}

/// A latency in the unit that [`latency`] gives to `beside_ms`, for the half-width of its interval.
#[must_use]
pub fn latency_beside(value_ms: f64, beside_ms: f64) -> String {
    let (factor, unit) = latency_unit(beside_ms);
    match value_ms.is_finite() {
        true => format!("{} {unit}", figure(value_ms * factor)),
        false => ABSENT.to_string(),
    }
}

/// The unit that fits a latency, and its number in a millisecond.
fn latency_unit(value_ms: f64) -> (f64, &'static str) {
    match value_ms.abs() {
        size if size > 0.0 && size < 0.099_95 => (1e3, "us"),
        size if size.is_finite() && size >= 1e4 => (1e-3, "s"),
        _ => (1.0, "ms"),
    }
}

/// A [`latency`] that may be missing.
#[must_use]
pub fn latency_or_absent(value_ms: Option<f64>) -> String {
    value_ms.map_or_else(|| ABSENT.to_string(), latency)
}

/// A limit: whole numbers stay whole (`20`), others are [`figure`]s.
#[must_use]
pub fn limit(value: f64) -> String {
    if value.is_finite() && value.fract() == 0.0 && value.abs() < 1e15 {
        return group(&format!("{value:.0}"));
    }
    figure(value)
}

/// A whole number with thousands separators.
#[must_use]
pub fn count(value: u64) -> String {
    group(&value.to_string())
}

/// A whole number of things: `1 thread`, `4,000 boxes` of the noun `box`.
#[must_use]
pub fn counted(number: u64, noun: &str) -> String {
    let ending = match number {
        1 => "",
        _ if noun.ends_with('x') => "es",
        _ => "s",
    };
    format!("{} {noun}{ending}", count(number))
}

/// A share between 0 and 1 as percent, without the sign: `0.4213` is `42.1`; whole ones that are
/// exact stay whole: `0`, `100`.
#[must_use]
pub fn percent(share: f64) -> String {
    match share * 100.0 {
        0.0 => "0".to_owned(),
        value => figure(value),
    }
}

/// A change against a base in percent, always with its sign: `+12.3 %`, `-4.5 %`, `0 %`.
///
/// A dash when there is no base to compare with.
#[must_use]
pub fn change(value: f64, base: f64) -> String {
    if !value.is_finite() || !base.is_finite() || base == 0.0 {
        return ABSENT.to_string();
    }
    let percent = (value / base - 1.0) * 100.0;
    if !percent.is_finite() {
        return ABSENT.to_string();
    }
    if percent.abs() < 0.05 {
        return "0 %".to_string();
    }
    let decimals = usize::from(percent.abs() < 99.95);
    let digits = group(&format!("{:.decimals$}", percent.abs()));
    format!("{}{digits} %", if percent < 0.0 { "-" } else { "+" })
}

/// A span of time: `250 ms`, `5.50 s`, `45 s`, `2 min`, `2 min 5 s`, `2 h 15 min`, `3 d 4 h`. Below a minute it has
/// three digits, but for a whole number of seconds.
#[must_use]
pub fn duration(seconds: f64) -> String {
    if !seconds.is_finite() || seconds < 0.0 {
        return ABSENT.to_string();
    }
    if seconds > 0.0 && seconds < 0.999_5 {
        return format!("{} ms", figure(seconds * 1e3));
    }
    // 59.95 has the same three digits as a minute.
    if seconds < 59.95 {
        let text = figure(seconds);
        let whole = text.trim_end_matches('0').strip_suffix('.');
        return format!(
            "{} s",
            if seconds == 0.0 {
                "0"
            } else {
                whole.unwrap_or(&text)
            }
        );
    }
    let whole = seconds.round();
    // A day of 24 hours is still written in hours, as people plan it.
    let days = if whole >= 172_800.0 {
        (whole / 86_400.0).floor()
    } else {
        0.0
    };
    let hours = ((whole - days * 86_400.0) / 3_600.0).floor();
    let (minutes, rest) = ((whole % 3_600.0 / 60.0).floor(), whole % 60.0);
    let pair = if days > 0.0 {
        [(days, "d"), (hours, "h")]
    } else if hours > 0.0 {
        [(hours, "h"), (minutes, "min")]
    } else {
        [(minutes, "min"), (rest, "s")]
    };
    let second = if pair[1].0 > 0.0 {
        format!(" {:.0} {}", pair[1].0, pair[1].1)
    } else {
        String::new()
    };
    format!(
        "{} {}{second}",
        group(&format!("{:.0}", pair[0].0)),
        pair[0].1
    )
}

/// A moment given by RFC 3339 in UTC, to the second: `2026-11-21 21:26:12 UTC`. Any other text stays
/// as it is.
#[must_use]
pub fn moment(text: &str) -> String {
    let known = text.strip_suffix('Z').and_then(|rest| rest.split_once('T'));
    let Some((date, time)) = known else {
        return text.to_string();
    };
    let second = time.split_once('.').map_or(time, |(second, _)| second);
    format!("{date} {second} UTC")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_about_three_digits() {
        let cases = [
            (0.0, "0"),
            (0.000_012_3, "0.0000123"),
            (0.004_2, "0.00420"),
            (0.0423, "0.0423"),
            (1.0, "1.00"),
            (9.996, "10.0"),
            (12.345, "12.3"),
            (99.96, "100"),
            (1234.5, "1,234"),
            (-1_234_567.0, "-1,234,567"),
            (1.234e21, "1.23e21"),
            (f64::NAN, "-"),
            (f64::INFINITY, "-"),
        ];
        for (value, text) in cases {
            assert_eq!(figure(value), text, "of {value}");
        }
    }

    #[test]
    fn quantities_have_a_fitting_unit() {
        let cases = [
            (0.001_938, Unit::Milliseconds, "1.94 us"),
            (0.000_4, Unit::Milliseconds, "0.400 us"),
            (0.25, Unit::Milliseconds, "0.250 ms"),
            (12.34, Unit::Milliseconds, "12.3 ms"),
            (4_210.0, Unit::Milliseconds, "4,210 ms"),
            (12_345.0, Unit::Milliseconds, "12.3 s"),
            (0.0, Unit::Milliseconds, "0 ms"),
            (f64::NAN, Unit::Milliseconds, "-"),
            (4_489.3, Unit::Iops, "4,489 IOPS"),
            (f64::INFINITY, Unit::Iops, "-"),
            (0.421, Unit::Fraction, "42.1 %"),
            (3.0, Unit::Errors, "3 errors"),
            (1.0, Unit::Errors, "1 error"),
            (1.0, Unit::Pages, "1 page"),
            (2_684_354.0, Unit::Bytes, "2.56 MiB"),
            (1_048_576.0, Unit::BytesPerSecond, "1 MiB/s"),
            (90.0, Unit::Seconds, "1 min 30 s"),
            (12.0, Unit::Count, "12"),
        ];
        for (value, unit, text) in cases {
            assert_eq!(quantity(value, unit), text, "of {value} {unit:?}");
        }
        assert_eq!(bounded(20.0, Unit::Milliseconds), "20 ms");
        assert_eq!(bounded(0.02, Unit::Milliseconds), "20.0 us");
        assert_eq!(bounded(836.0, Unit::Iops), "836 IOPS");
        assert_eq!(bounded(0.0, Unit::Seconds), "0 s");
        assert_eq!(bounded(2_147_483_648.0, Unit::Bytes), "2 GiB");
        assert_eq!(bounded(1_048_576.0, Unit::BytesPerSecond), "1 MiB/s");
        assert_eq!(bounded(0.5, Unit::Fraction), "50.0 %");
    }

    #[test]
    fn an_interval_has_the_unit_of_its_value() {
        assert_eq!(latency_beside(0.009_99, 0.947), "0.00999 ms");
        assert_eq!(latency_beside(0.2, 0.05), "200 us");
        assert_eq!(latency_beside(250.0, 12_000.0), "0.250 s");
        assert_eq!(latency_beside(f64::NAN, 1.0), "-");
        assert_eq!(latency_beside(1.0, f64::NAN), "1.00 ms");
    }

    #[test]
    fn a_value_never_reads_like_a_limit_that_it_is_not_equal_to() {
        let cases = [
            (20.125, 20.0, Unit::Milliseconds, "20.1 ms"),
            (20.04, 20.0, Unit::Milliseconds, "20.04 ms"),
            (20.0, 20.0, Unit::Milliseconds, "20.0 ms"),
            (999.5, 1_000.0, Unit::Iops, "999.5 IOPS"),
            (1_199.9, 1_200.0, Unit::Iops, "1,199.9 IOPS"),
            (0.950_04, 0.95, Unit::Fraction, "95.004 %"),
            (0.0, 0.0, Unit::Errors, "0 errors"),
            (f64::NAN, 20.0, Unit::Milliseconds, "-"),
        ];
        for (value, limit, unit, text) in cases {
            assert_eq!(beside_limit(value, limit, unit), text, "{value} {limit}");
        }
    }

    #[test]
    fn percentages_have_three_digits() {
        let shown = [0.0, 0.001, 0.004_2, 0.421_3, 1.0, 12.5].map(percent);
        assert_eq!(shown, ["0", "0.100", "0.420", "42.1", "100", "1,250"]);
    }

    #[test]
    fn whole_limits_stay_whole() {
        assert_eq!(limit(20.0), "20");
        assert_eq!(limit(1_000.0), "1,000");
        assert_eq!(limit(0.5), "0.500");
        assert_eq!(limit(f64::NAN), "-");
    }

    #[test]
    fn things_are_counted_with_their_noun() {
        assert_eq!(counted(0, "thread"), "0 threads");
        assert_eq!(counted(1, "thread"), "1 thread");
        assert_eq!(counted(4_000, "mailbox"), "4,000 mailboxes");
        assert_eq!(counted(1, "mailbox"), "1 mailbox");
    }

    #[test]
    fn changes_carry_their_sign() {
        assert_eq!(change(112.3, 100.0), "+12.3 %");
        assert_eq!(change(95.5, 100.0), "-4.5 %");
        assert_eq!(change(100.01, 100.0), "0 %");
        assert_eq!(change(2_000.0, 100.0), "+1,900 %");
        assert_eq!(change(1.0, 0.0), "-");
        assert_eq!(change(f64::NAN, 1.0), "-");
    }

    #[test]
    fn moments_are_written_to_the_second() {
        assert_eq!(
            moment("2026-11-21T21:26:12.845924789Z"),
            "2026-11-21 21:26:12 UTC"
        );
        assert_eq!(moment("2026-11-21T21:26:12Z"), "2026-11-21 21:26:12 UTC");
        assert_eq!(moment("yesterday"), "yesterday");
        assert_eq!(moment(""), "");
    }

    #[test]
    fn bytes_and_durations_read_well() {
        assert_eq!(bytes(512.0), "512 B");
        assert_eq!(bytes(32.0 * 1024.0), "32 KiB");
        assert_eq!(bytes(1.5 * 1024.0 * 1024.0 * 1024.0), "1.50 GiB");
        assert_eq!(duration(0.25), "250 ms");
        assert_eq!(duration(0.0103), "10.3 ms");
        assert_eq!(duration(0.0), "0 s");
        assert_eq!(duration(0.999_6), "1 s");
        assert_eq!(duration(5.5), "5.50 s");
        assert_eq!(duration(5.001), "5 s");
        assert_eq!(duration(20.0), "20 s");
        assert_eq!(duration(45.0), "45 s");
        assert_eq!(duration(45.37), "45.4 s");
        assert_eq!(duration(59.7), "59.7 s");
        assert_eq!(duration(59.97), "1 min");
        assert_eq!(duration(120.0), "2 min");
        assert_eq!(duration(125.0), "2 min 5 s");
        assert_eq!(duration(7_200.0), "2 h");
        assert_eq!(duration(8_100.0), "2 h 15 min");
        assert_eq!(duration(86_400.0), "24 h");
        assert_eq!(duration(86_400.0 * 3.0 + 4.0 * 3_600.0), "3 d 4 h");
        assert_eq!(duration(-1.0), "-");
    }
    #[test]
    fn a_latency_that_is_missing_is_written_as_absent() {
        assert_eq!(latency_or_absent(Some(2.5)), latency(2.5));
        assert_eq!(latency_or_absent(None), ABSENT);
    }
}
