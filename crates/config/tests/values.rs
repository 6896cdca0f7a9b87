//! Sizes, times and literals: what each way of writing stands for, and how it is shown again.

use config::{ByteSize, TimeSpan, Value};

#[test]
fn each_unit_of_size_stands_for_its_bytes() {
    for (text, bytes, shown) in [
        ("1", 1, "1B"),
        ("3B", 3, "3B"),
        ("1KB", 1_000, "1KB"),
        ("1kib", 1 << 10, "1KiB"),
        ("1MB", 1_000_000, "1MB"),
        ("1MiB", 1 << 20, "1MiB"),
        ("1GB", 1_000_000_000, "1GB"),
        ("1GiB", 1 << 30, "1GiB"),
        ("1TB", 1_000_000_000_000, "1TB"),
        ("1TiB", 1 << 40, "1TiB"),
        ("1PB", 1_000_000_000_000_000, "1PB"),
        ("1PiB", 1 << 50, "1PiB"),
        ("0", 0, "0B"),
        ("2048B", 2048, "2KiB"),
        ("1.25 KB", 1250, "1250B"),
        (
            "0.123456789012345PB",
            123_456_789_012_345,
            "123456789012345B",
        ),
        ("  7_000_KiB ", 7_168_000, "7000KiB"),
    ] {
        assert_eq!(ByteSize::parse(text), Ok(ByteSize(bytes)), "{text}");
        assert_eq!(ByteSize(bytes).to_string(), shown, "{text}");
    }
    let sizes = [ByteSize::kib(3), ByteSize::mib(3), ByteSize::gib(3)];
    assert_eq!(
        sizes.map(ByteSize::bytes),
        [3_072, 3_145_728, 3_221_225_472]
    );
}

#[test]
fn each_unit_of_time_stands_for_its_nanoseconds() {
    for (text, ns, shown) in [
        ("0", 0, "0s"),
        ("1ns", 1, "1ns"),
        ("1us", 1_000, "1us"),
        ("1ms", 1_000_000, "1ms"),
        ("1s", 1_000_000_000, "1s"),
        ("1m", 60_000_000_000, "1m"),
        ("1 min", 60_000_000_000, "1m"),
        ("1h", 3_600_000_000_000, "1h"),
        ("1d", 86_400_000_000_000, "1d"),
        ("1h 30m 5s", 5_405_000_000_000, "5405s"),
        ("1.5h", 5_400_000_000_000, "90m"),
        ("1_500ms", 1_500_000_000, "1500ms"),
    ] {
        assert_eq!(TimeSpan::parse(text), Ok(TimeSpan(ns)), "{text}");
        assert_eq!(TimeSpan(ns).to_string(), shown, "{text}");
    }
    let span = TimeSpan::millis(2_500);
    assert_eq!((span.as_ns(), span.as_ms()), (2_500_000_000, 2_500.0));
    assert_eq!(span.as_seconds(), 2.5);
    assert_eq!(span.duration(), std::time::Duration::from_millis(2_500));
    assert_eq!(TimeSpan::seconds(7).as_ns(), 7_000_000_000);
}

#[test]
fn a_size_or_time_that_is_none_says_what_would_be_right() {
    for (text, message) in [
        (
            "20g",
            "'g' is not a unit of size; write \"20GiB\" (powers of 1024) or \"20GB\" (powers of \
             1000)",
        ),
        (
            "3 mi",
            "'mi' is not a unit of size; write \"3MiB\" (powers of 1024) or \"3MB\" (powers of \
             1000)",
        ),
        (
            "G",
            "'G' is not a size; write one like \"32KiB\", \"2GB\" or 4096 (bytes)",
        ),
        (
            "5 bits",
            "'5 bits' is not a size; write one like \"32KiB\", \"2GB\" or 4096 (bytes)",
        ),
        (
            "1.2.3KB",
            "'1.2.3KB' is not a size; write one like \"32KiB\" or \"2GB\"",
        ),
        (
            "0.1234567890123456PB",
            "'0.1234567890123456PB' is not a size; write one like \"32KiB\" or \"2GB\"",
        ),
    ] {
        assert_eq!(ByteSize::parse(text), Err(message.to_owned()));
    }
    for text in ["", "h", "18446744074s", "18446744073s 1h", "1h-1m", "5."] {
        let message = format!("'{text}' is not a time; write one like \"90ms\", \"15s\" or \"2h\"");
        assert_eq!(TimeSpan::parse(text), Err(message));
    }
}

#[test]
fn values_are_written_as_toml_and_as_json() {
    let table = Value::Table(vec![
        ("plain-key_1".to_owned(), Value::Flag(true)),
        ("a b".to_owned(), Value::Whole(7)),
        (String::new(), Value::Table(Vec::new())),
    ]);
    let list = Value::List(vec![Value::Whole(1), Value::Number(0.5)]);
    for (value, toml, json) in [
        (
            Value::Text("a\"b\\c\nd\te\rf\u{1}".to_owned()),
            r#""a\"b\\c\nd\te\rf\u0001""#,
            r#""a\"b\\c\nd\te\rf\u0001""#,
        ),
        (Value::Number(3.0), "3", "3"),
        (Value::Number(-2.25), "-2.25", "-2.25"),
        (
            Value::Number(1e15),
            "1000000000000000.0",
            "1000000000000000.0",
        ),
        (
            Value::Number(-1e15),
            "-1000000000000000.0",
            "-1000000000000000.0",
        ),
        (Value::Number(f64::NAN), "nan", "\"NaN\""),
        (Value::Number(f64::INFINITY), "inf", "\"inf\""),
        (list, "[1, 0.5]", "[1,0.5]"),
        (
            table,
            "{ plain-key_1 = true, \"a b\" = 7, \"\" = {} }",
            "{\"\":{},\"a b\":7,\"plain-key_1\":true}",
        ),
    ] {
        assert_eq!(value.literal(), toml);
        assert_eq!(value.to_json().to_string(), json);
    }
}
