//! The state of the page: one TOML document.

use array::description::event_of_line;
use config::Source;
use proofload::{Key, Scenario, Value as Given, predict};
use toml::{Table, Value};

use crate::fault::{DESIGN_FILE, Fault};

/// The total over all databases, which is no setting by itself.
pub const MAILBOXES: &str = "mailboxes";

const ARRAY: &str = "array";
const EVENT: &str = "event";
const EXTENDS: &str = "extends";
const KIND: &str = "kind";
const SETTLED: &str = "settled";

/// A profile with its array: what is predicted.
#[derive(Clone, Debug, PartialEq)]
pub struct Design {
    table: Table,
}

impl Design {
    /// A bundled workload on a bundled array.
    ///
    /// # Errors
    /// When there is no such workload.
    pub fn new(workload: &str, array: &str) -> Result<Self, Fault> {
        let mut design = Self {
            table: Table::new(),
        };
        design.choose_workload(workload)?;
        design.choose_array(array);
        Ok(design)
    }

    /// Reads a design: its TOML alone, what it says is checked when it is described.
    ///
    /// # Errors
    /// A text that is no TOML.
    pub fn parse(text: &str) -> Result<Self, Fault> {
        match text.parse::<Table>() {
            Ok(table) => Ok(Self { table }),
            Err(error) => Err(Fault::new(
                format!("This is not TOML: {}.", error.message()),
                "Open a design that this page has saved, a profile, or the description of an array.",
            )),
        }
    }

    /// The design as text.
    #[must_use]
    pub fn text(&self) -> String {
        self.table.to_string()
    }

    /// What is to be predicted.
    #[must_use]
    pub fn scenario(&self) -> Scenario {
        Scenario::new(DESIGN_FILE).with_file(DESIGN_FILE, self.text())
    }

    /// The bundled workload that it extends; empty when it extends none.
    #[must_use]
    pub fn workload(&self) -> &str {
        self.text_at(&[EXTENDS])
    }

    /// The bundled array that it extends; empty when it extends none.
    #[must_use]
    pub fn array(&self) -> &str {
        self.text_at(&[ARRAY, EXTENDS])
    }

    /// Whether it has an array.
    #[must_use]
    pub fn has_array(&self) -> bool {
        self.table.contains_key(ARRAY)
    }

    /// Whether it has a workload.
    #[must_use]
    pub fn has_workload(&self) -> bool {
        self.table.contains_key(KIND) || self.table.contains_key(EXTENDS)
    }

    /// Whether the prediction begins as after days of the load.
    #[must_use]
    pub fn is_settled(&self) -> bool {
        self.table.get(SETTLED).and_then(Value::as_bool) == Some(true)
    }

    /// Takes another workload. What was changed of the one before does not stay, but for the length of the run.
    ///
    /// # Errors
    /// When there is no such workload.
    pub fn choose_workload(&mut self, name: &str) -> Result<(), Fault> {
        let known = proofload::WORKLOADS.bundled(name);
        let known = known.ok_or_else(|| {
            Fault::new(
                format!("There is no bundled workload called '{name}'."),
                "Choose one of the list.",
            )
        })?;
        let kind = proofload::WORKLOADS.read(&[Source::file(known.name, known.toml)])?;
        let kind = kind.workload().kind();
        let duration = self.value_at("run.duration").cloned();
        self.table
            .retain(|key, _| key == ARRAY || key == EVENT || key == SETTLED);
        self.table.insert(KIND.to_owned(), kind.into());
        self.table.insert(EXTENDS.to_owned(), name.into());
        if let Some(duration) = duration {
            put(&mut self.table, &["run", "duration"], duration, None)?;
        }
        Ok(())
    }

    /// Takes another array. What was changed of the one before does not stay.
    pub fn choose_array(&mut self, name: &str) {
        let mut array = Table::new();
        array.insert(EXTENDS.to_owned(), name.into());
        self.table.insert(ARRAY.to_owned(), array.into());
    }

    /// Takes the description of an array in place of the present one, and its events with it.
    pub fn take_array(&mut self, mut description: Table) {
        let events = description.remove(EVENT);
        self.table.insert(ARRAY.to_owned(), description.into());
        if let Some(events) = events {
            self.table.insert(EVENT.to_owned(), events);
        }
    }

    /// Takes the workload of another design.
    pub fn take_workload(&mut self, other: &Self) {
        let of_array = |key: &String| key == ARRAY || key == SETTLED;
        let kept: Vec<(String, Value)> = self.table.clone().into_iter().collect();
        self.table = other.table.clone();
        let kept = kept.into_iter().filter(|(key, _)| of_array(key));
        for (key, value) in kept {
            self.table.entry(key).or_insert(value);
        }
    }

    /// The tables of the document.
    #[must_use]
    pub fn into_table(self) -> Table {
        self.table
    }

    /// Whether a setting is written in the design itself.
    #[must_use]
    pub fn says(&self, path: &str) -> bool {
        self.value_at(path).is_some()
    }

    /// Changes the setting at a path, `array.` before those of the array. A value that is not TOML counts as text. An
    /// empty one takes the setting back.
    ///
    /// # Errors
    /// A path that leads nowhere.
    pub fn set(&mut self, path: &str, value: &str) -> Result<(), Fault> {
        if value.trim().is_empty() {
            self.remove(path);
            return Ok(());
        }
        if path == MAILBOXES {
            return self.set_mailboxes(value);
        }
        let parts: Vec<&str> = path.split('.').collect();
        let base = match parts.first() {
            Some(&ARRAY) => self.written_array(),
            _ => None,
        };
        put(&mut self.table, &parts, literal(value), base.as_ref())?;
        self.set_ssds_with_use(path, value)
    }

    /// SSDs that get a use, and of which there are none: as few as there can be.
    fn set_ssds_with_use(&mut self, path: &str, value: &str) -> Result<(), Fault> {
        let Some(pool) = path.strip_suffix("ssd_use") else {
            return Ok(());
        };
        let count = format!("{pool}ssd_count");
        let has_ssds = || {
            let description = predict::load_array(&self.scenario()).ok()?;
            let settings = description.settings();
            let count = settings.get(count.strip_prefix("array.")?)?.as_u64()?;
            Some(count > 0)
        };
        match value {
            "none" => Ok(()),
            _ if has_ssds() == Some(true) => Ok(()),
            "tier" => self.set(&count, "2"),
            _ => self.set(&count, "1"),
        }
    }

    /// The mailboxes of all databases, as many in each.
    fn set_mailboxes(&mut self, value: &str) -> Result<(), Fault> {
        let mut scenario = self.scenario();
        scenario.set(&Key::Mailboxes, &Given::of_text(value.trim()));
        let purpose = proofload::workloads::Purpose::Prediction;
        let profile = proofload::workloads::resolve(&scenario, purpose)?;
        let settings = profile.settings();
        for path in ["mail.mailboxes_per_database", "mail.databases"] {
            if let Some(value) = settings.get(path) {
                self.set(path, &value.to_string())?;
            }
        }
        Ok(())
    }

    /// Takes a setting back: what the workload or the array says holds again.
    pub fn remove(&mut self, path: &str) {
        let path = match path {
            MAILBOXES => "mail.mailboxes_per_database",
            path => path,
        };
        let parts: Vec<&str> = path.split('.').collect();
        take(&mut self.table, &parts);
    }

    /// Replaces the events by those of these lines, in the language of `--event`.
    ///
    /// # Errors
    /// A line that is none.
    pub fn set_events(&mut self, lines: &str) -> Result<(), Fault> {
        let mut events = Vec::new();
        for line in lines.lines().map(str::trim).filter(|line| !line.is_empty()) {
            let text = event_of_line(line)
                .map_err(|error| Fault::new(format!("'{line}': {error}."), ""))?;
            let table: Table = text
                .parse()
                .map_err(|_| Fault::new(format!("'{line}' is no event."), ""))?;
            events.extend(table.get(EVENT).and_then(Value::as_array).cloned());
        }
        self.table.remove(EVENT);
        if let Some(array) = self.table.get_mut(ARRAY).and_then(Value::as_table_mut) {
            array.remove(EVENT);
        }
        if !events.is_empty() {
            self.table.insert(EVENT.to_owned(), events.concat().into());
        }
        Ok(())
    }

    /// The array with what it extends, written out: where a list of tables is changed, all of it has to be written.
    fn written_array(&self) -> Option<Value> {
        let description = predict::load_array(&self.scenario()).ok()?;
        let written: Table = description.to_toml().parse().ok()?;
        let mut around = Table::new();
        around.insert(ARRAY.to_owned(), written.into());
        Some(around.into())
    }

    fn text_at(&self, path: &[&str]) -> &str {
        let (last, tables) = path.split_last().unwrap_or((&"", &[]));
        let table = tables.iter().try_fold(&self.table, |table, part| {
            table.get(*part).and_then(Value::as_table)
        });
        let value = table
            .and_then(|table| table.get(*last))
            .and_then(Value::as_str);
        value.unwrap_or_default()
    }

    fn value_at(&self, path: &str) -> Option<&Value> {
        let mut parts = path.split('.');
        let mut value = self.table.get(parts.next()?)?;
        for part in parts {
            value = match (value, part.parse::<usize>()) {
                (Value::Array(list), Ok(number)) => list.get(number)?,
                // A single table stands for a list of one.
                (Value::Table(_), Ok(0)) => value,
                (Value::Table(table), _) => table.get(part)?,
                _ => return None,
            };
        }
        Some(value)
    }
}

/// A value as it is typed: TOML, or text.
fn literal(text: &str) -> Value {
    let text = text.trim();
    let document = format!("value = {text}");
    let parsed = document.parse::<Table>().ok();
    let parsed = parsed.filter(|table| table.len() == 1);
    parsed
        .and_then(|mut table| table.remove("value"))
        .unwrap_or_else(|| text.into())
}

/// Puts a value at a path. A list of tables on the way is taken over from `base` as a whole.
fn put(table: &mut Table, path: &[&str], value: Value, base: Option<&Value>) -> Result<(), Fault> {
    let nowhere = || {
        Fault::new(
            format!("There is no setting at '{}'.", path.join(".")),
            "Choose a setting of the list.",
        )
    };
    let Some((first, rest)) = path.split_first() else {
        return Err(nowhere());
    };
    if rest.is_empty() {
        table.insert((*first).to_owned(), value);
        return Ok(());
    }
    let base = base.and_then(|base| base.get(*first));
    let inner = table
        .entry((*first).to_owned())
        .or_insert_with(|| match base {
            Some(Value::Array(list)) => Value::Array(list.clone()),
            _ => Value::Table(Table::new()),
        });
    match inner {
        Value::Array(list) => {
            let (number, rest) = rest.split_first().ok_or_else(nowhere)?;
            let number: usize = number.parse().map_err(|_| nowhere())?;
            let element = list.get_mut(number).and_then(Value::as_table_mut);
            put(
                element.ok_or_else(nowhere)?,
                rest,
                value,
                base.and_then(|base| base.get(number)),
            )
        }
        Value::Table(inner) => match rest.split_first() {
            // A single table stands for a list of one.
            Some((&"0", rest)) if !rest.is_empty() => put(inner, rest, value, base),
            _ => put(inner, rest, value, base),
        },
        _ => Err(nowhere()),
    }
}

/// Removes what stands at a path, and tables that nothing is left in.
fn take(table: &mut Table, path: &[&str]) {
    let Some((first, rest)) = path.split_first() else {
        return;
    };
    if rest.is_empty() {
        table.remove(*first);
        return;
    }
    match table.get_mut(*first) {
        Some(Value::Table(inner)) => {
            let rest = if rest[0] == "0" { &rest[1..] } else { rest };
            take(inner, rest);
            if inner.is_empty() {
                table.remove(*first);
            }
        }
        Some(Value::Array(list)) => {
            let element = rest[0]
                .parse()
                .ok()
                .and_then(|number: usize| list.get_mut(number));
            if let Some(inner) = element.and_then(Value::as_table_mut) {
                take(inner, &rest[1..]);
            }
        }
        _ => {}
    }
}
