//! Several runs side by side: settings that differ, results, changes against the first run.

mod alike;
mod change;
mod charts;
mod figures;
mod operations;

pub use charts::comparison_charts;
pub use figures::Shown;

use measure::result::RunResult;
use measure::units;

use crate::number::{ABSENT, duration, moment};
use crate::run::Run;
use crate::settings::{chosen, of_array};
use crate::table::{Cell, Column, Table};
use crate::tone::Tone;
use crate::words::{headline, target_text, workload_name};

/// Runs to be compared; the first is the base.
pub struct Comparison<'a> {
    runs: &'a [Run],
    names: Vec<String>,
    /// What differs between the test of each run and that of the first.
    differences: Vec<Vec<String>>,
}

impl<'a> Comparison<'a> {
    /// Compares `runs`; names that are the same or missing get a number.
    #[must_use]
    pub fn new(runs: &'a [Run]) -> Self {
        let plain = |run: &Run| run.name.trim().to_string();
        let names = runs
            .iter()
            .enumerate()
            .map(|(index, run)| {
                let name = plain(run);
                let same = runs.iter().filter(|other| plain(other) == name).count();
                match (name.is_empty(), same) {
                    (true, _) => format!("run {}", index + 1),
                    (false, 1) => name,
                    (false, _) => format!("{name} ({})", index + 1),
                }
            })
            .collect();
        let differences = runs.iter().map(|run| match runs.first() {
            Some(base) => alike::differences(&run.result, &base.result),
            None => Vec::new(),
        });
        Self {
            runs,
            names,
            differences: differences.collect(),
        }
    }

    /// The compared runs, the first of which is the reference.
    #[must_use]
    pub fn runs(&self) -> &'a [Run] {
        self.runs
    }

    /// What each run is called.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// One row for each run: verdict, workload, storage, time.
    #[must_use]
    pub fn runs_table(&self) -> Table {
        let mut table = Table::new(vec![
            Column::text("run"),
            Column::text("verdict"),
            Column::text("workload"),
            Column::text("storage"),
            Column::text("started"),
            Column::number("measured", ""),
        ]);
        for (run, name) in self.runs.iter().zip(&self.names) {
            let tone = Tone::of_verdict(run.result.verdict);
            let word = headline(run).word;
            let word = if tone == Tone::Fail {
                word.to_string()
            } else {
                word.to_lowercase()
            };
            table.push(vec![
                Cell::new(name.clone()),
                Cell::verdict(tone).written(word),
                Cell::new(workload_name(&run.result)),
                Cell::new(target_text(&run.result)),
                Cell::new(moment(&run.result.started)),
                Cell::new(duration(run.result.duration_s)),
            ]);
        }
        table
    }

    /// Whether a run had the load, the data and the length of the first: otherwise its figures are
    /// neither better nor worse.
    fn is_alike(&self, index: usize) -> bool {
        self.differences.get(index).is_none_or(Vec::is_empty)
    }

    /// A sentence for each run whose test was not that of the first.
    #[must_use]
    pub fn unlike(&self) -> Vec<String> {
        let all = self.names.iter().zip(&self.differences);
        let unlike = all.filter(|(_, differences)| !differences.is_empty());
        let sentence = |(name, differences): (&String, &Vec<String>)| {
            format!(
                "{name} was another test than the first run: {}. Its figures are therefore not called \
                 better or worse.",
                differences.join("; ")
            )
        };
        unlike.map(sentence).collect()
    }

    /// What must be said with results of these workloads, once.
    #[must_use]
    pub fn notice(&self) -> Option<&'static str> {
        self.runs.iter().find_map(|run| run.contribution.notice)
    }

    /// One row for each setting, and for what else was chosen, that is not the same in all runs.
    #[must_use]
    pub fn settings_table(&self) -> Table {
        let mut heads = vec![Column::text("setting")];
        heads.extend(self.names.iter().map(|name| Column::text(name)));
        let mut table = Table::new(heads);
        let all: Vec<Vec<(String, String)>> = self.runs.iter().map(described).collect();
        let mut paths: Vec<&String> = Vec::new();
        for (path, _) in all.iter().flatten() {
            if !paths.contains(&path) {
                paths.push(path);
            }
        }
        for path in paths {
            let find = |list: &Vec<(String, String)>| {
                let found = list.iter().find(|(other, _)| other == path);
                found.map_or_else(|| ABSENT.to_string(), |(_, value)| value.clone())
            };
            let values: Vec<String> = all.iter().map(find).collect();
            let differs = values.iter().any(|value| *value != values[0]);
            if differs {
                let mut row = vec![Cell::new(path.clone())];
                row.extend(values.iter().map(|value| Cell::new(value.clone())));
                table.push(row);
            }
        }
        table
    }

    /// Latency of each operation, average and 90th percentile, of workloads that compare them.
    #[must_use]
    pub fn operations_table(&self, shown: Shown) -> Table {
        operations::table(self, shown)
    }

    /// The head of that table.
    #[must_use]
    pub fn operations_title(&self) -> String {
        format!("{} latency", units::sentence(&operations::noun(self)))
    }

    /// A value of each run.
    fn of_each(&self, value: impl Fn(&RunResult) -> Option<f64>) -> Vec<Option<f64>> {
        self.runs.iter().map(|run| value(&run.result)).collect()
    }

    /// One row for each figure.
    #[must_use]
    pub fn figures_table(&self, shown: Shown) -> Table {
        figures::table(self, shown)
    }
}

/// What was chosen for a run: what its workload names, the settings, and those of a modelled array.
fn described(run: &Run) -> Vec<(String, String)> {
    let own = run.contribution.chosen.iter();
    let own = own.map(|(name, value)| ((*name).to_owned(), value.clone()));
    own.chain(chosen(&run.result))
        .chain(of_array(&run.result))
        .collect()
}

#[cfg(test)]
mod tests;
