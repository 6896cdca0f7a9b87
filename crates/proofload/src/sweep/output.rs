//! Writes a grid into its directory, and prints it.

use std::fs;
use std::path::Path;

use measure::grid::GridResult;
use report::Style;

use crate::cli::PredictOptions;
use crate::commands::print;
use crate::failure::Failure;

/// The grid as one document.
const GRID_FILE: &str = "grid.json";
/// The grid as rows for spreadsheets.
const CSV_FILE: &str = "grid.csv";
/// The table and the charts of the grid.
const REPORT_FILE: &str = "report.html";

/// Writes the files, and prints the table or the document.
pub fn write(options: &PredictOptions, grid: &GridResult, directory: &Path) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(grid)
        .map_err(|error| Failure::environment(format!("The grid: {error}."), ""))?;
    for (name, text) in [
        (GRID_FILE, format!("{text}\n")),
        (CSV_FILE, report::grid_csv(grid)),
        (REPORT_FILE, report::html_grid(grid)),
    ] {
        let path = directory.join(name);
        fs::write(&path, text).map_err(|error| {
            Failure::environment(
                format!("{} cannot be written: {error}.", path.display()),
                "",
            )
        })?;
    }
    if options.json {
        print(&format!("{text}\n"))?;
    } else if !options.quiet {
        let tables = report::terminal_grid(grid, &Style::of_standard_output());
        let page = directory.join(REPORT_FILE);
        print(&format!("{tables}\nReport: {}\n", page.display()))?;
    }
    Ok(())
}
