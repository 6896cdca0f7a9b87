//! Reads a trace request by request, whatever its format.

use array::HostOperation;
use std::collections::VecDeque;
use std::io::{BufRead, Read};

use rustc_hash::FxHashMap;

use super::blkparse::BlkparseParser;
use super::csv::CsvParser;
use super::error::{LineError, TraceError};
use super::fio_iolog::IologParser;
use super::fio_log::FioLogParser;
use super::format::TraceFormat;
use super::line::{LineParser, Parsed, Placed, RawRequest, VOLUMES_MAX, Volumes};
use super::request::TraceRequest;
use super::settings::TraceSettings;
use super::sorted::Sorter;

/// Longer lines are no lines of a trace.
const LINE_BYTES_MAX: u64 = 1 << 16;

/// Requests of an event trace that are held back for their completion.
const OPEN_MAX: usize = 1 << 16;

/// Longer reads and writes are mistakes: no host sends them as one.
const REQUEST_BYTES_MAX: u64 = 1 << 28;

/// The longest stretch that a command can name.
const TRIM_BYTES_MAX: u64 = (u32::MAX as u64 - 1) * 512;

/// A trace being read.
pub struct TraceReader<R> {
    file: String,
    input: R,
    line: u64,
    text: Vec<u8>,
    parser: Box<dyn LineParser>,
    volumes: Volumes,
    open: OpenRequests,
    sorter: Sorter,
    is_at_end: bool,
    first_ns: Option<i64>,
    last_ns: i64,
}

impl<R: BufRead> TraceReader<R> {
    /// Reads `input`, which messages call `file`.
    pub fn new(input: R, file: &str, format: TraceFormat, settings: &TraceSettings) -> Self {
        let parser: Box<dyn LineParser> = match format {
            TraceFormat::Csv => Box::<CsvParser>::default(),
            TraceFormat::FioIolog => Box::<IologParser>::default(),
            TraceFormat::FioLog => Box::<FioLogParser>::default(),
            TraceFormat::Blkparse => {
                Box::new(BlkparseParser::new(settings.blkparse_action.letter()))
            }
        };
        Self {
            file: file.to_owned(),
            input,
            line: 0,
            text: Vec::new(),
            parser,
            volumes: Volumes::default(),
            open: OpenRequests::default(),
            sorter: Sorter::new(settings.sort_window_of(format)),
            is_at_end: false,
            first_ns: None,
            last_ns: i64::MIN,
        }
    }

    /// Names of the volumes seen so far, in the order in which they appeared.
    pub fn volumes(&self) -> &[String] {
        self.volumes.names()
    }

    /// What messages call the trace.
    pub fn file(&self) -> &str {
        &self.file
    }

    /// The next request; `None` at the end.
    ///
    /// # Errors
    /// The line that is wrong, and what to do about it.
    pub fn next_request(&mut self) -> Result<Option<TraceRequest>, TraceError> {
        loop {
            if let Some(placed) = self.open.closed(self.is_at_end) {
                if let Some(placed) = self.sorter.push(placed) {
                    return self.checked(placed).map(Some);
                }
                continue;
            }
            if self.is_at_end {
                return match self.sorter.pop() {
                    Some(placed) => self.checked(placed).map(Some),
                    None => Ok(None),
                };
            }
            self.read_line()?;
        }
    }

    fn read_line(&mut self) -> Result<(), TraceError> {
        self.text.clear();
        let mut limited = self.input.by_ref().take(LINE_BYTES_MAX);
        let read = limited.read_until(b'\n', &mut self.text);
        let read = read.map_err(|error| TraceError::Unreadable {
            file: self.file.clone(),
            error,
        })?;
        if read == 0 {
            self.is_at_end = true;
            return Ok(());
        }
        self.line += 1;
        self.parse()
            .map_err(|wrong| wrong.at(&self.file, self.line))
    }

    fn parse(&mut self) -> Result<(), LineError> {
        let is_whole = self.text.ends_with(b"\n") || (self.text.len() as u64) < LINE_BYTES_MAX;
        let text = std::str::from_utf8(&self.text).ok().filter(|_| is_whole);
        let Some(text) = text else {
            let help = "is it a trace, and not compressed?";
            let message = match is_whole {
                true => "the line is not text in UTF-8",
                false => "the line is longer than 64 KiB",
            };
            return Err(LineError::new(message, help));
        };
        let text = text.trim_end();
        if text.trim_start().is_empty() || text.starts_with('#') {
            return Ok(());
        }
        let line = self.line;
        match self.parser.line(text, &mut self.volumes)? {
            Parsed::Nothing => {}
            Parsed::Request(raw) => {
                check(&raw)?;
                self.open.push(Placed { raw, line });
            }
            Parsed::Begun { request, sector } => {
                check(&request)?;
                let raw = request;
                self.open.begin(Placed { raw, line }, sector);
            }
            Parsed::Ended {
                volume,
                sector,
                at_ns,
            } => self.open.end(volume, sector, at_ns),
        }
        if self.volumes.names().len() > VOLUMES_MAX {
            let message = format!("the trace has more than {VOLUMES_MAX} volumes");
            return Err(LineError::new(
                message,
                "is the right column called volume?",
            ));
        }
        Ok(())
    }

    /// The request with its time since the first one.
    fn checked(&mut self, placed: Placed) -> Result<TraceRequest, TraceError> {
        let Placed { raw, line } = placed;
        let arrival_ns = match raw.arrival_ns {
            None => None,
            Some(at_ns) => {
                if at_ns < self.last_ns {
                    return Err(backwards(at_ns, self.last_ns).at(&self.file, line));
                }
                self.last_ns = at_ns;
                let first_ns = *self.first_ns.get_or_insert(at_ns);
                Some(at_ns.abs_diff(first_ns))
            }
        };
        Ok(TraceRequest {
            line,
            arrival_ns,
            think_ns: raw.think_ns.unwrap_or(0),
            volume: raw.volume,
            operation: raw.operation,
            offset_bytes: raw.offset_bytes,
            size_bytes: raw.size_bytes,
            measured_ns: raw.measured_ns,
        })
    }
}

fn backwards(at_ns: i64, last_ns: i64) -> LineError {
    let seconds = |ns: i64| ns as f64 / 1e9;
    LineError::new(
        format!(
            "time runs backwards: this request came at {:.6} s, and one before it at {:.6} s",
            seconds(at_ns),
            seconds(last_ns)
        ),
        "sort the trace by time, or put lines in order that are at most so many apart with \
         --set trace.sort_window=10000",
    )
}

/// What holds for a request of any format.
fn check(raw: &RawRequest) -> Result<(), LineError> {
    let size_bytes = raw.size_bytes;
    let limit_bytes = match raw.operation {
        HostOperation::Flush => return Ok(()),
        HostOperation::Trim => TRIM_BYTES_MAX,
        HostOperation::Read | HostOperation::Write => REQUEST_BYTES_MAX,
    };
    let word = raw.operation.name();
    if size_bytes == 0 {
        let message = format!("a {word} of 0 bytes");
        return Err(LineError::new(
            message,
            "leave the line out, or correct its size",
        ));
    }
    if size_bytes > limit_bytes {
        let message = format!("a {word} of {size_bytes} bytes is longer than any host sends");
        let help = format!("the longest is {limit_bytes} bytes; is the size in the right unit?");
        return Err(LineError::new(message, help));
    }
    match raw.offset_bytes.checked_add(size_bytes) {
        Some(end) if i64::try_from(end).is_ok() => Ok(()),
        _ => Err(LineError::new(
            format!(
                "an offset of {} bytes is beyond any volume",
                raw.offset_bytes
            ),
            "is the offset in the right unit?",
        )),
    }
}

/// Requests in the order of the file, some of them waiting for their end.
#[derive(Debug, Default)]
struct OpenRequests {
    queue: VecDeque<(Placed, bool)>,
    /// Number of the first in the queue.
    first: u64,
    /// Number of the latest request that began at a sector of a volume.
    by_place: FxHashMap<(u32, u64), u64>,
}

impl OpenRequests {
    fn push(&mut self, placed: Placed) {
        self.queue.push_back((placed, true));
    }

    fn begin(&mut self, placed: Placed, sector: u64) {
        let number = self.first + self.queue.len() as u64;
        self.by_place.insert((placed.raw.volume, sector), number);
        self.queue.push_back((placed, false));
    }

    fn end(&mut self, volume: u32, sector: u64, at_ns: i64) {
        let Some(number) = self.by_place.remove(&(volume, sector)) else {
            return;
        };
        let index = number.checked_sub(self.first);
        let Some(entry) = index.and_then(|index| self.queue.get_mut(index as usize)) else {
            return;
        };
        entry.1 = true;
        let raw = &mut entry.0.raw;
        let took_ns = raw.arrival_ns.map(|begun_ns| at_ns - begun_ns);
        raw.measured_ns = took_ns.and_then(|took_ns| u64::try_from(took_ns).ok());
    }

    /// The first request, once nothing more is to be learned of it.
    fn closed(&mut self, is_at_end: bool) -> Option<Placed> {
        let &(_, is_closed) = self.queue.front()?;
        if !is_closed && !is_at_end && self.queue.len() < OPEN_MAX {
            return None;
        }
        self.first += 1;
        // Begins whose end never came must not be kept for ever.
        if self.by_place.len() > 2 * OPEN_MAX {
            let first = self.first;
            self.by_place.retain(|_, number| *number >= first);
        }
        self.queue.pop_front().map(|(placed, _)| placed)
    }
}
