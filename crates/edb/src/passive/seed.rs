//! Seeding of a passive copy: the pages of an open database are read, verified and written to it.

use super::{CopyPlace, NotNeeded, PassiveCopy, Seeded};
use crate::database::{BackupPass, BackupReads, Database, DatabaseCopy};
use crate::engine::Core;
use crate::error::EngineError;
use runtime::{Directory, IoObserver};
use std::rc::{Rc, Weak};

impl<D: Directory> Database<D> {
    /// Seeds a passive copy, which keeps itself up to date from then on. `observer` is notified of the reads
    /// of full log files. `progress` hears the bytes of pages so far, and says whether to go on; there is no
    /// copy if it was stopped.
    ///
    /// # Errors
    /// If there are such files, or the storage of the copy fails; or the log of this database. Pages that are
    /// damaged are damage of this database.
    pub async fn seed(
        &self,
        place: &CopyPlace<'_, D>,
        reads: BackupReads,
        observer: Rc<dyn IoObserver>,
        progress: impl Fn(u64) -> bool,
    ) -> Result<(BackupPass, Option<PassiveCopy<D>>), EngineError> {
        let seeded = self.try_seed(place, reads, observer, progress).await;
        self.hold_checkpoint(false);
        let (pass, seeded) = seeded?;
        let copy = match seeded {
            Some(seeded) => Some(PassiveCopy::start(&self.inner.core.handle, place, seeded).await?),
            None => None,
        };
        Ok((pass, copy))
    }

    async fn try_seed(
        &self,
        place: &CopyPlace<'_, D>,
        reads: BackupReads,
        observer: Rc<dyn IoObserver>,
        progress: impl Fn(u64) -> bool,
    ) -> Result<(BackupPass, Option<Seeded<D>>), EngineError> {
        let (core, parts) = (&self.inner.core, &self.inner.checkpoint_parts);
        // A database that has just been opened for the first time has no checkpoint yet.
        parts.checkpointer.advance().await?;
        self.hold_checkpoint(true);
        let checkpoint = parts.checkpointer.position();
        let generation = checkpoint.generation(core.log.file_size_bytes());
        let log_directory = &self.inner.place.log_directory;
        let files = core.log.full_files(log_directory, generation, observer);
        let page_bytes = core.settings.engine.page_bytes();
        let to = (place.directory, place.log_directory);
        let mut copy = DatabaseCopy::create(to, place.name, page_bytes).await?;
        let pass = self.back_up(reads, Some(&mut copy), progress).await?;
        if pass.stopped {
            return Ok((pass, None));
        }
        // Replay needs the log up to the changes of the pages that were read.
        core.log.make_durable(core.log.end()).await?;
        let header = self.write_headers(&copy).await?;
        copy.sync().await?;
        let seeded = Seeded {
            header,
            checkpoint,
            files,
            not_needed: not_needed(Rc::downgrade(core)),
        };
        Ok((pass, Some(seeded)))
    }
}

fn not_needed<D: Directory>(core: Weak<Core<D>>) -> NotNeeded {
    Box::new(move || {
        let core = core.upgrade()?;
        let end = core.log.end();
        let oldest = core
            .transactions
            .borrow_mut()
            .oldest_needed(core.log.durable());
        Some((end, oldest.unwrap_or(end)))
    })
}
