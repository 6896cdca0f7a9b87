//! The two copies of a checkpoint as they were found when a database was opened.

use super::contents::Checkpoint;
use crate::format::database_header::{HeaderLogPosition, Signature};
use crate::integrity::{FileClass, FileFinding, FilePart, Persistence};

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

    /// Says what is wrong with the copies of a database that was not closed, if none can be used: they are written
    /// one after the other, so a kill or a power cut leaves one. `was_written`: a checkpoint has been written
    /// since the log was made, so that copies of zeros are no copies that are still to be written.
    pub(crate) fn unusable(&self, signature: Signature, was_written: bool) -> Option<FileFinding> {
        let finding = |class, problem: &str| FileFinding {
            file: self.file.clone(),
            part: FilePart::Checkpoint { copy: 1 },
            class,
            problem: format!("{problem}; recovery read the log from the oldest file on"),
            persistence: Persistence::ReadOnce,
        };
        // The file is durable before the header says that the database is open.
        if let Some(problem) = self.missing {
            return Some(finding(FileClass::Missing, problem));
        }
        let became = |copy: &CopyRead| match copy {
            CopyRead::Damaged => Some((FileClass::Checksum, "has a wrong checksum")),
            CopyRead::Whole(checkpoint) if checkpoint.signature != signature => {
                Some((FileClass::Foreign, "is that of another database"))
            }
            CopyRead::Zero if was_written => Some((FileClass::Zeroed, "is all zeros")),
            CopyRead::Zero | CopyRead::Whole(_) => None,
        };
        let [Some((class, first)), Some((_, second))] = self.copies.each_ref().map(became) else {
            return None;
        };
        let problem = format!(
            "the first copy of the checkpoint {first}, and the second copy of the checkpoint {second}"
        );
        Some(finding(class, &problem))
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
            persistence: Persistence::ReadOnce,
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
        let copies = (1u8..).zip(["first", "second"]).zip(&self.copies);
        let found = copies.filter_map(|((number, which), copy)| {
            let (class, became) = wrong(copy)?;
            let problem = format!("the {which} copy of the checkpoint {became}");
            Some((number, class, problem))
        });
        let found: Vec<_> = found.collect();
        let &(number, class, _) = found.first()?;
        let problems: Vec<&str> = found.iter().map(|(.., problem)| &**problem).collect();
        Some(finding(number, class, &problems.join(", and ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn copies_of_an_open_database_are_damaged_when_both_are() {
        let found = |copies, was_written| {
            let copies = CheckpointCopies {
                file: "E00.chk".to_owned(),
                missing: None,
                copies,
            };
            copies.unusable(Signature::default(), was_written)
        };
        for torn in [CopyRead::Damaged, CopyRead::Zero] {
            assert_eq!(found([torn, CopyRead::Zero], false), None);
            assert_eq!(found([CopyRead::Zero, torn], false), None);
        }
        let zeroed = found([CopyRead::Zero; 2], true).unwrap();
        assert_eq!(zeroed.class, FileClass::Zeroed);
        let both = found([CopyRead::Damaged; 2], false).unwrap();
        assert_eq!(both.class, FileClass::Checksum);
        assert!(
            both.problem.contains("from the oldest file on"),
            "{}",
            both.problem
        );
    }

    #[test]
    fn each_copy_that_is_wrong_is_named() {
        let found = |copies| {
            let copies = CheckpointCopies {
                file: "E00.chk".to_owned(),
                missing: None,
                copies,
            };
            let signature = Signature::default();
            let end = HeaderLogPosition::default();
            copies.compare_with_close(signature, end)
        };
        let both = found([CopyRead::Damaged, CopyRead::Zero]).unwrap();
        assert_eq!(
            (both.part, both.class),
            (FilePart::Checkpoint { copy: 1 }, FileClass::Checksum)
        );
        assert_eq!(
            both.problem,
            "the first copy of the checkpoint has a wrong checksum, and the second copy of the \
             checkpoint is all zeros"
        );
    }
}
