//! Log files read back and held against what was written: signature, generation, and of every
//! segment its place and its checksums.

use super::LOG_PREFIX;
use super::header::LogFileHeader;
use super::layout::{Geometry, SEGMENT, SegmentHead, word};
use super::names::Names;
use crate::format::database_header::{HeaderLogPosition, Signature};
use crate::integrity::{FileClass, FileFinding, FilePart, Persistence, READ_AGAIN_AFTER_MS};
use crate::log::eight;
use crate::position::{LogPosition, SEGMENT_BYTES};
use runtime::time::MILLISECOND_NS;
use runtime::{Buffer, Directory, File, Handle, IoError, IoFailure, is_zero};
use std::collections::BTreeSet;

/// Findings of one file that are described; a file that is garbled from end to end is one finding
/// per segment, which nobody wants to read.
const MOST_DESCRIBED: usize = 3;

/// What a pass over the files of a log found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LogVerification {
    /// Files that were read.
    pub files: u64,
    /// Segments in them that hold records, right or wrong.
    pub segments: u64,
    /// Of those, the ones that are wrong.
    pub wrong_segments: u64,
    /// Bytes that were read from the log files.
    pub bytes: u64,
    /// The log files that are damaged or missing.
    pub findings: Vec<FileFinding>,
}

/// Which file is read, and what it must be.
pub(super) struct Expected<'a> {
    pub(super) file: String,
    pub(super) generation: u32,
    pub(super) signature: &'a Signature,
    pub(super) geometry: Geometry,
    /// The first segment of the file that holds nothing; none in a file that is full.
    pub(super) end_segment: Option<u32>,
}

/// What one file came to.
#[derive(Debug, Default)]
pub(super) struct FileVerification {
    pub(super) segments: u64,
    pub(super) wrong_segments: u64,
    pub(super) findings: Vec<FileFinding>,
}

impl FileVerification {
    /// The same, knowing how often it was read like that.
    fn lasting(mut self, persistence: Persistence) -> Self {
        for finding in &mut self.findings {
            finding.persistence = persistence;
        }
        self
    }
}

/// What becomes of a file that is read several times.
#[derive(Debug, Default)]
pub(super) struct Reads {
    wrong_reads: u32,
    /// What the last read that was wrong found.
    wrong: Option<FileVerification>,
}

impl Reads {
    /// After one more read, what the file has come to. `None`: it was wrong, and is to be read again.
    pub(super) fn settle(&mut self, read: FileVerification) -> Option<FileVerification> {
        let wrong_reads = self.wrong_reads;
        if read.findings.is_empty() {
            let wrong = self.wrong.take();
            let wrong = wrong.map(|wrong| wrong.lasting(Persistence::Transient { wrong_reads }));
            return Some(wrong.unwrap_or(read));
        }
        self.wrong_reads += 1;
        if self.wrong_reads as usize > READ_AGAIN_AFTER_MS.len() {
            let reads = self.wrong_reads;
            return Some(read.lasting(Persistence::Medium { reads }));
        }
        self.wrong = Some(read);
        None
    }

    /// What was wrong until now, if the file is not read again.
    pub(super) fn end(self) -> Option<FileVerification> {
        self.wrong
    }
}

impl Expected<'_> {
    fn finding(&self, segment: Option<u32>, class: FileClass, problem: String) -> FileFinding {
        let generation = self.generation;
        FileFinding {
            file: self.file.clone(),
            part: FilePart::Log {
                generation,
                segment,
            },
            class,
            problem,
            persistence: Persistence::ReadOnce,
        }
    }

    /// The finding that the file is not there.
    pub(super) fn missing(&self) -> FileFinding {
        missing(self.file.clone(), self.generation)
    }

    /// The finding that the file has lost its end.
    pub(super) fn too_short(&self) -> FileFinding {
        let problem = "it is shorter than it was written".to_owned();
        self.finding(None, FileClass::Missing, problem)
    }

    /// The finding that something else has the name of the file.
    pub(super) fn not_own(&self, why: &str) -> FileFinding {
        self.finding(None, FileClass::Foreign, why.to_owned())
    }

    /// Holds the bytes of a whole file against what it must be.
    pub(super) fn verify(&self, bytes: &[u8]) -> FileVerification {
        let mut result = FileVerification::default();
        if let Err(finding) = self.verify_header(bytes) {
            result.findings.push(finding);
        }
        let last = self.geometry.last_segment();
        let end = self.end_segment.unwrap_or(last + 1).min(last + 1);
        for number in 1..end {
            result.segments += 1;
            let start = number as usize * SEGMENT;
            let segment = &bytes[start..start + SEGMENT];
            let stream = self.signature.random;
            match SegmentHead::verify(segment, self.generation, number, stream) {
                Some(head) if head.file_ends => break,
                Some(_) => {}
                None => {
                    result.wrong_segments += 1;
                    if result.findings.len() < MOST_DESCRIBED {
                        result.findings.push(self.wrong_segment(segment, number));
                    }
                }
            }
        }
        result
    }

    fn verify_header(&self, bytes: &[u8]) -> Result<(), FileFinding> {
        let wrong = |class, problem: String| Err(self.finding(None, class, problem));
        if is_zero(&bytes[..SEGMENT]) {
            return wrong(FileClass::Zeroed, "all bytes of its header are zero".into());
        }
        let header = match LogFileHeader::decode(bytes) {
            Ok(header) => header,
            Err(problem) => return wrong(FileClass::Checksum, problem.to_owned()),
        };
        if header.signature != *self.signature {
            let problem = "it belongs to another set of log files";
            return wrong(FileClass::Foreign, problem.to_owned());
        }
        if header.generation != self.generation {
            let problem = format!(
                "it is the file of generation {}, where that of generation {} was written",
                header.generation, self.generation
            );
            return wrong(FileClass::LostWrite, problem);
        }
        Ok(())
    }

    fn wrong_segment(&self, segment: &[u8], number: u32) -> FileFinding {
        let (class, problem) = self.what_is_wrong(segment);
        let offset = u64::from(number) * SEGMENT_BYTES;
        let problem = format!("segment {number} (offset {offset}) {problem}");
        self.finding(Some(number), class, problem)
    }

    fn what_is_wrong(&self, segment: &[u8]) -> (FileClass, String) {
        if is_zero(segment) {
            let problem = "is all zeros, although it was written".to_owned();
            return (FileClass::Zeroed, problem);
        }
        // A segment that is whole for the place and the log that it names itself.
        let (position, stream) = place_of(segment);
        let (generation, found) = (position.generation, u32::from(position.sector));
        if SegmentHead::verify(segment, generation, found, stream).is_none() {
            return (FileClass::Checksum, "has a wrong checksum".to_owned());
        }
        if stream != self.signature.random {
            return (FileClass::Foreign, "belongs to another log".to_owned());
        }
        let problem = format!(
            "is segment {found} of generation {generation}: the write of it was lost or went to \
             another place"
        );
        (FileClass::LostWrite, problem)
    }
}

/// The finding that the log file at a path, which holds this generation, is not there.
pub(super) fn missing(file: String, generation: u32) -> FileFinding {
    FileFinding {
        file,
        part: FilePart::Log {
            generation,
            segment: None,
        },
        class: FileClass::Missing,
        problem: "it is missing".to_owned(),
        persistence: Persistence::ReadOnce,
    }
}

/// The place and the log that a segment names.
fn place_of(segment: &[u8]) -> (HeaderLogPosition, u32) {
    (
        HeaderLogPosition::decode(eight(segment, 8)),
        word(segment, 24),
    )
}

/// Why what has the name of a log file is no file of ours; `None` if it is one, or not there.
pub(super) async fn why_not_own<D: Directory>(directory: &D, name: &str) -> Option<String> {
    match directory.open(name).await.err()?.failure {
        IoFailure::NotOwn(why) => Some(why),
        _ => None, // Whoever uses the file meets it.
    }
}

/// Takes out of the full files the oldest, as long as they are none of ours: the log has left them behind, and
/// has gone on with the files after them. Returns each with what it is.
pub(super) async fn take_left_behind<D: Directory>(
    directory: &D,
    names: &Names,
    full: &mut BTreeSet<u32>,
) -> Vec<(u32, String)> {
    let mut left = Vec::new();
    while let Some(&oldest) = full.first() {
        let Some(why) = why_not_own(directory, &names.full(oldest)).await else {
            break;
        };
        full.remove(&oldest);
        left.push((oldest, why));
    }
    left
}

/// Reads a whole file. `Err` with a finding: it is not there, too short or none of ours.
pub(super) async fn read_file<D: Directory>(
    directory: &D,
    name: &str,
    expected: &Expected<'_>,
) -> Result<Result<Buffer, FileFinding>, IoError> {
    let file = match directory.open(name).await {
        Err(error) if error.failure == IoFailure::NotFound => return Ok(Err(expected.missing())),
        Err(IoError {
            failure: IoFailure::NotOwn(why),
            ..
        }) => return Ok(Err(expected.not_own(&why))),
        opened => opened?,
    };
    let file_bytes = expected.geometry.file_bytes;
    if file.size_bytes().await? < file_bytes {
        return Ok(Err(expected.too_short()));
    }
    let (bytes, result) = file.read(0, Buffer::zeroed(file_bytes as usize)).await;
    result?;
    Ok(Ok(bytes))
}

/// What is known of a log that is closed.
#[derive(Debug, Clone, Copy)]
pub struct ClosedLog {
    /// What distinguishes its files from those of all others.
    pub signature: Signature,
    /// The generation of its oldest full file; `None` if it has none, or if the oldest that is there is taken for
    /// it.
    pub oldest_full: Option<u32>,
    /// Where it ended.
    pub end: LogPosition,
    /// Bytes of a file.
    pub file_size_bytes: u64,
}

/// Reads every file of a log that is closed and verifies it. Those that are wrong are read again, three times
/// within a second.
///
/// # Errors
/// If the storage fails.
pub async fn verify_log<D: Directory>(
    handle: &Handle,
    directory: &D,
    log: &ClosedLog,
) -> Result<LogVerification, IoError> {
    let names = Names::new(LOG_PREFIX);
    let geometry = Geometry::new(log.file_size_bytes);
    let present = directory.list().await?;
    let mut full: BTreeSet<u32> = present
        .iter()
        .filter_map(|name| names.generation_of(name))
        .collect();
    let mut result = LogVerification::default();
    let expected = |name: &str, generation, end_segment| Expected {
        file: format!("{}/{name}", directory.describe()),
        generation,
        signature: &log.signature,
        geometry,
        end_segment,
    };
    let left_behind = take_left_behind(directory, &names, &mut full).await;
    for (generation, why) in &left_behind {
        let expected = expected(&names.full(*generation), *generation, None);
        result.findings.push(expected.not_own(why));
    }
    let end = geometry.normalised(log.end);
    let (current, segment, byte) = geometry.place(end);
    // A file may have been closed in the very moment when it was full.
    let is_new = segment == 1 && byte == super::layout::SEGMENT_HEADER;
    let oldest = full.first().copied().into_iter().chain(log.oldest_full);
    let oldest = oldest.min().unwrap_or(current).min(current);
    let mut to_read = Vec::new();
    for generation in oldest..=current {
        let is_current = generation == current;
        let is_last_full = is_new && generation + 1 == current;
        let name = if is_current || (is_last_full && !full.contains(&generation)) {
            names.current()
        } else {
            names.full(generation)
        };
        if is_current && is_new && !full.contains(&(current - 1)) && current > 1 {
            continue; // The log ended with the file before, which is still the current one.
        }
        if left_behind.iter().any(|(one, _)| *one == generation) {
            continue;
        }
        let end_segment = is_current.then(|| segments_used(segment, byte));
        let expected = expected(&name, generation, end_segment);
        to_read.push((name, expected, Reads::default()));
    }
    result.files = to_read.len() as u64;
    for wait_ms in [0].into_iter().chain(READ_AGAIN_AFTER_MS) {
        if wait_ms > 0 && !to_read.is_empty() {
            handle.sleep_ns(wait_ms * MILLISECOND_NS).await;
        }
        for (name, expected, mut reads) in std::mem::take(&mut to_read) {
            let bytes = match read_file(directory, &name, &expected).await? {
                Ok(bytes) => bytes,
                Err(finding) => {
                    result.findings.push(finding);
                    continue;
                }
            };
            result.bytes += bytes.len() as u64;
            match reads.settle(expected.verify(&bytes)) {
                None => to_read.push((name, expected, reads)),
                Some(file) => {
                    result.segments += file.segments;
                    result.wrong_segments += file.wrong_segments;
                    result.findings.extend(file.findings);
                }
            }
        }
    }
    Ok(result)
}

/// The first segment that holds nothing when the log ends at `byte` of `segment`.
fn segments_used(segment: u32, byte: usize) -> u32 {
    segment + u32::from(byte > super::layout::SEGMENT_HEADER)
}
