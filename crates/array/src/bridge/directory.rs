//! Directories of files on one volume. Names, sizes and places are kept in memory: only contents
//! cause requests.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use runtime::{Directory, IoError, IoFailure, IoOperation};

use super::file::{Inode, VolumeFile};
use super::model::{FilePayload, VolumeModel};
use super::space::{Disk, Space};
use super::volume::ArrayVolume;
use crate::{Array, FirstWrite, SECTOR_BYTES};

/// Files by path: directory, slash, name.
type Files<P, M> = RefCell<BTreeMap<String, Rc<Inode<P, M>>>>;

/// A directory on a volume. Clones share it.
pub struct VolumeFiles<P: FilePayload, M: VolumeModel<P> = Array<P>> {
    disk: Rc<Disk<P, M>>,
    /// All files of the volume.
    files: Rc<Files<P, M>>,
    path: Rc<str>,
}

impl<P: FilePayload, M: VolumeModel<P>> Clone for VolumeFiles<P, M> {
    fn clone(&self) -> Self {
        Self {
            disk: Rc::clone(&self.disk),
            files: Rc::clone(&self.files),
            path: Rc::clone(&self.path),
        }
    }
}

impl<P: FilePayload, M: VolumeModel<P>> VolumeFiles<P, M> {
    /// The root directory of an empty volume.
    #[must_use]
    pub fn new(volume: ArrayVolume<P, M>) -> Self {
        Self::in_partition(volume, 0)
    }

    /// The root directory of an empty partition that begins at a sector of the volume and ends
    /// where it ends. Files own whole blocks, counted from the partition's beginning, so a
    /// partition that begins across the volume's stripes leads their requests across them.
    #[must_use]
    pub fn in_partition(volume: ArrayVolume<P, M>, first_sector: u64) -> Self {
        let space = RefCell::new(Space::new(first_sector, volume.capacity_sectors()));
        let path = volume.id().to_string().into();
        Self {
            disk: Rc::new(Disk { volume, space }),
            files: Rc::default(),
            path,
        }
    }

    /// The directory of that name within this one. Directories need not be made.
    #[must_use]
    pub fn directory(&self, name: &str) -> Self {
        Self {
            disk: Rc::clone(&self.disk),
            files: Rc::clone(&self.files),
            path: format!("{}/{name}", self.path).into(),
        }
    }

    fn add(&self, name: &str) -> Result<Rc<Inode<P, M>>, IoError> {
        let path = self.path_of(name);
        let mut files = self.files.borrow_mut();
        if files.contains_key(&path) {
            return Err(self.error(IoOperation::Create, name, IoFailure::AlreadyExists));
        }
        let inode = Inode::new(&self.disk, &path);
        files.insert(path, Rc::clone(&inode));
        Ok(inode)
    }

    fn path_of(&self, name: &str) -> String {
        format!("{}/{name}", self.path)
    }

    fn error(&self, operation: IoOperation, name: &str, failure: IoFailure) -> IoError {
        IoError {
            operation,
            file: self.path_of(name),
            offset_bytes: 0,
            length_bytes: 0,
            failure,
        }
    }
}

impl<P: FilePayload, M: VolumeModel<P>> Directory for VolumeFiles<P, M> {
    type File = VolumeFile<P, M>;

    async fn create(&self, name: &str) -> Result<Self::File, IoError> {
        self.add(name).map(VolumeFile::new)
    }

    async fn open(&self, name: &str) -> Result<Self::File, IoError> {
        let files = self.files.borrow();
        let inode = files.get(&self.path_of(name)).cloned();
        inode
            .map(VolumeFile::new)
            .ok_or_else(|| self.error(IoOperation::Open, name, IoFailure::NotFound))
    }

    async fn lay_out(&self, name: &str, size_bytes: u64) -> Result<Self::File, IoError> {
        let inode = self.add(name)?;
        let refuse = |failure| self.error(IoOperation::Resize, name, failure);
        inode.grow(size_bytes).map_err(refuse)?;
        let mut left = size_bytes.div_ceil(SECTOR_BYTES);
        for piece in inode.pieces() {
            let sectors = left.min(piece.sectors);
            left -= sectors;
            let volume = &self.disk.volume;
            let laid = volume.lay_out(piece.first_sector, sectors, FirstWrite::Sequential);
            laid.map_err(|error| refuse(IoFailure::Device(error.to_string())))?;
        }
        Ok(VolumeFile::new(inode))
    }

    async fn rename(&self, from: &str, to: &str) -> Result<(), IoError> {
        let mut files = self.files.borrow_mut();
        let Some(inode) = files.remove(&self.path_of(from)) else {
            return Err(self.error(IoOperation::Rename, from, IoFailure::NotFound));
        };
        let path = self.path_of(to);
        inode.name.borrow_mut().clone_from(&path);
        let replaced = files.insert(path, inode);
        drop(files); // What is replaced may give its blocks back now.
        drop(replaced);
        Ok(())
    }

    async fn remove(&self, name: &str) -> Result<(), IoError> {
        let removed = self.files.borrow_mut().remove(&self.path_of(name));
        removed
            .map(drop)
            .ok_or_else(|| self.error(IoOperation::Remove, name, IoFailure::NotFound))
    }

    async fn list(&self) -> Result<Vec<String>, IoError> {
        let files = self.files.borrow();
        let names = files.keys().filter_map(|path| {
            let name = path.strip_prefix(&*self.path)?.strip_prefix('/')?;
            (!name.contains('/')).then(|| name.to_owned())
        });
        Ok(names.collect())
    }

    async fn sync(&self) -> Result<(), IoError> {
        Ok(())
    }

    fn describe(&self) -> String {
        self.path.to_string()
    }
}
