//! Several designs side by side.

use report::comparison::{Comparison, Shown, comparison_charts};
use report::{Run, html_comparison};
use serde::Serialize;

use crate::design::Design;
use crate::fault::Fault;
use crate::prediction::run_of_design;
use crate::progress::{Progress, Report};
use crate::tables::{ChartData, TableData, chart, table};

/// More designs have no room beside each other.
pub const MOST_DESIGNS: usize = 4;

/// Designs side by side.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// Figures of each, and which settings differ.
    pub tables: Vec<TableData>,
    /// Sentences on what cannot be compared.
    pub unlike: Vec<String>,
    /// The charts of the report.
    pub charts: Vec<ChartData>,
    /// The report of the comparison.
    pub html: String,
}

/// Predicts each of these designs, which have names, and compares them with the first.
///
/// # Errors
/// Everything that is wrong with a design, under its name.
pub fn compared(designs: &[(String, Design)], report: &Report) -> Result<Compared, Fault> {
    if designs.len() < 2 || designs.len() > MOST_DESIGNS {
        return Err(Fault::new(
            format!("{} designs cannot be compared.", designs.len()),
            format!("Keep 2 to {MOST_DESIGNS} designs."),
        ));
    }
    let mut runs: Vec<Run> = Vec::new();
    for (name, design) in designs {
        report(&Progress {
            what: format!("Predicting {name}"),
            fraction: Some(runs.len() as f64 / designs.len() as f64),
        });
        let quiet: Report = std::rc::Rc::new(|_| {});
        let run = run_of_design(design, &quiet)
            .map_err(|fault| Fault::new(format!("{name}: {}", fault.message), fault.help))?;
        runs.push(Run {
            name: name.clone(),
            ..run
        });
    }
    let comparison = Comparison::new(&runs);
    let tables = [
        table("Results", comparison.figures_table(Shown::Both)),
        table("Settings that differ", comparison.settings_table()),
        table(
            &comparison.operations_title(),
            comparison.operations_table(Shown::Both),
        ),
    ];
    Ok(Compared {
        tables: tables.into_iter().flatten().collect(),
        unlike: comparison.unlike(),
        charts: comparison_charts(&comparison).iter().map(chart).collect(),
        html: html_comparison(&runs),
    })
}
