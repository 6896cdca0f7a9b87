//! One page: a header, values growing up from it, and an array of tags growing down from the end.
//!
//! Tag 0 is the external header: the space header on a root, the common key prefix on every other
//! page. Tags 1.. are nodes in key order; this module counts nodes from 0, so node `i` is tag `i +
//! 1`.
//!
//! - [`PageView`] reads a page, [`PageChange`] changes one; both take the page size from the length
//!   of the bytes.
//! - [`PageAppend`] fills a page from its first node to its last, for builders.
//! - [`seal`] stores the checksums before a write, [`verify`] checks a page that was read.
//! - [`SplitPoint`] and [`PageView::best_prefix`] help to split a page.
//!
//! Small pages, of 4 and 8 KiB, are laid out in another way than large ones, of 16 and 32 KiB:
//!
//! | | small | large |
//! |---|---|---|
//! | header | 40 bytes | 80 bytes |
//! | checksums | one | four, one for each quarter |
//! | number of the page | only in the checksum | in the checksums and in the header |
//! | flags of a node | top bits of its tag's offset | top bits of its first word |
//! | sizes and offsets in a tag | 13 bits | 15 bits |

mod append;
mod change;
mod header;
mod key_range;
mod node;
mod seal;
mod search;
mod split;
mod structure;
mod tags;
mod view;

#[cfg(test)]
mod model_tests;

pub use append::{PageAppend, PageHead};
pub use change::{PageChange, PageFull};
pub use header::PageFlags;
pub use key_range::KeyRange;
pub use node::{Node, NodeFlags, common_prefix_bytes, node_bytes};
pub use seal::{PageDamage, WrongBit, repair, seal, seal_as_is, verify, wrong_blocks};
pub use split::{SplitPoint, lowest_separator, shortest_separator};
pub use structure::StructureError;
pub use view::PageView;

/// The largest page with the short header.
const MAX_SMALL_PAGE_BYTES: usize = 8192;

/// Whether pages of this size have the layout of small pages.
#[must_use]
#[inline]
pub const fn is_small(page_size_bytes: usize) -> bool {
    page_size_bytes <= MAX_SMALL_PAGE_BYTES
}

/// Bytes of the page header.
#[must_use]
#[inline]
pub const fn header_bytes(page_size_bytes: usize) -> usize {
    if is_small(page_size_bytes) { 40 } else { 80 }
}

/// Bytes of one tag.
pub const TAG_BYTES: usize = 4;
/// The largest number of tags, tag 0 included: the count has twelve bits.
pub const MAX_TAGS: usize = 4095;
/// The page sizes of the format.
pub const PAGE_SIZES_BYTES: [usize; 4] = [4096, 8192, 16_384, 32_768];
/// The largest page number the format allows.
pub const MAX_PAGE_NUMBER: u32 = 0x7FEF_FFFF;

/// Bytes of a page for tags and values.
#[must_use]
pub const fn page_capacity_bytes(page_size_bytes: usize) -> usize {
    page_size_bytes - header_bytes(page_size_bytes)
}

/// The longest key a tree may have on pages of this size.
///
/// 2,000 bytes on 16 and 32 KiB pages (as ESE); a quarter of the page less a little on smaller
/// ones, so that an internal page always holds at least three separators.
#[must_use]
pub const fn max_key_bytes(page_size_bytes: usize) -> usize {
    if page_size_bytes >= 16_384 {
        2000
    } else {
        page_size_bytes / 4 - 24
    }
}

/// The longest record on pages of this size whose primary key may have `max_key_bytes` bytes.
///
/// A root leaf with its space header and this one node is exactly full. ESE allows 16 bytes more,
/// because it does not count the space header.
#[must_use]
pub const fn max_record_bytes(page_size_bytes: usize, max_key_bytes: usize) -> usize {
    page_capacity_bytes(page_size_bytes) - 2 * TAG_BYTES - 16 - 4 - max_key_bytes
}
