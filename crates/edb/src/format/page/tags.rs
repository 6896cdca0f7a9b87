//! The tag array: where each value lies and how long it is, and the flags of its node.

use super::header::{set_u16, u16_at, u32_at};
use super::node::NodeFlags;
use super::{TAG_BYTES, header_bytes, is_small};

/// Bits of each half of a tag that are a size or an offset. On small pages the three bits above an
/// offset are the flags of the node; bit 15 of large pages stays zero on those written here.
const LOW_13: u16 = 0x1FFF;
const LOW_15: u16 = 0x7FFF;
/// Where the flags begin in the word that holds them: the offset of a tag on small pages, the first
/// word of a value on large ones.
const FLAG_SHIFT: u16 = 13;

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
const fn mask(page_bytes: usize) -> u16 {
    if is_small(page_bytes) { LOW_13 } else { LOW_15 }
}

#[inline]
pub(super) fn get(page: &[u8], index: usize) -> Tag {
    let both = u32_at(page, position(page.len(), index));
    let mask = mask(page.len());
    Tag {
        size: usize::from(both as u16 & mask),
        offset: usize::from((both >> 16) as u16 & mask),
    }
}

/// Writes a tag without flags.
pub(super) fn set(page: &mut [u8], index: usize, tag: Tag) {
    let most = usize::from(mask(page.len()));
    assert!(tag.size <= most && tag.offset <= most);
    let at = position(page.len(), index);
    set_u16(page, at, tag.size as u16);
    set_u16(page, at + 2, tag.offset as u16);
}

/// Writes a tag and keeps the flags it has.
pub(super) fn replace(page: &mut [u8], index: usize, tag: Tag) {
    let at = position(page.len(), index) + 2;
    let kept = u16_at(page, at) & !mask(page.len());
    set(page, index, tag);
    if is_small(page.len()) {
        let offset = u16_at(page, at);
        set_u16(page, at, offset | kept);
    }
}

/// Flags of the node whose value `tag` places. The value must have its first word.
#[inline]
pub(super) fn node_flags(page: &[u8], index: usize, tag: Tag) -> NodeFlags {
    let at = if is_small(page.len()) {
        position(page.len(), index) + 2
    } else {
        header_bytes(page.len()) + tag.offset
    };
    NodeFlags((u16_at(page, at) >> FLAG_SHIFT) as u8)
}

/// Sets the flags of the node behind tag `index`, whose value has been written.
pub(super) fn set_node_flags(page: &mut [u8], index: usize, flags: NodeFlags) {
    let at = if is_small(page.len()) {
        position(page.len(), index) + 2
    } else {
        header_bytes(page.len()) + get(page, index).offset
    };
    let kept = u16_at(page, at) & LOW_13;
    set_u16(page, at, kept | u16::from(flags.0) << FLAG_SHIFT);
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
