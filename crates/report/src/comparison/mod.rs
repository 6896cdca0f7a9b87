//! Several runs side by side: settings that differ, results, changes against the first run.

mod charts;
mod figures;
mod transactions;

pub use charts::comparison_charts;
pub use figures::Shown;

use measure::result::RunResult;

use crate::number::{ABSENT, duration, moment};
use crate::run::Run;
use crate::settings::chosen;
use crate::table::{Cell, Column, Table, not_comparable};
use crate::tone::Tone;
use crate::words::{headline, target_text, workload_name};

/// Runs to be compared; the first is the base.
pub struct Comparison<'a> {
    runs: &'a [Run],
    names: Vec<String>,
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
        Self { runs, names }
    }

    /// The runs.
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
            let word = headline(&run.result).word;
            let word = if tone == Tone::Fail {
                word.to_string()
            } else {
                word.to_lowercase()
            };
            table.push(vec![
                Cell::new(name.clone()),
                Cell {
                    text: word,
                    tone: Some(tone),
                    notable: tone == Tone::Fail,
                },
                Cell::new(workload_name(&run.result)),
                Cell::new(target_text(&run.result)),
                Cell::new(moment(&run.result.started)),
                Cell::new(duration(run.result.duration_s)),
            ]);
        }
        table
    }

    /// The notice that belongs to these workloads' results, once.
    #[must_use]
    pub fn not_comparable(&self) -> Option<&'static str> {
        self.runs.iter().find_map(|run| not_comparable(&run.result))
    }

    /// One row for the database server and each setting that are not the same in all runs.
    #[must_use]
    pub fn settings_table(&self) -> Table {
        let mut heads = vec![Column::text("setting")];
        heads.extend(self.names.iter().map(|name| Column::text(name)));
        let mut table = Table::new(heads);
        let all: Vec<Vec<(String, String)>> =
            self.runs.iter().map(|run| described(&run.result)).collect();
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

    /// Response times of each transaction of a brokerage, average and 90th percentile; empty for
    /// other workloads.
    #[must_use]
    pub fn transactions_table(&self, shown: Shown) -> Table {
        transactions::table(self, shown)
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

/// The database server of a run, where it has one, and the settings that were chosen.
fn described(result: &RunResult) -> Vec<(String, String)> {
    let server = result.server.as_ref().map(|server| {
        let name = format!("{} {}", server.name, server.version);
        ("database server".to_owned(), name.trim().to_owned())
    });
    server.into_iter().chain(chosen(result)).collect()
}

#[cfg(test)]
mod tests;
