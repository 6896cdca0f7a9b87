//! A profile in the making: what it extends, and each setting with the reason for its value.

use config::{ByteSize, ConfigError, Diagnostic, Source};
use workload::Profile;

use crate::registry::WORKLOADS;

/// The tables of profiles in the order in which people read them.
const TABLES: [&str; 15] = [
    "mail",
    "mail.mix",
    "mail.item",
    "mail.access",
    "brokerage",
    "engine",
    "maintenance",
    "service_levels",
    "test",
    "backup",
    "recovery",
    "run",
    "run.warm_up",
    "run.steady_state",
    "tuning",
];

/// Settings over those of a bundled profile.
#[derive(Clone, Debug)]
pub struct Draft {
    /// Lines of the comment at the top.
    pub head: Vec<String>,
    /// What the profile is about, on one line.
    pub description: String,
    /// Kind of the workload.
    pub kind: String,
    base: String,
    settings: Vec<Setting>,
}

/// A setting of the profile with where its value comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Dotted path, such as `mail.mix.insert_percent`.
    pub path: String,
    /// The value as TOML.
    pub value: String,
    /// Where the value comes from.
    pub why: String,
}

impl Draft {
    /// A profile that is as the bundled one of this name.
    #[must_use]
    pub fn new(base: &str) -> Self {
        Self {
            head: Vec::new(),
            description: String::new(),
            kind: "mail".to_owned(),
            base: base.to_owned(),
            settings: Vec::new(),
        }
    }

    /// Name of the bundled profile that it extends.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.base
    }

    /// Gives a setting a value, written as TOML; of several the last counts.
    pub fn set(&mut self, path: &str, value: impl Into<String>, why: impl Into<String>) {
        self.settings.retain(|one| one.path != path);
        self.settings.push(Setting {
            path: path.to_owned(),
            value: value.into(),
            why: why.into(),
        });
    }

    /// The settings, in the order in which they were given.
    #[must_use]
    pub fn settings(&self) -> &[Setting] {
        &self.settings
    }

    /// The profile as a file.
    #[must_use]
    pub fn to_toml(&self) -> String {
        self.written().0
    }

    /// Reads the profile, with its rules.
    ///
    /// # Errors
    /// Everything that is wrong.
    pub fn read(&self) -> Result<Box<dyn Profile>, ConfigError> {
        WORKLOADS.read(&[Source::file("profile.toml", &self.to_toml())])
    }

    /// The setting that a diagnostic of [`read`](Self::read) is about.
    #[must_use]
    pub fn setting_of(&self, error: &ConfigError, diagnostic: &Diagnostic) -> Option<&Setting> {
        let (text, places) = self.written();
        let (source, span) = error.place_of(diagnostic)?;
        if source.text != text {
            return None;
        }
        let place = places.iter().rev().find(|(at, _)| *at <= span.start)?;
        self.settings.get(place.1)
    }

    /// The file, and where in it each setting begins.
    fn written(&self) -> (String, Vec<(usize, usize)>) {
        let mut text = String::new();
        for line in &self.head {
            text.push_str(&comment(line));
        }
        let description = quoted(&self.description);
        let kind = quoted(&self.kind);
        text.push_str(&format!(
            "\nkind = {kind}\nextends = \"{}\"\ndescription = {description}\n",
            self.base
        ));
        let mut places = Vec::new();
        for table in TABLES {
            let in_table = self.settings.iter().enumerate();
            let in_table = in_table.filter(|(_, one)| table_of(&one.path) == table);
            for (count, (index, setting)) in in_table.enumerate() {
                if count == 0 {
                    text.push_str(&format!("\n[{table}]\n"));
                }
                places.push((text.len(), index));
                text.push_str(&comment(&setting.why));
                let key = setting.path.rsplit('.').next().unwrap_or_default();
                text.push_str(&format!("{key} = {}\n", setting.value));
            }
        }
        (text, places)
    }
}

fn table_of(path: &str) -> &str {
    path.rsplit_once('.').map_or("", |(table, _)| table)
}

/// A comment of one line, or an empty line of a comment.
fn comment(text: &str) -> String {
    let line: String = text
        .chars()
        .map(|one| if one.is_control() { ' ' } else { one })
        .collect();
    format!("{}\n", format!("# {line}").trim_end())
}

/// A text as a value of TOML.
#[must_use]
pub fn quoted(text: &str) -> String {
    toml::Value::from(text).to_string()
}

/// A size as a value: in whole units where there are such.
pub(super) fn size(bytes: u64) -> String {
    quoted(&ByteSize(bytes).to_string())
}

/// Bytes of so many log buffers, which are sectors of 512 bytes. The log is written in segments of 4 KiB.
pub(super) fn log_buffer_bytes(sectors: u32) -> u64 {
    (u64::from(sectors) * 512).next_multiple_of(4096)
}

/// A number as a value of TOML.
#[must_use]
pub fn number(value: f64) -> String {
    // Sums such as 0.1 * 3 have digits that nobody has written.
    let rounded = format!("{value:.9}");
    let plain = rounded.trim_end_matches('0').trim_end_matches('.');
    plain.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_stand_in_their_tables_with_their_reasons() {
        let mut draft = Draft::new("exchange-2013");
        draft.head.push("Made\nby hand".to_owned());
        draft.description = "A \"quoted\"\nname".to_owned();
        draft.set("run.duration", "\"1h\"", "one hour");
        draft.set("mail.databases", "3", "first");
        draft.set("mail.databases", "2", "two\nlines");
        let text = draft.to_toml();
        assert!(text.starts_with("# Made by hand\n\nkind"), "{text}");
        assert!(
            text.contains("[mail]\n# two lines\ndatabases = 2\n"),
            "{text}"
        );
        let (mail, run) = (text.find("[mail]"), text.find("[run]"));
        assert!(mail < run, "{text}");
        assert_eq!(draft.read().unwrap().description(), "A \"quoted\"\nname");
    }

    #[test]
    fn a_wrong_setting_is_found_by_its_line() {
        let mut draft = Draft::new("exchange-2013");
        draft.set("mail.databases", "2", "two");
        draft.set("mail.iops_per_mailbox", "99999", "too much");
        let error = draft.read().err().unwrap();
        let setting = draft.setting_of(&error, &error.diagnostics[0]);
        assert_eq!(setting.unwrap().why, "too much");
    }

    #[test]
    fn numbers_have_the_digits_that_were_meant() {
        let found = [0.9 * 100.0, 0.05, 1.0, 0.1 + 0.2].map(number);
        assert_eq!(found, ["90", "0.05", "1", "0.3"]);
    }
}
