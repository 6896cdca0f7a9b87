//! Tables that are the same in the terminal and on the page: heads with units, cells of text.

mod array;
mod checks;
mod databases;
mod events;
mod host;
mod operations;
mod replay;
mod server;

pub use array::{
    array_controllers_table, array_disks_table, array_groups_table, array_pools_table,
    array_volumes_table,
};
pub(crate) use checks::measured_value;
pub use checks::{CheckGroup, check_groups, checks_table, grouped_checks_table};
pub use databases::{Detail, databases_table};
pub use events::events_table;
pub use host::{counters_table, devices_table};
pub use operations::{causes, operations_table, phases_table, traffic_table, tuning_table};
pub use replay::{demerit_table, replay_sentence};
pub use server::{
    books_table, not_comparable, outages_table, server_counters_table, server_sentences,
    transactions_table, waits_table,
};

use crate::tone::Tone;

/// A table of text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The heads.
    pub columns: Vec<Column>,
    /// So many columns from the first on name a row.
    pub names: usize,
    /// The rows, each as long as `columns`.
    pub rows: Vec<Vec<Cell>>,
    /// A last row of sums, empty when there is none.
    pub sums: Vec<Cell>,
}

/// The head of a column.
#[derive(Clone, Debug)]
pub struct Column {
    /// What this column and its neighbours are about; empty when the head says all.
    pub group: String,
    /// What stands in the column.
    pub head: String,
    /// The unit of its numbers; empty for text.
    pub unit: String,
    /// Whether the cells are numbers, which stand to the right.
    pub numeric: bool,
}

/// A cell.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// The text.
    pub text: String,
    /// Pass or fail, when the cell says so.
    pub tone: Option<Tone>,
    /// Whether the number is beyond its limit, or the value differs from the first run's.
    pub notable: bool,
}

impl Column {
    /// A column of text.
    #[must_use]
    pub fn text(head: &str) -> Self {
        Self {
            group: String::new(),
            head: head.to_string(),
            unit: String::new(),
            numeric: false,
        }
    }

    /// A column of numbers.
    #[must_use]
    pub fn number(head: &str, unit: &str) -> Self {
        let (head, unit) = (head.to_string(), unit.to_string());
        Self {
            group: String::new(),
            head,
            unit,
            numeric: true,
        }
    }

    /// The same column as one of a group.
    #[must_use]
    pub fn of(mut self, group: &str) -> Self {
        self.group = group.to_string();
        self
    }
}

impl Cell {
    /// A cell of text.
    #[must_use]
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            tone: None,
            notable: false,
        }
    }

    /// A cell that says pass or fail.
    #[must_use]
    pub fn verdict(tone: Tone) -> Self {
        Self {
            text: tone.word().to_string(),
            tone: Some(tone),
            notable: tone == Tone::Fail,
        }
    }

    /// The same cell, made to stand out when `notable`.
    #[must_use]
    pub fn notable_when(mut self, notable: bool) -> Self {
        self.notable = notable;
        self
    }
}

impl Table {
    /// A table with these heads.
    #[must_use]
    pub fn new(columns: Vec<Column>) -> Self {
        Self {
            columns,
            names: 1,
            rows: Vec::new(),
            sums: Vec::new(),
        }
    }

    /// Adds a row.
    pub fn push(&mut self, row: Vec<Cell>) {
        assert_eq!(row.len(), self.columns.len(), "a row fits its heads");
        self.rows.push(row);
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The groups of neighbouring columns with the number of columns in each; empty when no column
    /// belongs to one.
    #[must_use]
    pub fn groups(&self) -> Vec<(&str, usize)> {
        let mut groups: Vec<(&str, usize)> = Vec::new();
        for column in &self.columns {
            match groups.last_mut() {
                Some((group, count)) if *group == column.group => *count += 1,
                _ => groups.push((&column.group, 1)),
            }
        }
        if groups.iter().all(|(group, _)| group.is_empty()) {
            Vec::new()
        } else {
            groups
        }
    }

    /// Leaves out number columns in which no row has anything to say, unless they name the rows.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let says = |cell: &Cell| cell.text != crate::number::ABSENT && cell.text != "0";
        let keep: Vec<bool> = (0..self.columns.len())
            .map(|index| {
                index < self.names
                    || !self.columns[index].numeric
                    || self.rows.iter().any(|row| says(&row[index]))
            })
            .collect();
        let mut kept = keep.iter();
        self.columns
            .retain(|_| kept.next().copied().unwrap_or(true));
        for row in self.rows.iter_mut().chain(std::iter::once(&mut self.sums)) {
            let mut kept = keep.iter();
            row.retain(|_| kept.next().copied().unwrap_or(true));
        }
        self
    }
}
