//! Writes sample reports of invented runs into a directory: how a pass, a failure, a comparison
//! and the corner cases look. `cargo run -p report --example sample_report -- DIRECTORY`

mod invented;
mod stories;

use std::path::PathBuf;

use report::{Style, html, html_comparison, terminal, terminal_comparison};

fn main() -> std::io::Result<()> {
    let directory = std::env::args()
        .nth(1)
        .unwrap_or_else(|| "sample-reports".to_string());
    let directory = PathBuf::from(directory);
    std::fs::create_dir_all(&directory)?;
    let style = Style::of_standard_output();
    for (file, run) in stories::all() {
        std::fs::write(directory.join(format!("{file}.html")), html(&run))?;
        println!("{}", terminal(&run, &style));
    }
    let runs = stories::three_configurations();
    std::fs::write(directory.join("comparison.html"), html_comparison(&runs))?;
    println!("{}", terminal_comparison(&runs, &style));
    Ok(())
}
