//! Real storage: directories, files and block devices, past the page cache.
//!
//! All of it needs a wall-clock runtime ([`crate::Runtime::wall_clock`]). Files are opened with
//! O_DIRECT; durable writes carry RWF_DSYNC, which the kernel turns into force unit access or a
//! flush; a file that grows gets its space reserved at once.
//!
//! Files that are written are locked ([`FileLock`]), so that two processes never work on the same
//! ones, and not while requests of a killed process are under way ([`requests_are_under_way`]).
//! [`DirectoryHandle`] is for changes of names that must not be led elsewhere by a link or a
//! mount.

mod any;
mod device;
mod directory;
mod error;
mod file;
mod handle;
mod holder;
mod identity;
mod lock;
mod request_file;
mod request_lock;

pub use any::{AnyDirectory, AnyFile};
pub use directory::{HostDirectory, direct_unit_bytes, require_own};
pub use error::OpenError;
pub use file::HostFile;
pub use handle::{DirectoryHandle, Entry, EntryKind};
pub use holder::Holder;
pub use identity::{CreatedFiles, FileIdentity};
pub use lock::{FileLock, LockError, LockKind};
pub use request_lock::{REQUESTS_PAUSE, REQUESTS_WAIT_MAX, requests_are_under_way};

use crate::executor::Handle;
use crate::wall_clock::Reactor;
use std::rc::Rc;

fn require_reactor(handle: &Handle) -> Rc<Reactor> {
    Reactor::of(handle).expect("real storage is used only on a wall-clock runtime")
}
