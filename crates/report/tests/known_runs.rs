//! Runs whose every figure is known: each figure of each table stands on the page, in the terminal
//! and in the rows for spreadsheets as it always did.
//!
//! `known/NAME` is a run directory, in which all figures differ; beside its result lies what is
//! expected of it.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use crate::expected::{expect, known};
use measure::display::{
    Advice, AdviceId, Better, Cell, Column, Contribution, LoadWords, Medium, Part, ResultMetric,
    Table, Tile,
};
use measure::grid::GridResult;
use measure::metric::{Metric, RowScope, Unit};
use measure::result::RunResult;
use measure::sample::SampleRow;
use report::table::{Detail, databases_table};
use report::{
    Document, Run, Section, Style, csv_summary, fio_json, grid_csv, html, html_comparison,
    html_document, html_grid, markdown, markdown_comparison, terminal, terminal_comparison,
    terminal_document, terminal_grid,
};

const NAMES: [&str; 4] = ["mail", "brokerage", "prediction", "trace"];

fn load(name: &str) -> Run {
    Run::load(&known(name), contribution).unwrap()
}

/// What a workload on a database server adds, with everything that it can.
fn contribution(result: &RunResult) -> Contribution {
    if result.server.is_none() {
        return Contribution::default();
    }
    let part = |title, medium| {
        let mut table = Table::new(vec![
            Column::text("kind"),
            Column::number("rate", "per min"),
        ]);
        table.push(vec![Cell::new("first"), Cell::new("17.3")]);
        Part {
            title,
            table,
            medium,
        }
    };
    let section = measure::display::Section {
        id: "own",
        title: "A section of its own",
        sentences: vec!["What it says first.".to_owned(), "And then.".to_owned()],
        parts: vec![
            part("On both", Medium::Both),
            part("On the page", Medium::Page),
            part("In the terminal", Medium::Terminal),
        ],
        folded: Some((
            "What is folded",
            vec![("a name".to_owned(), "a value".to_owned())],
        )),
    };
    Contribution {
        words: LoadWords {
            client: "user",
            fewer: "users",
            to_sustain: "fewer --users",
            to_find_most: "More --users show the maximum.",
        },
        load: Some("41.7 trades/s (9 users)".to_owned()),
        tiles: vec![Tile {
            name: "Trades",
            value: 41.7,
            unit: Unit::OperationsPerSecond,
            short_unit: "/s",
            beside: "limited by somebody".to_owned(),
        }],
        metrics: METRICS,
        sections: vec![section],
        shows_operations: true,
        compared_operation: Some("transaction"),
        has_jetstress_report: false,
        advice: vec![Advice::new(
            AdviceId("of-its-own"),
            "Use another index",
            "It waits for `locks`.".to_owned(),
        )],
        check_command: Some("proofload check it".to_owned()),
        chosen: vec![("server", "Some 15.2".to_owned())],
        notice: Some("Not comparable to anything."),
    }
}

const METRICS: &[ResultMetric] = &[
    ResultMetric {
        id: "downtime_s",
        label: "downtime",
        meaning: "How long the server was down.",
        unit: Unit::Seconds,
        better: Better::Lower,
        value: |result| Some(result.server.as_ref()?.downtime_s),
    },
    ResultMetric {
        id: "committed",
        label: "committed transactions",
        meaning: "Transactions that were committed.",
        unit: Unit::Count,
        better: Better::Higher,
        value: |result| Some(result.server.as_ref()?.transactions.committed as f64),
    },
];

/// What is written on a page, without its drawings: a line for each row, cells between bars; the
/// lengths of the bars beside the service levels; the values of each chart.
fn written(page: &str) -> String {
    let body = page.split_once("<body>").unwrap().1;
    let body = body.rsplit_once("<script>").unwrap().0;
    let mut text = String::new();
    let mut hidden = None;
    for piece in body.split('<').skip(1) {
        let (tag, after) = piece.split_once('>').unwrap();
        let name = tag.split(' ').next().unwrap();
        if tag.contains("% of the limit") || tag.starts_with("rect class=\"bar\"") {
            text += &format!("[{tag}] ");
        }
        match hidden {
            Some(end) if end == name => hidden = None,
            Some(_) => continue,
            None if name == "svg" => hidden = Some("/svg"),
            None => {}
        }
        match name {
            "td" | "th" if tag.contains("colspan") => text += &format!("[{tag}] "),
            "tr" | "h1" | "h2" | "h3" | "p" | "dt" | "li" | "section" | "script" | "figcaption"
            | "summary" | "tfoot" | "a" => text.push('\n'),
            "/td" | "/th" | "/dt" => text += " | ",
            _ => {}
        }
        if tag.contains("over") {
            text += "(over) ";
        }
        if hidden.is_none() {
            text += after;
        }
    }
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(|line| format!("{line}\n")).collect()
}

#[test]
fn each_figure_stands_on_the_page() {
    for name in NAMES {
        expect(&format!("{name}/page.txt"), &written(&html(&load(name))));
    }
}

/// The drawings of a page, a line each.
fn drawn(page: &str) -> String {
    let figures = page.split("<figure ").skip(1);
    let lines = figures.map(|figure| {
        let drawing = figure.split_once("</figure>").unwrap().0;
        format!("{}\n", drawing.split_once("<script").unwrap().0)
    });
    lines.collect()
}

#[test]
fn each_chart_is_drawn_as_it_was() {
    for name in ["mail", "prediction", "trace"] {
        expect(&format!("{name}/charts.txt"), &drawn(&html(&load(name))));
    }
}

/// Sets every number to zero.
fn set_to_zero(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::Number(number) if number.is_f64() => *value = 0.0.into(),
        serde_json::Value::Number(_) => *value = 0.into(),
        serde_json::Value::Array(all) => all.iter_mut().for_each(set_to_zero),
        serde_json::Value::Object(all) => all.values_mut().for_each(set_to_zero),
        _ => {}
    }
}

/// Columns, lines and charts that would show nothing but zeros are left out, others stay.
#[test]
fn what_is_zero_has_no_column_and_no_line() {
    for name in NAMES {
        let mut run = load(name);
        let mut document = serde_json::to_value(&run.result).unwrap();
        for part in ["array", "databases", "host", "operations", "totals"] {
            if let Some(part) = document.get_mut(part) {
                set_to_zero(part);
            }
        }
        run.result = serde_json::from_value(document).unwrap();
        for row in run.timeline.iter_mut().flat_map(|one| &mut one.rows) {
            let values = row.values.iter();
            // A share of no reads at all is no zero.
            let values = values.map(|(metric, value)| match metric {
                Metric::ArrayReads => (metric, Some(value)),
                metric => (metric, Some(0.0)),
            });
            row.values = values.collect();
        }
        expect(&format!("{name}/zeros.txt"), &written(&html(&run)));
    }
}

/// Gives each sample so many parts of each kind, with values that rise with their number.
fn with_parts(run: &mut Run, kinds: &[(RowScope, usize)]) {
    for sample in &mut run.timeline {
        for &(scope, count) in kinds {
            let mut rows = sample.rows.iter().filter(|row| row.scope == scope).cloned();
            let mut first = rows.next().unwrap_or_else(|| sample.rows[0].clone());
            first.scope = scope;
            let values = first
                .values
                .iter()
                .map(|(metric, value)| (metric, Some(value)));
            let busy = [(Metric::ArrayBusy, Some(0.0625))];
            let values: Vec<(Metric, Option<f64>)> = values.chain(busy).collect();
            sample.rows.retain(|row| row.scope != scope);
            for number in 1..=count {
                let times = 1.0 + number as f64 / 8.0;
                let value = |(metric, value): &(Metric, Option<f64>)| {
                    (*metric, value.map(|value| value * times))
                };
                sample.rows.push(SampleRow {
                    name: format!("{} {number}", scope.name()),
                    values: values.iter().map(value).collect(),
                    ..first.clone()
                });
            }
        }
    }
}

/// Of many databases the worst, the median and the best are drawn; of many devices and parts of an
/// array the first, and the others are counted.
#[test]
fn charts_of_many_parts_show_some_and_count_the_others() {
    let cases = [("few", 6, 3, 8), ("many", 9, 5, 11)];
    let cases = cases
        .iter()
        .flat_map(|case| [("mail", case), ("prediction", case)]);
    for (name, (file, databases, devices, parts)) in cases {
        let mut run = load(name);
        let kinds: &[(RowScope, usize)] = match name {
            "mail" => &[
                (RowScope::Database, *databases),
                (RowScope::Device, *devices),
            ],
            _ => &[
                (RowScope::ArrayGroup, *parts),
                (RowScope::ArrayDisk, *parts),
            ],
        };
        with_parts(&mut run, kinds);
        let page = written(&html(&run));
        let charts = page.lines().filter(|line| {
            line.contains("\"frame\"") || line.contains("more") || line.contains("range over")
        });
        let charts: String = charts.map(|line| format!("{line}\n")).collect();
        let both = [run.clone(), run];
        let comparison = written(&html_comparison(&both));
        let compared = comparison.lines().filter(|line| line.contains("\"frame\""));
        let compared: String = compared.map(|line| format!("{line}\n")).collect();
        expect(
            &format!("{name}/{file}.txt"),
            &(charts + "Comparison\n" + &compared),
        );
    }
}

/// The frame around the answer of a sweep has the colour of its exit status.
#[test]
fn a_sweep_has_the_colour_of_its_exit_status() {
    let text = std::fs::read_to_string(known("grid.json")).unwrap();
    let mut grid: GridResult = serde_json::from_str(&text).unwrap();
    for (exit_status, class) in [
        (0, "pass"),
        (1, "fail"),
        (4, "fail"),
        (5, "open"),
        (130, "open"),
    ] {
        grid.exit_status = exit_status;
        let page = html_grid(&grid);
        let frame = format!("<section class=\"verdict {class}\">");
        assert!(page.contains(&frame), "{exit_status}");
    }
}

#[test]
fn each_figure_stands_in_the_terminal() {
    for name in NAMES {
        let style = Style {
            width: 120,
            ..Style::plain()
        };
        expect(
            &format!("{name}/terminal.txt"),
            &terminal(&load(name), &style),
        );
    }
    let narrow = Style {
        width: 80,
        colour: true,
        unicode: true,
    };
    expect(
        "mail/terminal-colour.txt",
        &terminal(&load("mail"), &narrow),
    );
}

#[test]
fn a_summary_for_tickets_has_the_figures() {
    for name in NAMES {
        expect(&format!("{name}/summary.md"), &markdown(&load(name)));
    }
    let all = NAMES.map(load);
    expect("comparison-all.md", &markdown_comparison(&all));
}

#[test]
fn each_figure_stands_in_the_rows_for_spreadsheets() {
    let text = csv_summary(&NAMES.map(load));
    // A line for each column, so that a change is seen where it is.
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().unwrap().clone();
    let rows: Vec<csv::StringRecord> = reader.records().map(Result::unwrap).collect();
    let columns = heads.iter().enumerate().map(|(number, head)| {
        let values: Vec<&str> = rows.iter().map(|row| &row[number]).collect();
        format!("{head}: {}\n", values.join(" | "))
    });
    expect("summary.txt", &columns.collect::<String>());
}

#[test]
fn each_figure_stands_in_the_documents_for_other_programs() {
    expect("mail/fio.json", &fio_json(&load("mail")));
}

#[test]
fn each_figure_stands_in_comparisons() {
    let mut second = load("mail");
    let result = &mut second.result;
    result.throughput.achieved_iops *= 1.25;
    result.totals.reads.latency.as_mut().unwrap().average_ms *= 0.5;
    result.workload.settings.remove("scale");
    result.seed = 7;
    for (name, runs) in [
        ("mails", vec![load("mail"), second]),
        ("all", NAMES.map(load).to_vec()),
    ] {
        expect(
            &format!("comparison-{name}.txt"),
            &written(&html_comparison(&runs)),
        );
        let style = Style {
            width: 160,
            ..Style::plain()
        };
        expect(
            &format!("comparison-{name}-terminal.txt"),
            &terminal_comparison(&runs, &style),
        );
    }
}

#[test]
fn each_figure_stands_in_sweeps() {
    let text = std::fs::read_to_string(known("grid.json")).unwrap();
    let mut grid: GridResult = serde_json::from_str(&text).unwrap();
    let style = Style {
        width: 160,
        ..Style::plain()
    };
    expect("grid.txt", &written(&html_grid(&grid)));
    expect("grid-terminal.txt", &terminal_grid(&grid, &style));
    expect("grid.csv", &grid_csv(&grid));
    grid.answers.truncate(1);
    grid.exit_status = 0;
    expect("search.txt", &written(&html_grid(&grid)));
    expect("search-terminal.txt", &terminal_grid(&grid, &style));
}

#[test]
fn each_part_of_a_document_stands_in_it() {
    let words = |text: &str| text.to_owned();
    let document = Document {
        title: words("A study"),
        version: words("0.9.1"),
        sections: vec![
            Section {
                head: words("What came out"),
                paragraphs: vec![
                    words("Run `proofload run` with (--threads 8 or --rate 9, please."),
                    words("Another paragraph."),
                ],
                table: Some(databases_table(&load("mail").result, Detail::Short)),
                charts: Vec::new(),
            },
            Section::default(),
        ],
    };
    let page = html_document(&document);
    assert!(page.contains("<code>proofload run</code>"));
    assert!(page.contains("<span class=\"option\">(--threads</span>"));
    expect("document.txt", &written(&page));
    let text = terminal_document(&document, &Style::plain());
    expect("document-terminal.txt", &text);
}
