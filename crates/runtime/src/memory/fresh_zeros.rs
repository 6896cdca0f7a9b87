//! The allocator of programs with large tables in WebAssembly.
//!
//! Tables begin as zeros, and most of a large one is never touched. Memory that a module has just got is zero, and takes
//! no memory of the machine before it is touched; the allocator of the standard library does not know that and clears it.

#![allow(unsafe_code)] // An allocator.

use std::alloc::{GlobalAlloc, Layout, System};
use std::arch::wasm32::memory_size;

/// What memory grows by.
const PAGE_BYTES: usize = 1 << 16;

/// The allocator of the system, which clears only what has been used before. To be made a program's own with
/// `#[global_allocator]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct FreshZeros;

// SAFETY: everything is handed on to the system's allocator with what the call was made with.
unsafe impl GlobalAlloc for FreshZeros {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let end = memory_size::<0>().saturating_mul(PAGE_BYTES);
        // SAFETY: as the caller promises.
        let start = unsafe { System.alloc(layout) };
        if !start.is_null() {
            // What lies behind the former end of memory is fresh: nothing has written to it, as the allocator's own
            // data lie before an allocation, and those behind it were not there.
            let used_bytes = end.saturating_sub(start as usize).min(layout.size());
            // SAFETY: the beginning of what was just allocated.
            unsafe { start.write_bytes(0, used_bytes) };
        }
        start
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        unsafe { System.realloc(old, layout, bytes) }
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(start, layout) }
    }
}
