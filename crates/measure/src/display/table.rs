//! Tables of text with heads and units, the same in the terminal and on the page.

use super::number::{column_unit, count, figure, in_column};
use super::tone::Tone;
use crate::metric::{IoMetric, Unit};
use crate::result::IoFigures;

/// A table of text.
#[derive(Clone, Debug, Default)]
pub struct Table {
    /// The columns from left to right, with head and unit.
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

/// A text of a [`Table`] with what reports highlight about it.
#[derive(Clone, Debug, Default)]
pub struct Cell {
    /// What is shown; numbers are formatted already, without their unit.
    pub text: String,
    /// Pass or fail, when the cell says so.
    pub tone: Option<Tone>,
    /// Whether the number is beyond its limit, or the value differs from the first run's.
    pub notable: bool,
    /// Whether it is a number that is zero or was not measured.
    pub is_empty: bool,
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

    /// A column of values of this unit, as [`Cell::of`] writes them.
    #[must_use]
    pub fn of_unit(head: &str, unit: Unit) -> Self {
        Self::number(head, column_unit(unit))
    }

    /// A column of a metric of requests.
    #[must_use]
    pub fn io(metric: IoMetric) -> Self {
        match column_unit(metric.unit()) {
            unit if unit == metric.label() => Self::number(metric.label(), ""),
            unit => Self::number(metric.label(), unit),
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
            ..Self::default()
        }
    }

    /// A value in a column of its unit; a dash when it was not measured.
    #[must_use]
    pub fn of(value: impl Into<Option<f64>>, unit: Unit) -> Self {
        Self::number(value.into(), |value| in_column(value, unit))
    }

    /// A number without a unit, such as a ratio; a dash when it was not measured.
    #[must_use]
    pub fn figure(value: impl Into<Option<f64>>) -> Self {
        Self::number(value.into(), figure)
    }

    /// A whole number with its thousands separated.
    #[must_use]
    pub fn count(value: u64) -> Self {
        Self::number(Some(value as f64), |_| count(value))
    }

    fn number(value: Option<f64>, text: impl Fn(f64) -> String) -> Self {
        let value = value.unwrap_or(f64::NAN);
        Self {
            text: text(value),
            is_empty: value == 0.0 || !value.is_finite(),
            ..Self::default()
        }
    }

    /// The same value or verdict, written as `text`.
    #[must_use]
    pub fn written(mut self, text: String) -> Self {
        self.text = text;
        self
    }

    /// A metric of requests.
    #[must_use]
    pub fn io(figures: &IoFigures, metric: IoMetric) -> Self {
        Self::of(figures.get(metric), metric.unit())
    }

    /// A cell that says pass or fail.
    #[must_use]
    pub fn verdict(tone: Tone) -> Self {
        Self {
            text: tone.word().to_string(),
            tone: Some(tone),
            notable: tone == Tone::Fail,
            is_empty: false,
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

    /// Adds a row, which must have a cell for each column.
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

    /// Leaves out number columns in which all values are zero or missing, unless they name the rows.
    #[must_use]
    pub fn without_empty_columns(mut self) -> Self {
        let keep: Vec<bool> = (0..self.columns.len())
            .map(|index| {
                index < self.names
                    || !self.columns[index].numeric
                    || self.rows.iter().any(|row| !row[index].is_empty)
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_of_zeros_are_left_out_and_others_stay() {
        let heads = ["name", "zero", "zero ms", "missing", "one value", "text"];
        let mut columns: Vec<Column> = heads.iter().map(|head| Column::number(head, "")).collect();
        columns[5] = Column::text("text");
        let mut table = Table::new(columns);
        let ms = |value| Cell::of(value, Unit::Milliseconds);
        for (zero_ms, one_value) in [(Some(0.0), 0.0), (None, 0.5)] {
            table.push(vec![
                Cell::count(0),
                Cell::count(0),
                ms(zero_ms),
                Cell::figure(f64::INFINITY),
                Cell::figure(one_value),
                Cell::new("0"),
            ]);
        }
        table.sums = ["all", "7", "0 ms", "-", "0.5", ""].map(Cell::new).to_vec();
        let table = table.without_empty_columns();
        let kept: Vec<&str> = table.columns.iter().map(|one| one.head.as_str()).collect();
        assert_eq!(kept, ["name", "one value", "text"]);
        let texts = |row: &[Cell]| row.iter().map(|cell| cell.text.clone()).collect::<Vec<_>>();
        assert_eq!(texts(&table.rows[1]), ["0", "0.500", "0"]);
        assert_eq!(texts(&table.sums), ["all", "0.5", ""]);
    }

    #[test]
    fn neighbours_of_one_group_share_its_head() {
        let groups = |names: &[&str]| {
            let columns = names.iter().map(|name| Column::text("head").of(name));
            let table = Table::new(columns.collect());
            let groups = table.groups().into_iter();
            groups
                .map(|(name, count)| (name.to_owned(), count))
                .collect::<Vec<_>>()
        };
        let wanted = [("", 1), ("reads", 2), ("writes", 1), ("reads", 1)];
        let wanted = wanted.map(|(name, count)| (name.to_owned(), count));
        assert_eq!(groups(&["", "reads", "reads", "writes", "reads"]), wanted);
        assert_eq!(groups(&["", "", ""]), []);
        assert_eq!(groups(&[]), []);
    }

    #[test]
    fn a_text_that_reads_like_zero_keeps_its_column() {
        let mut table = Table::new(vec![Column::text("name"), Column::number("share", "%")]);
        table.push(vec![Cell::new("a"), Cell::new("0")]);
        assert_eq!(table.clone().without_empty_columns().columns.len(), 2);
        table.rows[0][1] = Cell::of(0.0, Unit::Fraction).written("0.0 +- 0.1".to_owned());
        assert_eq!(table.without_empty_columns().columns.len(), 1);
    }
    #[test]
    fn columns_have_the_unit_that_their_cells_leave_out() {
        let column = |unit| {
            let column = Column::of_unit("a head", unit);
            (column.head, column.unit, column.numeric)
        };
        let of = |unit: &str| ("a head".to_owned(), unit.to_owned(), true);
        assert_eq!(column(Unit::Fraction), of("%"));
        assert_eq!(column(Unit::Milliseconds), of(""));
        assert_eq!(column(Unit::Iops), of(Unit::Iops.text()));
    }

    #[test]
    fn a_cell_stands_out_on_a_condition() {
        let cell = |notable| Cell::new("7").notable_when(notable);
        assert!(cell(true).notable && !cell(false).notable);
        assert!(!cell(true).notable_when(false).notable);
        assert_eq!(cell(true).text, "7");
    }
}
