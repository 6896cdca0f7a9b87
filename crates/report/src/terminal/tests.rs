//! Tables in terminals of every width.

use super::draw::Text;
use super::*;
use crate::table::{Cell, Column};

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
    let mut table = Table::new(heads.map(|head| Column::number(head, "unit")).to_vec());
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
