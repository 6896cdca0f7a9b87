//! From TOML text and `--set` options to a profile, with the place of everything that is wrong.
//!
//! A profile is built from layers: the defaults, the bundled profile it `extends`, its file, then
//! each `--set` in turn. Every layer is flattened into entries (path, value, place in the text);
//! the settings then pick their entries, so an entry that nobody picks is an unknown key.

use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;

use toml::de::{DeTable, DeValue};

use super::bundled::{BUNDLED, bundled};
use super::setting::{Named, Scalar, Setting, SettingVisitor};
use super::{Kind, Profile, rules};

/// One text that settings come from.
#[derive(Clone, Debug)]
pub struct Layer {
    /// What to call it in messages: the path of a file, or "--set".
    pub name: String,
    /// The text that the places of faults refer to.
    pub text: String,
    kind: LayerKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LayerKind {
    File,
    /// `--set path=value`.
    Assignment,
    /// An option of its own, such as `--duration 2h`, that stands for a setting.
    Option(&'static str),
}

/// The tables of a profile that are about an array.
const EVENTS: &str = "event";

/// Something wrong with a profile.
#[derive(Clone, Debug)]
pub struct Fault {
    /// The index of the layer and the bytes of its text that are wrong; `None` when no layer gave
    /// the setting.
    pub place: Option<(usize, Range<usize>)>,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub help: Option<String>,
}

/// Everything wrong with a profile.
#[derive(Clone, Debug)]
pub struct LoadError {
    /// The texts it was read from.
    pub layers: Vec<Layer>,
    /// The faults, in the order of the settings. Never empty.
    pub faults: Vec<Fault>,
}

impl Layer {
    /// A profile file.
    #[must_use]
    pub fn file(name: &str, text: &str) -> Self {
        Self {
            name: name.to_owned(),
            text: text.to_owned(),
            kind: LayerKind::File,
        }
    }

    /// One `path.to.key=value`, as given with `--set`. A value that is not TOML counts as text,
    /// so that `run.duration=15s` needs no quotes.
    #[must_use]
    pub fn assignment(text: &str) -> Self {
        Self {
            name: "--set".to_owned(),
            text: text.to_owned(),
            kind: LayerKind::Assignment,
        }
    }

    /// The value of an option such as `--duration` that stands for the setting `path`.
    #[must_use]
    pub fn option(option: &str, path: &'static str, value: &str) -> Self {
        Self {
            name: option.to_owned(),
            text: value.to_owned(),
            kind: LayerKind::Option(path),
        }
    }
}

impl fmt::Display for LoadError {
    /// Each fault on a line of its own: `name:line: what is wrong; what would be right`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, fault) in self.faults.iter().enumerate() {
            if index > 0 {
                writeln!(f)?;
            }
            if let Some((layer, span)) = &fault.place {
                let layer = &self.layers[*layer];
                match layer.kind {
                    LayerKind::Assignment | LayerKind::Option(_) => {
                        write!(f, "{} {}: ", layer.name, layer.text)?;
                    }
                    LayerKind::File => {
                        let before = layer.text.as_bytes().iter().take(span.start);
                        let line = 1 + before.filter(|byte| **byte == b'\n').count();
                        write!(f, "{}:{line}: ", layer.name)?;
                    }
                }
            }
            write!(f, "{}", fault.message)?;
            if let Some(help) = &fault.help {
                write!(f, "; {help}")?;
            }
        }
        Ok(())
    }
}

impl std::error::Error for LoadError {}

/// Builds the profile that the layers describe, later layers over earlier ones.
///
/// # Errors
/// Every fault found, each with its place.
pub fn load(layers: Vec<Layer>) -> Result<Profile, LoadError> {
    let mut loader = Loader::default();
    for layer in layers {
        loader.add(layer);
    }
    let mut profile = Profile::of_kind(loader.kind());
    if loader.faults.is_empty() {
        profile.visit(&mut loader);
        loader.report_unpicked();
    }
    if loader.faults.is_empty() {
        loader.report_broken_rules(&profile);
    }
    if loader.faults.is_empty() {
        return Ok(profile);
    }
    // A person mends a file from its top to its end.
    let place = |fault: &Fault| {
        fault
            .place
            .as_ref()
            .map(|(layer, span)| (*layer, span.start))
    };
    loader.faults.sort_by_key(place);
    Err(LoadError {
        layers: loader.layers,
        faults: loader.faults,
    })
}

/// What stood at one path in one layer.
#[derive(Clone, Debug)]
struct Entry {
    layer: usize,
    key: Range<usize>,
    value: Range<usize>,
    scalar: Scalar,
}

#[derive(Default)]
struct Loader {
    layers: Vec<Layer>,
    faults: Vec<Fault>,
    /// Entries by path, the earliest layer first.
    entries: BTreeMap<Vec<String>, Vec<Entry>>,
    /// Entries that a setting has picked, for the place of a broken rule.
    picked: BTreeMap<String, Entry>,
    section: &'static str,
    sections: Vec<&'static str>,
    known: Vec<String>,
}

/// How tables are described where a scalar belongs.
const TABLE: &str = "a table";

impl Loader {
    fn add(&mut self, layer: Layer) {
        match layer.kind {
            LayerKind::File => self.add_file(layer),
            LayerKind::Assignment => self.add_assignment(layer),
            LayerKind::Option(path) => {
                let length = layer.text.len();
                self.layers.push(layer);
                self.assign(path, 0..0, 0..length);
            }
        }
    }

    /// Takes part of the newest layer's text as the value of `path`.
    fn assign(&mut self, path: &str, key: Range<usize>, value: Range<usize>) {
        let layer = self.layers.len() - 1;
        let scalar = scalar_of_text(self.layers[layer].text[value.clone()].trim());
        let path: Vec<String> = path.split('.').map(|part| part.trim().to_owned()).collect();
        self.entries.entry(path).or_default().push(Entry {
            layer,
            key,
            value,
            scalar,
        });
    }

    /// The kind of workload that the last layer names; a wrong one is found with the settings.
    fn kind(&self) -> Kind {
        let entries = self.entries.get(&["kind".to_owned()][..]);
        let last = entries.and_then(|entries| entries.last());
        let named = last.and_then(|entry| match &entry.scalar {
            Scalar::Text(text) => Kind::NAMES.iter().find(|(name, _)| name == text),
            _ => None,
        });
        named.map_or(Kind::default(), |(_, kind)| *kind)
    }

    fn fault(
        &mut self,
        place: Option<(usize, Range<usize>)>,
        message: String,
        help: Option<String>,
    ) {
        self.faults.push(Fault {
            place,
            message,
            help,
        });
    }

    fn add_file(&mut self, layer: Layer) {
        let text = layer.text.clone();
        let mut flat = Vec::new();
        let parsed = DeTable::parse(&text);
        if let Ok(table) = &parsed {
            flatten(&mut Vec::new(), table.get_ref(), &mut flat);
        }
        let base = flat.iter().find(|(path, _)| path == &["extends"]).cloned();
        let known_base = base.as_ref().and_then(|(_, entry)| match &entry.scalar {
            Scalar::Text(name) => bundled(name),
            _ => None,
        });
        if let Some(known) = known_base.filter(|known| known.name != layer.name) {
            self.add_file(Layer::file(known.name, known.toml));
        }
        let index = self.layers.len();
        self.layers.push(layer);
        if let Err(error) = parsed {
            let place = error.span().map(|span| (index, span));
            self.fault(
                place,
                format!("this is not TOML: {}", error.message()),
                None,
            );
            return;
        }
        if let (Some((_, entry)), None) = (&base, known_base) {
            let names: Vec<&str> = BUNDLED.iter().map(|profile| profile.name).collect();
            self.fault(
                Some((index, entry.value.clone())),
                format!("{} is not a bundled profile", entry.scalar.described()),
                Some(format!("extend one of {}", names.join(", "))),
            );
        }
        if !flat.iter().any(|(path, _)| path == &["kind"]) {
            self.fault(
                Some((index, 0..0)),
                "the profile does not say what kind it is".to_owned(),
                Some("begin the file with kind = \"mail\" or kind = \"brokerage\"".to_owned()),
            );
        }
        for (path, mut entry) in flat {
            // What breaks is read by the array that it breaks in.
            if path[0] == EVENTS {
                continue;
            }
            entry.layer = index;
            self.entries.entry(path).or_default().push(entry);
        }
    }

    fn add_assignment(&mut self, layer: Layer) {
        let index = self.layers.len();
        let text = layer.text.clone();
        self.layers.push(layer);
        let Some((path, _)) = text.split_once('=') else {
            self.fault(
                Some((index, 0..text.len())),
                "the option needs a value".to_owned(),
                Some(format!("write --set {text}=VALUE")),
            );
            return;
        };
        if path.trim() == "extends" {
            self.fault(
                Some((index, 0..path.len())),
                "the profile to extend is no setting".to_owned(),
                Some("name the profile itself as the workload to run".to_owned()),
            );
            return;
        }
        let value = path.len() + 1..text.len();
        self.assign(path.trim(), 0..path.len(), value);
    }

    fn path_of(&self, key: &str) -> String {
        if self.section.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.section)
        }
    }

    /// Faults for the entries that no setting picked.
    fn report_unpicked(&mut self) {
        let mut reported: Vec<Vec<String>> = Vec::new();
        for (path, entries) in std::mem::take(&mut self.entries) {
            let joined = path.join(".");
            let below = |upper: &Vec<String>| path.len() > upper.len() && path.starts_with(upper);
            if joined == "extends" || reported.iter().any(below) || self.lies_in_a_setting(&path) {
                continue;
            }
            reported.extend((!self.sections.contains(&joined.as_str())).then(|| path.clone()));
            let is_section = self.sections.contains(&joined.as_str());
            for entry in entries {
                let is_table = matches!(entry.scalar, Scalar::Other(TABLE));
                if is_section && is_table {
                    continue;
                }
                let place = Some((entry.layer, entry.key.clone()));
                if is_section {
                    let message = match joined.as_str() {
                        "" => "the name of the setting is missing".to_owned(),
                        _ => format!("'{joined}' is a section, not a setting"),
                    };
                    let help = match (self.layers[entry.layer].kind, joined.as_str()) {
                        (LayerKind::File, _) => format!("write [{joined}] and its settings below"),
                        (_, "") => "write --set PATH.TO.KEY=VALUE".to_owned(),
                        (_, section) => format!("write --set {section}.SETTING=VALUE"),
                    };
                    self.fault(place, message, Some(help));
                    continue;
                }
                let (message, help) = self.unknown(&path);
                self.fault(place, message, Some(help));
            }
        }
    }

    /// Whether a table was given where a setting belongs, which is already a fault of its own.
    fn lies_in_a_setting(&self, path: &[String]) -> bool {
        (1..path.len()).any(|length| self.known.contains(&path[..length].join(".")))
    }

    /// The sentences for a path that does not exist.
    fn unknown(&self, path: &[String]) -> (String, String) {
        let joined = path.join(".");
        let key = path.last().map_or("", String::as_str);
        let parent = joined.strip_suffix(key).unwrap_or("").trim_end_matches('.');
        let place = if parent.is_empty() {
            "the top of a profile".to_owned()
        } else {
            format!("[{parent}]")
        };
        let message = format!("{place} has no setting or section '{key}'");
        if let Some(elsewhere) = self.known.iter().find(|known| last_part(known) == key) {
            let (section, _) = elsewhere.rsplit_once('.').unwrap_or(("the top", elsewhere));
            return (
                message,
                format!("'{key}' belongs in [{section}]: {elsewhere}"),
            );
        }
        if let Some(near) = self.nearest(&joined, key, parent) {
            return (message, format!("did you mean '{near}'?"));
        }
        let siblings: Vec<&str> = self
            .known
            .iter()
            .filter(|known| {
                known
                    .strip_suffix(last_part(known))
                    .is_some_and(|head| head.trim_end_matches('.') == parent)
            })
            .map(|known| last_part(known))
            .collect();
        let sections = self.sections.iter().filter(|section| !section.is_empty());
        let sections = sections.copied().collect::<Vec<_>>().join(", ");
        let settings = siblings.join(", ");
        let help = match (settings.is_empty(), parent.is_empty()) {
            (true, _) => format!("the sections are {sections}"),
            (false, true) => format!("its settings are {settings}; the sections are {sections}"),
            (false, false) => format!("its settings are {settings}"),
        };
        (message, help)
    }

    /// The known setting or section whose name is nearest, if one is near.
    fn nearest(&self, joined: &str, key: &str, parent: &str) -> Option<String> {
        let sections = self.sections.iter().map(|section| (*section).to_owned());
        let names = self.known.iter().cloned().chain(sections);
        names
            .filter(|name| !name.is_empty())
            .map(|name| {
                let whole = strsim::damerau_levenshtein(joined, &name);
                let (section, last) = name.rsplit_once('.').unwrap_or(("", &name));
                let part = strsim::damerau_levenshtein(key, last);
                let foreign = usize::from(section != parent);
                ((whole.min(part + foreign)), name)
            })
            .filter(|(distance, _)| *distance <= 1 + key.len() / 4)
            .min()
            .map(|(_, name)| name)
    }

    fn report_broken_rules(&mut self, profile: &Profile) {
        for rule in rules::broken(profile) {
            let given = rule.paths.iter().filter_map(|path| self.picked.get(*path));
            let last = given.max_by_key(|entry| entry.layer);
            let place = last.map(|entry| (entry.layer, entry.value.clone()));
            self.fault(place, rule.message, Some(rule.help));
        }
    }
}

impl SettingVisitor for Loader {
    fn section(&mut self, path: &'static str, _meaning: &'static str) {
        self.section = path;
        self.sections.push(path);
    }

    fn setting(&mut self, setting: Setting<'_>) {
        let path = self.path_of(setting.key);
        self.known.push(path.clone());
        let parts: Vec<String> = path.split('.').map(str::to_owned).collect();
        for entry in self.entries.remove(&parts).unwrap_or_default() {
            if let Err(message) = setting.value.set(&entry.scalar) {
                let place = Some((entry.layer, entry.value.clone()));
                self.fault(place, message, Some(setting.meaning.to_owned()));
            }
            self.picked.insert(path.clone(), entry);
        }
    }
}

fn last_part(path: &str) -> &str {
    path.rsplit('.').next().unwrap_or(path)
}

/// Turns nested tables into entries by path. Tables give an entry too, so that an unknown empty
/// one is found.
fn flatten(prefix: &mut Vec<String>, table: &DeTable<'_>, out: &mut Vec<(Vec<String>, Entry)>) {
    for (key, value) in table {
        prefix.push(key.get_ref().to_string());
        out.push((
            prefix.clone(),
            Entry {
                layer: 0,
                key: key.span(),
                value: value.span(),
                scalar: scalar_of(value.get_ref()),
            },
        ));
        if let DeValue::Table(inner) = value.get_ref() {
            flatten(prefix, inner, out);
        }
        prefix.pop();
    }
}

fn scalar_of(value: &DeValue<'_>) -> Scalar {
    match value {
        DeValue::String(text) => Scalar::Text(text.to_string()),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix()).map_or(
            Scalar::Other("a whole number of more than 63 bits"),
            Scalar::Integer,
        ),
        DeValue::Float(number) => number
            .as_str()
            .parse()
            .map_or(Scalar::Other("a number that is too large"), Scalar::Float),
        DeValue::Boolean(flag) => Scalar::Flag(*flag),
        DeValue::Datetime(_) => Scalar::Other("a date or time of day"),
        DeValue::Array(_) => Scalar::Other("an array"),
        DeValue::Table(_) => Scalar::Other(TABLE),
    }
}

/// The value behind `--set key=`: TOML where it is TOML, else plain text.
#[must_use]
pub fn scalar_of_text(text: &str) -> Scalar {
    match DeValue::parse(text) {
        Ok(value) => scalar_of(value.get_ref()),
        Err(_) => Scalar::Text(text.to_owned()),
    }
}
