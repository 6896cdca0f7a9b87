//! The storage by the server's own timing, beside the figures of its device.

use measure::display::{Cell, Column, Table};
use measure::metric::{IoMetric, Unit};
use measure::result::{IoFigures, RunResult, ServerResult};

/// I/O by the server's own timing and, below it, at the device. What the server calls a read may
/// come from the memory of the operating system, so it may take less time than one of the device;
/// where it takes more, the time is lost in between. Empty if the server times nothing.
pub(super) fn storage_times(result: &RunResult, server: &ServerResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("I/O"),
        Column::number("reads", ""),
        Column::number("read", "average"),
        Column::number("writes", ""),
        Column::number("write", "average"),
        Column::number("syncs", ""),
        Column::number("sync", "average"),
    ]);
    if server.file_io.is_empty() {
        return table;
    }
    let time = |average_ms| Cell::of(average_ms, Unit::Milliseconds);
    for io in &server.file_io {
        table.push(vec![
            Cell::new(format!("by the server: {}", io.name)),
            Cell::count(io.reads),
            time(io.average_read_ms),
            Cell::count(io.writes),
            time(io.average_write_ms),
            io.syncs.map_or_else(|| Cell::new(""), Cell::count),
            time(io.average_sync_ms),
        ]);
    }
    let average = |figures: &IoFigures| time(figures.get(IoMetric::Average));
    let totals = &result.totals;
    let none = || Cell::new("");
    for (name, reads, writes) in [
        (
            "at the device: database",
            Some(&totals.reads),
            &totals.writes,
        ),
        ("at the device: log", None, &totals.log_writes),
    ] {
        let reads = match reads {
            Some(reads) => [Cell::count(reads.count), average(reads)],
            None => [none(), none()],
        };
        let mut row = vec![Cell::new(name)];
        row.extend(reads);
        row.extend([Cell::count(writes.count), average(writes), none(), none()]);
        table.push(row);
    }
    table
}
