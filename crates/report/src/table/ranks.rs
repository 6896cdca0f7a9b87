//! The processes of a run on several hosts.

use measure::metric::Unit;
use measure::result::RunResult;

use super::{Cell, Column, Detail, Table};
use crate::number::figure;
use crate::tone::Tone;

/// One row for each rank; nothing for a run of one process.
#[must_use]
pub fn ranks_table(result: &RunResult, detail: Detail) -> Table {
    let full = detail == Detail::Full;
    let mut heads = vec![
        Column::number("rank", ""),
        Column::text("host"),
        Column::text("verdict"),
        Column::of_unit("achieved", Unit::Iops),
        Column::number("read", "").of("worst average"),
        Column::number("log write", "").of("worst average"),
        Column::number("clock", "ms"),
    ];
    if full {
        heads.extend([
            Column::number("\u{b1}", "ms"),
            Column::number("clock at end", "ms"),
            Column::number("start skew", "ms"),
            Column::number("CPUs", ""),
            Column::of_unit("memory", Unit::Bytes),
            Column::number("databases", ""),
        ]);
    }
    heads.push(Column::text("reason and causes"));
    let mut table = Table::new(heads);
    for rank in &result.ranks {
        let tone = Tone::of_verdict(rank.verdict);
        let ms = |value: Option<f64>| Cell::of(value, Unit::Milliseconds);
        let word = match rank.lost.as_str() {
            "" => rank.verdict.as_str(),
            _ => "lost",
        };
        let mut row = vec![
            Cell::count(rank.rank),
            Cell::new(rank.host.clone()),
            Cell::new(word).notable_when(tone == Tone::Fail),
            Cell::new(figure(rank.achieved_iops)),
            ms(rank.worst_average_database_read_ms),
            ms(rank.worst_average_log_write_ms),
            signed(rank.clock_offset_ms),
        ];
        if full {
            row.extend([
                signed(rank.clock_uncertainty_ms),
                signed(rank.clock_offset_end_ms),
                signed(rank.start_skew_ms),
                Cell::count(rank.cpus),
                Cell::of(rank.memory_bytes as f64, Unit::Bytes),
                Cell::count(rank.databases),
            ]);
        }
        row.push(Cell::new(why(rank)));
        table.push(row);
    }
    table.without_empty_columns()
}

/// A difference of times in milliseconds, to a microsecond.
fn signed(value_ms: Option<f64>) -> Cell {
    Cell::new(value_ms.map_or(String::new(), |value_ms| format!("{value_ms:.3}")))
}

fn why(rank: &measure::result::RankResult) -> String {
    if !rank.lost.is_empty() {
        return rank.lost.clone();
    }
    let causes = rank.causes.iter().map(|cause| cause.text.as_str());
    let causes: Vec<&str> = causes
        .filter(|text| !rank.verdict_reason.contains(text))
        .collect();
    match causes.is_empty() {
        true => rank.verdict_reason.clone(),
        false => format!("{} {}", rank.verdict_reason, causes.join(" ")),
    }
}
