//! `samples.csv`: rows of numbers, sample by sample.
//!
//! Each sample gives one row of scope `total`, one per database, one per kind of operation, one per
//! block device and one per part of a modelled array. Columns that do not belong to the scope, and values that were not measured,
//! are empty. Readers find columns by their names, so columns may be added.

use std::io::{Read, Write};

use super::{
    ArrayRow, DatabaseMeters, DeviceRow, HostRow, OperationMeter, OperationRow, RowScope, Sample,
    Stream, StreamRow,
};

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
        /// What stands there.
        value: String,
    },
}

/// One row of `samples.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRow {
    /// Number of the sample in the run, from 0.
    pub sample: u64,
    /// Phase, such as `measured` (see [`super::Phase::name`]).
    pub phase: String,
    /// Begin of the sample in seconds since the start of the run.
    pub begins_s: f64,
    /// Length of the sample in seconds.
    pub length_s: f64,
    /// What the row is about.
    pub scope: RowScope,
    /// Name of the database, operation, device or part of the array; `all` in a row of scope
    /// `total`.
    pub name: String,
    /// Database reads plus writes per second (total, database).
    pub iops: Option<f64>,
    /// Page-fault stalls per second (total, database).
    pub page_fault_stalls_per_second: Option<f64>,
    /// Size of the file, or of all files, at the end of the sample (total, database).
    pub size_bytes: Option<f64>,
    /// The streams, in the order of [`Stream::ALL`] (total, database).
    pub streams: [StreamRow; Stream::COUNT],
    /// Operations (total, database, operation).
    pub operation: OperationRow,
    /// The host (total).
    pub host: HostRow,
    /// A block device (device).
    pub device: DeviceRow,
    /// A part of a modelled array (array-controller, -volume, -pool, -group, -disk).
    pub array: ArrayRow,
}

const FIXED_COLUMNS: [&str; 6] = ["sample", "phase", "begins_s", "length_s", "scope", "name"];
const OWN_COLUMNS: [&str; 3] = ["iops", "page_fault_stalls_per_second", "size_bytes"];

impl SampleRow {
    /// Names of all columns, in their order.
    pub fn columns() -> Vec<String> {
        let mut columns: Vec<String> = FIXED_COLUMNS
            .iter()
            .chain(&OWN_COLUMNS)
            .map(|&c| c.to_owned())
            .collect();
        for stream in Stream::ALL {
            columns.extend(
                StreamRow::COLUMNS
                    .iter()
                    .map(|c| format!("{}_{c}", stream.column())),
            );
        }
        let groups = [
            OperationRow::COLUMNS,
            HostRow::COLUMNS,
            DeviceRow::COLUMNS,
            ArrayRow::COLUMNS,
        ];
        columns.extend(groups.iter().flat_map(|g| g.iter().map(|&c| c.to_owned())));
        columns
    }

    /// The columns of a stream.
    pub fn stream(&self, stream: Stream) -> &StreamRow {
        &self.streams[stream.index()]
    }

    fn fields(&self) -> Vec<String> {
        let mut fields = vec![
            self.sample.to_string(),
            self.phase.clone(),
            number(self.begins_s),
            number(self.length_s),
            self.scope.name().to_owned(),
            self.name.clone(),
        ];
        let own = [
            self.iops,
            self.page_fault_stalls_per_second,
            self.size_bytes,
        ];
        let values = own
            .into_iter()
            .chain(self.streams.iter().flat_map(StreamRow::values))
            .chain(self.operation.values())
            .chain(self.host.values())
            .chain(self.device.values())
            .chain(self.array.values());
        fields.extend(values.map(|v| v.map_or(String::new(), number)));
        fields
    }
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

/// The rows of one sample: total, databases, operations, devices, parts of the array.
pub fn rows_of(sample: &Sample) -> Vec<SampleRow> {
    let layout = &sample.layout;
    let length_s = sample.length_s;
    let empty = |scope, name: &str| SampleRow {
        sample: sample.number,
        phase: sample.phase.name().to_owned(),
        begins_s: sample.begins_s,
        length_s,
        scope,
        name: name.to_owned(),
        iops: None,
        page_fault_stalls_per_second: None,
        size_bytes: None,
        streams: [StreamRow::default(); Stream::COUNT],
        operation: OperationRow::default(),
        host: HostRow::default(),
        device: DeviceRow::default(),
        array: ArrayRow::default(),
    };
    let of_meters = |scope, name: &str, meters: &DatabaseMeters| SampleRow {
        iops: Some(meters.transactional_count() as f64 / length_s),
        page_fault_stalls_per_second: Some(meters.page_fault_stalls as f64 / length_s),
        size_bytes: meters.size_bytes.map(|b| b as f64),
        streams: StreamRow::all_of(meters, length_s),
        operation: OperationRow::total_of(meters, layout, length_s),
        ..empty(scope, name)
    };

    let total = total_meters(sample);
    let mut rows = vec![of_meters(RowScope::Total, "all", &total)];
    rows[0].host = sample.host.as_ref().map(HostRow::of).unwrap_or_default();
    for (name, meters) in layout.databases.iter().zip(&sample.databases) {
        rows.push(of_meters(RowScope::Database, name, meters));
    }
    let nothing = OperationMeter::default();
    for (index, kind) in layout.operations.iter().enumerate() {
        let meter = total.operation(index).unwrap_or(&nothing);
        let operation = OperationRow::of(meter, length_s);
        rows.push(SampleRow {
            operation,
            ..empty(RowScope::Operation, &kind.name)
        });
    }
    for device in sample.host.iter().flat_map(|h| &h.devices) {
        let figures = DeviceRow::of(device);
        rows.push(SampleRow {
            device: figures,
            ..empty(RowScope::Device, &device.name)
        });
    }
    for (scope, name, array) in sample.array.iter().flat_map(ArrayRow::all_of) {
        rows.push(SampleRow {
            array,
            ..empty(scope, &name)
        });
    }
    rows
}

/// All databases of a sample together; their sizes are added up.
fn total_meters(sample: &Sample) -> DatabaseMeters {
    let mut databases = sample.databases.iter();
    let mut total = databases.next().cloned().unwrap_or_default();
    for meters in databases {
        let size = total.size_bytes.zip(meters.size_bytes).map(|(a, b)| a + b);
        total.merge(meters);
        total.size_bytes = size;
    }
    total
}

/// Writes `samples.csv` as the run goes on.
pub struct SampleWriter<W: Write> {
    csv: csv::Writer<W>,
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
        Ok(SampleWriter { csv })
    }

    /// Writes the rows of a sample and hands them to the file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn append(&mut self, sample: &Sample) -> Result<(), RowError> {
        for row in rows_of(sample) {
            self.csv.write_record(row.fields())?;
        }
        self.csv.flush().map_err(csv::Error::from)?;
        Ok(())
    }
}

/// Reads `samples.csv`.
pub struct SampleReader;

impl SampleReader {
    /// All rows in their order. A last line that a crash cut short is left out.
    ///
    /// # Errors
    /// When the text is not a `samples.csv` of a run.
    pub fn read_all(reader: impl Read) -> Result<Vec<SampleRow>, RowError> {
        let mut csv = csv::ReaderBuilder::new().flexible(true).from_reader(reader);
        let header = csv.headers()?.clone();
        let place = |name: &str| header.iter().position(|h| h == name);
        let columns = SampleRow::columns();
        for name in FIXED_COLUMNS {
            place(name).ok_or(RowError::MissingColumn(name))?;
        }
        let places: Vec<Option<usize>> = columns.iter().map(|c| place(c)).collect();
        let mut rows = Vec::new();
        for record in csv.records() {
            let record = record?;
            if record.len() < header.len() {
                break;
            }
            rows.push(
                Record {
                    columns: &columns,
                    places: &places,
                    fields: &record,
                }
                .row()?,
            );
        }
        Ok(rows)
    }
}

/// A line with the names of the columns and their places in it.
struct Record<'a> {
    columns: &'a [String],
    places: &'a [Option<usize>],
    fields: &'a csv::StringRecord,
}

impl Record<'_> {
    fn row(&self) -> Result<SampleRow, RowError> {
        let scope = RowScope::ALL.into_iter().find(|s| s.name() == self.text(4));
        let mut values = Vec::with_capacity(self.columns.len());
        for column in FIXED_COLUMNS.len()..self.columns.len() {
            values.push(self.optional(column)?);
        }
        let values = &mut values.into_iter();
        let mut own = || values.next().flatten();
        let (iops, page_fault_stalls_per_second, size_bytes) = (own(), own(), own());
        Ok(SampleRow {
            sample: self.text(0).parse().map_err(|_| self.bad(0))?,
            phase: self.text(1).to_owned(),
            begins_s: self.optional(2)?.ok_or_else(|| self.bad(2))?,
            length_s: self.optional(3)?.ok_or_else(|| self.bad(3))?,
            scope: scope.ok_or_else(|| self.bad(4))?,
            name: self.text(5).to_owned(),
            iops,
            page_fault_stalls_per_second,
            size_bytes,
            streams: Stream::ALL.map(|_| StreamRow::from_values(values)),
            operation: OperationRow::from_values(values),
            host: HostRow::from_values(values),
            device: DeviceRow::from_values(values),
            array: ArrayRow::from_values(values),
        })
    }

    fn text(&self, column: usize) -> &str {
        self.places[column]
            .and_then(|place| self.fields.get(place))
            .unwrap_or_default()
    }

    fn optional(&self, column: usize) -> Result<Option<f64>, RowError> {
        match self.text(column) {
            "" => Ok(None),
            text => text.parse().map(Some).map_err(|_| self.bad(column)),
        }
    }

    fn bad(&self, column: usize) -> RowError {
        RowError::BadValue {
            line: self.fields.position().map_or(0, csv::Position::line),
            column: self.columns[column].clone(),
            value: self.text(column).to_owned(),
        }
    }
}
