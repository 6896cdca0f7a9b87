//! Our CSV: a line that names the columns, then a line for each request.

use super::error::{LineError, shown};
use super::line::{LineParser, Parsed, RawRequest, Volumes};
use super::number::{time_ns, whole};
use super::request::operation_of;
use array::HostOperation;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Column {
    /// Arrival, in units of so many ns.
    Time(u64),
    /// Think time, in units of so many ns.
    Think(u64),
    Volume,
    /// Offset, in units of so many bytes.
    Offset(u64),
    /// Size, in units of so many bytes.
    Size(u64),
    Operation,
    /// Measured response time, in units of so many ns.
    Response(u64),
    /// A column of another name, which is not used.
    Other,
}

/// Names of the columns that a trace needs or may have, for messages.
const KNOWN: &str = "the columns are time_s or think_time_s (or _ms, _us, _ns), volume, \
    offset_bytes (or sector), size_bytes (or sectors), operation and response_time_ms";

/// The columns of a trace.
#[derive(Debug, Clone)]
pub(super) struct Header {
    separator: char,
    columns: Vec<Column>,
}

impl Header {
    /// Whether a line can be a header: it names an operation and a place.
    pub fn is_one(line: &str) -> bool {
        let columns = columns_of(line, separator_of(line));
        let has = |wanted: fn(&Column) -> bool| columns.iter().any(wanted);
        has(|column| matches!(column, Column::Operation))
            && has(|column| matches!(column, Column::Offset(_) | Column::Size(_)))
    }

    fn read(line: &str) -> Result<Self, LineError> {
        let separator = separator_of(line);
        let columns = columns_of(line, separator);
        let count = |wanted: fn(&Column) -> bool| columns.iter().filter(|one| wanted(one)).count();
        for (name, times) in [
            (
                "offset_bytes or sector",
                count(|one| matches!(one, Column::Offset(_))),
            ),
            (
                "size_bytes or sectors",
                count(|one| matches!(one, Column::Size(_))),
            ),
            ("operation", count(|one| matches!(one, Column::Operation))),
        ] {
            match times {
                1 => {}
                0 => return Err(LineError::new(format!("there is no column {name}"), KNOWN)),
                _ => {
                    return Err(LineError::new(
                        format!("there are {times} columns {name}"),
                        KNOWN,
                    ));
                }
            }
        }
        for (name, times) in [
            (
                "of arrival times",
                count(|one| matches!(one, Column::Time(_))),
            ),
            (
                "of think times",
                count(|one| matches!(one, Column::Think(_))),
            ),
            (
                "of response times",
                count(|one| matches!(one, Column::Response(_))),
            ),
            ("volume", count(|one| matches!(one, Column::Volume))),
        ] {
            if times > 1 {
                return Err(LineError::new(
                    format!("there are {times} columns {name}"),
                    KNOWN,
                ));
            }
        }
        Ok(Self { separator, columns })
    }
}

fn separator_of(line: &str) -> char {
    [';', '\t']
        .into_iter()
        .find(|&one| line.contains(one))
        .unwrap_or(',')
}

fn columns_of(line: &str, separator: char) -> Vec<Column> {
    line.split(separator)
        .map(|name| column_of(field(name)))
        .collect()
}

/// A field without the blanks and quotes around it.
fn field(text: &str) -> &str {
    text.trim().trim_matches('"').trim()
}

fn column_of(name: &str) -> Column {
    let name = name.to_ascii_lowercase().replace([' ', '-'], "_");
    let unit = |stem: &str| -> Option<u64> {
        match name.strip_prefix(stem)? {
            "_s" => Some(1_000_000_000),
            "_ms" => Some(1_000_000),
            "_us" => Some(1_000),
            "_ns" => Some(1),
            _ => None,
        }
    };
    let of = |stems: &[&str]| stems.iter().find_map(|stem| unit(stem));
    if let Some(unit_ns) = of(&["time", "arrival", "arrival_time"]) {
        return Column::Time(unit_ns);
    }
    if let Some(unit_ns) = of(&["think_time", "think"]) {
        return Column::Think(unit_ns);
    }
    if let Some(unit_ns) = of(&["response_time", "response", "latency", "measured"]) {
        return Column::Response(unit_ns);
    }
    match name.as_str() {
        "volume" | "device" | "disk" => Column::Volume,
        "offset" | "offset_bytes" => Column::Offset(1),
        "sector" | "first_sector" | "lba" => Column::Offset(512),
        "size" | "size_bytes" | "bytes" | "length_bytes" => Column::Size(1),
        "sectors" | "size_sectors" => Column::Size(512),
        "operation" | "op" | "type" => Column::Operation,
        _ => Column::Other,
    }
}

/// Reads a trace line by line.
#[derive(Debug, Default)]
pub(super) struct CsvParser {
    header: Option<Header>,
}

impl LineParser for CsvParser {
    fn line(&mut self, line: &str, volumes: &mut Volumes) -> Result<Parsed, LineError> {
        let Some(header) = &self.header else {
            self.header = Some(Header::read(line)?);
            return Ok(Parsed::Nothing);
        };
        let mut raw = RawRequest::default();
        let mut operation = None;
        let mut fields = line.split(header.separator);
        for column in &header.columns {
            let Some(text) = fields.next().map(field) else {
                return Err(short(line, header));
            };
            match *column {
                Column::Time(unit_ns) => raw.arrival_ns = Some(time(text, unit_ns)?),
                Column::Think(unit_ns) => raw.think_ns = Some(span(text, unit_ns, "a think time")?),
                Column::Volume => raw.volume = volumes.number(text),
                Column::Offset(unit) => raw.offset_bytes = bytes(text, unit, "an offset")?,
                Column::Size(unit) => raw.size_bytes = bytes(text, unit, "a size")?,
                Column::Operation => {
                    operation = Some(operation_of(text).ok_or_else(|| unknown(text))?);
                }
                // Not every request need have been measured.
                Column::Response(_) if text.is_empty() => {}
                Column::Response(unit_ns) => {
                    raw.measured_ns = Some(span(text, unit_ns, "a response time")?);
                }
                Column::Other => {}
            }
        }
        if fields.next().is_some() {
            return Err(short(line, header));
        }
        if !header.columns.contains(&Column::Volume) {
            raw.volume = volumes.number("trace");
        }
        raw.operation = operation.ok_or_else(|| unknown(""))?;
        if raw.operation == HostOperation::Flush {
            (raw.offset_bytes, raw.size_bytes) = (0, 0);
        }
        Ok(Parsed::Request(raw))
    }
}

fn short(line: &str, header: &Header) -> LineError {
    let found = line.split(header.separator).count();
    let message = format!(
        "{found} fields, and the first line names {}",
        header.columns.len()
    );
    LineError::new(message, "give every column of every request")
}

fn unknown(text: &str) -> LineError {
    LineError::new(
        format!("{} is not an operation", shown(text)),
        "write read, write, flush or trim, or their first letters",
    )
}

fn time(text: &str, unit_ns: u64) -> Result<i64, LineError> {
    time_ns(text, unit_ns).ok_or_else(|| not_a_time(text, "a time"))
}

fn span(text: &str, unit_ns: u64, what: &str) -> Result<u64, LineError> {
    let found = time_ns(text, unit_ns).and_then(|ns| u64::try_from(ns).ok());
    found.ok_or_else(|| not_a_time(text, what))
}

fn not_a_time(text: &str, what: &str) -> LineError {
    LineError::new(
        format!("{} is not {what}", shown(text)),
        "write a decimal number in the unit that the name of the column ends in",
    )
}

fn bytes(text: &str, unit: u64, what: &str) -> Result<u64, LineError> {
    let found = whole(text).and_then(|number| number.checked_mul(unit));
    found.ok_or_else(|| {
        let help = "write a whole number, in bytes or, in a column of sectors, in sectors of 512";
        LineError::new(format!("{} is not {what}", shown(text)), help)
    })
}
