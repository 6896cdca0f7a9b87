//! What a study looks like in TOML.

use std::collections::BTreeMap;

use config::{choice, number_or_text, optional, settings, within};

use super::families::Assumption;
use super::measures::Measure;

settings! {
    /// A published study: what was tried, what was printed, and how a prediction gives the same
    /// number.
    pub struct Study {
        /// Its name for people.
        pub title: String;
        /// Who published it, and when.
        pub source: String;
        /// What is to be known before the figures are read.
        pub about: String = String::new();
        /// What holds for every case that says nothing else.
        pub defaults: Case = Case::default();
        /// The cases by name: a workload on an array.
        pub case: BTreeMap<String, Case>;
        /// Settings of the workload that this study or another one was used to choose.
        pub assumption: Vec<Assumption> = Vec::new();
        /// The published figures, each with what of the cases it is compared with.
        pub figure: Vec<Figure>;
        /// The charts of the report.
        pub chart: Vec<ChartPlan> = Vec::new();
    }
}

settings! {
    /// One prediction: a workload, an array, and settings as on the command line of `predict`.
    pub struct Case {
        /// What it is called in tables and charts.
        pub title: Option<String> = None;
        /// Profile of the workload, as in `predict WORKLOAD`.
        pub workload: Option<String> = None;
        /// Array, as with `--array`.
        pub array: Option<String> = None;
        /// Length of the measured phase, as with `--duration`.
        pub duration: Option<String> = None;
        /// Sessions, as with `--threads`.
        pub threads: Option<String> = None, as optional(number_or_text());
        /// Rate to hold, as with `--rate`.
        pub rate: Option<String> = None, as optional(number_or_text());
        /// Number of databases, as with `--databases`.
        pub databases: Option<String> = None, as optional(number_or_text());
        /// Number of mailboxes, as with `--mailboxes`.
        pub mailboxes: Option<String> = None, as optional(number_or_text());
        /// Data over all databases, as with `--target-size`.
        pub target_size: Option<String> = None;
        /// Seed of the random number generator, as with `--seed`.
        pub seed: Option<String> = None, as optional(number_or_text());
        /// As `--set`, each of them; those of the defaults come first.
        pub set: Vec<String> = Vec::new();
    }
}

settings! {
    /// A published figure, and which measure of which cases stands for it.
    pub struct Figure {
        /// Its number, the same in every list of the figures and unique over all studies.
        pub id: String;
        /// What was measured, in words.
        pub metric: String;
        /// On which configuration it was measured, in words.
        pub configuration: String;
        /// Unit of `published`. A measure of time is in us if this is us, else in ms.
        pub unit: String;
        /// The published value, in `unit`.
        pub published: f64, as within(-1e15..=1e15), was "paper";
        /// Whether the paper measured it or compares two configurations.
        pub kind: Kind;
        /// Set when the paper prints a bound and not the value.
        pub bound: Option<Bound>;
        /// What of a result is the figure; absent when it cannot be modelled.
        pub measure: Option<Measure>;
        /// Disk groups that a measure of disks is about; all when empty.
        pub group: Vec<String> = Vec::new();
        /// The case it is of, or several.
        pub cases: Vec<String> = Vec::new(), was "of";
        /// The case it is compared with: one for all of `cases`, or one for each.
        pub baseline_cases: Vec<String> = Vec::new(), was "against";
        /// How it is compared; needed with `baseline_cases`.
        pub comparison: Option<Comparison>, was "as";
        /// What of several cases counts.
        pub aggregate: Aggregate = Aggregate::Mean, was "over";
        /// Half-width of what is as good as the paper, in `unit`, for a figure that is zero.
        pub tolerance: Option<f64>;
        /// Why it cannot be modelled.
        pub not_modelled: Option<String>;
        /// How the publication contradicts it: it is predicted, and counts neither as met nor as missed.
        pub not_comparable: Option<String>;
        /// What is to be known of it, such as why it is missed.
        pub note: Option<String>;
    }
}

choice! {
    /// Where a figure comes from.
    pub enum Kind {
        /// The paper measured the value itself.
        Measured = "measured",
        /// It compares two measured values.
        Ratio = "ratio",
    }
}

choice! {
    /// Which side of the published value is in order.
    pub enum Bound {
        /// The paper says "at most".
        Upper = "upper",
        /// The paper says "at least".
        Lower = "lower",
    }
}

choice! {
    /// How a value is compared with another.
    pub enum Comparison {
        /// So many times the other.
        Times = "times",
        /// So many times smaller than the other.
        TimesLess = "times-less",
        /// So many percent more than the other.
        GainPercent = "gain-percent",
        /// So many percent less than the other.
        ReductionPercent = "reduction-percent",
        /// More than the other by so much.
        Difference = "difference",
    }
}

choice! {
    /// What of the values of several cases is the figure.
    pub enum Aggregate default Mean {
        /// Their mean: stretches of equal time of one long test.
        Mean = "mean",
        /// Their mean by the database requests of each: the mean over all requests of such a test.
        MeanByRequests = "mean-by-requests",
        /// The least of them.
        Least = "least",
        /// The greatest of them.
        Greatest = "greatest",
    }
}

settings! {
    /// A chart of the report: paper beside model.
    pub struct ChartPlan {
        /// Title above the chart.
        pub title: String;
        /// Unit of the vertical axis.
        pub unit: String;
        /// Title of the horizontal axis: what the cases differ in, with `axis_values`; without it they stand side by side by name.
        pub axis: Option<String>, was "across";
        /// The value of each case on the horizontal axis.
        pub axis_values: Vec<f64> = Vec::new(), was "at";
        /// The cases' names under the chart, when they stand side by side.
        pub names: Vec<String> = Vec::new();
        /// Lines of the chart, each with a name.
        pub line: Vec<LinePlan>;
    }
}

settings! {
    /// A line of a chart: a measure of cases, or published figures.
    pub struct LinePlan {
        /// Name of the line in the legend.
        pub name: String;
        /// What is drawn of the cases.
        pub measure: Option<Measure>;
        /// Disk groups that a measure of disks is about; all when empty.
        pub group: Vec<String> = Vec::new();
        /// The cases in turn; an empty name leaves a gap.
        pub cases: Vec<String> = Vec::new(), was "of";
        /// The published figures in turn; an empty name leaves a gap.
        pub figures: Vec<String> = Vec::new();
    }
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
