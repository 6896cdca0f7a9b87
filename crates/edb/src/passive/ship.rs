//! Writes the full log files of a database to the directory of its copy.

use super::NotNeeded;
use super::progress::Progress;
use crate::accounting::notify_observer;
use crate::error::EngineError;
use crate::log::{FullFiles, ShippedFile};
use runtime::{
    Buffer, Directory, File, Handle, IoCause, IoDirection, IoError, IoObserver, Persistence,
};
use std::rc::Rc;

/// Bytes of one write.
const WRITE_BYTES: usize = 256 * 1024;

/// Where log files are shipped to.
pub(super) struct ShipTo<D: Directory> {
    pub(super) handle: Handle,
    pub(super) directory: D,
    pub(super) observer: Rc<dyn IoObserver>,
}

/// Ships file after file until the log is over, or replication is.
pub(super) async fn ship<D: Directory>(
    mut files: FullFiles<D>,
    to: ShipTo<D>,
    not_needed: NotNeeded,
    progress: Rc<Progress>,
) -> FullFiles<D> {
    while !progress.is_over() {
        let generation = files.next_generation();
        let shipped = match files.next().await {
            Ok(Some(_)) if progress.is_over() => break,
            Ok(Some(file)) => to.write(&file).await.map_err(EngineError::from),
            Ok(None) => break,
            Err(error) => Err(error.into()),
        };
        match shipped {
            Ok(()) => {
                if let Some((at, before)) = not_needed() {
                    progress.note_not_needed(at, before);
                }
                progress.set_shipped(generation + 1);
            }
            Err(error) => progress.suspend(generation, error),
        }
    }
    if progress.is_over() {
        // What waits to be shipped is not kept for it any more.
        files.let_go();
    }
    progress.end_shipping();
    files
}

impl<D: Directory> ShipTo<D> {
    /// Writes a log file; it is on stable storage when this returns.
    pub(super) async fn write(&self, shipped: &ShippedFile) -> Result<(), IoError> {
        let file = self.directory.create(&shipped.name).await?;
        file.set_size_bytes(shipped.bytes.len() as u64).await?;
        let mut offset = 0;
        for part in shipped.bytes.chunks(WRITE_BYTES) {
            let mut bytes = Buffer::zeroed(part.len());
            bytes.copy_from_slice(part);
            let issued_ns = self.handle.now_ns();
            let write = file.write(offset, Rc::new(bytes), Persistence::Durable);
            let result = write.await;
            let shape = (IoDirection::Write, offset, part.len() as u64);
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
            offset += part.len() as u64;
        }
        file.sync().await?;
        self.directory.sync().await
    }
}
