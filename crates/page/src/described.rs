//! What a design comes to: its settings, and the plan in words.

use array::description::Description;
use proofload::predict::Plan;
use serde::Serialize;
use workload::Profile;

use crate::design::{Design, MAILBOXES};
use crate::fault::Fault;
use crate::fields::{ARRAY_LABELS, Declared, Field, GROUP_LABELS, WORKLOAD_LABELS};

/// Pools and groups whose settings are shown one by one.
const MOST_GROUPS: usize = 8;

/// What a design comes to.
#[derive(Clone, Debug, Serialize)]
pub struct Described {
    /// The design as text.
    pub toml: String,
    /// The kind of the workload.
    pub kind: &'static str,
    /// The bundled workload; empty for another.
    pub workload: String,
    /// The bundled array; empty for another.
    pub array: String,
    /// The name of the array for people.
    pub title: String,
    /// What is asked of the storage, in short.
    pub question: String,
    /// The main settings.
    pub fields: Vec<Field>,
    /// Events, in the language of `--event`, one a line.
    pub events: String,
    /// Whether the prediction begins as after days of the load.
    pub settled: bool,
    /// The array and the load in words.
    pub plan: String,
    /// Sentences worth knowing.
    pub notes: Vec<String>,
}

/// What a design comes to.
///
/// # Errors
/// Everything that is wrong with it.
pub fn described(design: &Design) -> Result<Described, Fault> {
    let plan = Plan::check(&design.scenario())?;
    Ok(Described {
        toml: design.text(),
        kind: plan.profile.workload().kind(),
        workload: design.workload().to_owned(),
        array: design.array().to_owned(),
        title: plan.planned.settings.title.clone(),
        question: plan.profile.describe_question(),
        fields: main_fields(design, &plan),
        events: plan.description.event_lines().join("\n"),
        settled: design.is_settled(),
        plan: plan.describe(),
        notes: plan.planned.notes.clone(),
    })
}

/// Every setting of the workload and of the array.
///
/// # Errors
/// Everything that is wrong with the design.
pub fn every_setting(design: &Design) -> Result<Vec<Field>, Fault> {
    let plan = Plan::check(&design.scenario())?;
    let says = |path: &str| design.says(path);
    let mut all = of_profile(&*plan.profile, &says).all("workload");
    all.extend(of_array(&plan.description, &says).all("array"));
    Ok(all)
}

fn of_profile<'a>(profile: &dyn Profile, says: &'a dyn Fn(&str) -> bool) -> Declared<'a> {
    Declared {
        table: profile.declared_settings(),
        values: profile.settings(),
        prefix: "",
        says,
    }
}

fn of_array<'a>(description: &Description, says: &'a dyn Fn(&str) -> bool) -> Declared<'a> {
    Declared {
        table: Description::declaration(),
        values: description.settings(),
        prefix: "array.",
        says,
    }
}

fn main_fields(design: &Design, plan: &Plan) -> Vec<Field> {
    let says = |path: &str| design.says(path);
    let profile = of_profile(&*plan.profile, &says);
    let array = of_array(&plan.description, &says);
    let of_workload = WORKLOAD_LABELS
        .iter()
        .filter_map(|(path, label)| match *path {
            MAILBOXES => mailboxes(&profile),
            path => profile.field(path, label, "workload"),
        });
    let mut fields: Vec<Field> = of_workload.collect();
    for list in ["pool", "group"] {
        for number in 0..MOST_GROUPS {
            fields.extend(of_group(&array, list, number));
        }
    }
    let of_array = ARRAY_LABELS.iter();
    fields.extend(of_array.filter_map(|(path, label)| array.field(path, label, "array")));
    fields
}

/// Mailboxes over all databases.
fn mailboxes(profile: &Declared<'_>) -> Option<Field> {
    let number = |path: &str| profile.values.get(path)?.as_u64();
    let each = profile.field("mail.mailboxes_per_database", "Mailboxes", "workload")?;
    let all = number("mail.mailboxes_per_database")? * number("mail.databases")?;
    Some(Field {
        path: MAILBOXES.to_owned(),
        value: all.to_string(),
        meaning: "Mailboxes over all databases, rounded up so that databases are alike.".to_owned(),
        source: String::new(),
        ..each
    })
}

/// The main settings of one pool or group; nothing where there is none of this number.
fn of_group(array: &Declared<'_>, list: &str, number: usize) -> Vec<Field> {
    let at = |key: &str| format!("{list}.{number}.{key}");
    let value = |key: &str| array.values.get(&at(key));
    if value("disk").is_none() {
        return Vec::new();
    }
    let text = |key: &str| value(key).and_then(|value| value.as_str());
    let count = value("count")
        .and_then(serde_json::Value::as_u64)
        .unwrap_or(1);
    let name = match (text("name"), list) {
        (Some(name), _) => format!("{list} {name}"),
        (None, _) if count > 1 => format!("each of {count} {list}s"),
        (None, _) => list.to_owned(),
    };
    let has_ssds = text("ssd_disk").is_some();
    let uses_ssds = text("ssd_use").is_some_and(|ssd_use| ssd_use != "none");
    let is_shown = |key: &str| match key {
        "ssd_use" => has_ssds,
        key if key.starts_with("ssd_") => has_ssds && uses_ssds,
        _ => true,
    };
    let shown = GROUP_LABELS.iter().filter(|(key, _)| is_shown(key));
    shown
        .filter_map(|(key, label)| array.field(&at(key), label, &name))
        .collect()
}
