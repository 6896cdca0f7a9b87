//! The allocator of programs that look things up at random in large tables.
//!
//! A table of many megabytes in pages of 4 KiB has more pages than the processor knows the places
//! of, and on a virtual machine each page it does not know costs a walk through two tables of the
//! kernel's. So large allocations ask the kernel for large pages; what it makes of that is up to
//! its settings (`/sys/kernel/mm/transparent_hugepage/enabled`).

#![allow(unsafe_code)] // An allocator, and advice about the memory it hands out.

use rustix::mm::{Advice, madvise};
use std::alloc::{GlobalAlloc, Layout, System};

/// Allocations from this size on ask for large pages.
const LARGE_BYTES: usize = 4 << 20;
/// A large page; only memory between two of its multiples can be one.
const LARGE_PAGE_BYTES: usize = 2 << 20;

/// The allocator of the system, which asks for large pages where they pay. To be made a program's
/// own with `#[global_allocator]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LargePages;

impl LargePages {
    /// Asks for large pages in a new allocation. That the kernel has none does no harm.
    #[cold]
    fn ask(start: *mut u8, bytes: usize) {
        let first = start.align_offset(LARGE_PAGE_BYTES);
        if start.is_null() || first >= bytes {
            return;
        }
        let whole = (bytes - first) / LARGE_PAGE_BYTES * LARGE_PAGE_BYTES;
        if whole > 0 {
            // SAFETY: the stretch lies within one allocation of this process, and the advice
            // changes nothing but the size of the pages behind it.
            let _ = unsafe { madvise(start.add(first).cast(), whole, Advice::LinuxHugepage) };
        }
    }
}

// SAFETY: every call is handed on to the system's allocator with what it was called with.
unsafe impl GlobalAlloc for LargePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let start = unsafe { System.alloc(layout) };
        if layout.size() >= LARGE_BYTES {
            Self::ask(start, layout.size());
        }
        start
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: as the caller promises.
        let start = unsafe { System.alloc_zeroed(layout) };
        if layout.size() >= LARGE_BYTES {
            Self::ask(start, layout.size());
        }
        start
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        // SAFETY: as the caller promises.
        let start = unsafe { System.realloc(old, layout, bytes) };
        if bytes >= LARGE_BYTES {
            Self::ask(start, bytes);
        }
        start
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(start, layout) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_and_small_memory_keeps_what_is_put_there() {
        for bytes in [1, 4_096, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 12_345] {
            for align in [1, 64, 4_096] {
                let layout = Layout::from_size_align(bytes, align).unwrap();
                // SAFETY: the memory is looked at within its size, and freed as it was got.
                unsafe {
                    let zeroed = LargePages.alloc_zeroed(layout);
                    assert!(!zeroed.is_null() && zeroed.addr().is_multiple_of(align));
                    let at = |offset: usize| zeroed.add(offset);
                    assert_eq!((*at(0), *at(bytes / 2), *at(bytes - 1)), (0, 0, 0));
                    (*at(0), *at(bytes - 1)) = (7, 9);
                    let last = if bytes == 1 { 9 } else { 7 };
                    let longer = LargePages.realloc(zeroed, layout, bytes * 2);
                    assert_eq!((*longer, *longer.add(bytes - 1)), (last, 9));
                    let layout = Layout::from_size_align(bytes * 2, align).unwrap();
                    LargePages.dealloc(longer, layout);
                }
            }
        }
    }
}
