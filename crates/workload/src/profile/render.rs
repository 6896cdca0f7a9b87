//! A profile as TOML with its explanations, and the reference of all settings.

use std::collections::BTreeMap;

use super::setting::{Setting, SettingVisitor};
use super::{Kind, Profile};

/// Widest line of a comment.
const WIDTH: usize = 100;

impl Profile {
    /// All settings in force as commented TOML, which loads back to the same profile.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut writer = TomlWriter(String::new());
        self.clone().visit(&mut writer);
        writer.0
    }
}

impl Profile {
    /// All settings in force by their dotted paths, as they stand in the TOML.
    #[must_use]
    pub fn settings(&self) -> BTreeMap<String, serde_json::Value> {
        let mut collector = Collector::default();
        self.clone().visit(&mut collector);
        collector.settings
    }
}

#[derive(Default)]
struct Collector {
    section: &'static str,
    settings: BTreeMap<String, serde_json::Value>,
}

impl SettingVisitor for Collector {
    fn section(&mut self, path: &'static str, _meaning: &'static str) {
        self.section = path;
    }

    fn setting(&mut self, setting: Setting<'_>) {
        let path = match self.section {
            "" => setting.key.to_owned(),
            section => format!("{section}.{}", setting.key),
        };
        let literal = setting.value.literal();
        // The literals of settings are the same in TOML and in JSON.
        let value = serde_json::from_str(&literal).unwrap_or(serde_json::Value::String(literal));
        self.settings.insert(path, value);
    }
}

/// Writes each setting below its meaning.
struct TomlWriter(String);

impl SettingVisitor for TomlWriter {
    fn section(&mut self, path: &'static str, meaning: &'static str) {
        if path.is_empty() {
            return;
        }
        self.0.push('\n');
        comment(&mut self.0, meaning);
        self.0.push_str(&format!("[{path}]\n"));
    }

    fn setting(&mut self, setting: Setting<'_>) {
        comment(&mut self.0, setting.meaning);
        self.0
            .push_str(&format!("{} = {}\n", setting.key, setting.value.literal()));
    }
}

/// Appends `text` as comment lines of at most [`WIDTH`] characters.
fn comment(out: &mut String, text: &str) {
    let mut line = String::from("#");
    for word in text.split_whitespace() {
        if line.len() + 1 + word.len() > WIDTH {
            out.push_str(&line);
            out.push('\n');
            line = String::from("#");
        }
        line.push(' ');
        line.push_str(word);
    }
    out.push_str(&line);
    out.push('\n');
}

/// The reference of every setting of a kind of workload, as Markdown.
#[must_use]
pub fn reference(kind: Kind) -> String {
    let mut writer = ReferenceWriter(String::new());
    let mut profile = Profile::of_kind(kind);
    profile.visit(&mut writer);
    writer.0
}

/// Writes one table per section.
struct ReferenceWriter(String);

impl SettingVisitor for ReferenceWriter {
    fn section(&mut self, path: &'static str, meaning: &'static str) {
        let title = if path.is_empty() {
            "Top of the file".to_owned()
        } else {
            format!("`[{path}]`")
        };
        self.0.push_str(&format!(
            "\n### {title}\n\n{meaning}\n\n| key | default | write | meaning | source of the \
             default |\n|---|---|---|---|---|\n"
        ));
    }

    fn setting(&mut self, setting: Setting<'_>) {
        self.0.push_str(&format!(
            "| `{}` | `{}` | {} | {} | {} |\n",
            setting.key,
            setting.value.literal(),
            setting.value.expected(),
            setting.meaning,
            setting.source
        ));
    }
}
