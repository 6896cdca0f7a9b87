//! Reading the log back, after a crash or to look at it.

use super::error::LogError;
use super::header::LogFileHeader;
use super::layout::{
    FRAMING, Geometry, KIND_NOTHING, KIND_RECORD, SEGMENT, SEGMENT_HEADER, SegmentHead,
};
use super::set::{LogEnd, LogSet};
use crate::accounting::notify_observer;
use crate::format::database_header::Signature;
use crate::integrity::FileFinding;
use crate::position::{LogPosition, LogSpan, SEGMENT_BYTES};
use runtime::{Buffer, Directory, File, Handle, IoCause, IoDirection, IoFailure, IoObserver};
use std::rc::Rc;

/// The segment the reader is in.
struct Place {
    generation: u32,
    number: u32,
    /// The byte to read next; a whole segment when this one is exhausted.
    at: usize,
    file_ends: bool,
}

/// What comes after a segment.
enum Step {
    Segment { cuts_record: bool },
    End,
}

/// Reads records from a position to the end of the log.
pub struct LogReader<D: Directory> {
    handle: Handle,
    set: LogSet<D>,
    geometry: Geometry,
    observer: Rc<dyn IoObserver>,
    /// Records before this position are passed over.
    from: LogPosition,
    /// Files that begin here or later are not read.
    until: LogPosition,
    finished: bool,
    /// The file being read, whole.
    file: Buffer,
    place: Place,
    end: Option<LogEnd>,
}

impl<D: Directory> LogReader<D> {
    /// Opens the log of that prefix to read from `from`, the start of a record or any position
    /// between two; [`LogPosition::START`] means the oldest file there is. `None`: no log.
    ///
    /// # Errors
    /// If a file that `from` asks for is missing or foreign, or the storage fails.
    pub async fn open(
        handle: &Handle,
        directory: &D,
        prefix: &str,
        from: LogPosition,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Option<Self>, LogError> {
        let Some(set) = LogSet::find(directory, prefix).await? else {
            return Ok(None);
        };
        let reader = Self::start(handle, set, from, LogPosition(u64::MAX), observer);
        Ok(Some(reader.await?))
    }

    /// Reads again what was there before [`super::Log::open`] went on behind `end`, while the log is
    /// in use.
    ///
    /// # Errors
    /// As [`LogReader::open`].
    pub async fn reopen(
        handle: &Handle,
        directory: &D,
        prefix: &str,
        from: LogPosition,
        end: &LogEnd,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Self, LogError> {
        let set = LogSet::before(directory, prefix, end).await?;
        let until = LogPosition::new(end.generation + 1, 0, end.file_size_bytes);
        Self::start(handle, set, from, until, observer).await
    }

    async fn start(
        handle: &Handle,
        set: LogSet<D>,
        from: LogPosition,
        until: LogPosition,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Self, LogError> {
        let geometry = Geometry::new(u64::from(set.header.file_segments) * SEGMENT_BYTES);
        let from = if from == LogPosition::START {
            geometry.segment_start(set.oldest_generation(), 0)
        } else {
            from
        };
        let from = geometry.normalised(from);
        let (mut generation, mut number, mut at) = geometry.place(from);
        if generation > set.header.generation + 1 {
            return Err(LogError::MissingGeneration {
                generation: set.header.generation + 1,
                directory: set.directory.describe(),
            });
        }
        if generation == set.header.generation + 1 {
            // The log ends with the current file; where exactly is found by reading it.
            (generation, number, at) = (generation - 1, 1, SEGMENT_HEADER);
        }
        let mut reader = Self {
            handle: handle.clone(),
            set,
            geometry,
            observer,
            from,
            until,
            finished: false,
            file: Buffer::zeroed(SEGMENT),
            place: Place {
                generation,
                number: number - 1,
                at: SEGMENT,
                file_ends: false,
            },
            end: None,
        };
        reader.load(generation).await?;
        if let Step::Segment { .. } = reader.next_segment().await? {
            reader.place.at = at;
        }
        Ok(reader)
    }

    /// The next record, or `None` at the end of the log: a torn end is an end like any other.
    ///
    /// # Errors
    /// [`LogError::Damaged`] if the log goes on behind something that cannot be read.
    pub async fn next(&mut self) -> Result<Option<(LogSpan, Vec<u8>)>, LogError> {
        while !self.finished {
            let Some((span, record)) = self.next_unfiltered().await? else {
                continue;
            };
            if span.begin >= self.from {
                return Ok(Some((span, record)));
            }
        }
        Ok(None)
    }

    /// Goes on with full files that have come since, up to that of `generation`. Records end with their
    /// file, so the reader stands between two of them.
    pub(crate) fn go_on_to(&mut self, generation: u32) {
        self.set.header.generation = generation + 1;
        self.until = self.geometry.segment_start(generation + 1, 0);
        self.finished = false;
    }

    /// Goes on with the file that was being written when the log ended, which has come since.
    pub(crate) fn go_on_to_last(&mut self, generation: u32) {
        self.set.header.generation = generation;
        self.until = LogPosition(u64::MAX);
        self.finished = false;
    }

    /// Where the log ends; known once [`LogReader::next`] has returned `None`, unless it stopped
    /// before.
    #[must_use]
    pub fn end(&self) -> Option<&LogEnd> {
        self.end.as_ref()
    }

    /// Where the records begin that this reader yields, or a little before.
    #[must_use]
    pub(crate) fn begin(&self) -> LogPosition {
        self.from
    }

    /// Bytes of a log file.
    #[must_use]
    pub fn file_size_bytes(&self) -> u64 {
        self.geometry.file_bytes
    }

    /// The file that was being written when the log ended.
    #[must_use]
    pub fn current_generation(&self) -> u32 {
        self.set.header.generation
    }

    /// The oldest file that there is.
    #[must_use]
    pub(crate) fn oldest_generation(&self) -> u32 {
        self.set.oldest_generation()
    }

    /// What was wrong with the header of the file that was being written, which was written again.
    #[must_use]
    pub(crate) fn damaged_header(&self) -> Option<&FileFinding> {
        self.set.damaged_header.as_ref()
    }

    /// What distinguishes this log from all others.
    #[must_use]
    pub fn signature(&self) -> Signature {
        self.set.header.signature
    }

    /// One record, or `None` if there was none here; then look again unless the end was found.
    async fn next_unfiltered(&mut self) -> Result<Option<(LogSpan, Vec<u8>)>, LogError> {
        if self.place.at == SEGMENT || self.segment()[self.place.at] == KIND_NOTHING {
            self.place.at = SEGMENT;
            self.next_segment().await?;
            return Ok(None);
        }
        let begin = self.position();
        let mut framing = [0; FRAMING];
        if !self.copy(&mut framing).await? {
            return Ok(None);
        }
        let [kind, a, b, c] = framing;
        let length = u32::from_le_bytes([a, b, c, 0]) as usize;
        if kind != KIND_RECORD || length > self.geometry.most_record_bytes() {
            return Err(self.damaged(&format!(
                "there is no record at byte {} of segment {}",
                self.place.at, self.place.number
            )));
        }
        let mut record = vec![0; length];
        if !self.copy(&mut record).await? {
            return Ok(None);
        }
        let end = self.position();
        Ok(Some((LogSpan { begin, end }, record)))
    }

    /// Fills `bytes` from here on. False: the record was interrupted by a crash.
    async fn copy(&mut self, mut bytes: &mut [u8]) -> Result<bool, LogError> {
        while !bytes.is_empty() {
            if self.place.at == SEGMENT {
                let generation = self.place.generation;
                match self.next_segment().await? {
                    Step::End | Step::Segment { cuts_record: true } => return Ok(false),
                    Step::Segment { .. } if self.place.generation != generation => {
                        return Err(self.damaged("the file before it ends inside a record"));
                    }
                    Step::Segment { .. } => {}
                }
            }
            let at = self.place.at;
            let count = bytes.len().min(SEGMENT - at);
            let (now, later) = bytes.split_at_mut(count);
            now.copy_from_slice(&self.segment()[at..at + count]);
            bytes = later;
            self.place.at = at + count;
        }
        Ok(true)
    }

    fn segment(&self) -> &[u8] {
        let start = self.place.number as usize * SEGMENT;
        &self.file[start..start + SEGMENT]
    }

    fn position(&self) -> LogPosition {
        let place = &self.place;
        let start = self.geometry.segment_start(place.generation, place.number);
        LogPosition(start.0 + place.at as u64)
    }

    fn damaged(&self, problem: &str) -> LogError {
        LogError::Damaged {
            file: self.set.file_name(self.place.generation),
            problem: problem.to_owned(),
        }
    }

    /// Goes on to the next segment, in the next file if this one is at its end.
    async fn next_segment(&mut self) -> Result<Step, LogError> {
        let current = self.set.header.generation;
        let mut number = self.place.number + 1;
        if self.place.file_ends || number > self.geometry.last_segment() {
            if self.place.generation == current {
                return Ok(self.ends_at(None));
            }
            let next = self.place.generation + 1;
            if self.geometry.segment_start(next, 0) >= self.until {
                self.finished = true;
                return Ok(Step::End);
            }
            self.load(next).await?;
            number = 1;
        }
        let generation = self.place.generation;
        let Some(head) = self.head(number) else {
            if generation != current {
                return Err(self.damaged(&format!(
                    "segment {number} cannot be read, but the log goes on in another file"
                )));
            }
            // Requests follow each other only once they are complete: a valid segment of a later
            // request behind this one means that this one was whole once.
            let later = (number + 1..=self.geometry.last_segment())
                .find(|&later| self.head(later).is_some_and(|head| head.request > number));
            if let Some(later) = later {
                return Err(self.damaged(&format!(
                    "segment {number} cannot be read, but segment {later} was written after it"
                )));
            }
            return Ok(self.ends_at(Some(number)));
        };
        self.place = Place {
            generation,
            number,
            at: SEGMENT_HEADER,
            file_ends: head.file_ends,
        };
        Ok(Step::Segment {
            cuts_record: head.cuts_record,
        })
    }

    fn head(&self, number: u32) -> Option<SegmentHead> {
        let start = number as usize * SEGMENT;
        let segment = self.file.get(start..start + SEGMENT)?;
        let stream = self.set.header.signature.random;
        SegmentHead::verify(segment, self.place.generation, number, stream)
    }

    fn ends_at(&mut self, next_segment: Option<u32>) -> Step {
        self.finished = true;
        let header = &self.set.header;
        self.end = Some(LogEnd {
            generation: header.generation,
            next_segment,
            signature: header.signature,
            file_size_bytes: self.geometry.file_bytes,
            created: header.created,
            attached: header.attached.clone(),
        });
        Step::End
    }

    /// Reads the whole file of `generation`.
    async fn load(&mut self, generation: u32) -> Result<(), LogError> {
        let name = self.set.file_name(generation);
        let file = match self.set.directory.open(&name).await {
            Err(error) if error.failure == IoFailure::NotFound => {
                return Err(LogError::MissingGeneration {
                    generation,
                    directory: self.set.directory.describe(),
                });
            }
            opened => opened?,
        };
        self.place.generation = generation;
        if file.size_bytes().await? < self.geometry.file_bytes {
            return Err(self.damaged("it is shorter than the other files"));
        }
        let bytes = Buffer::zeroed(self.geometry.file_bytes as usize);
        let issued_ns = self.handle.now_ns();
        let (bytes, result) = file.read(0, bytes).await;
        let shape = (IoDirection::Read, 0, bytes.len() as u64);
        let (observer, error) = (&*self.observer, result.as_ref().err());
        notify_observer(
            &self.handle,
            observer,
            IoCause::Log,
            shape,
            issued_ns,
            error,
        );
        result?;
        let header = LogFileHeader::decode(&bytes).map_err(|problem| self.damaged(problem))?;
        if header.signature != self.set.header.signature {
            return Err(LogError::Foreign { file: name });
        }
        if header.generation != generation {
            return Err(LogError::wrong_generation(
                name,
                header.generation,
                generation,
            ));
        }
        self.file = bytes;
        self.place.file_ends = false;
        Ok(())
    }
}
