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
    let mut table = Table::new(heads.map(|head| Column::text(head)).to_vec());
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
