//! Records on their way to the log: cut into segments as they come, taken out request by request.

use super::layout::{FRAMING, Geometry, SEGMENT, SegmentHead, framing};
use crate::format::database_header::LogTime;
use crate::position::{LogPosition, LogSpan};
use runtime::{Buffer, BufferArena, SharedBuffer};
use std::collections::VecDeque;
use std::rc::Rc;

struct Segment {
    generation: u32,
    number: u32,
    file_ends: bool,
    /// `None` in a log without contents.
    bytes: Option<Buffer>,
}

/// Where the memory of segments comes from.
pub(super) enum SegmentMemory {
    /// From an arena, to be used again and again.
    Arena(BufferArena),
    /// From the heap, allocated for each segment.
    Heap,
    /// There is none: every segment is written as this one, which is empty. For a log of which only
    /// the requests matter.
    Blank(SharedBuffer),
}

impl SegmentMemory {
    /// Room for a segment, all zeros; `None` in a log without contents.
    fn zeroed(&self) -> Option<Buffer> {
        match self {
            Self::Arena(arena) => {
                let mut bytes = arena.buffer();
                bytes.fill(0);
                Some(bytes)
            }
            Self::Heap => Some(Buffer::zeroed(SEGMENT)),
            Self::Blank(_) => None,
        }
    }

    /// What is written of a segment.
    fn written(&self, bytes: Option<Buffer>) -> SharedBuffer {
        match (bytes, self) {
            (Some(bytes), _) => Rc::new(bytes),
            (None, Self::Blank(blank)) => Rc::clone(blank),
            (None, _) => unreachable!("only a log without contents has bare segments"),
        }
    }
}

impl Segment {
    fn new(memory: &SegmentMemory, generation: u32, number: u32) -> Self {
        Self {
            generation,
            number,
            file_ends: false,
            bytes: memory.zeroed(),
        }
    }
}

/// One write request: consecutive segments of one file.
pub(super) struct Batch {
    pub(super) generation: u32,
    pub(super) first_number: u32,
    pub(super) segments: Vec<SharedBuffer>,
    /// Once the request has completed, the log is durable up to here.
    pub(super) end: LogPosition,
}

/// The segments not yet handed to the device.
pub(super) struct LogBuffer {
    geometry: Geometry,
    stream: u32,
    memory: SegmentMemory,
    /// Complete segments, oldest first.
    closed: VecDeque<Segment>,
    /// The segment that records are added to.
    open: Option<Segment>,
    end: LogPosition,
}

impl LogBuffer {
    /// An empty buffer; the next record goes to `end` or after.
    pub(super) fn new(
        geometry: Geometry,
        stream: u32,
        end: LogPosition,
        memory: SegmentMemory,
    ) -> Self {
        Self {
            geometry,
            stream,
            memory,
            closed: VecDeque::new(),
            open: None,
            end,
        }
    }

    pub(super) fn end(&self) -> LogPosition {
        self.end
    }

    /// Bytes of segments, the open one included.
    pub(super) fn buffered_bytes(&self) -> u64 {
        ((self.closed.len() + usize::from(self.open.is_some())) * SEGMENT) as u64
    }

    pub(super) fn append(&mut self, record: &[u8]) -> LogSpan {
        let needed = FRAMING + record.len();
        self.end = self.geometry.normalised(self.end);
        if self.geometry.room(self.end) < needed {
            self.end_file();
            self.end = self.geometry.normalised(self.end);
        }
        assert!(
            self.geometry.room(self.end) >= needed,
            "a record of {} bytes does not fit into a log file",
            record.len()
        );
        let begin = self.end;
        self.put(&framing(record.len()));
        self.put(record);
        LogSpan {
            begin,
            end: self.end,
        }
    }

    fn put(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            self.end = self.geometry.normalised(self.end);
            let (generation, number, at) = self.geometry.place(self.end);
            let memory = &self.memory;
            let segment = self
                .open
                .get_or_insert_with(|| Segment::new(memory, generation, number));
            assert!(
                (segment.generation, segment.number) == (generation, number),
                "the open segment is the one at the end of the log"
            );
            let count = bytes.len().min(SEGMENT - at);
            let (now, later) = bytes.split_at(count);
            if let Some(segment) = &mut segment.bytes {
                segment[at..at + count].copy_from_slice(now);
            }
            bytes = later;
            self.end = LogPosition(self.end.0 + count as u64);
            if at + count == SEGMENT {
                self.closed.extend(self.open.take());
            }
        }
    }

    /// Marks the end of the file the log ends in; the next record begins the next one. A file whose
    /// last segment has been used needs no mark.
    pub(super) fn end_file(&mut self) {
        let (generation, number, _) = self.geometry.place(self.geometry.normalised(self.end));
        if generation != self.end.generation(self.geometry.file_bytes) {
            return; // The last segment is full.
        }
        let open = self.open.take();
        let mut segment = open.unwrap_or_else(|| Segment::new(&self.memory, generation, number));
        segment.file_ends = true;
        self.closed.push_back(segment);
        self.end = LogPosition::new(generation + 1, 0, self.geometry.file_bytes);
    }

    /// Where the complete segments end: taken without padding, the log becomes durable up to here.
    pub(super) fn closed_end(&self) -> LogPosition {
        match &self.open {
            Some(open) => self.geometry.segment_start(open.generation, open.number),
            None => self.end,
        }
    }

    /// Closes the open segment; what is left of it stays empty.
    pub(super) fn pad(&mut self) {
        if let Some(open) = self.open.take() {
            let next = open.number + 1;
            self.end = self.geometry.segment_start(open.generation, next);
            self.closed.push_back(open);
        }
    }

    /// The generation of the oldest complete segment.
    pub(super) fn next_generation(&self) -> Option<u32> {
        self.closed.front().map(|segment| segment.generation)
    }

    /// All complete segments of the oldest generation, sealed; behind the last one of a file also
    /// the rest of it, empty, so that nobody who reads whole files has to fetch from the disks what
    /// was not written for long.
    pub(super) fn take(&mut self, time: LogTime) -> Option<Batch> {
        let first = self.closed.front()?;
        let (generation, first_number) = (first.generation, first.number);
        let mut segments = Vec::new();
        let mut ends_file = false;
        while self
            .closed
            .front()
            .is_some_and(|next| next.generation == generation)
        {
            let Some(segment) = self.closed.pop_front() else {
                break;
            };
            ends_file = segment.file_ends || segment.number == self.geometry.last_segment();
            let expected = first_number + segments.len() as u32;
            assert_eq!(segment.number, expected, "segments follow each other");
            let head = SegmentHead {
                generation,
                number: segment.number,
                time,
                stream: self.stream,
                request: first_number,
                file_ends: segment.file_ends,
                cuts_record: false,
            };
            let mut bytes = segment.bytes;
            if let Some(bytes) = &mut bytes {
                head.seal(bytes);
            }
            segments.push(self.memory.written(bytes));
        }
        if ends_file {
            let left = self.geometry.segments() - first_number - segments.len() as u32;
            let empty = || self.memory.written(self.memory.zeroed());
            segments.extend((0..left).map(|_| empty()));
        }
        let end = match self.closed.front() {
            Some(next) => self.geometry.segment_start(next.generation, 0),
            None => self.closed_end(),
        };
        Some(Batch {
            generation,
            first_number,
            segments,
            end,
        })
    }
}
