//! A summary as Markdown, for tickets and wikis.

use measure::display::{Medium, Table};
use measure::result::RunResult;

use crate::advice::advice;
use crate::comparison::{Comparison, Shown};
use crate::number::moment;
use crate::run::Run;
use crate::table::{
    Detail, databases_table, devices_table, error_bars_table, grouped_checks_table, traffic_table,
    verification_table,
};
use crate::terminal::facts;
use crate::words::{databases_title, headline, was_measured};

/// The summary of one run: the answer, what decided it, the figures, the findings.
#[must_use]
pub fn markdown(run: &Run) -> String {
    let result = &run.result;
    let mut text = Text::default();
    answer(&mut text, run);
    text.paragraph(&escaped(&facts(run).join("; ")));
    text.paragraph(&escaped(&circumstances(result)));
    text.section("Service levels", &grouped_checks_table(&result.checks));
    text.section("Error bars of the calibration", &error_bars_table(result));
    for section in &run.contribution.sections {
        for part in &section.parts {
            if part.medium != Medium::Page {
                text.section(part.title, &part.table);
            }
        }
    }
    if was_measured(result) {
        text.section(
            databases_title(result),
            &databases_table(result, Detail::Short),
        );
        text.section("I/O by type", &traffic_table(result));
    }
    text.section("Block devices", &devices_table(result));
    text.section("Verification after the run", &verification_table(result));
    text.list("Warnings", result.warnings.iter().map(|one| escaped(one)));
    let advice = advice(run);
    let findings = advice.iter().map(|one| {
        let title = escaped(&one.title);
        format!("**{title}**. {}", with_commands(&one.text))
    });
    text.list("Findings", findings);
    text.finish(&result.version)
}

/// The summary of several runs, compared with the first.
#[must_use]
pub fn markdown_comparison(runs: &[Run]) -> String {
    let comparison = Comparison::new(runs);
    let mut text = Text::default();
    text.head(2, &format!("Comparison of {} runs", runs.len()));
    text.table(&comparison.runs_table());
    text.section("Settings that differ", &comparison.settings_table());
    let unlike = comparison.unlike();
    text.list("Different tests", unlike.iter().map(|one| escaped(one)));
    text.section("Results", &comparison.figures_table(Shown::Both));
    let title = comparison.operations_title();
    text.section(&title, &comparison.operations_table(Shown::Both));
    if let Some(words) = comparison.notice() {
        text.paragraph(&escaped(words));
    }
    text.finish(runs.first().map_or("", |run| &run.result.version))
}

fn answer(text: &mut Text, run: &Run) {
    let headline = headline(run);
    text.head(2, headline.word);
    text.paragraph(&format!("**{}**", escaped(&headline.sentence)));
    text.paragraph(&escaped(&headline.reason));
}

/// When, where and with which version.
fn circumstances(result: &RunResult) -> String {
    let mut parts = Vec::new();
    if !result.started.is_empty() {
        parts.push(format!("started {}", moment(&result.started)));
    }
    if !result.host.name.is_empty() {
        parts.push(format!("on host {}", result.host.name));
    }
    if !result.host.kernel.is_empty() {
        parts.push(format!("kernel {}", result.host.kernel));
    }
    parts.push(format!("seed {}", result.seed));
    parts.join(", ")
}

/// Markdown as it grows: blocks with an empty line between them.
#[derive(Default)]
struct Text(Vec<String>);

impl Text {
    fn head(&mut self, level: usize, title: &str) {
        self.0
            .push(format!("{} {}", "#".repeat(level), escaped(title)));
    }

    fn paragraph(&mut self, text: &str) {
        if !text.is_empty() {
            self.0.push(text.to_owned());
        }
    }

    fn section(&mut self, title: &str, table: &Table) {
        if !table.is_empty() {
            self.head(3, title);
            self.table(table);
        }
    }

    fn list(&mut self, title: &str, items: impl Iterator<Item = String>) {
        let items = items
            .zip(1..)
            .map(|(item, number)| format!("{number}. {item}"));
        let items: Vec<String> = items.collect();
        if !items.is_empty() {
            self.head(3, title);
            self.0.push(items.join("\n"));
        }
    }

    fn table(&mut self, table: &Table) {
        if table.is_empty() {
            return;
        }
        let row = |cells: Vec<String>| format!("| {} |", cells.join(" | "));
        let heads = table.columns.iter().map(|column| {
            let parts = [&column.group, &column.head, &column.unit];
            let parts: Vec<&str> = parts.into_iter().map(|part| part.trim()).collect();
            let parts = parts.into_iter().filter(|part| !part.is_empty());
            escaped(&parts.collect::<Vec<_>>().join(" "))
        });
        let sides = table.columns.iter();
        let sides = sides.map(|column| if column.numeric { "---:" } else { "---" });
        let mut lines = vec![
            row(heads.collect()),
            row(sides.map(str::to_owned).collect()),
        ];
        let sums = (!table.sums.is_empty()).then_some(&table.sums);
        for cells in table.rows.iter().chain(sums) {
            let texts = cells.iter().map(|cell| match cell.notable {
                true => format!("**{}**", escaped(&cell.text)),
                false => escaped(&cell.text),
            });
            lines.push(row(texts.collect()));
        }
        self.0.push(lines.join("\n"));
    }

    fn finish(mut self, version: &str) -> String {
        let version = match version {
            "" => String::new(),
            version => format!(" {version}"),
        };
        self.0.push(format!("Written by Proofload{version}."));
        self.0.join("\n\n") + "\n"
    }
}

/// Text that Markdown leaves as it is, on one line.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.trim().chars() {
        match letter {
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '#' => {
                escaped.push('\\');
                escaped.push(letter);
            }
            '<' => escaped.push_str("&lt;"),
            '&' => escaped.push_str("&amp;"),
            other if other.is_control() => escaped.push(' '),
            other => escaped.push(other),
        }
    }
    escaped
}

/// Text in which what stands between backticks is a command.
fn with_commands(text: &str) -> String {
    let parts = text.split('`').enumerate();
    let parts = parts.map(|(index, part)| match index % 2 {
        0 => {
            let (start, end) = (part.len() - part.trim_start().len(), part.trim_end().len());
            let blank = |is: bool| if is { " " } else { "" };
            let inner = escaped(part);
            match inner.is_empty() {
                true => blank(!part.is_empty()).to_owned(),
                false => format!("{}{inner}{}", blank(start > 0), blank(end < part.len())),
            }
        }
        _ => format!("`{part}`"),
    });
    parts.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Cell, Column};

    #[test]
    fn names_stay_names() {
        assert_eq!(
            escaped("a|b *c* <img> x_y\nz & `d`"),
            "a\\|b \\*c\\* &lt;img> x\\_y z &amp; \\`d\\`"
        );
        assert_eq!(
            with_commands("Run `proofload run --set a_b=1` with a_b. `x`"),
            "Run `proofload run --set a_b=1` with a\\_b. `x`"
        );
    }

    #[test]
    fn a_table_has_a_column_for_each_head_and_its_sums_last() {
        let mut table = Table::new(vec![
            Column::text("name"),
            Column::number("average", "ms").of("reads"),
        ]);
        table.push(vec![Cell::new("a|b"), Cell::new("1").notable_when(true)]);
        table.sums = vec![Cell::new("all"), Cell::new("1")];
        let mut text = Text::default();
        text.table(&table);
        assert_eq!(
            text.0[0],
            "| name | reads average ms |\n| --- | ---: |\n| a\\|b | **1** |\n| all | 1 |"
        );
    }
}
