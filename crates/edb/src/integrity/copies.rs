//! The two copies of a header or a checkpoint, read back and compared with what was written last.

use super::file_finding::{FileClass, FileFinding, FilePart};
use super::finding::{Persistence, READ_AGAIN_AFTER_MS};
use runtime::time::MILLISECOND_NS;
use runtime::{Buffer, File, Handle, IoError, IoFailure, SharedBuffer};
use std::cell::{Cell, RefCell};

/// What was written last to both copies.
#[derive(Default)]
pub struct LastWritten {
    bytes: RefCell<Option<SharedBuffer>>,
    writes: Cell<u64>,
    is_writing: Cell<bool>,
    /// For reading copies back before they are written over; `None`: they are not read.
    reads_before_overwriting: RefCell<Option<Handle>>,
    /// What was wrong with copies when they were about to be written over.
    overwritten: RefCell<Vec<FileFinding>>,
}

/// One copy: where it lies, and what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Copy {
    /// Offset in the file.
    pub offset_bytes: u64,
    /// Which part of the files it is.
    pub part: FilePart,
}

/// What a read came to.
enum Read {
    /// What was written last.
    Right,
    /// It was being written meanwhile, or is not there yet.
    Disturbed,
    Wrong(FileClass),
}

impl LastWritten {
    /// Both copies are about to be written.
    pub(crate) fn begin(&self) {
        self.is_writing.set(true);
        self.writes.set(self.writes.get() + 1);
        *self.bytes.borrow_mut() = None;
    }

    /// Both copies hold `bytes` now.
    pub(crate) fn completed(&self, bytes: SharedBuffer) {
        self.is_writing.set(false);
        *self.bytes.borrow_mut() = Some(bytes);
    }

    /// Whether this process has written both copies.
    pub(crate) fn is_known(&self) -> bool {
        self.bytes.borrow().is_some()
    }

    /// Reads both copies back and says what is wrong with them. Nothing can be said of copies that
    /// are being written, or that this process has not written. `class_of` says what has become of
    /// bytes that differ from those written.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn read_back<F: File>(
        &self,
        handle: &Handle,
        file: &F,
        copies: [Copy; 2],
        class_of: impl Fn(&[u8], &[u8]) -> FileClass,
    ) -> Result<Vec<FileFinding>, IoError> {
        let mut findings = Vec::new();
        for copy in copies {
            let mut wrong = None;
            let mut wrong_reads = 0;
            for wait_ms in [0].into_iter().chain(READ_AGAIN_AFTER_MS) {
                if wrong_reads > 0 {
                    handle.sleep_ns(wait_ms * MILLISECOND_NS).await;
                }
                match self.read_one(file, copy, &class_of).await? {
                    Read::Right => break,
                    Read::Disturbed => {
                        wrong = None;
                        break;
                    }
                    Read::Wrong(class) => {
                        wrong_reads += 1;
                        wrong = Some(class);
                    }
                }
            }
            if let Some(class) = wrong {
                findings.push(finding(file, copy.part, class, wrong_reads));
            }
        }
        Ok(findings)
    }

    /// From now on copies are read back before they are written over: afterwards nobody can see that
    /// they were wrong.
    pub(crate) fn set_reads_before_overwriting(&self, handle: &Handle) {
        *self.reads_before_overwriting.borrow_mut() = Some(handle.clone());
    }

    /// To be called before both copies are written. What is wrong with them is kept for
    /// [`LastWritten::take_overwritten`]; a request that fails leaves them unread.
    pub(crate) async fn read_before_overwriting<F: File>(
        &self,
        file: &F,
        copies: [Copy; 2],
        class_of: impl Fn(&[u8], &[u8]) -> FileClass,
    ) {
        let handle = self.reads_before_overwriting.borrow().clone();
        let Some(handle) = handle.filter(|_| self.is_known()) else {
            return;
        };
        if let Ok(findings) = self.read_back(&handle, file, copies, class_of).await {
            self.overwritten.borrow_mut().extend(findings);
        }
    }

    /// What was wrong with copies that have been written over since, and has not been taken yet.
    pub(crate) fn take_overwritten(&self) -> Vec<FileFinding> {
        self.overwritten.take()
    }

    async fn read_one<F: File>(
        &self,
        file: &F,
        copy: Copy,
        class_of: impl Fn(&[u8], &[u8]) -> FileClass,
    ) -> Result<Read, IoError> {
        let expected = self.bytes.borrow().clone();
        let Some(expected) = expected.filter(|_| !self.is_writing.get()) else {
            return Ok(Read::Disturbed);
        };
        let writes = self.writes.get();
        let buffer = Buffer::zeroed(expected.len());
        let (found, result) = file.read(copy.offset_bytes, buffer).await;
        if self.writes.get() != writes {
            return Ok(Read::Disturbed);
        }
        match result {
            Err(error) if error.failure == IoFailure::PastEnd => {
                return Ok(Read::Wrong(FileClass::Missing));
            }
            result => result?,
        }
        if found[..] == expected[..] {
            return Ok(Read::Right);
        }
        let class = if found.iter().all(|&byte| byte == 0) {
            FileClass::Zeroed
        } else {
            class_of(&found, &expected)
        };
        Ok(Read::Wrong(class))
    }
}

fn finding<F: File>(file: &F, part: FilePart, class: FileClass, wrong_reads: u32) -> FileFinding {
    let what = match part {
        FilePart::Header { copy: 1 } => "the database header",
        FilePart::Header { .. } => "the shadow copy of the database header",
        FilePart::Checkpoint { copy: 1 } => "the first copy of the checkpoint",
        FilePart::Checkpoint { .. } => "the second copy of the checkpoint",
        FilePart::Log { .. } => "the log file",
        FilePart::DatabaseEnd => "the end of the database",
        FilePart::Versions => "the file of page versions",
    };
    let became = match class {
        FileClass::Checksum => "has a wrong checksum",
        FileClass::LostWrite => "is an older one: the last write of it was lost",
        FileClass::Foreign => "is that of another database",
        FileClass::Zeroed => "is all zeros",
        FileClass::Missing => "is missing: the file is shorter than it was written",
        FileClass::Different => "is not what was written last",
    };
    let persistence = if wrong_reads as usize > READ_AGAIN_AFTER_MS.len() {
        Persistence::Medium { reads: wrong_reads }
    } else {
        Persistence::Transient { wrong_reads }
    };
    FileFinding {
        file: file.name(),
        part,
        class,
        problem: format!("{what} {became}"),
        persistence,
    }
}

/// The two copies of a part, for reading them back.
pub(crate) fn two_copies(distance_bytes: u64, part: impl Fn(u8) -> FilePart) -> [Copy; 2] {
    [1, 2].map(|copy| Copy {
        offset_bytes: u64::from(copy - 1) * distance_bytes,
        part: part(copy),
    })
}
