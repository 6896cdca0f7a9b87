//! Tables in terminals of every width.

use super::draw::Text;
use super::*;
use crate::table::{Cell, Column};
use measure::result::RunKind;

#[test]
fn words_of_tables_stay_whole_however_narrow_the_terminal_is() {
    let heads = [
        "disk_count",
        "verdict",
        "read 99 %",
        "busiest disk",
        "on flash",
    ];
    let cells = ["12", "inconclusive", "1,044.5", "100", "73 % of pages"];
    let mut table = Table::new(heads.map(Column::text).to_vec());
    for column in &mut table.columns {
        column.unit = "unit".to_owned();
    }
    table.push(cells.map(Cell::new).to_vec());
    for width in [14, 20, 30, 40, 60, 100] {
        let style = Style {
            width,
            ..Style::plain()
        };
        let mut text = Text::new(&style);
        text.table(&table);
        let text = text.finish();
        let known = |word: &str| {
            let all = heads.iter().chain(&cells).flat_map(|text| text.split(' '));
            word == "unit" || word.starts_with('-') || all.into_iter().any(|one| one == word)
        };
        let broken = text.split_whitespace().find(|word| !known(word));
        assert_eq!(broken, None, "{width}:\n{text}");
        let widest = text.lines().map(|line| line.chars().count()).max();
        assert!(
            widest <= Some(usize::from(width.max(25))),
            "{width}:\n{text}"
        );
    }
}

#[test]
fn messages_of_the_kernel_that_are_not_shown_are_counted() {
    let shown = |messages: usize, more_kernel_messages| {
        let mut result = RunResult::default();
        result.host.more_kernel_messages = more_kernel_messages;
        let message = measure::result::KernelMessage {
            text: "I/O error, dev sdb".to_owned(),
            ..Default::default()
        };
        result.host.kernel_messages = vec![message; messages];
        let style = Style::plain();
        let mut text = Text::new(&style);
        device_messages(&mut text, &result);
        let text = text.finish();
        let more = text.lines().find(|line| line.contains("more messages"));
        let listed = text.matches("I/O error, dev sdb").count();
        (listed, more.map(|line| line.trim().to_owned()))
    };
    let more = |number| {
        let line = format!("{number} more messages of the kernel are in report.html.");
        Some(line)
    };
    assert_eq!(shown(0, 0), (0, None));
    assert_eq!(shown(MOST_ERRORS, 0), (MOST_ERRORS, None));
    assert_eq!(shown(MOST_ERRORS + 2, 0), (MOST_ERRORS, more("2")));
    assert_eq!(shown(MOST_ERRORS + 2, 1_200), (MOST_ERRORS, more("1,202")));
    assert_eq!(shown(1, 1), (1, more("1")));
}

fn shown(part: fn(&mut Text, &RunResult), result: &RunResult) -> String {
    let style = Style::plain();
    let mut text = Text::new(&style);
    part(&mut text, result);
    text.finish()
}

#[test]
fn databases_that_are_not_shown_are_counted() {
    let text_of = |count: usize, kind| {
        let mut result = RunResult {
            kind,
            duration_s: 1.0,
            ..RunResult::default()
        };
        for number in 1..=count {
            let mut database = measure::result::DatabaseResult {
                name: format!("db{number:02}"),
                ..Default::default()
            };
            database.figures.reads.per_second = 1.5;
            result.databases.push(database);
        }
        shown(databases, &result)
    };
    for (count, listed, more) in [
        (1, 1, None),
        (MOST_ROWS, MOST_ROWS, None),
        (MOST_ROWS + 1, MOST_ROWS, Some("1 more are in report.html.")),
        (MOST_ROWS + 9, MOST_ROWS, Some("9 more are in report.html.")),
    ] {
        let text = text_of(count, RunKind::Run);
        let rows = text.lines().filter(|line| line.starts_with("db"));
        assert_eq!(rows.count(), listed, "{text}");
        let last = text.lines().find(|line| line.contains("more are"));
        assert_eq!(last, more, "{text}");
        assert!(text.contains("Databases\n"), "{text}");
    }
    let mut table = Table::new(vec![Column::text("database")]);
    table.rows = vec![vec![Cell::new("db")]; MOST_ROWS + 3];
    let section = Section {
        id: "growth",
        title: "Growth",
        sentences: Vec::new(),
        folded: None,
        parts: vec![measure::display::Part {
            title: "Sizes",
            table,
            medium: Medium::Both,
        }],
    };
    let style = Style::plain();
    let mut text = Text::new(&style);
    own_section(&mut text, &section);
    let text = text.finish();
    assert_eq!(text.matches("\ndb").count(), MOST_ROWS, "{text}");
    assert!(text.contains("3 more are in report.html."), "{text}");
    assert!(text_of(2, RunKind::Trace).contains("Volumes\n"));
    assert_eq!(text_of(0, RunKind::Run), "");
}

#[test]
fn the_first_errors_are_shown_and_the_others_counted() {
    let error = |page, times| measure::result::ErrorRecord {
        file: "/mnt/a/db1.edb".to_owned(),
        error: "the checksum is wrong".to_owned(),
        page,
        times,
        ..Default::default()
    };
    let mut result = RunResult {
        errors: vec![
            error(None, 1),
            error(Some(1_234), 2),
            error(None, 0),
            measure::result::ErrorRecord {
                kind: measure::result::ErrorKind::Inconsistent,
                ..error(None, 1)
            },
        ],
        ..RunResult::default()
    };
    assert_eq!(
        shown(errors, &result),
        "error: /mnt/a/db1.edb: the checksum is wrong\n\
         error: /mnt/a/db1.edb, page 1,234: the checksum is wrong (met 2 times)\n\
         error: /mnt/a/db1.edb: the checksum is wrong\n"
    );
    let mut more = |listed: usize| {
        result.errors = vec![error(None, 1); listed];
        let text = shown(errors, &result);
        let lines = text.lines().filter(|line| line.starts_with("error:"));
        (lines.count(), text.lines().last().unwrap().to_owned())
    };
    assert_eq!(more(MOST_ERRORS).0, MOST_ERRORS);
    assert!(!more(MOST_ERRORS).1.contains("more"));
    let counted = "2 more errors are in report.html or counted there.";
    assert_eq!(more(MOST_ERRORS + 2), (MOST_ERRORS, counted.to_owned()));
}

#[test]
fn a_number_stays_in_a_line_with_its_unit_and_its_sign() {
    let heads = ["database", "reads", "writes", "log writes", "judged"];
    let mut table = Table::new(vec![
        Column::text(heads[0]),
        Column::number(heads[1], ""),
        Column::number(heads[2], ""),
        Column::number(heads[3], ""),
        Column::number(heads[4], ""),
    ]);
    table.push(vec![
        Cell::new("mail-001 on a path"),
        Cell::new("13.8 ms"),
        Cell::new("2,999 \u{b1} 8.32"),
        Cell::new("29.3 ms").notable_when(true),
        Cell::new("71.0 % lower (better)"),
    ]);
    for (unicode, interval) in [(true, "2,999 \u{b1} 8.32"), (false, "2,999 +- 8.32")] {
        for width in [20, 30, 40, 60, 80, 100] {
            let style = Style {
                width,
                unicode,
                ..Style::plain()
            };
            let mut text = Text::new(&style);
            text.table(&table);
            let text = text.finish();
            for whole in ["13.8 ms", interval, "29.3 ms !", "71.0 % lower"] {
                assert!(text.contains(whole), "{whole} at {width}:\n{text}");
            }
            let widest = text.lines().map(|line| line.chars().count()).max();
            assert!(
                widest <= Some(usize::from(width.max(28))),
                "{width}:\n{text}"
            );
        }
    }
}
