//! The log files found in a directory, put in order after a crash.

use super::error::LogError;
use super::header::LogFileHeader;
use super::layout::{Geometry, SEGMENT, SegmentHead};
use super::names::Names;
use crate::format::database_header::{LogTime, Signature};
use crate::integrity::{FileClass, FileFinding, FilePart, Persistence as Lasting};
use crate::position::LogPosition;
use runtime::{Buffer, Directory, File, IoFailure, Persistence};
use std::collections::BTreeSet;

/// Where a log ends: what [`super::Log::open`] needs to go on with it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEnd {
    /// Generation of the last file of the log.
    pub generation: u32,
    /// The segment of it after the last valid one; `None` if the file is complete.
    pub next_segment: Option<u32>,
    /// What distinguishes this log from all others.
    pub signature: Signature,
    /// Bytes of its files.
    pub file_size_bytes: u64,
    /// When the last file was created.
    pub created: LogTime,
    /// The databases its header names.
    pub attached: Vec<String>,
}

impl LogEnd {
    /// What shows that the log ends before `checkpoint`, which is never written before the log is durable
    /// up to it; `None` if it does not.
    pub(crate) fn missing_before(&self, checkpoint: LogPosition) -> Option<String> {
        let geometry = Geometry::new(self.file_size_bytes);
        let end = match self.next_segment {
            Some(segment) => geometry.segment_start(self.generation, segment),
            None => geometry.segment_start(self.generation + 1, 0),
        };
        let segment = |position| {
            let (generation, number, _) = geometry.place(geometry.normalised(position));
            (generation, number)
        };
        (segment(checkpoint) > segment(end))
            .then(|| format!("the checkpoint is at {checkpoint}, and the log ends at {end}"))
    }
}

pub(super) struct LogSet<D: Directory> {
    pub(super) directory: D,
    pub(super) names: Names,
    /// The header of the current file.
    pub(super) header: LogFileHeader,
    /// Generations of full files.
    pub(super) full: BTreeSet<u32>,
    /// What was wrong with the header of the current file, which was written again.
    pub(super) damaged_header: Option<FileFinding>,
}

impl<D: Directory> LogSet<D> {
    /// Finds the files; finishes a switch of files that a crash interrupted. `None`: no log.
    pub(super) async fn find(directory: &D, prefix: &str) -> Result<Option<Self>, LogError> {
        let names = Names::new(prefix);
        let present = directory.list().await?;
        let full: BTreeSet<u32> = present
            .iter()
            .filter_map(|name| names.generation_of(name))
            .collect();
        if !present.contains(&names.current()) {
            let Some(next) = read_header(directory, &names.next()).await?.ok() else {
                return match full.last() {
                    None => Ok(None),
                    Some(last) => Err(LogError::MissingGeneration {
                        generation: last + 1,
                        directory: directory.describe(),
                    }),
                };
            };
            if next.generation != full.last().map_or(1, |last| last + 1) {
                return Err(LogError::MissingGeneration {
                    generation: full.last().map_or(1, |last| last + 1),
                    directory: directory.describe(),
                });
            }
            directory.rename(&names.next(), &names.current()).await?;
            directory.sync().await?;
        }
        let current = names.current();
        let header = read_header(directory, &current).await?;
        let mut damaged_header = None;
        let header = match header {
            Ok(header) => header,
            Err(problem) => {
                let before = full.last().copied();
                let rebuilt = match before {
                    Some(before) => header_after(directory, &names, before).await?,
                    None => None,
                };
                let Some(header) = rebuilt else {
                    return Err(LogError::Damaged {
                        file: current,
                        problem: problem.to_owned(),
                    });
                };
                let says = "its segments and the file before it say";
                damaged_header =
                    Some(write_again(directory, &current, &header, problem, says).await?);
                header
            }
        };
        if let Some(&last) = full.last()
            && header.generation != last + 1
        {
            // Also when a full file is missing: the current one follows it, and says so.
            return Err(match header.generation > last {
                true => LogError::MissingGeneration {
                    generation: last + 1,
                    directory: directory.describe(),
                },
                false => LogError::wrong_generation(current, header.generation, last + 1),
            });
        }
        Ok(Some(Self {
            directory: directory.clone(),
            names,
            header,
            full,
            damaged_header,
        }))
    }

    /// The files up to `end` of a log that has gone on since and may be in use.
    pub(super) async fn before(
        directory: &D,
        prefix: &str,
        end: &LogEnd,
    ) -> Result<Self, LogError> {
        let names = Names::new(prefix);
        let present = directory.list().await?;
        let generations = present.iter().filter_map(|name| names.generation_of(name));
        Ok(Self {
            directory: directory.clone(),
            full: generations.collect(),
            damaged_header: None,
            names,
            header: LogFileHeader {
                generation: end.generation + 1,
                file_segments: (end.file_size_bytes / SEGMENT as u64) as u16,
                page_size_bytes: 0,
                created: end.created,
                previous_created: end.created,
                signature: end.signature,
                attached: end.attached.clone(),
            },
        })
    }

    /// The oldest file that there is.
    pub(super) fn oldest_generation(&self) -> u32 {
        let current = self.header.generation;
        self.full.first().copied().unwrap_or(current)
    }

    /// The name of the file of `generation`.
    pub(super) fn file_name(&self, generation: u32) -> String {
        if generation == self.header.generation {
            self.names.current()
        } else {
            self.names.full(generation)
        }
    }
}

/// What a database says of its log.
pub(crate) struct KnownLog {
    pub(crate) signature: Signature,
    pub(crate) page_size_bytes: usize,
    pub(crate) database: String,
}

/// Writes the header of the file that was written last again where it is damaged and no file before it says what it was,
/// if its first segment shows that it is of the log that the database names; says what was wrong with it. Nothing
/// is written otherwise.
///
/// # Errors
/// As the storage fails.
pub(crate) async fn rebuild_first_header<D: Directory>(
    directory: &D,
    prefix: &str,
    known: KnownLog,
) -> Result<Option<FileFinding>, LogError> {
    let names = Names::new(prefix);
    let (present, current) = (directory.list().await?, names.current());
    let mut generations = present.iter().filter_map(|name| names.generation_of(name));
    if !present.contains(&current) || generations.next().is_some() {
        return Ok(None);
    }
    let Err(problem) = read_header(directory, &current).await? else {
        return Ok(None);
    };
    let Some((first, file_segments)) = first_segment(directory, &current, known.signature).await?
    else {
        return Ok(None);
    };
    let header = LogFileHeader {
        generation: first.generation,
        file_segments,
        page_size_bytes: known.page_size_bytes,
        created: first.time,
        previous_created: LogTime::default(),
        signature: known.signature,
        attached: vec![known.database],
    };
    let says = "its segments and the header of the database say";
    let written = write_again(directory, &current, &header, problem, says);
    written.await.map(Some)
}

/// The header of the current file, which is damaged, if its first segment shows that it is the file after the full
/// one of generation `before`, whose header says the rest.
async fn header_after<D: Directory>(
    directory: &D,
    names: &Names,
    before: u32,
) -> Result<Option<LogFileHeader>, LogError> {
    let Ok(before) = read_header(directory, &names.full(before)).await? else {
        return Ok(None);
    };
    let first = first_segment(directory, &names.current(), before.signature).await?;
    let first = first.filter(|(first, _)| first.generation == before.generation + 1);
    Ok(first.map(|(first, _)| LogFileHeader {
        generation: first.generation,
        created: first.time,
        previous_created: before.created,
        ..before
    }))
}

/// What the first segment of a log file says, if it is whole and of the log with this signature; and how many
/// segments the file has.
async fn first_segment<D: Directory>(
    directory: &D,
    name: &str,
    signature: Signature,
) -> Result<Option<(SegmentHead, u16)>, LogError> {
    let file = directory.open(name).await?;
    let segments = file.size_bytes().await? / SEGMENT as u64;
    let Ok(segments) = u16::try_from(segments) else {
        return Ok(None);
    };
    if segments < 2 {
        return Ok(None);
    }
    let (segment, result) = file.read(SEGMENT as u64, Buffer::zeroed(SEGMENT)).await;
    result?;
    let generation = SegmentHead::generation(&segment);
    let first = SegmentHead::verify(&segment, generation, 1, signature.random);
    Ok(first.map(|first| (first, segments)))
}

/// Writes the damaged header of a log file again; the finding about it. `says`: what it was found out from.
async fn write_again<D: Directory>(
    directory: &D,
    name: &str,
    header: &LogFileHeader,
    problem: &str,
    says: &str,
) -> Result<FileFinding, LogError> {
    let file = directory.open(name).await?;
    let bytes = header.encode().into();
    file.write(0, bytes, Persistence::Durable).await?;
    Ok(FileFinding {
        file: format!("{}/{name}", directory.describe()),
        part: FilePart::Log {
            generation: header.generation,
            segment: None,
        },
        class: FileClass::Checksum,
        problem: format!("{problem}; it was written again from what {says}"),
        persistence: Lasting::ReadOnce,
    })
}

/// The header of a file, or what is wrong with it.
pub(super) async fn read_header<D: Directory>(
    directory: &D,
    name: &str,
) -> Result<Result<LogFileHeader, &'static str>, LogError> {
    let file = match directory.open(name).await {
        Ok(file) => file,
        Err(error) if error.failure == IoFailure::NotFound => return Ok(Err("it is missing")),
        Err(error) => return Err(error.into()),
    };
    if file.size_bytes().await? < SEGMENT as u64 {
        return Ok(Err("it is too short to be a log file"));
    }
    let (bytes, result) = file.read(0, Buffer::zeroed(SEGMENT)).await;
    result?;
    Ok(LogFileHeader::decode(&bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_behind_the_end_shows_that_the_log_was_longer() {
        let file_size_bytes = 16 * SEGMENT as u64;
        let at = |generation, segment: u64, byte| {
            let offset = segment * SEGMENT as u64 + byte;
            LogPosition::new(generation, offset, file_size_bytes)
        };
        let missing = |next_segment, checkpoint| {
            let end = LogEnd {
                generation: 7,
                next_segment,
                signature: Signature::default(),
                file_size_bytes,
                created: LogTime::default(),
                attached: Vec::new(),
            };
            end.missing_before(checkpoint).is_some()
        };
        // The end in the middle of a file, at its last segment, and a file that is complete.
        for (next_segment, right, wrong) in [
            (Some(5), at(7, 5, 40), at(7, 6, 0)),
            (Some(14), at(7, 14, 0), at(8, 1, 0)),
            (None, at(8, 1, 40), at(8, 2, 0)),
        ] {
            assert!(!missing(next_segment, LogPosition::START));
            assert!(!missing(next_segment, at(6, 9, 0)));
            assert!(!missing(next_segment, right), "{next_segment:?}");
            assert!(missing(next_segment, wrong), "{next_segment:?}");
        }
    }
}
