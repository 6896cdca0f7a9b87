//! What a study looks like in TOML.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};

use super::measures::Measure;

/// A published study: what was tried, what was printed, and how a prediction gives the same number.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name for people.
    pub title: String,
    /// Who published it, and when.
    pub source: String,
    /// What is to be known before the figures are read.
    #[serde(default)]
    pub about: String,
    /// What holds for every case that says nothing else.
    #[serde(default)]
    pub defaults: Case,
    /// The cases by name: a workload on an array.
    pub case: BTreeMap<String, Case>,
    /// The published figures.
    pub figure: Vec<Figure>,
    /// The charts of the report.
    #[serde(default)]
    pub chart: Vec<ChartPlan>,
}

/// One prediction: a workload, an array, and settings as on the command line of `predict`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Case {
    /// What it is called in tables and charts.
    pub title: Option<String>,
    /// As `predict WORKLOAD`.
    pub workload: Option<String>,
    /// As `--array`.
    pub array: Option<String>,
    /// As `--duration`.
    pub duration: Option<String>,
    /// As `--threads`.
    #[serde(deserialize_with = "number_or_text")]
    pub threads: Option<String>,
    /// As `--rate`.
    #[serde(deserialize_with = "number_or_text")]
    pub rate: Option<String>,
    /// As `--databases`.
    #[serde(deserialize_with = "number_or_text")]
    pub databases: Option<String>,
    /// As `--mailboxes`.
    #[serde(deserialize_with = "number_or_text")]
    pub mailboxes: Option<String>,
    /// As `--target-size`.
    pub target_size: Option<String>,
    /// As `--seed`.
    #[serde(deserialize_with = "number_or_text")]
    pub seed: Option<String>,
    /// As `--set`, each of them; those of the defaults come first.
    pub set: Vec<String>,
}

/// A published figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// Its number, the same in every list of the figures.
    pub id: String,
    /// What was measured, in words.
    pub metric: String,
    /// On what.
    pub configuration: String,
    /// Unit of `paper`.
    pub unit: String,
    /// The published value.
    pub paper: f64,
    /// Whether the paper measured it or compares two configurations.
    pub kind: Kind,
    /// Set when the paper prints a bound and not the value.
    #[serde(default)]
    pub bound: Option<Bound>,
    /// What of a result is the figure; absent when it cannot be modelled.
    #[serde(default)]
    pub measure: Option<Measure>,
    /// Disk groups that a measure of disks is about; all when empty.
    #[serde(default)]
    pub group: Vec<String>,
    /// The case it is of, or several.
    #[serde(default)]
    pub of: Vec<String>,
    /// The case it is compared with: one for all of `of`, or one for each.
    #[serde(default)]
    pub against: Vec<String>,
    /// How it is compared; needed with `against`.
    #[serde(default, rename = "as")]
    pub relation: Option<Relation>,
    /// What of several cases counts.
    #[serde(default)]
    pub over: Over,
    /// Half-width of what is as good as the paper, in `unit`, for a figure that is zero.
    #[serde(default)]
    pub tolerance: Option<f64>,
    /// Why it cannot be modelled.
    #[serde(default)]
    pub not_modelled: Option<String>,
    /// What is to be known of it, such as why it is missed.
    #[serde(default)]
    pub note: Option<String>,
}

/// Where a figure comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// It was measured.
    Measured,
    /// It compares two measured values.
    Ratio,
}

/// Which side of the published value is in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bound {
    /// The paper says "at most".
    Upper,
    /// The paper says "at least".
    Lower,
}

/// How a value is compared with another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Relation {
    /// So many times the other.
    Times,
    /// So many times smaller than the other.
    TimesLess,
    /// So many percent more than the other.
    GainPercent,
    /// So many percent less than the other.
    ReductionPercent,
    /// More than the other by so much.
    Difference,
}

/// What of the values of several cases is the figure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Over {
    /// Their mean: stretches of equal time of one long test.
    #[default]
    Mean,
    /// Their mean by the database requests of each: the mean over all requests of such a test.
    MeanByRequests,
    /// The least.
    Least,
    /// The greatest.
    Greatest,
}

/// A chart of the report: paper beside model.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChartPlan {
    /// Its title.
    pub title: String,
    /// Unit of the vertical axis.
    pub unit: String,
    /// What the cases differ in, with `at`; without it they stand side by side by name.
    #[serde(default)]
    pub across: Option<String>,
    /// Where each case stands across.
    #[serde(default)]
    pub at: Vec<f64>,
    /// The cases' names under the chart, when they stand side by side.
    #[serde(default)]
    pub names: Vec<String>,
    /// The lines.
    pub line: Vec<LinePlan>,
}

/// A line of a chart: a measure of cases, or published figures.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinePlan {
    /// Its name.
    pub name: String,
    /// What is drawn of the cases.
    #[serde(default)]
    pub measure: Option<Measure>,
    /// Disk groups that a measure of disks is about; all when empty.
    #[serde(default)]
    pub group: Vec<String>,
    /// The cases in turn; an empty name leaves a gap.
    #[serde(default)]
    pub of: Vec<String>,
    /// The published figures in turn; an empty name leaves a gap.
    #[serde(default)]
    pub figures: Vec<String>,
}

impl Case {
    /// The case over what holds for all.
    pub fn over(&self, defaults: &Case) -> Case {
        let or = |own: &Option<String>, other: &Option<String>| own.clone().or(other.clone());
        Case {
            title: self.title.clone(),
            workload: or(&self.workload, &defaults.workload),
            array: or(&self.array, &defaults.array),
            duration: or(&self.duration, &defaults.duration),
            threads: or(&self.threads, &defaults.threads),
            rate: or(&self.rate, &defaults.rate),
            databases: or(&self.databases, &defaults.databases),
            mailboxes: or(&self.mailboxes, &defaults.mailboxes),
            target_size: or(&self.target_size, &defaults.target_size),
            seed: or(&self.seed, &defaults.seed),
            set: defaults.set.iter().chain(&self.set).cloned().collect(),
        }
    }
}

/// A value that may stand with or without quotation marks.
fn number_or_text<'de, D: Deserializer<'de>>(from: D) -> Result<Option<String>, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Number(u64),
        Text(String),
    }
    Ok(Some(match Either::deserialize(from)? {
        Either::Number(number) => number.to_string(),
        Either::Text(text) => text,
    }))
}
