//! Reading the header, the tags and the nodes of a page.

use super::header::{self, PageFlags, u16_at, u32_at, u64_at};
use super::node::{self, Node, NodeFlags};
use super::{PAGE_SIZES_BYTES, TAG_BYTES, header_bytes, is_small, tags};

/// A page to read. The bytes must have passed [`super::verify`] or come from [`super::PageChange`]:
/// on other bytes the accessors may panic. [`PageView::check_structure`] accepts anything.
#[derive(Clone, Copy)]
pub struct PageView<'a> {
    pub(super) bytes: &'a [u8],
}

impl<'a> PageView<'a> {
    /// Looks at `bytes`, one whole page.
    ///
    /// # Panics
    /// If the length is none of the page sizes of the format.
    #[must_use]
    #[inline]
    pub fn new(bytes: &'a [u8]) -> Self {
        assert!(
            PAGE_SIZES_BYTES.contains(&bytes.len()),
            "{} is not a page size",
            bytes.len()
        );
        Self { bytes }
    }

    /// The page's own number; 0 on small pages, which do not hold it.
    #[must_use]
    pub fn page_number(self) -> u32 {
        if is_small(self.bytes.len()) {
            return 0;
        }
        u32_at(self.bytes, header::PAGE_NUMBER)
    }

    /// Everything behind the page header.
    #[inline]
    pub(super) fn values(self) -> &'a [u8] {
        &self.bytes[header_bytes(self.bytes.len())..]
    }

    /// Database time of the last change; redo compares it.
    #[must_use]
    pub fn dbtime(self) -> u64 {
        u64_at(self.bytes, header::DBTIME)
    }

    /// Left neighbour of a leaf, 0 if none. Always 0 on internal pages: readers insist.
    #[must_use]
    pub fn previous(self) -> u32 {
        u32_at(self.bytes, header::PREVIOUS)
    }

    /// Right neighbour of a leaf, 0 if none. Always 0 on internal pages.
    #[must_use]
    pub fn next(self) -> u32 {
        u32_at(self.bytes, header::NEXT)
    }

    /// Object id of the tree this page belongs to.
    #[must_use]
    pub fn object_id(self) -> u32 {
        u32_at(self.bytes, header::OBJECT_ID)
    }

    /// Whether the page is a root, a leaf, the parent of leaves, and so on.
    #[must_use]
    #[inline]
    pub fn flags(self) -> PageFlags {
        PageFlags(u32_at(self.bytes, header::FLAGS))
    }

    /// Whether this is a leaf.
    #[must_use]
    #[inline]
    pub fn is_leaf(self) -> bool {
        self.flags().contains(PageFlags::LEAF)
    }

    /// Whether this is the root of a tree.
    #[must_use]
    #[inline]
    pub fn is_root(self) -> bool {
        self.flags().contains(PageFlags::ROOT)
    }

    /// Bytes neither in a value nor in a tag.
    #[must_use]
    pub fn free_bytes(self) -> usize {
        usize::from(u16_at(self.bytes, header::FREE_BYTES))
    }

    /// Part of [`Self::free_bytes`] that a rollback may take back.
    #[must_use]
    pub fn uncommitted_free(self) -> usize {
        usize::from(u16_at(self.bytes, header::UNCOMMITTED_FREE))
    }

    pub(super) fn first_free(self) -> usize {
        usize::from(u16_at(self.bytes, header::FIRST_FREE))
    }

    #[inline]
    pub(super) fn tag_count(self) -> usize {
        usize::from(u16_at(self.bytes, header::TAG_STATE) & header::TAG_COUNT_MASK)
    }

    /// Number of nodes, deleted ones included.
    #[must_use]
    #[inline]
    pub fn node_count(self) -> usize {
        self.tag_count().saturating_sub(1)
    }

    #[inline]
    pub(super) fn value(self, tag: usize) -> &'a [u8] {
        let tag = tags::get(self.bytes, tag);
        &self.values()[tag.offset..tag.end()]
    }

    /// The external header: space header of a root, key prefix of any other page.
    #[must_use]
    #[inline]
    pub fn external_header(self) -> &'a [u8] {
        self.value(0)
    }

    /// The prefix keys of this page may share: empty on a root, whose external header is taken.
    #[must_use]
    #[inline]
    pub fn prefix(self) -> &'a [u8] {
        if self.is_root() {
            &[]
        } else {
            self.external_header()
        }
    }

    /// Node `index`.
    ///
    /// # Panics
    /// If there are not so many nodes.
    #[must_use]
    #[inline]
    pub fn node(self, index: usize) -> Node<'a> {
        assert!(
            index < self.node_count(),
            "node {index} of {}",
            self.node_count()
        );
        let tag = tags::get(self.bytes, index + 1);
        let flags = tags::node_flags(self.bytes, index + 1, tag);
        node::parse(&self.values()[tag.offset..tag.end()], flags, self.prefix())
    }

    /// All nodes in key order.
    pub fn nodes(self) -> impl DoubleEndedIterator<Item = Node<'a>> + ExactSizeIterator {
        (0..self.node_count()).map(move |index| self.node(index))
    }

    /// Child page of node `index` of an internal page.
    ///
    /// # Panics
    /// If the page is a leaf or the node has no page number as its data.
    #[must_use]
    #[inline]
    pub fn child(self, index: usize) -> u32 {
        let data = self.node(index).data;
        assert!(
            !self.is_leaf() && data.len() == 4,
            "an internal node holds a page number"
        );
        u32_at(data, 0)
    }

    /// Page space node `index` takes, its tag included.
    #[must_use]
    pub fn space_of(self, index: usize) -> usize {
        tags::get(self.bytes, index + 1).size + TAG_BYTES
    }

    /// Page space a new node would take on this page, its tag included.
    #[must_use]
    pub fn space_for(self, key: &[u8], data_bytes: usize) -> usize {
        let prefix_bytes = node::compressed_bytes(self.prefix(), key);
        node::value_bytes(key.len(), prefix_bytes, data_bytes) + TAG_BYTES
    }

    /// Whether a new node fits without touching what a rollback may need back.
    #[must_use]
    pub fn fits(self, key: &[u8], data_bytes: usize) -> bool {
        let free = self.free_bytes().saturating_sub(self.uncommitted_free());
        self.space_for(key, data_bytes) <= free && self.tag_count() < super::MAX_TAGS
    }

    /// Whether the data of node `index` can become `data_bytes` long, by the same rule as
    /// [`Self::fits`].
    #[must_use]
    pub fn fits_replacement(self, index: usize, data_bytes: usize) -> bool {
        let free = self.free_bytes().saturating_sub(self.uncommitted_free());
        data_bytes <= self.node(index).data.len() + free
    }

    /// Free bytes by the definition: what neither a value nor a tag takes.
    #[must_use]
    pub fn free_bytes_by_definition(self) -> usize {
        let count = self.tag_count();
        let values: usize = (0..count).map(|tag| tags::get(self.bytes, tag).size).sum();
        let used = header_bytes(self.bytes.len()) + values + TAG_BYTES * count;
        assert!(
            used <= self.bytes.len(),
            "page {} is overfull",
            self.page_number()
        );
        self.bytes.len() - used
    }

    /// Whether node `index` carries the deleted flag.
    #[must_use]
    pub fn is_deleted(self, index: usize) -> bool {
        self.node(index).flags.contains(NodeFlags::DELETED)
    }
}
