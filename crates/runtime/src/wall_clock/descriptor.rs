//! An open file as requests go through it.

use super::Reactor;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::rc::Rc;

/// An open file, registered with the ring where there is one with room. Requests hold it, so that it
/// is closed only after the last of them.
pub(crate) struct Descriptor {
    reactor: Rc<Reactor>,
    file: Box<dyn AsFd>,
    number: i32,
    registered: Option<u32>,
}

impl Descriptor {
    /// Takes a file into the ring's table.
    pub(crate) fn registered(reactor: Rc<Reactor>, file: impl AsFd + 'static) -> Self {
        let mut descriptor = Self::unregistered(reactor, file);
        descriptor.registered = descriptor.reactor.register_file(descriptor.number);
        descriptor
    }

    /// Keeps a file out of the table, for directories: requests that carry names cannot use it.
    pub(crate) fn unregistered(reactor: Rc<Reactor>, file: impl AsFd + 'static) -> Self {
        Self {
            reactor,
            number: file.as_fd().as_raw_fd(),
            file: Box::new(file),
            registered: None,
        }
    }

    pub(crate) fn reactor(&self) -> &Rc<Reactor> {
        &self.reactor
    }

    pub(crate) fn fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// The path of the file, as the kernel knows it now.
    pub(crate) fn name(&self) -> String {
        let link = format!("/proc/self/fd/{}", self.number);
        let path = std::fs::read_link(link);
        path.map_or_else(|_| "a file".to_owned(), |path| path.display().to_string())
    }

    /// The number that ring entries name the file by.
    pub(super) fn ring_number(&self) -> i32 {
        match self.registered {
            Some(index) => index as i32, // The table is far smaller than i32::MAX.
            None => self.number,
        }
    }

    pub(super) fn is_registered(&self) -> bool {
        self.registered.is_some()
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        if let Some(index) = self.registered {
            self.reactor.unregister_file(index);
        }
    }
}
