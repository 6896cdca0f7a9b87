//! The tag array: where each value lies and how long it is.

use super::TAG_BYTES;
use super::header::{set_u16, u32_at};

/// Bits 0..15 of each half of a tag; bit 15 stays zero on the pages written here.
const LOW_15: u16 = 0x7FFF;

/// Place of one value, relative to the end of the page header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tag {
    pub(super) offset: usize,
    pub(super) size: usize,
}

impl Tag {
    #[inline]
    pub(super) fn end(self) -> usize {
        self.offset + self.size
    }
}

#[inline]
fn position(page_bytes: usize, index: usize) -> usize {
    page_bytes - TAG_BYTES * (index + 1)
}

#[inline]
pub(super) fn get(page: &[u8], index: usize) -> Tag {
    let both = u32_at(page, position(page.len(), index));
    Tag {
        size: usize::from(both as u16 & LOW_15),
        offset: usize::from((both >> 16) as u16 & LOW_15),
    }
}

pub(super) fn set(page: &mut [u8], index: usize, tag: Tag) {
    assert!(tag.size <= usize::from(LOW_15) && tag.offset <= usize::from(LOW_15));
    let at = position(page.len(), index);
    set_u16(page, at, tag.size as u16);
    set_u16(page, at + 2, tag.offset as u16);
}

/// Makes room for one tag at `index` among `count` tags.
pub(super) fn open_gap(page: &mut [u8], index: usize, count: usize) {
    let lowest = page.len() - TAG_BYTES * count;
    let end = page.len() - TAG_BYTES * index;
    page.copy_within(lowest..end, lowest - TAG_BYTES);
}

/// Takes tags `first..last` out of `count` tags.
pub(super) fn close_gap(page: &mut [u8], first: usize, last: usize, count: usize) {
    let lowest = page.len() - TAG_BYTES * count;
    let kept_end = page.len() - TAG_BYTES * last;
    let removed = TAG_BYTES * (last - first);
    page.copy_within(lowest..kept_end, lowest + removed);
    page[lowest..lowest + removed].fill(0);
}
