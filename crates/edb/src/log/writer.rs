//! The one task that writes the log.

use super::error::LogError;
use super::files::{CurrentFile, LogFiles};
use super::state::{Action, LogCore};
use crate::position::SEGMENT_BYTES;
use runtime::{Directory, File, IoCause, IoDirection, Persistence};
use std::rc::Rc;

struct Writer<D: Directory> {
    core: Rc<LogCore>,
    files: Rc<LogFiles<D>>,
    current: CurrentFile<D::File>,
}

/// Starts the task. It ends when the log is closed, abandoned or has failed.
pub(super) fn spawn<D: Directory>(
    core: &Rc<LogCore>,
    files: Rc<LogFiles<D>>,
    current: CurrentFile<D::File>,
) {
    let mut writer = Writer {
        core: Rc::clone(core),
        files,
        current,
    };
    drop(core.handle.spawn_urgent(async move {
        if let Err(failure) = writer.run().await {
            writer.core.fail(&failure);
        }
        writer.core.stop();
    }));
}

impl<D: Directory> Writer<D> {
    async fn run(&mut self) -> Result<(), LogError> {
        loop {
            match self.core.next_action() {
                Action::Write { pad, capacity } => self.write(pad, capacity).await?,
                Action::Wait(None) => self.core.writer.wait().await,
                Action::Wait(Some(deadline_ns)) => {
                    self.core
                        .writer
                        .wait_until(&self.core.handle, deadline_ns)
                        .await;
                }
                Action::Stop => return Ok(()),
            }
        }
    }

    /// One request: everything that waits for the same file.
    async fn write(&mut self, pad: bool, capacity: bool) -> Result<(), LogError> {
        let Some(generation) = self.core.prepare_batch(pad) else {
            return Ok(());
        };
        if generation != self.current.generation {
            assert_eq!(
                generation,
                self.current.generation + 1,
                "files follow each other"
            );
            self.current = self.files.roll_over(&self.current).await?;
            return Ok(()); // More may have come in meanwhile: ask again what to do.
        }
        let Some(batch) = self.core.take_batch() else {
            return Ok(());
        };
        assert_eq!(batch.generation, generation, "a request goes to one file");
        let offset = u64::from(batch.first_number) * SEGMENT_BYTES;
        let bytes = batch.segments.len() as u64 * SEGMENT_BYTES;
        let issued_ns = self.core.handle.now_ns();
        let file = &self.current.file;
        let mut segments = batch.segments;
        let result = match segments.pop() {
            Some(only) if segments.is_empty() => {
                file.write(offset, only, Persistence::Durable).await
            }
            last => {
                segments.extend(last);
                file.write_vectored(offset, segments, Persistence::Durable)
                    .await
            }
        };
        let shape = (IoDirection::Write, offset, bytes);
        self.files
            .notify_observer(IoCause::Log, shape, issued_ns, result.as_ref().err());
        result?;
        self.files.advance(offset + bytes);
        self.core
            .count(|statistics| statistics.capacity_writes += u64::from(capacity));
        self.core.written(batch.end, bytes);
        Ok(())
    }
}
