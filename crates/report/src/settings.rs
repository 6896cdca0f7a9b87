//! The settings of a run as text.

use config::ByteSize;
use measure::metric::Unit;
use measure::result::RunResult;
use serde_json::{Map, Value};

use crate::number::{bounded, bytes};
use crate::words::target_text;

/// A setting as people read it: no quotes, sizes in powers of 1024 to three digits.
#[must_use]
pub fn setting_text(path: &str, value: &Value) -> String {
    match value {
        Value::Null => "not set".to_string(),
        Value::String(text) => match ByteSize::parse(text) {
            // A number alone is a name, or a number.
            Ok(size) if text.ends_with('B') => bytes(size.bytes() as f64),
            _ => text.clone(),
        },
        Value::Array(list) => list
            .iter()
            .map(|item| setting_text("", item))
            .collect::<Vec<_>>()
            .join(", "),
        Value::Number(number) if path.ends_with("_bytes") => match number.as_f64() {
            Some(size) => bytes(size),
            None => number.to_string(),
        },
        other => other.to_string(),
    }
}

/// Everything that was chosen for a run, by name: the settings, the place, the seed, the host.
#[must_use]
pub fn chosen(result: &RunResult) -> Vec<(String, String)> {
    let mut list = vec![
        ("workload".to_string(), result.workload.name.clone()),
        ("storage".to_string(), target_text(result)),
        ("host".to_string(), result.host.name.clone()),
        ("kernel".to_string(), result.host.kernel.clone()),
        ("seed".to_string(), result.seed.to_string()),
        ("version".to_string(), result.version.clone()),
    ];
    let settings = &result.workload.settings;
    let is_set = |end: &str| {
        settings
            .iter()
            .any(|(path, value)| path.ends_with(end) && value.is_number())
    };
    // What a setting says already has no line of its own.
    if let Some(threads) = result.throughput.threads.filter(|_| !is_set(".threads")) {
        list.push(("threads".to_string(), threads.to_string()));
    }
    let rate = result.throughput.rate_iops;
    if let Some(rate) = rate.filter(|_| !is_set("run.held_rate")) {
        list.push(("held rate".to_string(), bounded(rate, Unit::Iops)));
    }
    list.extend(
        settings
            .iter()
            .map(|(path, value)| (path.clone(), setting_text(path, value))),
    );
    list
}

/// The settings of a modelled array by their paths, as `--set` takes them; elements of lists by their
/// numbers. Empty for a run on storage. A description that is no TOML is one setting, `array`.
#[must_use]
pub fn of_array(result: &RunResult) -> Vec<(String, String)> {
    let Some(array) = &result.array else {
        return Vec::new();
    };
    let mut list = Vec::new();
    match toml::from_str::<Map<String, Value>>(&array.description) {
        Ok(settings) => collect("array", &Value::Object(settings), &mut list),
        Err(_) => list.push(("array".to_owned(), array.description.clone())),
    }
    list
}

fn collect(path: &str, value: &Value, list: &mut Vec<(String, String)>) {
    let below = |key: &str| format!("{path}.{key}");
    match value {
        Value::Object(table) => table
            .iter()
            .for_each(|(key, value)| collect(&below(key), value, list)),
        Value::Array(tables) if tables.iter().any(Value::is_object) => tables
            .iter()
            .enumerate()
            .for_each(|(number, value)| collect(&below(&number.to_string()), value, list)),
        value => list.push((path.to_owned(), setting_text(path, value))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::ArrayResult;
    use serde_json::json;

    #[test]
    fn settings_read_well() {
        assert_eq!(
            setting_text("name", &json!("exchange-2013")),
            "exchange-2013"
        );
        assert_eq!(
            setting_text("engine.page_size_bytes", &json!(32_768)),
            "32 KiB"
        );
        assert_eq!(
            setting_text("mail.mailbox_size", &json!("428020B")),
            "418 KiB"
        );
        assert_eq!(setting_text("description", &json!("2010")), "2010");
        assert_eq!(setting_text("on", &json!(["/a", "/b"])), "/a, /b");
        assert_eq!(setting_text("rate", &Value::Null), "not set");
    }

    #[test]
    fn an_array_has_its_settings_by_their_paths() {
        let mut result = RunResult::default();
        assert_eq!(of_array(&result), []);
        let described = |description: &str| ArrayResult {
            description: description.to_owned(),
            ..ArrayResult::default()
        };
        result.array = Some(described(
            "family = \"msa\"\n[[event]]\nat = \"2h\"\n[pool]\ndisk_count = 6\n",
        ));
        let expected = [
            ("array.event.0.at", "2h"),
            ("array.family", "msa"),
            ("array.pool.disk_count", "6"),
        ];
        let expected = expected.map(|(path, value)| (path.to_owned(), value.to_owned()));
        assert_eq!(of_array(&result), expected);
        result.array = Some(described("a b"));
        assert_eq!(of_array(&result), [("array".to_owned(), "a b".to_owned())]);
    }
}
