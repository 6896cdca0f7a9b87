//! A directory that is held open. What is done in it happens there, whatever becomes of its path,
//! and no name in it leads anywhere else: symbolic links are not followed, mounts are not entered.

use super::identity::FileIdentity;
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, StatxFlags};
use rustix::io::Errno;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

const DIRECTORY_FLAGS: OFlags = OFlags::RDONLY
    .union(OFlags::DIRECTORY)
    .union(OFlags::CLOEXEC);

/// What a name in a directory stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a socket or a pipe.
    Other,
}

/// A name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// Name of the entry within its directory.
    pub name: PathBuf,
    /// What it stands for; a symbolic link is not followed.
    pub kind: EntryKind,
    /// Kind, device and inode number, by which the entry is recognised.
    pub identity: FileIdentity,
    /// How many names it has: more than one is a hard link.
    pub names: u64,
}

/// A directory held by its descriptor.
#[derive(Debug)]
pub struct DirectoryHandle {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl DirectoryHandle {
    /// Opens the directory that `path` leads to.
    ///
    /// # Errors
    /// If it is not a directory, or may not be read.
    pub fn open(path: &Path) -> io::Result<Self> {
        let descriptor = rustix::fs::open(path, DIRECTORY_FLAGS, Mode::empty())?;
        Ok(Self {
            descriptor,
            path: path.to_owned(),
        })
    }

    /// The path it was opened by, for messages.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Another handle of the same directory.
    ///
    /// # Errors
    /// If the process has no descriptor left.
    pub fn duplicate(&self) -> io::Result<Self> {
        Ok(Self {
            descriptor: self.descriptor.try_clone()?,
            path: self.path.clone(),
        })
    }

    /// What the directory is.
    ///
    /// # Errors
    /// If the file system does not answer.
    pub fn identity(&self) -> io::Result<FileIdentity> {
        Ok(FileIdentity::of(&self.descriptor)?)
    }

    /// Whether the directory was removed since it was opened: it has no name any more. Storage that loses a name leaves
    /// the count of names as it was.
    #[must_use]
    pub fn is_removed(&self) -> bool {
        rustix::fs::fstat(&self.descriptor).is_ok_and(|status| status.st_nlink == 0)
    }

    /// What `name` is; a symbolic link is itself. `None` when there is nothing of that name.
    ///
    /// # Errors
    /// If the file system does not answer.
    pub fn identity_of(&self, name: impl AsRef<Path>) -> io::Result<Option<FileIdentity>> {
        let found = rustix::fs::statat(&self.descriptor, name.as_ref(), AtFlags::SYMLINK_NOFOLLOW);
        match found {
            Ok(status) => Ok(Some(FileIdentity::from_status(&status))),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Every name in the directory, in order.
    ///
    /// # Errors
    /// If the directory cannot be read.
    pub fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in Dir::read_from(&self.descriptor)? {
            let entry = entry?;
            let name: CString = entry.file_name().to_owned();
            if matches!(name.as_bytes(), b"." | b"..") {
                continue;
            }
            let status = rustix::fs::statat(&self.descriptor, &name, AtFlags::SYMLINK_NOFOLLOW);
            let status = match status {
                Ok(status) => status,
                Err(Errno::NOENT) => continue, // Removed while we looked.
                Err(errno) => return Err(errno.into()),
            };
            entries.push(Entry {
                name: path_of(name),
                kind: match FileType::from_raw_mode(status.st_mode) {
                    FileType::RegularFile => EntryKind::File,
                    FileType::Directory => EntryKind::Directory,
                    FileType::Symlink => EntryKind::Link,
                    _ => EntryKind::Other,
                },
                identity: FileIdentity::from_status(&status),
                names: status.st_nlink as _,
            });
        }
        entries.sort_by(|one, other| one.name.cmp(&other.name));
        Ok(entries)
    }

    /// Makes a directory and opens it.
    ///
    /// # Errors
    /// If there is something of that name already, or what is there a moment later is not empty.
    pub fn create_directory(&self, name: impl AsRef<Path>, mode: u32) -> io::Result<Self> {
        let name = name.as_ref();
        rustix::fs::mkdirat(&self.descriptor, name, Mode::from_raw_mode(mode))?;
        let made = self.open_directory(name)?;
        if !made.entries()?.is_empty() {
            return Err(Errno::EXIST.into());
        }
        Ok(made)
    }

    /// Opens a directory in this one.
    ///
    /// # Errors
    /// If it is a symbolic link, or something is mounted there.
    pub fn open_directory(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        let opened = self.open_directory_or_mount(name)?;
        if mount_of(&self.descriptor)? != mount_of(&opened.descriptor)? {
            let path = opened.path.display();
            let text = format!("another file system is mounted at {path}");
            return Err(io::Error::other(text));
        }
        Ok(opened)
    }

    /// Opens a directory in this one, or the root of the file system that is mounted there.
    ///
    /// # Errors
    /// If it is a symbolic link.
    pub fn open_directory_or_mount(&self, name: impl AsRef<Path>) -> io::Result<Self> {
        let flags = DIRECTORY_FLAGS | OFlags::NOFOLLOW;
        let opened = rustix::fs::openat(&self.descriptor, name.as_ref(), flags, Mode::empty());
        let path = self.path.join(name.as_ref());
        match opened {
            Ok(descriptor) => Ok(Self { descriptor, path }),
            // The kernel says NOTDIR of a link that is to be a directory.
            Err(Errno::LOOP) => Err(not_followed(&path)),
            Err(Errno::NOTDIR) if path.is_symlink() => Err(not_followed(&path)),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes a file, for reading and writing.
    ///
    /// # Errors
    /// If there is something of that name already.
    pub fn create_file(&self, name: impl AsRef<Path>) -> io::Result<File> {
        let flags = OFlags::CREATE | OFlags::EXCL;
        self.open_file_with(name.as_ref(), OFlags::RDWR | flags)
    }

    /// Opens a file for reading and writing.
    ///
    /// # Errors
    /// If it is a symbolic link, is not there, or may not be written.
    pub fn open_file(&self, name: impl AsRef<Path>) -> io::Result<File> {
        self.open_file_with(name.as_ref(), OFlags::RDWR)
    }

    /// Opens a file for reading.
    ///
    /// # Errors
    /// If it is a symbolic link, is not there, or may not be read.
    pub fn read_file(&self, name: impl AsRef<Path>) -> io::Result<File> {
        self.open_file_with(name.as_ref(), OFlags::RDONLY)
    }

    fn open_file_with(&self, name: &Path, flags: OFlags) -> io::Result<File> {
        // NONBLOCK: a pipe of that name must not keep us waiting. Files do not care.
        let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW | OFlags::NONBLOCK;
        let mode = Mode::RUSR | Mode::WUSR | Mode::RGRP | Mode::ROTH;
        match rustix::fs::openat(&self.descriptor, name, flags, mode) {
            Ok(file) => Ok(File::from(file)),
            Err(Errno::LOOP) => Err(not_followed(&self.path.join(name))),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Writes a file in one step: a reader sees what was there or all of `contents`. A symbolic link
    /// of that name is replaced and not followed.
    ///
    /// # Errors
    /// If the file cannot be written; what was there is still there.
    pub fn replace_file(&self, name: impl AsRef<Path>, contents: &[u8]) -> io::Result<()> {
        let mut new_name = name.as_ref().as_os_str().to_owned();
        new_name.push(".tmp");
        let new_name = PathBuf::from(new_name);
        self.unlink(&new_name, AtFlags::empty())?;
        let mut file = self.create_file(&new_name)?;
        let written = file.write_all(contents).and_then(|()| {
            let (from, to) = (new_name.as_path(), name.as_ref());
            Ok(rustix::fs::renameat(
                &self.descriptor,
                from,
                &self.descriptor,
                to,
            )?)
        });
        if written.is_err() {
            let _ = self.unlink(&new_name, AtFlags::empty());
        }
        written
    }

    /// Removes the file `name` if it is still the one with this identity; returns whether it was, or
    /// nothing was there.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove_file(&self, name: impl AsRef<Path>, expected: FileIdentity) -> io::Result<bool> {
        self.remove(name.as_ref(), expected, AtFlags::empty())
    }

    /// Removes the empty directory `name` if it is still the one with this identity; returns whether
    /// it was, or nothing was there.
    ///
    /// # Errors
    /// If it is not empty, or cannot be removed.
    pub fn remove_directory(
        &self,
        name: impl AsRef<Path>,
        expected: FileIdentity,
    ) -> io::Result<bool> {
        self.remove(name.as_ref(), expected, AtFlags::REMOVEDIR)
    }

    fn remove(&self, name: &Path, expected: FileIdentity, how: AtFlags) -> io::Result<bool> {
        match self.identity_of(name)? {
            None => Ok(true),
            Some(found) if found == expected => self.unlink(name, how).map(|()| true),
            Some(_) => Ok(false),
        }
    }

    /// Removes the directory `name` with everything in it if it is still the one with this identity;
    /// returns whether it was, or nothing was there. A symbolic link in it is removed and not
    /// followed.
    ///
    /// # Errors
    /// If something is mounted in it (what lies there is left), or something cannot be removed.
    pub fn remove_tree(&self, name: impl AsRef<Path>, expected: FileIdentity) -> io::Result<bool> {
        let name = name.as_ref();
        match self.identity_of(name)? {
            None => return Ok(true),
            Some(found) if found != expected => return Ok(false),
            Some(_) => {}
        }
        let directory = self.open_directory(name)?;
        if directory.identity()? != expected {
            return Ok(false);
        }
        directory.refuse_mounts()?;
        directory.clear()?;
        self.remove_directory(name, expected)
    }

    /// Fails if another file system is mounted on a directory below, before anything is removed.
    ///
    /// # Errors
    /// There is one, or a directory cannot be read.
    pub fn refuse_mounts(&self) -> io::Result<()> {
        for entry in self.entries()? {
            if entry.kind == EntryKind::Directory {
                self.open_directory(&entry.name)?.refuse_mounts()?;
            }
        }
        Ok(())
    }

    fn clear(&self) -> io::Result<()> {
        for entry in self.entries()? {
            if entry.kind == EntryKind::Directory {
                self.open_directory(&entry.name)?.clear()?;
                self.remove_directory(&entry.name, entry.identity)?;
            } else {
                self.unlink(&entry.name, AtFlags::empty())?;
            }
        }
        Ok(())
    }

    /// Removes a name, if it is there. This never follows a symbolic link.
    fn unlink(&self, name: &Path, how: AtFlags) -> io::Result<()> {
        match rustix::fs::unlinkat(&self.descriptor, name, how) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Makes changes of names durable.
    ///
    /// # Errors
    /// If the storage fails.
    pub fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.descriptor)?)
    }
}

impl AsFd for DirectoryHandle {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn path_of(name: CString) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    std::ffi::OsString::from_vec(name.into_bytes()).into()
}

fn not_followed(path: &Path) -> io::Error {
    let text = format!(
        "{} is a symbolic link, which is not followed",
        path.display()
    );
    io::Error::other(text)
}

/// The mount that an open directory was reached through, so that a bind mount within one file system
/// is known as well; where the kernel does not say (before 5.8), its file system.
fn mount_of(directory: impl AsFd) -> io::Result<(u64, u64)> {
    let file_system = rustix::fs::fstat(&directory)?.st_dev;
    let wanted = StatxFlags::MNT_ID;
    let mount = match rustix::fs::statx(&directory, "", AtFlags::EMPTY_PATH, wanted) {
        Ok(status) if status.stx_mask & wanted.bits() != 0 => status.stx_mnt_id,
        _ => 0,
    };
    Ok((file_system, mount))
}
