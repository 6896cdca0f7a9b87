//! Changing a page. Every change keeps the free space invariant: page = header + values + tags + free
//! bytes.

use std::ops::Range;

use super::header::{self, PageFlags, set_u16, set_u32, set_u64};
use super::node::{self, NodeFlags};
use super::tags::{self, Tag};
use super::{MAX_TAGS, PageView, TAG_BYTES, header_bytes, is_small, page_capacity_bytes};

/// The page has too little room; it was not changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("page {page_number} has {free_bytes} free bytes where {needed_bytes} are needed; split it")]
pub struct PageFull {
    /// Number of the page in the file.
    pub page_number: u32,
    /// Free bytes of the page, those between its values included.
    pub free_bytes: usize,
    /// What the change would take.
    pub needed_bytes: usize,
}

/// A page to change. The caller sets the dbtime with each change and seals the page before it is
/// written.
pub struct PageChange<'a> {
    bytes: &'a mut [u8],
}

impl<'a> PageChange<'a> {
    /// Changes `bytes`, one whole page: formatted before, or about to be by [`Self::format_new`].
    ///
    /// # Panics
    /// If the length is none of the page sizes of the format.
    #[must_use]
    pub fn new(bytes: &'a mut [u8]) -> Self {
        let _ = PageView::new(bytes);
        Self { bytes }
    }

    /// The page as it is now.
    #[must_use]
    pub fn view(&self) -> PageView<'_> {
        PageView { bytes: self.bytes }
    }

    /// Makes this an empty page with an empty external header. Flags every page has are added.
    pub fn format_new(&mut self, page_number: u32, object_id: u32, flags: PageFlags) {
        self.bytes.fill(0);
        self.set_flags(flags);
        self.set_page_number(page_number);
        set_u32(self.bytes, header::OBJECT_ID, object_id);
        self.set_tag_count(1);
        let free = page_capacity_bytes(self.bytes.len()) - TAG_BYTES;
        set_u16(self.bytes, header::FREE_BYTES, free as u16);
        self.debug_law();
    }

    /// Gives the page another number, when it was filled before it had one. Small pages do not hold
    /// it.
    pub fn set_page_number(&mut self, page_number: u32) {
        if !is_small(self.bytes.len()) {
            set_u32(self.bytes, header::PAGE_NUMBER, page_number);
        }
    }

    /// Sets the database time of the last change.
    pub fn set_dbtime(&mut self, dbtime: u64) {
        set_u64(self.bytes, header::DBTIME, dbtime);
    }

    /// Sets the left neighbour (0 = none).
    ///
    /// # Panics
    /// If the page is internal and the link is not 0: readers refuse such pages.
    pub fn set_previous(&mut self, page_number: u32) {
        assert!(
            page_number == 0 || self.view().is_leaf(),
            "only leaves have neighbours"
        );
        set_u32(self.bytes, header::PREVIOUS, page_number);
    }

    /// Sets the right neighbour (0 = none).
    ///
    /// # Panics
    /// If the page is internal and the link is not 0: readers refuse such pages.
    pub fn set_next(&mut self, page_number: u32) {
        assert!(
            page_number == 0 || self.view().is_leaf(),
            "only leaves have neighbours"
        );
        set_u32(self.bytes, header::NEXT, page_number);
    }

    /// Sets the page flags; those every page has are added.
    pub fn set_flags(&mut self, flags: PageFlags) {
        let flags = flags | PageFlags::NEW_RECORDS | PageFlags::ECC;
        assert!(flags.0 < 0x2_0000, "readers refuse unknown page flags");
        set_u32(self.bytes, header::FLAGS, flags.0);
    }

    /// Replaces the external header of a root (its space header).
    ///
    /// # Errors
    /// [`PageFull`] if it does not fit.
    ///
    /// # Panics
    /// If the page is not a root: the external header of other pages is their prefix, see
    /// [`Self::set_prefix`].
    pub fn set_external_header(&mut self, external: &[u8]) -> Result<(), PageFull> {
        assert!(
            self.view().is_root(),
            "the external header of this page is its key prefix"
        );
        self.resize_value(0, external.len())?;
        self.value_mut(0).copy_from_slice(external);
        self.debug_law();
        Ok(())
    }

    /// Replaces the key prefix and stores every key again against the new one.
    ///
    /// # Errors
    /// [`PageFull`] if the nodes would not fit with this prefix; the page is unchanged.
    ///
    /// # Panics
    /// If the page is a root: roots have no compressed keys.
    pub fn set_prefix(&mut self, prefix: &[u8]) -> Result<(), PageFull> {
        assert!(
            !self.view().is_root(),
            "keys of a root are never compressed"
        );
        let old = self.bytes.to_vec();
        let old = PageView { bytes: &old };
        let needed = super::split::bytes_with_prefix(old, 0..old.node_count(), prefix);
        let room = page_capacity_bytes(self.bytes.len());
        if needed > room {
            return Err(self.full(needed));
        }
        let header_bytes = header_bytes(self.bytes.len());
        self.bytes[header_bytes..].fill(0);
        self.set_tag_count(1);
        set_u16(self.bytes, header::FIRST_FREE, 0);
        set_u16(self.bytes, header::FREE_BYTES, (room - TAG_BYTES) as u16);
        self.resize_value(0, prefix.len())?;
        self.value_mut(0).copy_from_slice(prefix);
        self.copy_nodes(old, 0..old.node_count())
    }

    /// Inserts a node before node `index`.
    ///
    /// # Errors
    /// [`PageFull`] if it does not fit; the page is unchanged.
    ///
    /// # Panics
    /// If `index` is beyond the end.
    pub fn insert_node(
        &mut self,
        index: usize,
        key: &[u8],
        data: &[u8],
        flags: NodeFlags,
    ) -> Result<(), PageFull> {
        self.insert_node_with(index, key, data.len(), flags, |room| {
            room.copy_from_slice(data);
        })
    }

    /// As [`Self::insert_node`], with the data written in place by `write_data` into `data_bytes`
    /// bytes of undefined content: it must fill them all.
    ///
    /// # Errors
    /// [`PageFull`] if it does not fit; the page is unchanged.
    ///
    /// # Panics
    /// If `index` is beyond the end.
    pub fn insert_node_with(
        &mut self,
        index: usize,
        key: &[u8],
        data_bytes: usize,
        flags: NodeFlags,
        write_data: impl FnOnce(&mut [u8]),
    ) -> Result<(), PageFull> {
        let view = self.view();
        let count = view.tag_count();
        assert!(
            index < count,
            "node {index} of {} cannot be inserted",
            view.node_count()
        );
        let prefix_bytes = node::compressed_bytes(view.prefix(), key);
        let size = node::value_bytes(key.len(), prefix_bytes, data_bytes);
        if size + TAG_BYTES > view.free_bytes() || count == MAX_TAGS {
            return Err(self.full(size + TAG_BYTES));
        }
        self.reserve(size, 1);
        tags::open_gap(self.bytes, index + 1, count);
        tags::set(self.bytes, index + 1, Tag { offset: 0, size: 0 });
        self.set_tag_count(count + 1);
        self.add_free(-(TAG_BYTES as isize));
        self.place(index + 1, size);
        let stored = node::write(self.value_mut(index + 1), key, prefix_bytes, write_data);
        tags::set_node_flags(self.bytes, index + 1, flags.stored_as(stored));
        self.debug_law();
        Ok(())
    }

    /// Replaces the data of node `index`; key and flags stay.
    ///
    /// # Errors
    /// [`PageFull`] if it does not fit; the page is unchanged.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn replace_data(&mut self, index: usize, data: &[u8]) -> Result<(), PageFull> {
        let old = self.view().node(index).data.len();
        let head = self.view().value(index + 1).len() - old;
        self.resize_value(index + 1, head + data.len())?;
        self.value_mut(index + 1)[head..].copy_from_slice(data);
        self.debug_law();
        Ok(())
    }

    /// Changes part of the data of node `index` in place.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn data_mut(&mut self, index: usize) -> &mut [u8] {
        let old = self.view().node(index).data.len();
        let value = self.value_mut(index + 1);
        let head = value.len() - old;
        &mut value[head..]
    }

    /// Sets the flags of node `index`; whether its key is compressed stays as it is.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn set_node_flags(&mut self, index: usize, flags: NodeFlags) {
        let stored = self.view().node(index).flags;
        tags::set_node_flags(self.bytes, index + 1, flags.stored_as(stored));
    }

    /// Takes node `index` out of the page.
    ///
    /// # Panics
    /// If there is no such node.
    pub fn remove_node(&mut self, index: usize) {
        self.remove_nodes(index..index + 1);
    }

    /// Takes a range of nodes out of the page.
    ///
    /// # Panics
    /// If the range goes beyond the end.
    pub fn remove_nodes(&mut self, range: Range<usize>) {
        let count = self.view().tag_count();
        assert!(
            range.start <= range.end && range.end < count,
            "nodes {range:?} of {}",
            count - 1
        );
        let (first, last) = (range.start + 1, range.end + 1);
        let mut freed = TAG_BYTES * (last - first);
        for tag in first..last {
            freed += self.release(tag);
        }
        tags::close_gap(self.bytes, first, last, count);
        self.set_tag_count(count - (last - first));
        self.add_free(freed as isize);
        self.debug_law();
    }

    /// Appends nodes of another page after the last node, stored against the prefix of this one.
    ///
    /// # Errors
    /// [`PageFull`] if they do not all fit; the page is unchanged.
    pub fn copy_nodes(&mut self, from: PageView<'_>, range: Range<usize>) -> Result<(), PageFull> {
        let prefix = self.view().prefix().to_vec();
        let fixed = prefix.len() + TAG_BYTES;
        let needed = super::split::bytes_with_prefix(from, range.clone(), &prefix) - fixed;
        if needed > self.view().free_bytes() || self.view().tag_count() + range.len() > MAX_TAGS {
            return Err(self.full(needed));
        }
        let mut key = Vec::new();
        for index in range {
            let node = from.node(index);
            node.key_into(&mut key);
            self.insert_node(self.view().node_count(), &key, node.data, node.flags)?;
        }
        Ok(())
    }

    /// Closes all gaps between values and zeroes the free space, so that nothing deleted remains
    /// readable.
    pub fn defragment(&mut self) {
        let count = self.view().tag_count();
        let mut order: Vec<u16> = (0..count as u16).collect();
        order.sort_unstable_by_key(|&tag| tags::get(self.bytes, usize::from(tag)).offset);
        let header_bytes = header_bytes(self.bytes.len());
        let mut next = 0;
        for tag in order.into_iter().map(usize::from) {
            let Tag { offset, size } = tags::get(self.bytes, tag);
            if size > 0 {
                assert!(
                    offset >= next,
                    "values of page {} overlap",
                    self.view().page_number()
                );
                let from = header_bytes + offset;
                self.bytes
                    .copy_within(from..from + size, header_bytes + next);
            }
            tags::replace(self.bytes, tag, Tag { offset: next, size });
            next += size;
        }
        set_u16(self.bytes, header::FIRST_FREE, next as u16);
        let end = self.bytes.len() - TAG_BYTES * count;
        self.bytes[header_bytes + next..end].fill(0);
        let view = self.view();
        assert_eq!(
            view.free_bytes(),
            view.free_bytes_by_definition(),
            "free bytes are wrong"
        );
    }

    fn full(&self, needed_bytes: usize) -> PageFull {
        let view = self.view();
        let free_bytes = view.free_bytes();
        PageFull {
            page_number: view.page_number(),
            free_bytes,
            needed_bytes,
        }
    }

    fn set_tag_count(&mut self, count: usize) {
        assert!((1..=MAX_TAGS).contains(&count));
        set_u16(self.bytes, header::TAG_STATE, count as u16);
    }

    fn add_free(&mut self, bytes: isize) {
        let free = self.view().free_bytes() as isize + bytes;
        assert!(
            free >= 0 && free < self.bytes.len() as isize,
            "free bytes become {free}"
        );
        set_u16(self.bytes, header::FREE_BYTES, free as u16);
        if self.view().uncommitted_free() > free as usize {
            set_u16(self.bytes, header::UNCOMMITTED_FREE, free as u16);
        }
    }

    fn value_mut(&mut self, tag: usize) -> &mut [u8] {
        let tag = tags::get(self.bytes, tag);
        let start = header_bytes(self.bytes.len());
        &mut self.bytes[start + tag.offset..start + tag.end()]
    }

    /// Bytes between the highest value and the tag array.
    fn contiguous(&self) -> usize {
        let view = self.view();
        let used =
            header_bytes(self.bytes.len()) + view.first_free() + TAG_BYTES * view.tag_count();
        assert!(
            used <= self.bytes.len(),
            "values and tags of page {} meet",
            view.page_number()
        );
        self.bytes.len() - used
    }

    /// Makes `bytes` and `more_tags` tags available in one piece. The caller has checked the free
    /// bytes.
    fn reserve(&mut self, bytes: usize, more_tags: usize) {
        let needed = bytes + TAG_BYTES * more_tags;
        if self.contiguous() < needed {
            self.defragment();
            assert!(
                self.contiguous() >= needed,
                "free bytes promised more than there is"
            );
        }
    }

    /// Gives the empty tag `tag` a value of `size` bytes at the end of the values.
    fn place(&mut self, tag: usize, size: usize) {
        let offset = self.view().first_free();
        tags::replace(self.bytes, tag, Tag { offset, size });
        set_u16(self.bytes, header::FIRST_FREE, (offset + size) as u16);
        self.add_free(-(size as isize));
    }

    /// Empties a tag, without touching the count of free bytes; returns the size it had.
    fn release(&mut self, tag: usize) -> usize {
        let old = tags::get(self.bytes, tag);
        if old.end() == self.view().first_free() {
            set_u16(self.bytes, header::FIRST_FREE, old.offset as u16);
        }
        let size = 0;
        tags::replace(self.bytes, tag, Tag { size, ..old });
        old.size
    }

    /// Gives a value another size and keeps its first bytes.
    fn resize_value(&mut self, tag: usize, size: usize) -> Result<(), PageFull> {
        let old = tags::get(self.bytes, tag);
        if size <= old.size {
            if old.end() == self.view().first_free() {
                set_u16(self.bytes, header::FIRST_FREE, (old.offset + size) as u16);
            }
            tags::replace(self.bytes, tag, Tag { size, ..old });
            self.add_free((old.size - size) as isize);
            return Ok(());
        }
        if size - old.size > self.view().free_bytes() {
            return Err(self.full(size - old.size));
        }
        let kept = self.view().value(tag).to_vec();
        let freed = self.release(tag);
        self.add_free(freed as isize);
        self.reserve(size, 0);
        self.place(tag, size);
        self.value_mut(tag)[..kept.len()].copy_from_slice(&kept);
        Ok(())
    }

    fn debug_law(&self) {
        let view = self.view();
        debug_assert_eq!(view.free_bytes(), view.free_bytes_by_definition());
        debug_assert!(self.contiguous() <= view.free_bytes());
    }
}
