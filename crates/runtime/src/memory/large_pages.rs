//! The allocator of programs that look things up at random in large tables.
//!
//! A table of many megabytes in pages of 4 KiB has more pages than the CPU knows the places
//! of, and on a virtual machine each page it does not know costs a walk through two tables of the
//! kernel's. So large allocations ask the kernel for large pages; what it makes of that is up to
//! its settings (`/sys/kernel/mm/transparent_hugepage/enabled`).
//!
//! A large page lies at a multiple of its size. An allocation that begins elsewhere has small pages
//! at both ends, and one that the system moves as it grows has them throughout: so large ones are
//! mapped here, each from the beginning of a large page on.

#![allow(unsafe_code)] // An allocator, with mappings of memory behind it.

use super::{LARGE_PAGE_BYTES, mapping};
use rustix::mm::{MapFlags, MremapFlags, mremap_fixed, munmap};
use std::alloc::{GlobalAlloc, Layout, System};
use std::ptr::{NonNull, null_mut};

/// Allocations from this size on get mappings of their own.
const LARGE_BYTES: usize = LARGE_PAGE_BYTES;

/// The allocator of the system, but for large allocations, which ask for large pages. To be made a
/// program's own with `#[global_allocator]`.
#[derive(Debug, Clone, Copy, Default)]
pub struct LargePages;

/// Whether an allocation has a mapping of its own.
#[inline]
fn is_mapped(bytes: usize, layout: Layout) -> bool {
    bytes >= LARGE_BYTES && layout.align() <= LARGE_PAGE_BYTES
}

/// The whole pages of a large allocation. No overflow: a layout ends half-way through the address
/// space.
fn whole_pages(bytes: usize) -> usize {
    bytes.next_multiple_of(LARGE_PAGE_BYTES)
}

fn map(whole: usize) -> *mut u8 {
    mapping::map(whole, MapFlags::PRIVATE).map_or(null_mut(), NonNull::as_ptr)
}

/// Gives a mapping another length, at another place if it grows; null if there is no memory, and
/// the mapping is then as it was.
///
/// # Safety
///
/// `old` is a mapping of [`map`] or of this function, `from` bytes long; nobody uses it any more
/// when the call has succeeded.
#[cold]
unsafe fn map_again(old: *mut u8, from: usize, to: usize) -> *mut u8 {
    if to == from {
        return old;
    }
    if to < from {
        // SAFETY: the end of the mapping, which is given up by the caller. It stays if the kernel
        // cannot take it back.
        let _ = unsafe { munmap(old.add(to).cast(), from - to) };
        return old;
    }
    let new = map(to);
    if new.is_null() {
        return new;
    }
    // SAFETY: the old mapping moves over the new one, which holds nothing yet.
    let moved = unsafe { mremap_fixed(old.cast(), from, to, MremapFlags::MAYMOVE, new.cast()) };
    if moved.is_ok() {
        return new;
    }
    // What was mapped there may be gone by now.
    let new = map(to);
    if !new.is_null() {
        // SAFETY: both are mapped and apart from each other.
        unsafe {
            std::ptr::copy_nonoverlapping(old, new, from);
            let _ = munmap(old.cast(), from);
        }
    }
    new
}

// SAFETY: small allocations are handed on to the system's allocator with what the call was made
// with. Large ones are mappings of their own, aligned to large pages; which of the two an
// allocation is follows from its layout, which is the same when it is given back.
unsafe impl GlobalAlloc for LargePages {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout.size(), layout) {
            return map(whole_pages(layout.size()));
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        if is_mapped(layout.size(), layout) {
            return map(whole_pages(layout.size()));
        }
        // SAFETY: as the caller promises.
        unsafe { System.alloc_zeroed(layout) }
    }

    #[inline]
    unsafe fn realloc(&self, old: *mut u8, layout: Layout, bytes: usize) -> *mut u8 {
        match (is_mapped(layout.size(), layout), is_mapped(bytes, layout)) {
            // SAFETY: as the caller promises.
            (false, false) => unsafe { System.realloc(old, layout, bytes) },
            // SAFETY: as the caller promises; the length of a mapping follows from its layout.
            (true, true) => unsafe {
                map_again(old, whole_pages(layout.size()), whole_pages(bytes))
            },
            // SAFETY: as the caller promises: the new size makes a layout, and the old memory is
            // not used any more unless there is no new one.
            (_, _) => unsafe {
                let new = self.alloc(Layout::from_size_align_unchecked(bytes, layout.align()));
                if !new.is_null() {
                    std::ptr::copy_nonoverlapping(old, new, bytes.min(layout.size()));
                    self.dealloc(old, layout);
                }
                new
            },
        }
    }

    #[inline]
    unsafe fn dealloc(&self, start: *mut u8, layout: Layout) {
        if is_mapped(layout.size(), layout) {
            // SAFETY: a mapping of this allocator, of that length, which is not used any more.
            let _ = unsafe { munmap(start.cast(), whole_pages(layout.size())) };
            return;
        }
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

    #[test]
    fn what_grows_and_shrinks_keeps_its_contents_and_begins_at_a_large_page() {
        let sizes = [
            3,
            LARGE_BYTES,
            5,
            3 * LARGE_BYTES + 1,
            9 * LARGE_BYTES,
            40 * LARGE_BYTES,
        ];
        let sizes = sizes
            .into_iter()
            .chain([8 * LARGE_BYTES - 7, 70 * LARGE_BYTES, 100]);
        let layout = |bytes| Layout::from_size_align(bytes, 8).unwrap();
        // SAFETY: the memory is looked at within its size, and freed as it was got.
        unsafe {
            let mut start = LargePages.alloc_zeroed(layout(1));
            let mut size = 1;
            for (step, bytes) in sizes.enumerate() {
                *start.add(size - 1) = step as u8;
                *start = 200 + step as u8;
                start = LargePages.realloc(start, layout(size), bytes);
                assert_eq!(*start, 200 + step as u8, "step {step}");
                if bytes > size && size > 1 {
                    assert_eq!(*start.add(size - 1), step as u8, "step {step}");
                }
                let large = bytes >= LARGE_BYTES;
                assert!(!large || start.addr().is_multiple_of(LARGE_PAGE_BYTES));
                size = bytes;
            }
            LargePages.dealloc(start, layout(size));
        }
    }
}
