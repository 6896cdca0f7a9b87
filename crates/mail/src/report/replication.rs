//! Passive copies in the reports of a run.

use measure::display::number::{bytes, counted, duration};
use measure::display::{Better, Cell, Column, Medium, Part, ResultMetric, Section, Table};
use measure::metric::Unit;
use measure::result::{ReplicatedDatabase, ReplicationResult, RunResult};

/// The metric by which runs with passive copies are compared.
pub(super) const SEEDING: ResultMetric = ResultMetric {
    id: "seeding_bytes_per_second",
    label: "seeding of passive copies, all databases",
    meaning: "Bytes per second that seeding reads from all databases together and writes to their copies.",
    unit: Unit::BytesPerSecond,
    better: Better::Higher,
    value: |result| result.replication.as_ref()?.seeding_bytes_per_second(),
};

/// The section of the passive copies; none of a run without them.
pub(super) fn section(result: &RunResult) -> Option<Section> {
    let replication = result.replication.as_ref()?;
    let rate = replication.seeding_bytes_per_second().unwrap_or(0.0);
    let databases = &replication.databases;
    let are_compared = databases.iter().filter(|one| one.compared_pages.is_some());
    let compared = match are_compared.count() {
        0 => "no copy was".to_owned(),
        count if count == databases.len() => "each copy was".to_owned(),
        1 => "one of the copies was".to_owned(),
        count => format!("{count} of the copies were"),
    };
    let seeded = format!(
        "Passive copies of {} in {}, seeded before the load at the same time: {}/s together. Full log files \
         were shipped to them and replayed while the load ran; at the end {compared} brought to the end of \
         the log and compared with its database. Queues are in log files.",
        counted(databases.len() as u64, "database"),
        replication.copied_to,
        bytes(rate)
    );
    let problems = databases.iter();
    let problems = problems.filter(|one| !one.problem.is_empty());
    let problems = problems.map(|one| format!("{}: {}", one.name, one.problem));
    Some(Section {
        id: "passive-copies",
        title: "Passive copies",
        sentences: std::iter::once(seeded).chain(problems).collect(),
        parts: vec![
            Part {
                title: "Shipping and replay",
                table: queues(replication),
                medium: Medium::Both,
            },
            Part {
                title: "Comparison",
                table: comparison(replication),
                medium: Medium::Both,
            },
        ],
        folded: None,
    })
}

fn queues(replication: &ReplicationResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("database"),
        Column::number("seeded", ""),
        Column::number("in", ""),
        Column::number("log files shipped", ""),
        Column::number("replayed", ""),
        Column::number("copy queue, end", ""),
        Column::number("max", ""),
        Column::number("replay queue, end", ""),
        Column::number("max", ""),
    ]);
    for one in &replication.databases {
        table.push(vec![
            Cell::new(one.name.clone()),
            Cell::of(one.seeded_bytes as f64, Unit::Bytes),
            Cell::new(duration(one.seeding_s)),
            Cell::count(one.shipped_log_files),
            Cell::count(one.replayed_log_files),
            Cell::count(one.copy_queue),
            Cell::count(one.copy_queue_max),
            Cell::count(one.replay_queue),
            Cell::count(one.replay_queue_max),
        ]);
    }
    table
}

fn comparison(replication: &ReplicationResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("database"),
        Column::number("caught up in", ""),
        Column::number("pages compared", ""),
        Column::number("wrong checksum", ""),
        Column::number("different", ""),
        Column::text("end of the log"),
    ]);
    for one in &replication.databases {
        let count = |number: u64| Cell::count(number).notable_when(number > 0);
        table.push(vec![
            Cell::new(one.name.clone()),
            Cell::new(one.caught_up_s.map_or("not".to_owned(), duration))
                .notable_when(one.caught_up_s.is_none()),
            match one.compared_pages {
                Some(pages) => Cell::count(pages),
                None => Cell::new("none".to_owned()).notable_when(true),
            },
            count(one.wrong_pages),
            count(one.different_pages),
            end_of_log(one),
        ]);
    }
    table
}

fn end_of_log(database: &ReplicatedDatabase) -> Cell {
    let (text, is_notable) = match database.same_log_position {
        Some(true) => ("the same", false),
        Some(false) => ("different", true),
        None => ("not compared", true),
    };
    Cell::new(text.to_owned()).notable_when(is_notable)
}
