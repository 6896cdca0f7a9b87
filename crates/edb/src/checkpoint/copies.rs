//! The two copies of a checkpoint as they were found when a database was opened.

use super::contents::Checkpoint;
use crate::format::database_header::{HeaderLogPosition, Signature};
use crate::integrity::{FileClass, FileFinding, FilePart};

/// What was read of the checkpoint file.
pub(crate) struct CheckpointCopies {
    /// The name of the file.
    pub(super) file: String,
    /// Why there are no copies, if so.
    pub(super) missing: Option<&'static str>,
    pub(super) copies: [CopyRead; 2],
}

/// What was read where a copy of the checkpoint is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyRead {
    /// All bytes are zero: damaged, or never written.
    Zero,
    /// Neither zero nor whole.
    Damaged,
    Whole(Checkpoint),
}

impl CopyRead {
    pub(super) fn of(bytes: &[u8]) -> Self {
        match Checkpoint::decode(bytes) {
            Some(checkpoint) => Self::Whole(checkpoint),
            None if bytes.iter().all(|&byte| byte == 0) => Self::Zero,
            None => Self::Damaged,
        }
    }
}

impl CheckpointCopies {
    /// The later one of those that are whole. `None`: never written, or damaged; recovery then begins
    /// with the oldest log file.
    pub(crate) fn latest(&self) -> Option<Checkpoint> {
        let whole = self.copies.iter().filter_map(|copy| match copy {
            CopyRead::Whole(checkpoint) => Some(*checkpoint),
            _ => None,
        });
        whole.max_by_key(|checkpoint| checkpoint.position)
    }

    /// Says what is wrong with the copies that are not what the closing of a database has written:
    /// the position at which its log ended. Closing ends with both copies and then the header durable,
    /// so nothing but a fault of the storage leaves another.
    pub(crate) fn compare_with_close(
        &self,
        signature: Signature,
        end: HeaderLogPosition,
    ) -> Option<FileFinding> {
        let finding = |copy, class, problem: &str| FileFinding {
            file: self.file.clone(),
            part: FilePart::Checkpoint { copy },
            class,
            problem: problem.to_owned(),
        };
        if let Some(problem) = self.missing {
            return Some(finding(1, FileClass::Missing, problem));
        }
        let wrong = |copy: &CopyRead| match copy {
            CopyRead::Zero => Some((FileClass::Zeroed, "is all zeros")),
            CopyRead::Damaged => Some((FileClass::Checksum, "has a wrong checksum")),
            CopyRead::Whole(checkpoint) if checkpoint.signature != signature => {
                Some((FileClass::Foreign, "is that of another database"))
            }
            CopyRead::Whole(checkpoint) => {
                let bytes = checkpoint.log_file_size_bytes;
                let end = end.to_stream(bytes);
                match checkpoint.position.0.cmp(&end) {
                    std::cmp::Ordering::Equal => None,
                    std::cmp::Ordering::Less => Some((
                        FileClass::LostWrite,
                        "is an older one: the last write of it was lost",
                    )),
                    std::cmp::Ordering::Greater => Some((
                        FileClass::Different,
                        "is later than the end of the log that the header names",
                    )),
                }
            }
        };
        let [first, second] = [&self.copies[0], &self.copies[1]].map(wrong);
        let (number, class, problem) = match (first, second) {
            (None, None) => return None,
            (Some((class, became)), None) => (
                1,
                class,
                format!("the first copy of the checkpoint {became}"),
            ),
            (None, Some((class, became))) => (
                2,
                class,
                format!("the second copy of the checkpoint {became}"),
            ),
            (Some((class, first)), Some((_, second))) => (
                1,
                class,
                format!("the first copy of the checkpoint {first}, and the second {second}"),
            ),
        };
        Some(finding(number, class, &problem))
    }
}
