//! Files and directories of a simulated disk.

use super::content::{Block, block_number, blocks_of};
use super::disk::{LoggedOutcome, SimulatedDisk, Subject, Ticket};
use super::faults::FaultEffect;
use super::state::{Change, FileId, InFlightWrite, OpenMark};
use crate::buffer::{BLOCK_BYTES, Buffer, SharedBuffer, require_blocks};
use crate::file::{Directory, File, IoError, IoFailure, IoOperation, Persistence};

/// A directory of a [`SimulatedDisk`].
#[derive(Clone)]
pub struct SimulatedDirectory {
    disk: SimulatedDisk,
    name: String,
}

/// An open file of a [`SimulatedDisk`]. It stays readable after it was removed or replaced.
#[derive(Clone)]
pub struct SimulatedFile {
    disk: SimulatedDisk,
    file: FileId,
    opened_as: String,
    _mark: OpenMark,
}

impl SimulatedDisk {
    /// The directory called `name`, which always exists. Directories share the disk's names, its
    /// order of changes and its power.
    #[must_use]
    pub fn directory(&self, name: &str) -> SimulatedDirectory {
        SimulatedDirectory::new(self.clone(), name)
    }
}

impl SimulatedDirectory {
    fn new(disk: SimulatedDisk, name: &str) -> Self {
        assert!(!name.contains('/'), "directories are flat");
        Self {
            disk,
            name: name.to_owned(),
        }
    }

    /// The disk that the directory is on.
    #[must_use]
    pub fn disk(&self) -> &SimulatedDisk {
        &self.disk
    }

    fn path(&self, name: &str) -> String {
        format!("{}/{name}", self.name)
    }

    fn find(&self, path: &str) -> Option<FileId> {
        self.disk.inner.state.borrow().names.get(path).copied()
    }

    /// Begins a directory operation; its effect comes before its time passes, so that a power cut
    /// in between may or may not have kept it.
    async fn begin(&self, operation: IoOperation, file: String) -> Result<Ticket, IoError> {
        let subject = Subject {
            operation,
            file,
            offset_bytes: 0,
            length_bytes: 0,
        };
        let ticket = self.disk.begin(subject).await?;
        if let Some(FaultEffect::Fail(_)) = ticket.effect {
            self.disk.work(&ticket).await?;
        }
        Ok(ticket)
    }

    async fn finish(&self, ticket: &Ticket) -> Result<(), IoError> {
        self.disk.work(ticket).await?;
        self.disk.note(&ticket.subject, LoggedOutcome::Done);
        Ok(())
    }

    async fn refuse<T>(&self, ticket: &Ticket, failure: IoFailure) -> Result<T, IoError> {
        self.disk.work(ticket).await?;
        Err(self.disk.fail(&ticket.subject, failure))
    }

    fn file(&self, file: FileId, path: String) -> SimulatedFile {
        SimulatedFile {
            disk: self.disk.clone(),
            file,
            opened_as: path,
            _mark: self.disk.inner.state.borrow_mut().open(file),
        }
    }
}

impl Directory for SimulatedDirectory {
    type File = SimulatedFile;

    async fn create(&self, name: &str) -> Result<SimulatedFile, IoError> {
        let path = self.path(name);
        let ticket = self.begin(IoOperation::Create, path.clone()).await?;
        if self.find(&path).is_some() {
            return self.refuse(&ticket, IoFailure::AlreadyExists).await;
        }
        let file = self.disk.inner.state.borrow_mut().create(&path);
        let file = self.file(file, path);
        self.finish(&ticket).await?;
        Ok(file)
    }

    async fn open(&self, name: &str) -> Result<SimulatedFile, IoError> {
        let path = self.path(name);
        let ticket = self.begin(IoOperation::Open, path.clone()).await?;
        let Some(file) = self.find(&path) else {
            return self.refuse(&ticket, IoFailure::NotFound).await;
        };
        let file = self.file(file, path);
        self.finish(&ticket).await?;
        Ok(file)
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        let (from, to) = (self.path(from), self.path(to));
        let ticket = self.begin(IoOperation::Rename, from.clone()).await?;
        if self.find(&from).is_none() {
            return self.refuse(&ticket, IoFailure::NotFound).await;
        }
        if from != to {
            let change = Change::Rename { from, to };
            self.disk.inner.state.borrow_mut().change(change);
        }
        self.finish(&ticket).await
    }

    async fn remove(&self, name: &str) -> Result<(), IoError> {
        let path = self.path(name);
        let ticket = self.begin(IoOperation::Remove, path.clone()).await?;
        if self.find(&path).is_none() {
            return self.refuse(&ticket, IoFailure::NotFound).await;
        }
        let change = Change::Remove { name: path };
        self.disk.inner.state.borrow_mut().change(change);
        self.finish(&ticket).await
    }

    async fn list(&self) -> Result<Vec<String>, IoError> {
        let ticket = self.begin(IoOperation::List, self.path("")).await?;
        self.finish(&ticket).await?;
        let prefix = self.path("");
        let state = self.disk.inner.state.borrow();
        let names = state.names.keys();
        let names = names.filter_map(|path| path.strip_prefix(&prefix));
        Ok(names.map(str::to_owned).collect())
    }

    async fn sync(&self) -> Result<(), IoError> {
        let ticket = self.begin(IoOperation::Sync, self.path("")).await?;
        let limit = self.disk.inner.state.borrow().sequence();
        self.finish(&ticket).await?;
        self.disk.inner.state.borrow_mut().sync_names(limit);
        Ok(())
    }

    fn describe(&self) -> String {
        self.name.clone()
    }
}

/// Gives a write up to the disk when its caller stops waiting for it.
struct AwaitedWrite<'a> {
    disk: &'a SimulatedDisk,
    request: u64,
}

impl Drop for AwaitedWrite<'_> {
    fn drop(&mut self) {
        let mut state = self.disk.inner.state.borrow_mut();
        if let Some(write) = state.in_flight.get_mut(&self.request) {
            write.awaited = false;
        }
    }
}

impl SimulatedFile {
    fn subject(&self, operation: IoOperation, offset_bytes: u64, length_bytes: u64) -> Subject {
        let state = self.disk.inner.state.borrow();
        let named = state.names.iter().find(|(_, file)| **file == self.file);
        Subject {
            operation,
            file: named.map_or_else(|| self.opened_as.clone(), |(name, _)| name.clone()),
            offset_bytes,
            length_bytes,
        }
    }

    fn visible_size_bytes(&self) -> u64 {
        let mut state = self.disk.inner.state.borrow_mut();
        state.file(self.file).visible.size_bytes()
    }

    async fn read_into(&self, offset_bytes: u64, buffers: &mut [Buffer]) -> Result<(), IoError> {
        let length_bytes = buffers.iter().map(|buffer| buffer.len() as u64).sum();
        require_blocks(offset_bytes);
        let asked_ns = self.disk.inner.handle.now_ns();
        let subject = self.subject(IoOperation::Read, offset_bytes, length_bytes);
        let ticket = self.disk.begin(subject).await?;
        self.disk.work(&ticket).await?;
        if offset_bytes + length_bytes > self.visible_size_bytes() {
            return Err(self.disk.fail(&ticket.subject, IoFailure::PastEnd));
        }
        let mut from_bytes = offset_bytes;
        let mut state = self.disk.inner.state.borrow_mut();
        let is_stale = ticket.effect == Some(FaultEffect::ReadStale);
        for buffer in &mut *buffers {
            let file = state.file(self.file);
            let content = if is_stale {
                &file.former
            } else {
                &file.visible
            };
            content.read(from_bytes, buffer);
            from_bytes += buffer.len() as u64;
        }
        drop(state);
        let outcome = match ticket.effect {
            Some(FaultEffect::FlipBit) => {
                self.disk.flip_bit(&mut buffers[0]);
                LoggedOutcome::Flipped
            }
            Some(FaultEffect::ReadStale) => LoggedOutcome::Stale,
            _ => LoggedOutcome::Done,
        };
        if outcome != LoggedOutcome::Done {
            let name = &ticket.subject.file;
            self.disk
                .note_wrong_read(self.file, name, offset_bytes, buffers, asked_ns);
        }
        self.disk.note(&ticket.subject, outcome);
        Ok(())
    }

    async fn write_from(
        &self,
        offset_bytes: u64,
        buffers: &[SharedBuffer],
        persistence: Persistence,
    ) -> Result<(), IoError> {
        let length_bytes = buffers.iter().map(|buffer| buffer.len() as u64).sum();
        require_blocks(offset_bytes);
        let subject = self.subject(IoOperation::Write, offset_bytes, length_bytes);
        let ticket = self.disk.begin(subject).await?;
        let lost = match &ticket.effect {
            Some(FaultEffect::Fail(_)) => {
                return self.disk.work(&ticket).await;
            }
            Some(FaultEffect::LoseWrite) => Some(LoggedOutcome::Lost),
            _ => None,
        };
        let place = self.place_of_write(&ticket, length_bytes);
        if let (None, Some(first_block)) = (&lost, place) {
            let mut blocks = Vec::new();
            for (index, buffer) in buffers.iter().enumerate() {
                let mut corrupted = None;
                if index == 0 && ticket.effect == Some(FaultEffect::CorruptWrite) {
                    let copy = corrupted.insert(buffer.copied());
                    self.disk.flip_bit(copy);
                }
                let bytes = corrupted.as_ref().unwrap_or(buffer);
                blocks.extend(blocks_of(bytes, &self.disk.inner.zero));
            }
            let write = InFlightWrite {
                file: self.file,
                first_block,
                blocks,
                durable: persistence == Persistence::Durable,
                due_ns: ticket.due_ns,
                awaited: true,
            };
            if !self.has_space_for(first_block * BLOCK_BYTES as u64, length_bytes) {
                return self.end_for_space(&ticket, write).await;
            }
            let is_wrong = matches!(
                ticket.effect,
                Some(FaultEffect::CorruptWrite | FaultEffect::MisdirectWrite { .. })
            );
            let request = {
                let mut state = self.disk.inner.state.borrow_mut();
                if is_wrong {
                    state.begin_wrong_write(write, block_number(offset_bytes))
                } else {
                    state.begin_write(write)
                }
            };
            let awaited = AwaitedWrite {
                disk: &self.disk,
                request,
            };
            self.disk.work(&ticket).await?;
            let mut state = self.disk.inner.state.borrow_mut();
            if is_wrong {
                let zero = &self.disk.inner.zero;
                state.complete_wrong_write(request, self.asked(offset_bytes, buffers), zero);
            } else {
                state.complete_write(request);
            }
            drop(state);
            drop(awaited);
        } else {
            self.disk.work(&ticket).await?;
            let asked = self.asked(offset_bytes, buffers);
            let mut state = self.disk.inner.state.borrow_mut();
            state.lose_write(self.file, asked, &self.disk.inner.zero);
        }
        let outcome = lost.unwrap_or(match ticket.effect {
            Some(FaultEffect::CorruptWrite) => LoggedOutcome::Corrupted,
            Some(FaultEffect::MisdirectWrite { .. }) => LoggedOutcome::Misdirected,
            _ if persistence == Persistence::Durable => LoggedOutcome::DoneDurably,
            _ => LoggedOutcome::Done,
        });
        self.disk.note(&ticket.subject, outcome);
        Ok(())
    }

    /// The blocks that a write should change.
    fn asked(&self, offset_bytes: u64, buffers: &[SharedBuffer]) -> (u64, Vec<Block>) {
        let zero = &self.disk.inner.zero;
        let blocks = buffers.iter().flat_map(|bytes| blocks_of(bytes, zero));
        (block_number(offset_bytes), blocks.collect())
    }

    /// The block where a write really goes; `None` if it misses the file.
    fn place_of_write(&self, ticket: &Ticket, length_bytes: u64) -> Option<u64> {
        let asked_bytes = ticket.subject.offset_bytes;
        let Some(FaultEffect::MisdirectWrite { by_bytes }) = ticket.effect else {
            return Some(block_number(asked_bytes));
        };
        let offset_bytes = asked_bytes.checked_add_signed(by_bytes)?;
        require_blocks(offset_bytes);
        (offset_bytes + length_bytes <= self.visible_size_bytes())
            .then(|| block_number(offset_bytes))
    }

    /// Whether the disk has room for a write.
    fn has_space_for(&self, offset_bytes: u64, length_bytes: u64) -> bool {
        let end_bytes = offset_bytes + length_bytes;
        let growth_bytes = end_bytes.saturating_sub(self.visible_size_bytes());
        let needed_bytes = match self.disk.inner.options.copies_on_write {
            true => length_bytes,
            false => growth_bytes,
        };
        needed_bytes == 0 || needed_bytes <= self.disk.free_bytes()
    }

    /// Ends a write for which there is no room: some sectors from its beginning on may be written.
    async fn end_for_space(&self, ticket: &Ticket, write: InFlightWrite) -> Result<(), IoError> {
        self.disk.work(ticket).await?;
        self.disk.write_in_part(&ticket.subject, write);
        Err(self.disk.fail(&ticket.subject, IoFailure::OutOfSpace))
    }
}

impl File for SimulatedFile {
    async fn read(&self, offset_bytes: u64, buffer: Buffer) -> (Buffer, Result<(), IoError>) {
        let mut buffers = [buffer];
        let result = self.read_into(offset_bytes, &mut buffers).await;
        let [buffer] = buffers;
        (buffer, result)
    }

    async fn read_vectored(
        &self,
        offset_bytes: u64,
        mut buffers: Vec<Buffer>,
    ) -> (Vec<Buffer>, Result<(), IoError>) {
        let result = self.read_into(offset_bytes, &mut buffers).await;
        (buffers, result)
    }

    async fn write(
        &self,
        offset_bytes: u64,
        buffer: SharedBuffer,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        self.write_from(offset_bytes, &[buffer], persistence).await
    }

    async fn write_vectored(
        &self,
        offset_bytes: u64,
        buffers: Vec<SharedBuffer>,
        persistence: Persistence,
    ) -> Result<(), IoError> {
        self.write_from(offset_bytes, &buffers, persistence).await
    }

    async fn sync(&self) -> Result<(), IoError> {
        let subject = self.subject(IoOperation::Sync, 0, 0);
        let ticket = self.disk.begin(subject).await?;
        let limit = self.disk.inner.state.borrow().sequence();
        let result = self.disk.work(&ticket).await;
        let mut state = self.disk.inner.state.borrow_mut();
        match result {
            Ok(()) => {
                state.sync_file(self.file, limit);
                self.disk.note(&ticket.subject, LoggedOutcome::Done);
            }
            Err(_) if self.disk.has_power() => state.fail_sync(self.file, limit),
            Err(_) => {}
        }
        result
    }

    async fn size_bytes(&self) -> Result<u64, IoError> {
        if self.disk.has_power() {
            return Ok(self.visible_size_bytes());
        }
        let subject = self.subject(IoOperation::Open, 0, 0);
        Err(subject.error(IoFailure::PowerLost))
    }

    async fn set_size_bytes(&self, size_bytes: u64) -> Result<(), IoError> {
        require_blocks(size_bytes);
        let subject = self.subject(IoOperation::Resize, size_bytes, 0);
        let ticket = self.disk.begin(subject).await?;
        if let Some(FaultEffect::Fail(_)) = ticket.effect {
            return self.disk.work(&ticket).await;
        }
        let growth_bytes = size_bytes.saturating_sub(self.visible_size_bytes());
        if growth_bytes > 0 && growth_bytes > self.disk.free_bytes() {
            self.disk.work(&ticket).await?;
            return Err(self.disk.fail(&ticket.subject, IoFailure::OutOfSpace));
        }
        let change = Change::Resize {
            file: self.file,
            size_bytes,
        };
        self.disk.inner.state.borrow_mut().change(change);
        self.disk.work(&ticket).await?;
        self.disk.note(&ticket.subject, LoggedOutcome::Done);
        Ok(())
    }

    fn name(&self) -> String {
        self.subject(IoOperation::Open, 0, 0).file
    }
}
