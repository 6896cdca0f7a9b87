//! Filling a page from its first node to its last: what a builder does that writes a tree in key
//! order. The page comes out as [`super::PageChange`] would have made it, byte for byte, at a part
//! of the cost: nothing is cleared that is written anyway, and nothing is looked up that is known.

use super::header::{self, PageFlags, set_u16, set_u32, set_u64};
use super::node;
use super::tags::{self, Tag};
use super::{MAX_TAGS, PAGE_SIZES_BYTES, TAG_BYTES, header_bytes, is_small, page_capacity_bytes};

/// What a page is, besides its nodes.
#[derive(Debug, Clone, Copy)]
pub struct PageHead<'a> {
    /// Number in the file, from 1: checksums depend on it.
    pub page_number: u32,
    /// Object id of its tree.
    pub object_id: u32,
    /// Its flags; those every page has are added.
    pub flags: PageFlags,
    /// Database time of its last change.
    pub dbtime: u64,
    /// Left neighbour of a leaf, 0 if none.
    pub previous: u32,
    /// What its keys may share; empty where keys are not compressed.
    pub prefix: &'a [u8],
}

/// A page that is being filled. The bytes stay with the caller, who hands them in at every call;
/// they are a page only after [`PageAppend::finish`].
#[derive(Debug)]
pub struct PageAppend {
    page_bytes: usize,
    prefix: Vec<u8>,
    /// Tags so far, tag 0 included.
    tags: usize,
    /// Where the next value goes, counted from the end of the header.
    values_end: usize,
}

impl PageAppend {
    /// Begins a page in `page`, whose old content does not matter.
    ///
    /// # Panics
    /// If the length is not a page size, if this is to be a root (the external header of a root is no
    /// prefix), or if the prefix does not fit.
    #[must_use]
    pub fn new(page: &mut [u8], head: &PageHead<'_>) -> Self {
        assert!(PAGE_SIZES_BYTES.contains(&page.len()), "no page size");
        assert!(
            !head.flags.contains(PageFlags::ROOT),
            "a root has no prefix"
        );
        let room = page_capacity_bytes(page.len()) - TAG_BYTES;
        assert!(head.prefix.len() <= room, "a key fits an empty page");
        let header_bytes = header_bytes(page.len());
        page[..header_bytes].fill(0);
        let flags = head.flags | PageFlags::NEW_RECORDS | PageFlags::ECC;
        set_u32(page, header::FLAGS, flags.0);
        if !is_small(page.len()) {
            set_u32(page, header::PAGE_NUMBER, head.page_number);
        }
        set_u32(page, header::OBJECT_ID, head.object_id);
        set_u32(page, header::PREVIOUS, head.previous);
        set_u64(page, header::DBTIME, head.dbtime);
        let (offset, size) = (0, head.prefix.len());
        page[header_bytes..header_bytes + size].copy_from_slice(head.prefix);
        tags::set(page, 0, Tag { offset, size });
        Self {
            page_bytes: page.len(),
            prefix: head.prefix.to_vec(),
            tags: 1,
            values_end: size,
        }
    }

    /// Nodes appended so far, the external header not counted.
    #[must_use]
    pub fn node_count(&self) -> usize {
        self.tags - 1
    }

    /// Bytes neither in a value nor in a tag.
    #[must_use]
    pub fn free_bytes(&self) -> usize {
        page_capacity_bytes(self.page_bytes) - self.values_end - TAG_BYTES * self.tags
    }

    /// Page space that a node would take, its tag included.
    #[must_use]
    pub fn space_for(&self, key: &[u8], data_bytes: usize) -> usize {
        let prefix_bytes = node::compressed_bytes(&self.prefix, key);
        node::value_bytes(key.len(), prefix_bytes, data_bytes) + TAG_BYTES
    }

    /// Whether one more node, of so many bytes with its tag, fits.
    #[must_use]
    pub fn fits(&self, space_bytes: usize) -> bool {
        space_bytes <= self.free_bytes() && self.tags < MAX_TAGS
    }

    /// Adds a node behind the last one. `write_data` fills its `data_bytes` bytes of data, whose
    /// content is undefined before.
    ///
    /// # Panics
    /// If it does not fit, or `page` is of another size than before.
    pub fn append(
        &mut self,
        page: &mut [u8],
        key: &[u8],
        data_bytes: usize,
        write_data: impl FnOnce(&mut [u8]),
    ) {
        assert_eq!(page.len(), self.page_bytes, "another page");
        let prefix_bytes = node::compressed_bytes(&self.prefix, key);
        let size = node::value_bytes(key.len(), prefix_bytes, data_bytes);
        assert!(
            self.fits(size + TAG_BYTES),
            "a node of {size} bytes does not fit into {}",
            self.free_bytes()
        );
        let offset = self.values_end;
        tags::set(page, self.tags, Tag { offset, size });
        let start = header_bytes(page.len()) + offset;
        let stored = node::write(
            &mut page[start..start + size],
            key,
            prefix_bytes,
            write_data,
        );
        tags::set_node_flags(page, self.tags, stored);
        self.tags += 1;
        self.values_end += size;
    }

    /// Completes the page but for its checksum: it is an ordinary page from then on.
    pub fn finish(self, page: &mut [u8]) {
        assert_eq!(page.len(), self.page_bytes, "another page");
        let free_start = header_bytes(page.len()) + self.values_end;
        let free_bytes = self.free_bytes();
        page[free_start..free_start + free_bytes].fill(0);
        set_u16(page, header::FREE_BYTES, free_bytes as u16);
        set_u16(page, header::FIRST_FREE, self.values_end as u16);
        set_u16(page, header::TAG_STATE, self.tags as u16);
    }
}

#[cfg(test)]
mod tests {
    use super::super::{NodeFlags, PageChange, PageView, seal};
    use super::*;
    use proptest::prelude::*;

    fn head(prefix: &[u8]) -> PageHead<'_> {
        PageHead {
            page_number: 77,
            object_id: 9,
            flags: PageFlags::LEAF | PageFlags::INDEX,
            dbtime: 5,
            previous: 76,
            prefix,
        }
    }

    /// The same page, made the ordinary way.
    fn changed(size: usize, prefix: &[u8], nodes: &[(Vec<u8>, Vec<u8>)]) -> Vec<u8> {
        let mut bytes = vec![0; size];
        let mut page = PageChange::new(&mut bytes);
        page.format_new(77, 9, PageFlags::LEAF | PageFlags::INDEX);
        page.set_dbtime(5);
        page.set_previous(76);
        page.set_prefix(prefix).unwrap();
        for (index, (key, data)) in nodes.iter().enumerate() {
            let inserted = page.insert_node(index, key, data, NodeFlags::NONE);
            if inserted.is_err() {
                break;
            }
        }
        seal(&mut bytes, 77);
        bytes
    }

    fn node() -> impl Strategy<Value = (Vec<u8>, Vec<u8>)> {
        let key = prop::collection::vec(0_u8..3, 1..40);
        (key, prop::collection::vec(any::<u8>(), 0..300))
    }

    proptest! {
        #[test]
        fn a_page_comes_out_as_if_it_had_been_changed_node_by_node(
            mut nodes in prop::collection::vec(node(), 0..200),
            size in prop::sample::select(PAGE_SIZES_BYTES.to_vec()),
            with_prefix: bool,
        ) {
            nodes.sort();
            let prefix = match nodes.first() {
                Some((key, _)) if with_prefix => key.clone(),
                _ => Vec::new(),
            };
            let mut bytes = vec![0xEE; size];
            let mut page = PageAppend::new(&mut bytes, &head(&prefix));
            for (key, data) in &nodes {
                if !page.fits(page.space_for(key, data.len())) {
                    break;
                }
                page.append(&mut bytes, key, data.len(), |room| room.copy_from_slice(data));
            }
            let count = page.node_count();
            page.finish(&mut bytes);
            prop_assert_eq!(PageView::new(&bytes).node_count(), count);
            seal(&mut bytes, 77);
            prop_assert!(bytes == changed(size, &prefix, &nodes));
        }
    }
}
