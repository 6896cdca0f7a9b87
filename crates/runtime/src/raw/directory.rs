//! The directory on a device.

use super::entry::NAME_BYTES_MAX;
use super::error::RawError;
use super::file::RawFile;
use super::inode::Inode;
use super::label::FormatOptions;
use super::table::Table;
use crate::file::{Directory, File, IoError, IoFailure, IoOperation};
use std::rc::Rc;

/// A flat directory of files inside a block device or another large file. Clones share it.
///
/// Changes of names are durable when they return. Opening the same device twice at a time is the
/// caller's mistake; [`crate::HostFile::open_device`] prevents it.
pub struct RawDirectory<F: File> {
    table: Rc<Table<F>>,
}

impl<F: File> Clone for RawDirectory<F> {
    fn clone(&self) -> Self {
        Self {
            table: Rc::clone(&self.table),
        }
    }
}

impl<F: File> RawDirectory<F> {
    /// Makes `device` an empty directory. **Everything on it is lost.** The size is that of the
    /// device.
    ///
    /// # Errors
    /// If the device is too small, or fails.
    pub async fn format(device: F, options: &FormatOptions) -> Result<Self, RawError> {
        Table::format(&device, options).await?;
        Self::open(device).await
    }

    /// Opens the directory on a device that was formatted before.
    ///
    /// # Errors
    /// If the device carries no label of ours, if its table is damaged, or if the device fails.
    pub async fn open(device: F) -> Result<Self, RawError> {
        let table = Rc::new(Table::load(device).await?);
        Ok(Self { table })
    }

    /// Bytes that no file takes up.
    #[must_use]
    pub fn free_bytes(&self) -> u64 {
        self.table.space.borrow().free_units() * self.table.label.allocation_bytes
    }

    fn error(&self, operation: IoOperation, name: &str, failure: IoFailure) -> IoError {
        IoError {
            operation,
            file: format!("{}:{name}", self.table.device.name()),
            offset_bytes: 0,
            length_bytes: 0,
            failure,
        }
    }

    fn find(&self, name: &str) -> Result<Rc<Inode>, IoFailure> {
        let names = self.table.names.borrow();
        names.get(name).cloned().ok_or(IoFailure::NotFound)
    }

    async fn create_file(&self, name: &str) -> Result<Rc<Inode>, IoFailure> {
        require_name(name)?;
        let _change = self.table.change.acquire().await;
        if self.find(name).is_ok() {
            return Err(IoFailure::AlreadyExists);
        }
        self.table.add(name).await
    }

    async fn rename_file(&self, from: &str, to: &str) -> Result<(), IoFailure> {
        require_name(to)?;
        let _change = self.table.change.acquire().await;
        let inode = self.find(from)?;
        if from == to {
            return Ok(());
        }
        let mut entry = inode.entry.borrow().clone();
        to.clone_into(&mut entry.name);
        entry.named_sequence = self.table.next_sequence();
        let result = self.table.record(&inode, entry).await;
        result.map_err(|error| error.failure)?;
        let replaced = {
            let mut names = self.table.names.borrow_mut();
            names.remove(from);
            names.insert(to.to_owned(), inode)
        };
        // From here on the new file has the name, also if power is lost before the old file's line
        // is freed: of two files with one name, the later one has it.
        let Some(replaced) = replaced else {
            return Ok(());
        };
        let result = self.table.unlink(&replaced).await;
        if result.is_err() {
            // The old line is still there, and would be valid again once the name is free.
            replaced.abandon_space();
        }
        result.map_err(|error| error.failure)
    }

    async fn remove_file(&self, name: &str) -> Result<(), IoFailure> {
        let _change = self.table.change.acquire().await;
        let inode = self.find(name)?;
        let result = self.table.unlink(&inode).await;
        result.map_err(|error| error.failure)?;
        self.table.names.borrow_mut().remove(name);
        Ok(())
    }
}

fn require_name(name: &str) -> Result<(), IoFailure> {
    if name.is_empty() || name.len() > NAME_BYTES_MAX || name.contains('/') {
        let text = format!("a file's name has 1 to {NAME_BYTES_MAX} bytes and no slash");
        return Err(IoFailure::Device(text));
    }
    Ok(())
}

impl<F: File> Directory for RawDirectory<F> {
    type File = RawFile<F>;

    async fn create(&self, name: &str) -> Result<RawFile<F>, IoError> {
        match self.create_file(name).await {
            Ok(inode) => Ok(RawFile::new(Rc::clone(&self.table), inode)),
            Err(failure) => Err(self.error(IoOperation::Create, name, failure)),
        }
    }

    async fn open(&self, name: &str) -> Result<RawFile<F>, IoError> {
        match self.find(name) {
            Ok(inode) => Ok(RawFile::new(Rc::clone(&self.table), inode)),
            Err(failure) => Err(self.error(IoOperation::Open, name, failure)),
        }
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        let result = self.rename_file(from, to).await;
        result.map_err(|failure| self.error(IoOperation::Rename, from, failure))
    }

    async fn remove(&self, name: &str) -> Result<(), IoError> {
        let result = self.remove_file(name).await;
        result.map_err(|failure| self.error(IoOperation::Remove, name, failure))
    }

    async fn list(&self) -> Result<Vec<String>, IoError> {
        Ok(self.table.names.borrow().keys().cloned().collect())
    }

    /// Waits for changes under way; those that returned are durable already.
    async fn sync(&self) -> Result<(), IoError> {
        drop(self.table.change.acquire().await);
        Ok(())
    }

    fn describe(&self) -> String {
        self.table.device.name()
    }
}
