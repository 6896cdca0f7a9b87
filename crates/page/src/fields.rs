//! Settings as fields of a form. Which are the main ones stands here; what may be written for them, and what they mean,
//! comes from their declarations.

use std::collections::BTreeMap;

use config::{Shape, Table};
use serde::Serialize;
use serde_json::Value;

use crate::lists::{Named, disks};

/// Main settings of workloads, with their labels; those that a profile does not have are left out.
pub const WORKLOAD_LABELS: [(&str, &str); 12] = [
    ("mailboxes", "Mailboxes"),
    ("mail.iops_per_mailbox", "IOPS per mailbox"),
    ("mail.mailbox_size", "Mailbox size"),
    ("mail.databases", "Databases"),
    ("brokerage.users", "Users"),
    ("brokerage.data_size", "Data size"),
    ("brokerage.think_time", "Think time of a user"),
    ("brokerage.database.memory", "Database cache"),
    ("brokerage.server.cpu_cores", "CPU cores of the server"),
    ("run.held_rate", "Rate to hold, IOPS"),
    ("run.duration", "Measured phase, simulated time"),
    ("run.seed", "Seed"),
];

/// Main settings of an array outside of its pools and groups.
pub const ARRAY_LABELS: [(&str, &str); 3] = [
    (
        "controllers.ports_per_controller",
        "Host ports per controller",
    ),
    (
        "controllers.port.rate_mb_per_s",
        "Rate of a host port, MB/s",
    ),
    ("cache.capacity_mib", "Data cache per controller, MiB"),
];

/// Main settings of a pool or a disk group.
pub const GROUP_LABELS: [(&str, &str); 8] = [
    ("disk", "Disks"),
    ("disk_count", "Number of disks"),
    ("raid", "RAID level"),
    ("spares", "Hot spares"),
    ("ssd_use", "SSDs used as"),
    ("ssd_count", "Number of SSDs"),
    ("ssd_disk", "SSDs"),
    ("ssd_raid", "RAID level of the SSDs"),
];

/// A setting in a form.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Field {
    /// Path of the setting in the design.
    pub path: String,
    /// What it is called beside its field.
    pub label: String,
    /// What it belongs to: `workload`, `array`, or the name of a pool or group.
    pub group: String,
    /// The value in force, as it is typed.
    pub value: String,
    /// Whether the design itself says it.
    pub is_set: bool,
    /// What it means.
    pub meaning: String,
    /// Where the default comes from; may be empty.
    pub source: String,
    /// What may be written.
    pub expected: String,
    /// `flag`, `choice`, `whole`, `number`, or `text` for everything else.
    pub kind: &'static str,
    /// The least number, where there is one.
    pub low: Option<f64>,
    /// The greatest number, where there is one.
    pub high: Option<f64>,
    /// What there is to choose from.
    pub choices: Vec<Named>,
}

/// Declared settings with their values.
pub struct Declared<'a> {
    /// The declaration.
    pub table: Table,
    /// The values in force, by path.
    pub values: BTreeMap<String, Value>,
    /// What the paths begin with in the design: empty, or `array.`.
    pub prefix: &'static str,
    /// Whether the design says the setting at a path.
    pub says: &'a dyn Fn(&str) -> bool,
}

impl Declared<'_> {
    /// The setting at a path, as a field; `None` when there is none.
    #[must_use]
    pub fn field(&self, path: &str, label: &str, group: &str) -> Option<Field> {
        let declared = find(&self.table, path)?;
        let in_design = format!("{}{path}", self.prefix);
        let value = self.values.get(path).map(text).unwrap_or_default();
        let mut field = Field {
            is_set: (self.says)(&in_design),
            path: in_design,
            label: label.to_owned(),
            group: group.to_owned(),
            value,
            meaning: declared.meaning.to_owned(),
            source: declared.source.to_owned(),
            expected: declared.shape.expected(),
            kind: "text",
            ..Field::default()
        };
        shape(&mut field, &declared.shape);
        match path.rsplit('.').next() {
            Some("disk") => choose_disk(&mut field, false),
            Some("ssd_disk") => choose_disk(&mut field, true),
            _ => {}
        }
        Some(field)
    }

    /// Every setting that has a value.
    #[must_use]
    pub fn all(&self, group: &str) -> Vec<Field> {
        let paths = self.values.keys();
        let fields = paths.filter_map(|path| self.field(path, path, group));
        fields.collect()
    }
}

fn choose_disk(field: &mut Field, solid_state_only: bool) {
    field.kind = "choice";
    field.choices = disks(solid_state_only);
    let is_known = field.choices.iter().any(|one| one.name == field.value);
    if !is_known && !field.value.is_empty() {
        field.choices.push(Named {
            name: field.value.clone(),
            title: field.value.clone(),
        });
    }
}

/// The declaration at a path; numbers of elements and names of tables are passed over.
fn find(table: &Table, path: &str) -> Option<config::Field> {
    let (first, rest) = path.split_once('.').unwrap_or((path, ""));
    let field = table.fields.iter().find(|field| field.key == first)?;
    if rest.is_empty() {
        return field.shape.table().is_none().then(|| field.clone());
    }
    let inner = field.shape.table()?;
    let rest = match field.shape.is_repeated() {
        true => rest.split_once('.')?.1,
        false => rest,
    };
    find(&inner, rest)
}

fn shape(field: &mut Field, of: &Shape) {
    match of {
        Shape::Flag => field.kind = "flag",
        Shape::Whole { low, high } => {
            field.kind = "whole";
            (field.low, field.high) = (Some(*low as f64), Some(*high as f64));
        }
        Shape::Number { low, high } => {
            field.kind = "number";
            (field.low, field.high) = (*low, *high);
        }
        Shape::Choice(names) => {
            field.kind = "choice";
            let named = names.iter().map(|(name, meaning)| Named {
                name: (*name).to_owned(),
                title: (*meaning).to_owned(),
            });
            field.choices = named.collect();
        }
        _ => {}
    }
}

/// A value as it is typed.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        Value::Number(number) => match number.as_f64() {
            Some(value) if value.fract() == 0.0 && value.abs() < 1e15 => format!("{value:.0}"),
            _ => number.to_string(),
        },
        other => other.to_string(),
    }
}
