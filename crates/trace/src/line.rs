//! What the parsers of all formats share: a line becomes a request, or part of one.

use array::HostOperation;
use rustc_hash::FxHashMap;

use super::error::LineError;

/// More volumes than any trace has.
pub(super) const VOLUMES_MAX: usize = 1024;

/// What a line says of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct RawRequest {
    pub arrival_ns: Option<i64>,
    pub think_ns: Option<u64>,
    pub volume: u32,
    pub operation: HostOperation,
    pub offset_bytes: u64,
    pub size_bytes: u64,
    pub measured_ns: Option<u64>,
}

/// A request and its line.
#[derive(Debug, Clone, Copy)]
pub(super) struct Placed {
    pub raw: RawRequest,
    pub line: u64,
}

/// What a line holds.
#[derive(Debug, Clone, Copy)]
pub(super) enum Parsed {
    /// Nothing to replay, such as a comment.
    Nothing,
    /// A request in one line.
    Request(RawRequest),
    /// The begin of a request whose end may follow.
    Begun { request: RawRequest, sector: u64 },
    /// The end of the latest request that began there.
    Ended {
        volume: u32,
        sector: u64,
        at_ns: i64,
    },
}

/// Makes requests of lines.
pub(super) trait LineParser {
    fn line(&mut self, line: &str, volumes: &mut Volumes) -> Result<Parsed, LineError>;
}

/// Names of volumes, numbered as they appear.
#[derive(Debug, Default)]
pub(super) struct Volumes {
    names: Vec<String>,
    numbers: FxHashMap<String, u32>,
}

impl Volumes {
    /// The names in the order in which they appeared.
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The number of a volume; it gets the next one when it appears first.
    pub fn number(&mut self, name: &str) -> u32 {
        if let Some(&number) = self.numbers.get(name) {
            return number;
        }
        // One more than there may be is enough to refuse the trace.
        let number = self.names.len().min(VOLUMES_MAX) as u32;
        if self.names.len() <= VOLUMES_MAX {
            self.names.push(name.to_owned());
            self.numbers.insert(name.to_owned(), number);
        }
        number
    }
}
