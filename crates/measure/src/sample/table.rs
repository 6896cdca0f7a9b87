//! `samples.csv`: rows of numbers, sample by sample.
//!
//! Each sample gives one row of scope `total`, one per database, one per kind of operation, one per
//! block device and one per part of a modelled array. A column holds a [`Metric`]; those that do not
//! belong to the scope, and values that were not measured, are empty. Readers find columns by their
//! names, so columns may be added.

use std::io::{Read, Write};

use super::row::FIXED_COLUMNS;
use super::{Phase, Sample, SampleRow, rows_of};
use crate::metric::{Metric, RowScope};

/// A failure to write or read `samples.csv`.
#[derive(Debug, thiserror::Error)]
pub enum RowError {
    /// The file could not be written or read.
    #[error("{0}")]
    Csv(#[from] csv::Error),
    /// A column that every version writes is not there.
    #[error("the column `{0}` is missing, so this is not a samples.csv of a run")]
    MissingColumn(&'static str),
    /// A field does not hold what its column promises.
    #[error("line {line}: `{value}` is not a valid {column}")]
    BadValue {
        /// Line in the file.
        line: u64,
        /// Name of the column.
        column: String,
        /// The text of the field.
        value: String,
    },
}

/// A number with six digits after the point at most (a nanosecond in milliseconds, a microsecond
/// in seconds), without trailing zeros.
fn number(value: f64) -> String {
    let text = format!("{value:.6}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    if text == "-0" {
        "0".to_owned()
    } else {
        text.to_owned()
    }
}

/// Writes `samples.csv` as the run goes on.
pub struct SampleWriter<W: Write> {
    csv: csv::Writer<W>,
    metrics: Vec<Metric>,
}

impl<W: Write> SampleWriter<W> {
    /// Writes the line with the names of the columns.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn begin(writer: W) -> Result<SampleWriter<W>, RowError> {
        let mut csv = csv::Writer::from_writer(writer);
        csv.write_record(SampleRow::columns())?;
        csv.flush().map_err(csv::Error::from)?;
        let metrics = Metric::all();
        Ok(SampleWriter { csv, metrics })
    }

    /// Goes on with a file that has the names of the columns already.
    pub fn resume(writer: W) -> SampleWriter<W> {
        let csv = csv::Writer::from_writer(writer);
        let metrics = Metric::all();
        SampleWriter { csv, metrics }
    }

    /// Writes the rows of a sample and flushes them to the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, sample: &Sample) -> Result<(), RowError> {
        for row in rows_of(sample) {
            self.write(&row)?;
        }
        self.csv.flush().map_err(csv::Error::from)?;
        Ok(())
    }

    fn write(&mut self, row: &SampleRow) -> Result<(), csv::Error> {
        let csv = &mut self.csv;
        csv.write_field(row.sample.to_string())?;
        csv.write_field(row.phase.name())?;
        csv.write_field(number(row.begins_s))?;
        csv.write_field(number(row.length_s))?;
        csv.write_field(row.scope.name())?;
        csv.write_field(&row.name)?;
        for metric in &self.metrics {
            match row.get(*metric) {
                Some(value) => csv.write_field(number(value))?,
                None => csv.write_field("")?,
            }
        }
        csv.write_record(None::<&[u8]>)
    }
}

/// Reads the rows of a `samples.csv`, also of one that a crash cut short.
pub struct SampleReader;

impl SampleReader {
    /// All rows in their order. A last line that a crash cut short is left out.
    ///
    /// # Errors
    /// When the text is not a `samples.csv` of a run.
    pub fn read_all(reader: impl Read) -> Result<Vec<SampleRow>, RowError> {
        let mut csv = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
        let header = csv.headers()?.clone();
        let mut fixed = [0; FIXED_COLUMNS.len()];
        for (place, name) in fixed.iter_mut().zip(FIXED_COLUMNS) {
            let found = header.iter().position(|head| head == name);
            *place = found.ok_or(RowError::MissingColumn(name))?;
        }
        let metrics: Vec<(usize, Metric)> = header
            .iter()
            .enumerate()
            .filter_map(|(place, name)| Some((place, Metric::from_id(name)?)))
            .collect();
        let mut rows = Vec::new();
        for record in csv.records() {
            let fields = record?;
            if fields.len() < header.len() {
                break;
            }
            let record = Record {
                header: &header,
                fields: &fields,
            };
            rows.push(record.row(fixed, &metrics)?);
        }
        Ok(rows)
    }
}

/// A line below the names of its columns.
struct Record<'a> {
    header: &'a csv::StringRecord,
    fields: &'a csv::StringRecord,
}

impl Record<'_> {
    fn row(&self, fixed: [usize; 6], metrics: &[(usize, Metric)]) -> Result<SampleRow, RowError> {
        let [sample, phase, begins, length, scope, name] = fixed;
        let mut values = Vec::new();
        for (place, metric) in metrics {
            values.push((*metric, self.optional(*place)?));
        }
        let found_phase = Phase::ALL
            .iter()
            .copied()
            .find(|p| p.name() == self.text(phase));
        let found_scope = RowScope::ALL
            .iter()
            .copied()
            .find(|s| s.name() == self.text(scope));
        Ok(SampleRow {
            sample: self.text(sample).parse().map_err(|_| self.bad(sample))?,
            phase: found_phase.ok_or_else(|| self.bad(phase))?,
            begins_s: self.optional(begins)?.ok_or_else(|| self.bad(begins))?,
            length_s: self.optional(length)?.ok_or_else(|| self.bad(length))?,
            scope: found_scope.ok_or_else(|| self.bad(scope))?,
            name: self.text(name).to_owned(),
            values: values.into_iter().collect(),
        })
    }

    fn text(&self, place: usize) -> &str {
        self.fields.get(place).unwrap_or_default()
    }

    fn optional(&self, place: usize) -> Result<Option<f64>, RowError> {
        match self.text(place) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| self.bad(place)),
        }
    }

    fn bad(&self, place: usize) -> RowError {
        RowError::BadValue {
            line: self.fields.position().map_or(0, csv::Position::line),
            column: self.header.get(place).unwrap_or_default().to_owned(),
            value: self.text(place).to_owned(),
        }
    }
}
