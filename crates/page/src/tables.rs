//! Tables and charts of the reports as data.

use report::chart::{Band, Chart, HorizontalAxis, Limit, Mark, Series};
use report::table::{Cell, Table};
use serde::Serialize;

/// A table of a report.
#[derive(Clone, Debug, Serialize)]
pub struct TableData {
    /// Its head.
    pub title: String,
    /// The columns from left to right.
    pub columns: Vec<ColumnData>,
    /// So many columns from the first on name a row.
    pub names: usize,
    /// The rows.
    pub rows: Vec<Vec<CellData>>,
    /// A last row of sums; empty when there is none.
    pub sums: Vec<CellData>,
}

/// The head of a column.
#[derive(Clone, Debug, Serialize)]
pub struct ColumnData {
    /// What this column and its neighbours are about; empty when the head says all.
    pub group: String,
    /// What stands in the column.
    pub head: String,
    /// The unit of its numbers; empty for text.
    pub unit: String,
    /// Whether the cells are numbers.
    pub numeric: bool,
}

/// A cell.
#[derive(Clone, Debug, Serialize)]
pub struct CellData {
    /// What is shown.
    pub text: String,
    /// Pass, fail or open, when the cell says so.
    pub tone: &'static str,
    /// Whether the number is beyond its limit.
    pub notable: bool,
}

/// A table under a head, without columns that have nothing to say; `None` when it has no rows.
pub fn table(title: &str, table: Table) -> Option<TableData> {
    let table = table.without_empty_columns();
    if table.is_empty() {
        return None;
    }
    let columns = table.columns.iter().map(|column| ColumnData {
        group: column.group.clone(),
        head: column.head.clone(),
        unit: column.unit.clone(),
        numeric: column.numeric,
    });
    Some(TableData {
        title: title.to_owned(),
        columns: columns.collect(),
        names: table.names,
        rows: table.rows.iter().map(|row| cells(row)).collect(),
        sums: cells(&table.sums),
    })
}

fn cells(row: &[Cell]) -> Vec<CellData> {
    let cells = row.iter().map(|cell| CellData {
        text: cell.text.clone(),
        tone: cell.tone.map_or("", |tone| tone.class()),
        notable: cell.notable,
    });
    cells.collect()
}

/// A chart of a report.
#[derive(Clone, Debug, Serialize)]
pub struct ChartData {
    /// Names it among those of a report.
    pub identity: String,
    /// Its head.
    pub title: String,
    /// The unit of the vertical axis.
    pub unit: String,
    /// What the horizontal axis stands for: `time`, `percentile`, `names`, or the name of a number.
    pub horizontal: String,
    /// Names of the things side by side, where the horizontal axis has them.
    pub labels: Vec<String>,
    /// A sentence under the head; may be empty.
    pub note: String,
    /// The lines.
    pub series: Vec<SeriesData>,
    /// Limits across the chart.
    pub limits: Vec<LimitData>,
    /// Spans of the horizontal axis.
    pub bands: Vec<BandData>,
    /// Instants at which something happened: when, and what.
    pub events: Vec<(f64, String)>,
}

/// A line of a chart.
#[derive(Clone, Debug, Serialize)]
pub struct SeriesData {
    /// Its name in the key.
    pub name: String,
    /// Which of the colours.
    pub tone: usize,
    /// How it is drawn: `line`, `dashed`, `dots`.
    pub mark: &'static str,
    /// Its points; `null` breaks the line.
    pub points: Vec<(f64, Option<f64>)>,
}

/// A limit.
#[derive(Clone, Debug, Serialize)]
pub struct LimitData {
    /// The label at the line.
    pub label: String,
    /// Its value.
    pub value: f64,
}

/// A span of the horizontal axis.
#[derive(Clone, Debug, Serialize)]
pub struct BandData {
    /// What happened in it.
    pub label: String,
    /// Where it starts.
    pub from: f64,
    /// Where it ends.
    pub to: f64,
    /// Whether it is the measured phase.
    pub is_measured: bool,
}

/// A chart as data.
pub fn chart(chart: &Chart) -> ChartData {
    let (horizontal, labels) = match &chart.horizontal {
        HorizontalAxis::Elapsed => ("time", Vec::new()),
        HorizontalAxis::Percentile => ("percentile", Vec::new()),
        HorizontalAxis::Number(name) => (name.as_ref(), Vec::new()),
        HorizontalAxis::Names(names) => ("names", names.clone()),
    };
    ChartData {
        identity: chart.identity.to_string(),
        title: chart.title.clone(),
        unit: chart.unit.to_string(),
        horizontal: horizontal.to_owned(),
        labels,
        note: chart.note.clone(),
        series: chart.series.iter().map(series).collect(),
        limits: chart.limits.iter().map(limit).collect(),
        bands: chart.bands.iter().map(band).collect(),
        events: chart
            .events
            .iter()
            .map(|event| (event.at, event.label.clone()))
            .collect(),
    }
}

fn series(series: &Series) -> SeriesData {
    let points = series.points.iter();
    SeriesData {
        name: series.name.clone(),
        tone: series.tone,
        mark: match series.mark {
            Mark::Line | Mark::LineAndDots => "line",
            Mark::Dashed => "dashed",
            Mark::Dots => "dots",
        },
        points: points
            .map(|(at, value)| (*at, value.is_finite().then_some(*value)))
            .collect(),
    }
}

fn limit(limit: &Limit) -> LimitData {
    LimitData {
        label: limit.label.clone(),
        value: limit.value,
    }
}

fn band(band: &Band) -> BandData {
    BandData {
        label: band.label.clone(),
        from: band.from,
        to: band.to,
        is_measured: band.is_measured,
    }
}
