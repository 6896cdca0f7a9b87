//! One row for each request, in the order of the trace.
//!
//! The rows are a trace themselves: replayed again, the modelled response times stand where
//! measured ones would.

use std::collections::VecDeque;
use std::io::Write;

use array::HostError;

use super::arrivals::Due;
use execution::Error;

/// What became of a request.
#[derive(Debug, Clone, Copy)]
pub struct Row {
    pub due: Due,
    /// When it ended, or why it failed.
    pub ended: Result<u64, HostError>,
}

/// Writes rows, holding back those that ended before earlier ones.
pub struct Responses {
    output: Option<Box<dyn Write>>,
    with_measured: bool,
    /// Number of the first row that is held.
    first: u64,
    held: VecDeque<Option<Row>>,
    volumes: Vec<String>,
    text: String,
}

impl Responses {
    /// Writes the names of the columns, so that what can fail fails before the replay.
    pub fn begin(output: Option<Box<dyn Write>>, with_measured: bool) -> Result<Self, Error> {
        let mut responses = Self {
            output,
            with_measured,
            first: 0,
            held: VecDeque::new(),
            volumes: Vec::new(),
            text: String::new(),
        };
        if responses.output.is_none() {
            return Ok(responses);
        }
        responses.text.push_str(
            "request,line,time_s,volume,operation,offset_bytes,size_bytes,response_time_ms,result",
        );
        if with_measured {
            responses.text.push_str(",measured_response_time_ms");
        }
        responses.text.push('\n');
        responses.write()?;
        Ok(responses)
    }

    /// Takes the names of the trace's volumes.
    pub fn name_volumes(&mut self, names: impl Iterator<Item = String>) {
        self.volumes = names.map(|name| quoted(&name)).collect();
    }

    /// Takes a row and writes it once those before it are written.
    pub fn add(&mut self, row: Row) -> Result<(), Error> {
        if self.output.is_none() {
            return Ok(());
        }
        let index = (row.due.number - self.first) as usize;
        if self.held.len() <= index {
            self.held.resize(index + 1, None);
        }
        self.held[index] = Some(row);
        while let Some(row) = self.held.front().copied().flatten() {
            self.held.pop_front();
            self.first += 1;
            self.put(&row);
        }
        if self.text.is_empty() {
            Ok(())
        } else {
            self.write()
        }
    }

    /// Writes what is still held; requests that have not ended have no row.
    pub fn finish(&mut self) -> Result<(), Error> {
        while let Some(row) = self.held.pop_front() {
            self.first += 1;
            if let Some(row) = row {
                self.put(&row);
            }
        }
        self.write()?;
        match &mut self.output {
            Some(output) => output.flush().map_err(Error::Responses),
            None => Ok(()),
        }
    }

    fn put(&mut self, row: &Row) {
        use std::fmt::Write as _;
        let Due {
            at_ns,
            number,
            request,
        } = &row.due;
        let volume = self.volumes.get(request.volume as usize);
        let (response, result) = match row.ended {
            Ok(ended_ns) => (ms(ended_ns - at_ns), "ok"),
            Err(error) => (String::new(), word(error)),
        };
        // Writing to a string does not fail.
        let _ = write!(
            self.text,
            "{},{},{}.{:09},{},{},{},{},{response},{result}",
            number + 1,
            request.line,
            at_ns / 1_000_000_000,
            at_ns % 1_000_000_000,
            volume.map_or("", String::as_str),
            request.operation.name(),
            request.offset_bytes,
            request.size_bytes,
        );
        if self.with_measured {
            let measured = request.measured_ns.map_or(String::new(), ms);
            let _ = write!(self.text, ",{measured}");
        }
        self.text.push('\n');
    }

    fn write(&mut self) -> Result<(), Error> {
        if let Some(output) = &mut self.output {
            let written = output.write_all(self.text.as_bytes());
            written.map_err(Error::Responses)?;
        }
        self.text.clear();
        Ok(())
    }
}

/// Milliseconds, exact to the nanosecond.
fn ms(ns: u64) -> String {
    format!("{}.{:06}", ns / 1_000_000, ns % 1_000_000)
}

/// A name that is one field.
fn quoted(name: &str) -> String {
    name.replace([',', ';', '"', '\t', '\n'], "_")
}

/// Why a request failed, in a word.
pub fn word(error: HostError) -> &'static str {
    match error {
        HostError::NoSuchVolume => "no-such-volume",
        HostError::OutOfRange => "out-of-range",
        HostError::NoPath => "no-path",
        HostError::PoolFull => "pool-full",
        HostError::GroupFailed => "group-failed",
        HostError::Unreadable => "unreadable",
        HostError::DataLost => "data-lost",
    }
}
