//! The VFS of a database, and the connections that use it.

#![allow(unsafe_code)] // Called by SQLite, through its C interface.
#![allow(non_snake_case)] // Methods have the names of SQLite.

use std::cell::UnsafeCell;
use std::ffi::{CStr, CString, c_char, c_int, c_void};
use std::ops::Deref;
use std::path::Path;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_syscall_ptr, sqlite3_vfs};
use rusqlite::{Connection, OpenFlags};

use super::counters::DatabaseCounters;
use super::file::{self, TIMED_FILE_BYTES};
use crate::database::interface::FileCounters;

/// How SQLite accesses the files: the index of the write-ahead log is in this process's memory, not in
/// a mapped file. Where the file system finds no room for a page of a mapped file, as btrfs does, the
/// process gets SIGBUS.
const REAL_VFS: &CStr = c"unix-excl";

/// How many have been registered, for their names.
static REGISTERED: AtomicU64 = AtomicU64::new(0);

/// A VFS that is registered with SQLite until this is dropped, and counts the I/O of all files that are
/// opened through it.
pub(in crate::database::sqlite) struct TimedVfs {
    /// SQLite links it to others while it is registered.
    vfs: UnsafeCell<sqlite3_vfs>,
    name: CString,
    real: *mut sqlite3_vfs,
    counters: DatabaseCounters,
}

// SAFETY: SQLite changes `vfs` under a mutex of its own, and nothing here touches it between
// registering and the end. The real VFS is a static object of SQLite that any thread may call, and the
// counters are atomics.
unsafe impl Send for TimedVfs {}
// SAFETY: as above.
unsafe impl Sync for TimedVfs {}

impl TimedVfs {
    /// Registers a VFS.
    ///
    /// # Errors
    /// SQLite has no VFS to forward to, or no memory.
    pub fn register() -> rusqlite::Result<Arc<Self>> {
        let failed = |code, text| rusqlite::Error::SqliteFailure(ffi::Error::new(code), text);
        // SAFETY: the name ends with a zero byte. The function may be called by any thread.
        let real = unsafe { ffi::sqlite3_vfs_find(REAL_VFS.as_ptr()) };
        // SAFETY: a VFS of SQLite's own is never freed. Only the link to the next one changes, which is
        // not used here.
        let Some(vfs) = (unsafe { real.as_ref() }) else {
            let text = format!("there is no VFS {}", REAL_VFS.to_string_lossy());
            return Err(failed(ffi::SQLITE_ERROR, Some(text)));
        };
        let number = REGISTERED.fetch_add(1, Ordering::Relaxed);
        let timed = Arc::new(Self {
            vfs: UnsafeCell::new(forwarding(vfs)),
            name: CString::new(format!("proofload-{number}"))?,
            real,
            counters: DatabaseCounters::default(),
        });
        let vfs = timed.vfs.get();
        // SAFETY: nobody else knows `vfs` yet. It and what it points to, the name and `timed`, stay
        // where they are until `timed` is dropped, which ends the registration.
        let result = unsafe {
            (*vfs).zName = timed.name.as_ptr();
            (*vfs).pAppData = Arc::as_ptr(&timed).cast_mut().cast();
            ffi::sqlite3_vfs_register(vfs, 0)
        };
        match result {
            ffi::SQLITE_OK => Ok(timed),
            code => Err(failed(code, None)),
        }
    }

    /// Opens a connection whose files are counted here.
    ///
    /// # Errors
    /// Those of SQLite.
    pub fn open(
        self: &Arc<Self>,
        path: &Path,
        flags: OpenFlags,
    ) -> rusqlite::Result<TimedConnection> {
        let connection = Connection::open_with_flags_and_vfs(path, flags, self.name.as_c_str())?;
        Ok(TimedConnection {
            connection,
            _vfs: Arc::clone(self),
        })
    }

    #[cfg(test)]
    pub(super) fn name(&self) -> &CStr {
        &self.name
    }

    /// What was counted until now.
    pub fn counters(&self) -> FileCounters {
        self.counters.read()
    }
}

impl Drop for TimedVfs {
    fn drop(&mut self) {
        // SAFETY: each connection keeps the VFS, and is closed before it lets go, so no file is open any
        // more. One that was not registered is no error.
        unsafe { ffi::sqlite3_vfs_unregister(self.vfs.get()) };
    }
}

/// A connection whose I/O is timed. It is lent and never moved out, so it ends before the VFS.
pub(in crate::database::sqlite) struct TimedConnection {
    connection: Connection,
    /// Dropped after the connection, which is the field before.
    _vfs: Arc<TimedVfs>,
}

impl Deref for TimedConnection {
    type Target = Connection;

    fn deref(&self) -> &Connection {
        &self.connection
    }
}

/// A VFS with the properties of the real one and methods that call its methods. It has no name yet,
/// and no `TimedVfs`.
fn forwarding(real: &sqlite3_vfs) -> sqlite3_vfs {
    // A few hundred bytes.
    let bytes_before = TIMED_FILE_BYTES as c_int;
    sqlite3_vfs {
        // The newest one that has no more methods than these.
        iVersion: real.iVersion.min(3),
        szOsFile: bytes_before + real.szOsFile,
        mxPathname: real.mxPathname,
        pNext: ptr::null_mut(),
        zName: ptr::null(),
        pAppData: ptr::null_mut(),
        xOpen: real.xOpen.and(Some(xOpen)),
        xDelete: real.xDelete.and(Some(xDelete)),
        xAccess: real.xAccess.and(Some(xAccess)),
        xFullPathname: real.xFullPathname.and(Some(xFullPathname)),
        xDlOpen: real.xDlOpen.and(Some(xDlOpen)),
        xDlError: real.xDlError.and(Some(xDlError)),
        xDlSym: real.xDlSym.and(Some(xDlSym)),
        xDlClose: real.xDlClose.and(Some(xDlClose)),
        xRandomness: real.xRandomness.and(Some(xRandomness)),
        xSleep: real.xSleep.and(Some(xSleep)),
        xCurrentTime: real.xCurrentTime.and(Some(xCurrentTime)),
        xGetLastError: real.xGetLastError.and(Some(xGetLastError)),
        xCurrentTimeInt64: real.xCurrentTimeInt64.and(Some(xCurrentTimeInt64)),
        xSetSystemCall: real.xSetSystemCall.and(Some(xSetSystemCall)),
        xGetSystemCall: real.xGetSystemCall.and(Some(xGetSystemCall)),
        xNextSystemCall: real.xNextSystemCall.and(Some(xNextSystemCall)),
    }
}

/// What a VFS of ours belongs to.
///
/// # Safety
/// `vfs` was registered by [`TimedVfs::register`], and its registration has not ended.
unsafe fn timed<'vfs>(vfs: *mut sqlite3_vfs) -> &'vfs TimedVfs {
    // SAFETY: `register` has set the pointer, and what it leads to stays as long as the registration.
    unsafe { &*(*vfs).pAppData.cast::<TimedVfs>() }
}

unsafe extern "C" fn xOpen(
    vfs: *mut sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_used: *mut c_int,
) -> c_int {
    // SAFETY: SQLite calls methods of a VFS that a connection uses, and the connection keeps it. It has
    // allocated `szOsFile` bytes for `file`, and closes it before the connection ends.
    unsafe {
        let timed = timed(vfs);
        let counters = timed.counters.of(flags);
        file::open(timed.real, name, file, flags, flags_used, counters)
    }
}

/// Methods that call the one of that name of the real VFS. The last expression is the answer of a VFS
/// without it.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) -> $result:ty, $none:expr;)*) => {$(
        unsafe extern "C" fn $name(vfs: *mut sqlite3_vfs, $($argument: $type),*) -> $result {
            // SAFETY: as of `xOpen`. The arguments are right for a VFS of any kind, and the real one
            // gets a pointer to itself.
            unsafe {
                let real = timed(vfs).real;
                match (*real).$name {
                    Some(method) => method(real, $($argument),*),
                    None => $none, // Not called: ours has no such method either.
                }
            }
        }
    )*};
}

/// What `xDlSym` finds.
type Symbol = Option<unsafe extern "C" fn(*mut sqlite3_vfs, *mut c_void, *const c_char)>;

forward! {
    xDelete(name: *const c_char, sync: c_int) -> c_int, ffi::SQLITE_ERROR;
    xAccess(name: *const c_char, flags: c_int, has_access: *mut c_int) -> c_int, ffi::SQLITE_ERROR;
    xFullPathname(name: *const c_char, bytes: c_int, path: *mut c_char) -> c_int, ffi::SQLITE_ERROR;
    xDlOpen(name: *const c_char) -> *mut c_void, ptr::null_mut();
    xDlError(bytes: c_int, text: *mut c_char) -> (), ();
    xDlSym(library: *mut c_void, name: *const c_char) -> Symbol, None;
    xDlClose(library: *mut c_void) -> (), ();
    xRandomness(bytes: c_int, random: *mut c_char) -> c_int, 0;
    xSleep(micros: c_int) -> c_int, 0;
    xCurrentTime(days: *mut f64) -> c_int, ffi::SQLITE_ERROR;
    xGetLastError(bytes: c_int, text: *mut c_char) -> c_int, 0;
    xCurrentTimeInt64(millis: *mut sqlite3_int64) -> c_int, ffi::SQLITE_ERROR;
    xSetSystemCall(name: *const c_char, call: sqlite3_syscall_ptr) -> c_int, ffi::SQLITE_ERROR;
    xGetSystemCall(name: *const c_char) -> sqlite3_syscall_ptr, None;
    xNextSystemCall(name: *const c_char) -> *const c_char, ptr::null();
}
