//! The methods of an open file: each calls the one of the real file, which lies behind ours in memory.

#![allow(unsafe_code)] // Called by SQLite, through its C interface.
#![allow(non_snake_case)] // Methods have the names of SQLite.

use std::ffi::{c_int, c_void};
use std::ptr;
use std::time::Instant;

use rusqlite::ffi::{self, sqlite3_file, sqlite3_int64, sqlite3_io_methods, sqlite3_vfs};

use super::counters::{CallCounter, IoCounters};

/// The beginning of the memory that SQLite allocates for a file: `szOsFile` bytes, aligned for 8.
/// The file of the real VFS follows, aligned as well, since the length of this is a multiple of 8.
#[repr(C, align(8))]
struct TimedFile {
    /// SQLite knows the file by a pointer to this, so it is the first field.
    base: sqlite3_file,
    /// Where `base` points to.
    methods: sqlite3_io_methods,
    counters: *const IoCounters,
}

/// Bytes before the file of the real VFS.
pub(super) const TIMED_FILE_BYTES: usize = size_of::<TimedFile>();

/// The file of the real VFS.
///
/// # Safety
/// `file` leads to the memory that SQLite allocated for a file of the timed VFS.
unsafe fn real_file(file: *mut sqlite3_file) -> *mut sqlite3_file {
    // SAFETY: the memory has this many bytes and, behind them, those of a real file.
    unsafe { file.byte_add(TIMED_FILE_BYTES) }
}

/// Opens the real file. Ours has methods if the real one has: SQLite closes a file that has methods, also
/// after its opening has failed, and no other.
///
/// # Safety
/// `real_vfs` is registered. `file` leads to memory for a file of the timed VFS, which stays where it is
/// until the file is closed, and so do the counters. The other arguments are those of SQLite.
pub(super) unsafe fn open(
    real_vfs: *mut sqlite3_vfs,
    name: ffi::sqlite3_filename,
    file: *mut sqlite3_file,
    flags: c_int,
    flags_used: *mut c_int,
    counters: *const IoCounters,
) -> c_int {
    // SAFETY: by the conditions above. The memory may not be initialized, so fields are written and
    // no reference to a whole file is made; what is read of the real file was written before.
    unsafe {
        let timed = file.cast::<TimedFile>();
        let real = real_file(file);
        (*timed).base.pMethods = ptr::null();
        (*real).pMethods = ptr::null();
        let Some(open) = (*real_vfs).xOpen else {
            return ffi::SQLITE_CANTOPEN;
        };
        let result = open(real_vfs, name, real, flags, flags_used);
        if let Some(methods) = (*real).pMethods.as_ref() {
            (*timed).methods = methods_of(methods);
            (*timed).counters = counters;
            (*timed).base.pMethods = &raw const (*timed).methods;
        }
        result
    }
}

/// Methods of the same version as the real ones; there are none where the real file has none.
fn methods_of(real: &sqlite3_io_methods) -> sqlite3_io_methods {
    sqlite3_io_methods {
        // The newest one that has no more methods than these.
        iVersion: real.iVersion.min(3),
        xClose: real.xClose.and(Some(xClose)),
        xRead: real.xRead.and(Some(timed_read)),
        xWrite: real.xWrite.and(Some(timed_write)),
        xTruncate: real.xTruncate.and(Some(xTruncate)),
        xSync: real.xSync.and(Some(timed_sync)),
        xFileSize: real.xFileSize.and(Some(xFileSize)),
        xLock: real.xLock.and(Some(xLock)),
        xUnlock: real.xUnlock.and(Some(xUnlock)),
        xCheckReservedLock: real.xCheckReservedLock.and(Some(xCheckReservedLock)),
        xFileControl: real.xFileControl.and(Some(xFileControl)),
        xSectorSize: real.xSectorSize.and(Some(xSectorSize)),
        xDeviceCharacteristics: real
            .xDeviceCharacteristics
            .and(Some(xDeviceCharacteristics)),
        xShmMap: real.xShmMap.and(Some(xShmMap)),
        xShmLock: real.xShmLock.and(Some(xShmLock)),
        xShmBarrier: real.xShmBarrier.and(Some(xShmBarrier)),
        xShmUnmap: real.xShmUnmap.and(Some(xShmUnmap)),
        xFetch: real.xFetch.and(Some(xFetch)),
        xUnfetch: real.xUnfetch.and(Some(xUnfetch)),
    }
}

/// Methods that call the one of that name of the real file.
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*);)*) => {$(
        unsafe extern "C" fn $name(file: *mut sqlite3_file, $($argument: $type),*) -> c_int {
            // SAFETY: SQLite calls methods of a file between its opening and the end of its closing,
            // with arguments that are right for a file of any VFS. The real file is open as well.
            unsafe {
                let real = real_file(file);
                match (*(*real).pMethods).$name {
                    Some(method) => method(real, $($argument),*),
                    None => ffi::SQLITE_ERROR, // Not called: ours has no such method either.
                }
            }
        }
    )*};
}

forward! {
    xClose();
    xRead(buffer: *mut c_void, bytes: c_int, offset: sqlite3_int64);
    xWrite(buffer: *const c_void, bytes: c_int, offset: sqlite3_int64);
    xTruncate(bytes: sqlite3_int64);
    xSync(flags: c_int);
    xFileSize(bytes: *mut sqlite3_int64);
    xLock(level: c_int);
    xUnlock(level: c_int);
    xCheckReservedLock(is_reserved: *mut c_int);
    xFileControl(operation: c_int, argument: *mut c_void);
    xSectorSize();
    xDeviceCharacteristics();
    xShmMap(number: c_int, bytes: c_int, extend: c_int, memory: *mut *mut c_void);
    xShmLock(first: c_int, count: c_int, flags: c_int);
    xShmUnmap(delete: c_int);
    xFetch(offset: sqlite3_int64, bytes: c_int, memory: *mut *mut c_void);
    xUnfetch(offset: sqlite3_int64, memory: *mut c_void);
}

unsafe extern "C" fn xShmBarrier(file: *mut sqlite3_file) {
    // SAFETY: as of the other methods.
    unsafe {
        let real = real_file(file);
        if let Some(method) = (*(*real).pMethods).xShmBarrier {
            method(real);
        }
    }
}

/// Counts and times a call.
///
/// # Safety
/// `file` is open, by [`open`].
unsafe fn timed(
    file: *mut sqlite3_file,
    counter: fn(&IoCounters) -> &CallCounter,
    call: impl FnOnce() -> c_int,
) -> c_int {
    // SAFETY: `open` has written the pointer, and the counters stay until the file is closed.
    let counters = unsafe { &*(*file.cast::<TimedFile>()).counters };
    let begun = Instant::now();
    let result = call();
    counter(counters).add(begun.elapsed());
    result
}

unsafe extern "C" fn timed_read(
    file: *mut sqlite3_file,
    buffer: *mut c_void,
    bytes: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: as of the other methods; the arguments are passed on as they are.
    unsafe { timed(file, |io| &io.reads, || xRead(file, buffer, bytes, offset)) }
}

unsafe extern "C" fn timed_write(
    file: *mut sqlite3_file,
    buffer: *const c_void,
    bytes: c_int,
    offset: sqlite3_int64,
) -> c_int {
    // SAFETY: as of a read.
    unsafe {
        timed(
            file,
            |io| &io.writes,
            || xWrite(file, buffer, bytes, offset),
        )
    }
}

unsafe extern "C" fn timed_sync(file: *mut sqlite3_file, flags: c_int) -> c_int {
    // SAFETY: as of a read.
    unsafe { timed(file, |io| &io.syncs, || xSync(file, flags)) }
}
