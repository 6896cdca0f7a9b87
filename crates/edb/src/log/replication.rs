//! Log replication without copies: each full file is read once for every further copy of the database, as
//! the log shipping of a mail server reads it. Nothing is done with what was read; the storage has to bear
//! the reads beside the rest. [`super::shipping`] ships files to a copy that is there.

use super::error::LogError;
use super::files::LogFiles;
use crate::accounting::Shape;
use runtime::{Buffer, Directory, File, IoCause, IoDirection};
use std::rc::Rc;

impl<D: Directory> LogFiles<D> {
    /// Starts the readers. The first file they read is that of `generation`, once it is full.
    pub(super) fn start_replication(self: &Rc<Self>, generation: u32) {
        let readers = self.core.settings.engine.log_replication_readers as usize;
        for _ in 0..readers {
            let reader = self.core.add_reader(generation);
            let files = Rc::clone(self);
            self.core.begin_task();
            drop(self.core.handle.spawn(async move {
                // The observer of the requests has seen what failed. The log itself goes on, and
                // waits for this reader no more.
                let _notification = files.replicate(reader).await;
                files.core.has_read(reader, u32::MAX);
                files.core.end_task();
            }));
        }
    }

    /// Reads file after file until the log is over.
    async fn replicate(&self, reader: usize) -> Result<(), LogError> {
        let step = self
            .core
            .settings
            .engine
            .internals
            .log_replication_read_bytes;
        let mut buffer = Buffer::zeroed(step.min(self.core.geometry.file_bytes) as usize);
        while let Some(generation) = self.next_full(reader).await {
            let file = self.directory.open(&self.names.full(generation)).await?;
            let size_bytes = file.size_bytes().await?;
            let mut offset = 0;
            while offset < size_bytes {
                if self.core.is_over() {
                    return Ok(());
                }
                let length = step.min(size_bytes - offset);
                if buffer.len() as u64 != length {
                    buffer = Buffer::zeroed(length as usize);
                }
                let issued_ns = self.core.handle.now_ns();
                let (read, result) = file.read(offset, buffer).await;
                let shape: Shape = (IoDirection::Read, offset, length);
                let error = result.as_ref().err();
                self.notify_observer(IoCause::LogReplication, shape, issued_ns, error);
                result?;
                buffer = read;
                offset += length;
            }
            self.core.has_read(reader, generation + 1);
        }
        Ok(())
    }

    /// Waits until the next file of a reader is full. `None`: the log is over.
    async fn next_full(&self, reader: usize) -> Option<u32> {
        let generation = self.core.replicated.borrow()[reader];
        loop {
            let rolled = self.core.rolled.notified();
            if self.core.is_over() {
                return None;
            }
            if generation < self.core.generation() {
                return Some(generation);
            }
            rolled.await;
        }
    }
}
