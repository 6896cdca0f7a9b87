//! The file that will be written next: a released one used again, or a new one filled with zeros in
//! large writes that keep pace with the current file. Either gets its header ahead of its time.

use super::error::LogError;
use super::files::{CurrentFile, FilePlace, LogFiles, Next};
use crate::integrity::{FileClass, FileFinding, FilePart, Persistence};
use runtime::{Buffer, Directory, File, IoCause, IoError, IoFailure};
use std::rc::Rc;

impl<D: Directory> LogFiles<D> {
    /// Starts preparing the next file, which is to have this place, in the background.
    pub(super) fn prepare_next(self: &Rc<Self>, place: FilePlace) {
        *self.next.borrow_mut() = Next::Underway;
        let files = Rc::clone(self);
        self.core.begin_task();
        drop(self.core.handle.spawn(async move {
            files.prepare(place).await;
            files.core.end_task();
        }));
    }

    async fn prepare(&self, place: FilePlace) {
        let next = match self.make_next(place).await {
            Ok(Some(next)) => Next::Ready(next),
            Ok(None) => return, // The log is over: nobody will ask.
            Err(LogError::Io(error)) if error.failure == IoFailure::OutOfSpace => {
                let refusal = LogError::OutOfSpace(error);
                self.core.refuse(refusal.clone());
                Next::Failed(refusal)
            }
            Err(error) => Next::Failed(error),
        };
        *self.next.borrow_mut() = next;
        self.next_changed.notify_all();
    }

    /// The next file, whose preparation waits no longer. If there is no space for it, a reserve file.
    pub(super) async fn take_next(
        &self,
        place: FilePlace,
    ) -> Result<CurrentFile<D::File>, LogError> {
        self.needed_now.set(true);
        self.core.advanced.notify_all();
        loop {
            let changed = self.next_changed.notified();
            let next = std::mem::replace(&mut *self.next.borrow_mut(), Next::Missing);
            match next {
                Next::Ready(next) => {
                    assert_eq!(next.generation, place.generation, "files follow each other");
                    self.needed_now.set(false);
                    return Ok(next);
                }
                Next::Failed(LogError::OutOfSpace(error)) => {
                    let file = self.use_reserve(error).await?;
                    return self.with_header(file, place).await;
                }
                Next::Failed(error) => return Err(error),
                Next::Underway => *self.next.borrow_mut() = Next::Underway,
                Next::Missing => panic!("somebody prepares the next log file before it is needed"),
            }
            changed.await;
        }
    }

    /// Makes the next file. `None`: the log is over.
    async fn make_next(&self, place: FilePlace) -> Result<Option<CurrentFile<D::File>>, LogError> {
        if let Some(file) = self.reuse_released().await? {
            self.core.count(|statistics| statistics.files_reused += 1);
            return Ok(Some(self.with_header(file, place).await?));
        }
        let name = self.names.next();
        let file = self.directory.create(&name).await?;
        self.directory.sync().await?;
        let size_bytes = self.core.settings.file_bytes();
        let filled = self.fill_paced(&file, size_bytes).await;
        match filled {
            Ok(true) => {
                self.core.count(|statistics| statistics.files_created += 1);
                Ok(Some(self.with_header(file, place).await?))
            }
            Ok(false) => Ok(None),
            Err(LogError::Io(error)) if error.failure == IoFailure::OutOfSpace => {
                // Give back what it took, so that the reserve can have its name.
                drop(file);
                self.directory.remove(&name).await?;
                Err(error.into())
            }
            Err(error) => Err(error),
        }
    }

    /// Fills the new file, each write when the current file has advanced far enough. False: the log
    /// is over.
    async fn fill_paced(&self, file: &D::File, size_bytes: u64) -> Result<bool, LogError> {
        file.set_size_bytes(size_bytes).await?;
        let step = self
            .core
            .settings
            .engine
            .internals
            .zero_fill_write_bytes
            .min(size_bytes);
        let writes = size_bytes.div_ceil(step);
        for write in 0..writes {
            // Of two writes the first starts after a fifth of the current file, the second after
            // three fifths.
            let start_bytes = size_bytes * (2 * write + 1) / (2 * writes + 1);
            loop {
                if self.core.is_over() {
                    return Ok(false);
                }
                let advanced = self.core.advanced.notified();
                if self.needed_now.get() || self.current_bytes.get() >= start_bytes {
                    break;
                }
                advanced.await;
            }
            self.fill(file, write * step, size_bytes).await?;
        }
        file.sync().await?;
        Ok(true)
    }

    async fn fill(&self, file: &D::File, offset: u64, size_bytes: u64) -> Result<(), LogError> {
        let step = self.core.settings.engine.internals.zero_fill_write_bytes;
        let length = step.min(size_bytes - offset);
        let zeros = Rc::new(Buffer::zeroed(length as usize));
        self.write(file, offset, zeros, IoCause::LogFormat).await
    }

    /// Makes the next file once more, which somebody has removed or cut short after it was made ready. Nothing was
    /// in it yet.
    pub(super) async fn make_again(
        &self,
        place: FilePlace,
    ) -> Result<CurrentFile<D::File>, LogError> {
        let name = self.names.next();
        self.core.note(vec![FileFinding {
            file: format!("{}/{name}", self.directory.describe()),
            part: FilePart::Log {
                generation: place.generation,
                segment: None,
            },
            class: FileClass::Missing,
            problem: "the log file that was ready to be written next was removed or cut short; it was made again"
                .to_owned(),
            persistence: Persistence::ReadOnce,
        }]);
        match self.directory.remove(&name).await {
            Err(error) if error.failure != IoFailure::NotFound => return Err(error.into()),
            _ => {}
        }
        let file = self.directory.create(&name).await?;
        self.fill_all(&file).await?;
        self.with_header(file, place).await
    }

    /// Renames the oldest released file to be the next one and removes those that are too many. What
    /// it still holds is of an older generation, which every segment header shows, so it is not filled again.
    async fn reuse_released(&self) -> Result<Option<D::File>, LogError> {
        if !self.core.settings.engine.engine.circular_logging {
            return Ok(None);
        }
        let released = self.core.removable_before();
        let oldest = self.core.full.borrow().first().copied();
        let Some(generation) = oldest.filter(|&generation| generation < released) else {
            return Ok(None);
        };
        self.core.full.borrow_mut().remove(&generation);
        self.read_released_back(generation).await;
        let next = self.names.next();
        let full = self.names.full(generation);
        if !self.is_own(generation).await {
            return Ok(None);
        }
        let renamed = self.directory.rename(&full, &next).await;
        if !self.was_there(generation, renamed)? {
            return Ok(None);
        }
        self.directory.sync().await?;
        let file = self.directory.open(&next).await?;
        self.remove_released().await?;
        if file.size_bytes().await? == self.core.settings.file_bytes() {
            return Ok(Some(file));
        }
        drop(file);
        self.directory.remove(&next).await?;
        Ok(None)
    }

    /// Removes released files, the oldest first, as long as there are more files than are kept. Those
    /// left wait to be used again: the checkpoint releases many at a time, and creating a file costs
    /// the disk far more than renaming one.
    async fn remove_released(&self) -> Result<(), LogError> {
        let released = self.core.removable_before();
        loop {
            let surplus = {
                let full = self.core.full.borrow();
                let too_many = full.len() > self.core.settings.kept_files();
                let oldest = full.first().copied();
                oldest.filter(|&oldest| too_many && oldest < released)
            };
            let Some(generation) = surplus else {
                return Ok(());
            };
            self.core.full.borrow_mut().remove(&generation);
            self.read_released_back(generation).await;
            if !self.is_own(generation).await {
                continue;
            }
            let removed = self.directory.remove(&self.names.full(generation)).await;
            self.was_there(generation, removed)?;
            self.core.count(|statistics| statistics.files_removed += 1);
        }
    }

    /// Makes the reserve files that are missing. Having no space for them is no failure of the log,
    /// but new work is refused.
    pub(super) async fn make_reserves(&self) -> Result<(), LogError> {
        let present = self.directory.list().await?;
        for number in 1..=self.core.settings.engine.internals.reserve_log_files {
            let name = self.names.reserve(number);
            if !present.contains(&name) {
                let file = self.directory.create(&name).await?;
                match self.fill_all(&file).await {
                    Ok(()) => {}
                    Err(LogError::Io(error)) if error.failure == IoFailure::OutOfSpace => {
                        self.directory.remove(&name).await?;
                        self.core.refuse(LogError::OutOfSpace(error));
                        return Ok(());
                    }
                    Err(error) => return Err(error),
                }
            }
            self.reserves.borrow_mut().insert(number);
        }
        Ok(self.directory.sync().await?)
    }

    async fn fill_all(&self, file: &D::File) -> Result<(), LogError> {
        let size_bytes = self.core.settings.file_bytes();
        file.set_size_bytes(size_bytes).await?;
        let step = self.core.settings.engine.internals.zero_fill_write_bytes;
        for write in 0..size_bytes.div_ceil(step) {
            self.fill(file, write * step, size_bytes).await?;
        }
        Ok(file.sync().await?)
    }

    async fn use_reserve(&self, error: IoError) -> Result<D::File, LogError> {
        let number = self.reserves.borrow_mut().pop_first();
        let Some(number) = number else {
            return Err(LogError::OutOfSpace(error));
        };
        let next = self.names.next();
        self.directory
            .rename(&self.names.reserve(number), &next)
            .await?;
        self.directory.sync().await?;
        self.core.count(|statistics| statistics.reserves_used += 1);
        self.needed_now.set(false);
        Ok(self.directory.open(&next).await?)
    }
}
