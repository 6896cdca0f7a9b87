//! The checkpoint file: where recovery begins to read the log.
//!
//! Two copies of 4 KiB, written one after the other, so that a torn write leaves one whole.

use super::contents::{COPY, Checkpoint};
use super::copies::{CheckpointCopies, CopyRead};
use crate::accounting::{Shape, notify_observer};
use crate::integrity::{
    Copy, FileClass, FileFinding, FilePart, LastWritten, Persistence as Lasting, two_copies,
};
use crate::log::checkpoint_name;
use crate::position::SEGMENT_BYTES;
use runtime::{
    Buffer, Directory, File, Handle, IoCause, IoDirection, IoError, IoFailure, IoObserver,
    Persistence,
};
use std::rc::Rc;

const MISSING: &str = "the checkpoint file is missing";
const TOO_SHORT: &str = "the checkpoint file is shorter than it was written";

/// The open checkpoint file.
pub struct CheckpointFile<F: File> {
    handle: Handle,
    file: F,
    observer: Rc<dyn IoObserver>,
    written: Rc<LastWritten>,
    was_missing: bool,
}

impl<F: File> CheckpointFile<F> {
    /// Opens the checkpoint file of the log with that prefix, making it if there is none.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn open<D: Directory<File = F>>(
        handle: &Handle,
        directory: &D,
        prefix: &str,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Self, IoError> {
        let name = checkpoint_name(prefix);
        let opened = directory.open(&name).await;
        let was_missing = matches!(&opened, Err(error) if error.failure == IoFailure::NotFound);
        let file = match opened {
            Err(error) if error.failure == IoFailure::NotFound => {
                let file = directory.create(&name).await?;
                file.set_size_bytes(2 * SEGMENT_BYTES).await?;
                file.sync().await?;
                directory.sync().await?;
                file
            }
            opened => opened?,
        };
        Ok(Self {
            handle: handle.clone(),
            file,
            observer,
            written: Rc::default(),
            was_missing,
        })
    }

    /// What both copies must be.
    #[must_use]
    pub fn written(&self) -> Rc<LastWritten> {
        Rc::clone(&self.written)
    }

    /// Reads both copies back and says what is wrong with them.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn read_back(&self) -> Result<Vec<FileFinding>, IoError> {
        read_back(&self.handle, &self.file, &self.written).await
    }

    /// The checkpoint, from whichever copy is whole; of two whole ones the later.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn read(&self) -> Result<Option<Checkpoint>, IoError> {
        Ok(self.read_copies().await?.latest())
    }

    /// Both copies as they are.
    ///
    /// # Errors
    /// If the storage fails.
    pub(crate) async fn read_copies(&self) -> Result<CheckpointCopies, IoError> {
        let missing = |problem| CheckpointCopies {
            file: self.file.name(),
            missing: Some(problem),
            copies: [CopyRead::Zero; 2],
        };
        if self.was_missing {
            return Ok(missing(MISSING));
        }
        if self.file.size_bytes().await? < 2 * SEGMENT_BYTES {
            return Ok(missing(TOO_SHORT));
        }
        let issued_ns = self.handle.now_ns();
        let (bytes, result) = self.file.read(0, Buffer::zeroed(2 * COPY)).await;
        self.notify_observer(
            (IoDirection::Read, 0, 2 * SEGMENT_BYTES),
            issued_ns,
            result.as_ref().err(),
        );
        result?;
        let (first, second) = bytes.split_at(COPY);
        Ok(CheckpointCopies {
            file: self.file.name(),
            missing: None,
            copies: [first, second].map(CopyRead::of),
        })
    }

    /// Writes both copies, the second once the first is durable. The copies in place are read
    /// back first where [`LastWritten::set_reads_before_overwriting`] says so.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn write(&self, checkpoint: &Checkpoint) -> Result<(), IoError> {
        let Self { file, written, .. } = self;
        let read = written.read_before_overwriting(file, copies(), class_of);
        read.await;
        let bytes = Rc::new(checkpoint.encode());
        self.written.begin();
        for offset in [0, SEGMENT_BYTES] {
            let issued_ns = self.handle.now_ns();
            let copy = Rc::clone(&bytes);
            let result = self.file.write(offset, copy, Persistence::Durable).await;
            self.notify_observer(
                (IoDirection::Write, offset, SEGMENT_BYTES),
                issued_ns,
                result.as_ref().err(),
            );
            result?;
        }
        self.written.completed(bytes);
        Ok(())
    }

    fn notify_observer(&self, shape: Shape, issued_ns: u64, error: Option<&IoError>) {
        let (observer, cause) = (&*self.observer, IoCause::Checkpoint);
        notify_observer(&self.handle, observer, cause, shape, issued_ns, error);
    }
}

async fn read_back<F: File>(
    handle: &Handle,
    file: &F,
    written: &LastWritten,
) -> Result<Vec<FileFinding>, IoError> {
    written.read_back(handle, file, copies(), class_of).await
}

fn copies() -> [Copy; 2] {
    two_copies(SEGMENT_BYTES, |copy| FilePart::Checkpoint { copy })
}

/// Both copies of the checkpoint of the log in `directory` as they are, read from outside.
///
/// # Errors
/// If the storage fails.
pub(crate) async fn copies_in<D: Directory>(
    directory: &D,
    prefix: &str,
) -> Result<CheckpointCopies, IoError> {
    let name = checkpoint_name(prefix);
    let copies = |missing, copies| CheckpointCopies {
        file: format!("{}/{name}", directory.describe()),
        missing,
        copies,
    };
    let file = match directory.open(&name).await {
        Err(error) if error.failure == IoFailure::NotFound => {
            return Ok(copies(Some(MISSING), [CopyRead::Zero; 2]));
        }
        opened => opened?,
    };
    if file.size_bytes().await? < 2 * SEGMENT_BYTES {
        return Ok(copies(Some(TOO_SHORT), [CopyRead::Zero; 2]));
    }
    let (bytes, result) = file.read(0, Buffer::zeroed(2 * COPY)).await;
    result?;
    let (first, second) = bytes.split_at(COPY);
    Ok(copies(None, [first, second].map(CopyRead::of)))
}

/// Reads both copies of the checkpoint of the log in `directory` back. A file that is not there is a
/// finding if it has been written.
///
/// # Errors
/// If the storage fails.
pub(crate) async fn read_checkpoint_back<D: Directory>(
    handle: &Handle,
    directory: &D,
    prefix: &str,
    written: &LastWritten,
) -> Result<Vec<FileFinding>, IoError> {
    if !written.is_known() {
        return Ok(Vec::new());
    }
    let name = checkpoint_name(prefix);
    let missing = |problem: &str| {
        let finding = FileFinding {
            file: format!("{}/{name}", directory.describe()),
            part: FilePart::Checkpoint { copy: 1 },
            class: FileClass::Missing,
            problem: problem.to_owned(),
            persistence: Lasting::ReadOnce,
        };
        Ok(vec![finding])
    };
    let file = match directory.open(&name).await {
        Err(error) if error.failure == IoFailure::NotFound => {
            return missing(MISSING);
        }
        opened => opened?,
    };
    if file.size_bytes().await? < 2 * SEGMENT_BYTES {
        return missing(TOO_SHORT);
    }
    read_back(handle, &file, written).await
}

/// What has become of a checkpoint.
fn class_of(found: &[u8], expected: &[u8]) -> FileClass {
    let (Some(found), Some(expected)) = (Checkpoint::decode(found), Checkpoint::decode(expected))
    else {
        return FileClass::Checksum;
    };
    if found.signature != expected.signature {
        FileClass::Foreign
    } else if (found.position, found.time.unix_ms) < (expected.position, expected.time.unix_ms) {
        FileClass::LostWrite
    } else {
        FileClass::Different
    }
}
