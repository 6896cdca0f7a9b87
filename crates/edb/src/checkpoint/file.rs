//! The checkpoint file: where recovery begins to read the log.
//!
//! Two copies of 4 KiB, written one after the other, so that a torn write leaves one whole.

use crate::accounting::{Shape, notify_observer};
use crate::format::checksum::header_checksum;
use crate::format::database_header::{
    HeaderLogPosition, LogTime, Signature, put_signature, signature_at,
};
use crate::log::{checkpoint_name, eight, put, word};
use crate::position::{LogPosition, SEGMENT_BYTES};
use runtime::{
    Buffer, Directory, File, Handle, IoCause, IoDirection, IoError, IoFailure, IoObserver,
    Persistence,
};
use std::rc::Rc;

const COPY: usize = SEGMENT_BYTES as usize;
const FILE_TYPE_CHECKPOINT: u8 = 3;

mod at {
    pub const POSITION: usize = 8;
    pub const TIME: usize = 16;
    pub const FILE_BYTES: usize = 24;
    pub const SIGNATURE: usize = 32;
    pub const FILE_TYPE: usize = 667;
}

/// What the file says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Recovery needs the log from here on.
    pub position: LogPosition,
    /// Bytes of a log file.
    pub log_file_size_bytes: u64,
    /// The log it belongs to.
    pub signature: Signature,
    /// When it was written.
    pub time: LogTime,
}

impl Checkpoint {
    fn encode(&self) -> Buffer {
        let mut bytes = Buffer::zeroed(COPY);
        let position = HeaderLogPosition::from_stream(self.position.0, self.log_file_size_bytes);
        put(&mut bytes, at::POSITION, &position.encode());
        put(&mut bytes, at::TIME, &self.time.encode());
        put(
            &mut bytes,
            at::FILE_BYTES,
            &self.log_file_size_bytes.to_le_bytes(),
        );
        put_signature(&mut bytes, at::SIGNATURE, self.signature);
        bytes[at::FILE_TYPE] = FILE_TYPE_CHECKPOINT;
        let checksum = header_checksum(&bytes);
        put(&mut bytes, 0, &checksum.to_le_bytes());
        bytes
    }

    fn decode(bytes: &[u8]) -> Option<Self> {
        let whole = bytes[at::FILE_TYPE] == FILE_TYPE_CHECKPOINT
            && word(bytes, 0) == header_checksum(bytes);
        let log_file_size_bytes = u64::from_le_bytes(eight(bytes, at::FILE_BYTES));
        let position = HeaderLogPosition::decode(eight(bytes, at::POSITION));
        whole.then(|| Self {
            position: LogPosition(position.to_stream(log_file_size_bytes)),
            log_file_size_bytes,
            signature: signature_at(bytes, at::SIGNATURE),
            time: LogTime::decode(eight(bytes, at::TIME)),
        })
    }
}

/// The open checkpoint file.
pub struct CheckpointFile<F: File> {
    handle: Handle,
    file: F,
    observer: Rc<dyn IoObserver>,
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
        let file = match directory.open(&name).await {
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
        })
    }

    /// The checkpoint, from whichever copy is whole; of two whole ones the later. `None`: never
    /// written, or damaged; recovery then begins with the oldest log file.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn read(&self) -> Result<Option<Checkpoint>, IoError> {
        if self.file.size_bytes().await? < 2 * SEGMENT_BYTES {
            return Ok(None);
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
        let whole = [first, second].into_iter().filter_map(Checkpoint::decode);
        Ok(whole.max_by_key(|checkpoint| checkpoint.position))
    }

    /// Writes both copies, the second once the first is durable.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn write(&self, checkpoint: &Checkpoint) -> Result<(), IoError> {
        let bytes = Rc::new(checkpoint.encode());
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
        Ok(())
    }

    fn notify_observer(&self, shape: Shape, issued_ns: u64, error: Option<&IoError>) {
        let (observer, cause) = (&*self.observer, IoCause::Checkpoint);
        notify_observer(&self.handle, observer, cause, shape, issued_ns, error);
    }
}
