//! The lines of a view.

use std::time::Duration;

use console::{Style, measure_text_width, truncate_str};
use measure::display::is_unicode_locale;
use measure::display::number::{duration, latency_or_absent, limit, quantity};
use measure::metric::Unit;
use measure::units;
use report::progress::figures::clock;

use super::spark::spark;
use super::terminal::Size;
use crate::record::LiveFigures;
use crate::status::{Point, RunStatus, now_s};

/// Without news for so long, a view says so.
const SILENT_S: f64 = 5.0;
/// Cells of the bar of progress.
const BAR_CELLS: usize = 30;
/// Columns of the names of figures.
const NAMES: usize = 16;
/// Columns of the values of figures.
const VALUES: usize = 24;

/// Whose run is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// That of this process: Ctrl-C stops it.
    Own,
    /// That of another process: nothing here stops it.
    Other,
}

/// The lines of a state, no more and no wider than there is room for.
#[must_use]
pub fn lines(status: &RunStatus, size: Size, whose: Whose) -> Vec<String> {
    at(status, size, whose, now_s(), is_unicode_locale())
}

fn at(status: &RunStatus, size: Size, whose: Whose, now_s: f64, unicode: bool) -> Vec<String> {
    let bold = Style::new().for_stderr().bold();
    let quiet = Style::new().for_stderr().dim();
    let mut lines = vec![
        format!(
            "{} {} on {}",
            bold.apply_to("Proofload"),
            plain(&status.workload),
            plain(&status.storage)
        ),
        String::new(),
        format!(
            "{} {}",
            bold.apply_to(plain(&status.phase)),
            progress(status, now_s)
        ),
    ];
    let waits_for = status
        .live
        .as_ref()
        .and_then(|live| live.waits_for.as_ref());
    let busy_with = waits_for.or((!status.activity.is_empty()).then_some(&status.activity));
    lines.push(busy_with.map_or_else(String::new, |text| plain(text)));
    if let Some(live) = &status.live {
        lines.push(String::new());
        lines.extend(figures(live, &status.points, size, unicode));
        lines.push(String::new());
        lines.push(standing(live));
    }
    let silent_s = now_s - status.updated_s;
    if silent_s >= SILENT_S {
        let since = duration(silent_s.floor());
        let warn = Style::new().for_stderr().yellow();
        let text = format!("No news of the run for {since}.");
        lines.push(warn.apply_to(text).to_string());
    }
    let foot = foot(status, whose);
    if !status.notes.is_empty() {
        lines.push(String::new());
        let room = size.rows.saturating_sub(lines.len() + foot.len() + 1);
        let from = status.notes.len().saturating_sub(room);
        let notes = status.notes[from..].iter();
        lines.extend(notes.map(|note| plain(note)));
    }
    let above = size.rows.saturating_sub(foot.len());
    lines.truncate(above);
    lines.resize(above, String::new());
    lines.extend(foot.iter().map(|line| quiet.apply_to(line).to_string()));
    lines.truncate(size.rows);
    let fit = |line: String| truncate_str(&line, size.columns, "").into_owned();
    lines.into_iter().map(fit).collect()
}

/// How far the phase is: by its time, by its bytes, or for how long it has lasted.
fn progress(status: &RunStatus, now_s: f64) -> String {
    let spent_s = (now_s - status.phase_began_s).max(0.0);
    let spent = clock(Duration::from_secs_f64(spent_s));
    if status.total_bytes > 0 {
        let share = status.done_bytes as f64 / status.total_bytes as f64;
        let left_s = spent_s / share - spent_s;
        let left = match left_s.is_finite() {
            true => format!(", about {} left", duration(left_s.max(0.0).round())),
            false => String::new(),
        };
        return format!(
            "{spent} {} {} of {}{left}",
            bar(share),
            units::size(status.done_bytes),
            units::size(status.total_bytes)
        );
    }
    let Some(expected_s) = status.expected_s.filter(|span| *span > 0.0) else {
        return spent;
    };
    let left_s = (expected_s - spent_s).max(0.0).round();
    format!(
        "{spent} of {} {} {} left",
        clock(Duration::from_secs_f64(expected_s)),
        bar(spent_s / expected_s),
        duration(left_s)
    )
}

fn bar(share: f64) -> String {
    let full = (share.clamp(0.0, 1.0) * BAR_CELLS as f64) as usize;
    format!("[{:<BAR_CELLS$}]", "#".repeat(full))
}

/// Rates and latencies of the last second, each with its curve over the phase.
fn figures(live: &LiveFigures, points: &[Point], size: Size, unicode: bool) -> Vec<String> {
    let rate = |value: Option<f64>, unit| quantity(value.unwrap_or(f64::NAN), unit);
    let iops = match live.target_iops {
        Some(target) => format!("{}, target {}", rate(live.iops, Unit::Iops), limit(target)),
        None => rate(live.iops, Unit::Iops),
    };
    let curve = |of: fn(&Point) -> Option<f64>| points.iter().map(of).collect::<Vec<_>>();
    let mut rows = vec![
        ("database I/O", iops, curve(|point| point.iops)),
        (
            "database read",
            latency_or_absent(live.database_read_ms),
            curve(|point| point.database_read_ms),
        ),
        (
            "log write",
            latency_or_absent(live.log_write_ms),
            curve(|point| point.log_write_ms),
        ),
    ];
    if live.operations_per_second.is_some() {
        let value = rate(live.operations_per_second, Unit::TransactionsPerSecond);
        rows.insert(0, ("transactions", value, Vec::new()));
    }
    let clients = units::count(u64::from(live.clients), &live.client);
    rows.push(("load", clients, Vec::new()));
    let room = size.columns.saturating_sub(NAMES + VALUES + 1);
    rows.into_iter()
        .map(|(name, value, values)| {
            let curve = spark(&values, room, unicode);
            format!("{name:<NAMES$}{value:<VALUES$} {curve}")
        })
        .collect()
}

/// The levels that would fail, and what is wrong at present.
fn standing(live: &LiveFigures) -> String {
    let red = Style::new().for_stderr().red().bold();
    let green = Style::new().for_stderr().green();
    if let Some(seconds) = live.without_service_s {
        let text = format!(
            "The database has been down for {}.",
            duration(seconds.round())
        );
        return red.apply_to(text).to_string();
    }
    if live.hung_requests > 0 {
        let requests = units::count(live.hung_requests, "request");
        return red
            .apply_to(format!("{requests} not answered for long"))
            .to_string();
    }
    match live.failing.as_slice() {
        [] => green.apply_to("all service levels met so far").to_string(),
        failing => {
            let failing = plain(&failing.join("; "));
            red.apply_to(format!("would fail: {failing}")).to_string()
        }
    }
}

fn foot(status: &RunStatus, whose: Whose) -> Vec<String> {
    let keys = match whose {
        Whose::Own => "q: leave this view, the run goes on   Ctrl-C: stop the run",
        Whose::Other => "q: leave this view, the run goes on",
    };
    let mut foot = Vec::new();
    if !status.directory.is_empty() {
        foot.push(format!("results: {}", plain(&status.directory)));
    }
    foot.push(keys.to_owned());
    foot
}

/// The text without what a terminal would obey.
pub(crate) fn plain(text: &str) -> String {
    let harmless = |letter: char| if letter.is_control() { '?' } else { letter };
    text.chars().map(harmless).collect()
}

/// The same state as plain lines, for what is no terminal.
#[must_use]
pub fn text(status: &RunStatus) -> String {
    const ROOM: Size = Size {
        columns: 120,
        rows: 60,
    };
    let lines = at(status, ROOM, Whose::Other, now_s(), is_unicode_locale());
    let lines = lines.iter().map(|line| console::strip_ansi_codes(line));
    let mut lines: Vec<String> = lines.map(|line| line.trim_end().to_owned()).collect();
    // The keys mean nothing here.
    lines.pop();
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    let wide = lines
        .iter()
        .all(|line| measure_text_width(line) <= ROOM.columns);
    debug_assert!(wide, "lines are cut to their room");
    lines.join("\n").trim().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    fn status() -> RunStatus {
        let mut status = RunStatus::new("0.1.0", "exchange-2013", "/mnt/a");
        status.phase = "measuring".to_owned();
        status.phase_began_s = 1_000.0;
        status.updated_s = 1_060.0;
        status.expected_s = Some(600.0);
        status.directory = "/tmp/out".to_owned();
        status.notes = (0..12)
            .map(|number| format!("12:00:00Z note {number}"))
            .collect();
        status.live = Some(LiveFigures {
            elapsed_s: 60.0,
            iops: Some(480.4),
            target_iops: Some(480.0),
            database_read_ms: Some(3.2),
            log_write_ms: None,
            clients: 16,
            client: "thread".to_owned(),
            ..LiveFigures::default()
        });
        status.points = (0..60)
            .map(|second| Point {
                elapsed_s: f64::from(second),
                iops: Some(f64::from(second)),
                ..Point::default()
            })
            .collect();
        status
    }

    fn drawn(status: &RunStatus, columns: usize, rows: usize) -> Vec<String> {
        let size = Size { columns, rows };
        let lines = at(status, size, Whose::Own, 1_060.0, false);
        let lines = lines.iter().map(|line| console::strip_ansi_codes(line));
        lines.map(|line| line.trim_end().to_owned()).collect()
    }

    #[test]
    fn a_state_reads_from_the_top() {
        let lines = drawn(&status(), 100, 30);
        assert_eq!(lines[0], "Proofload exchange-2013 on /mnt/a");
        assert_eq!(
            lines[2],
            "measuring 1:00 of 10:00 [###                           ] 9 min left"
        );
        assert!(
            lines[5].starts_with("database I/O    480 IOPS, target 480     __"),
            "{lines:?}"
        );
        assert_eq!(lines[6], "database read   3.20 ms");
        assert_eq!(lines[7], "log write       -");
        assert_eq!(lines[8], "load            16 threads");
        assert_eq!(lines[10], "all service levels met so far");
        assert!(lines[12].ends_with("note 0"));
        assert_eq!(lines[28], "results: /tmp/out");
        assert!(lines[29].starts_with("q: leave"));
    }

    #[test]
    fn no_room_is_too_small() {
        let status = status();
        for (columns, rows) in [(1, 1), (10, 3), (40, 8), (80, 24), (300, 100)] {
            let lines = drawn(&status, columns, rows);
            assert_eq!(lines.len(), rows, "{columns} x {rows}");
            for line in &lines {
                assert!(measure_text_width(line) <= columns, "{line}");
            }
        }
    }

    #[test]
    fn what_is_wrong_is_said() {
        let mut status = status();
        let says = |status: &RunStatus, text: &str| {
            let lines = drawn(status, 120, 40);
            assert!(
                lines.iter().any(|line| line.contains(text)),
                "{text}: {lines:#?}"
            );
        };
        status.updated_s = 1_050.0;
        says(&status, "No news of the run for 10 s.");
        let live = status.live.as_mut().unwrap();
        live.failing = vec!["average database read latency".to_owned()];
        says(&status, "would fail: average database read latency");
        status.live.as_mut().unwrap().hung_requests = 2;
        says(&status, "2 requests not answered for long");
        status.live.as_mut().unwrap().without_service_s = Some(65.0);
        says(&status, "down for 1 min 5 s");
        status.workload = "a\x1b[2Jb".to_owned();
        says(&status, "a?[2Jb");
    }

    #[test]
    fn bytes_give_the_time_that_is_left() {
        let mut status = status();
        status.live = None;
        status.expected_s = None;
        status.phase = "building".to_owned();
        (status.done_bytes, status.total_bytes) = (1 << 30, 4 << 30);
        let lines = drawn(&status, 120, 30);
        assert!(
            lines[2].contains("1 GiB of 4 GiB, about 3 min left"),
            "{lines:?}"
        );
        status.done_bytes = 0;
        let lines = drawn(&status, 120, 30);
        assert!(lines[2].ends_with("0 B of 4 GiB"), "{lines:?}");
    }
}
