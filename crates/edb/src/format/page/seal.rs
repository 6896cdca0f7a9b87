//! Checksums of a page: stored before each write, checked after each read.

use super::header::{self, MORE_CHECKSUMS, PageFlags, set_u64, u64_at};
use super::{MAX_PAGE_NUMBER, PAGE_SIZES_BYTES, PageView, is_small};
use crate::format::checksum::{
    Difference, block_checksum, block_checksum_skipping_itself, difference,
};
use runtime::is_zero;

/// A single wrong bit that the checksum located.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WrongBit {
    /// Byte of the page.
    pub byte: usize,
    /// Bit of that byte, 0 = least significant.
    pub bit: u8,
}

/// What is wrong with a page that was read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum PageDamage {
    /// All bytes are zero.
    #[error("the page was never written (all bytes are zero)")]
    NeverWritten,
    /// The checksum does not match the contents: damaged, torn, or not a page.
    #[error("the page's checksum is wrong{}", correctable_text(.correctable))]
    WrongChecksum {
        /// The wrong bit if there is exactly one; [`repair`] would turn it back.
        correctable: Option<WrongBit>,
    },
    /// A whole and valid page, but not the one asked for: a misdirected write or read. Small pages
    /// hold their number only within the checksum, where this looks the same as a wrong bit in that
    /// part of it.
    #[error("the page calls itself page {found}: it was written to or read from the wrong place")]
    WrongNumber {
        /// The number in the page.
        found: u32,
    },
}

fn correctable_text(bit: &Option<WrongBit>) -> String {
    match bit {
        Some(WrongBit { byte, bit }) => format!(" (one bit: byte {byte}, bit {bit})"),
        None => String::new(),
    }
}

/// Bytes of one checksum block: large pages have four blocks, small ones a single block.
fn block_bytes(page_bytes: usize) -> usize {
    if is_small(page_bytes) {
        page_bytes
    } else {
        page_bytes / 4
    }
}

/// Where the checksum of block `block` is stored.
fn place_of(block: usize) -> usize {
    if block == 0 {
        header::CHECKSUM
    } else {
        MORE_CHECKSUMS[block - 1]
    }
}

fn computed(page: &[u8], block: usize, seed: u32) -> u64 {
    let size = block_bytes(page.len());
    let bytes = &page[block * size..(block + 1) * size];
    if block == 0 {
        block_checksum_skipping_itself(bytes, seed)
    } else {
        block_checksum(bytes, seed)
    }
}

fn blocks(page: &[u8]) -> usize {
    assert!(
        PAGE_SIZES_BYTES.contains(&page.len()),
        "{} is not a page size",
        page.len()
    );
    page.len() / block_bytes(page.len())
}

/// Stores the checksums. The last step before a page is written as page `number`.
///
/// # Panics
/// If the page breaks the law of free space or is another one: such a page must not reach the disk.
pub fn seal(page: &mut [u8], number: u32) {
    let view = PageView::new(page);
    assert!(number != 0, "a page without a number cannot be sealed");
    assert!(
        is_small(page.len()) || view.page_number() == number,
        "a page is written to its own place"
    );
    assert_eq!(
        view.free_bytes(),
        view.free_bytes_by_definition(),
        "page {number}: free bytes"
    );
    seal_as_is(page, number);
}

/// Stores the checksums of whatever the page holds, for page number `seed`.
pub fn seal_as_is(page: &mut [u8], seed: u32) {
    // Block 0 covers the checksums of the other blocks, so it comes last.
    for block in (0..blocks(page)).rev() {
        let checksum = computed(page, block, seed);
        set_u64(page, place_of(block), checksum);
    }
}

fn is_whole(page: &[u8], seed: u32) -> bool {
    (0..blocks(page)).all(|block| u64_at(page, place_of(block)) == computed(page, block, seed))
}

/// Which of the partial checksums of `page` are wrong, as one bit each from the lowest on, and how
/// many there are.
#[must_use]
pub fn wrong_blocks(page: &[u8], page_number: u32) -> (u8, u8) {
    let count = blocks(page);
    let is_wrong =
        |&block: &usize| u64_at(page, place_of(block)) != computed(page, block, page_number);
    let mask = (0..count)
        .filter(is_wrong)
        .fold(0, |mask, block| mask | 1 << block);
    (mask, count as u8)
}

/// Checks that `page` is page `page_number`, as it was sealed.
///
/// # Errors
/// What is wrong with it.
pub fn verify(page: &[u8], page_number: u32) -> Result<(), PageDamage> {
    if is_whole(page, page_number) {
        // A sealed page's seed is its own number, so this can only differ in bytes made by another
        // writer.
        let found = PageView::new(page).page_number();
        return if is_small(page.len()) || found == page_number {
            Ok(())
        } else {
            Err(PageDamage::WrongNumber { found })
        };
    }
    if is_zero(page) {
        return Err(PageDamage::NeverWritten);
    }
    if let Some(found) = other_number(page, page_number) {
        return Err(PageDamage::WrongNumber { found });
    }
    let mut trial = page.to_vec();
    let correctable = repair(&mut trial, page_number);
    Err(PageDamage::WrongChecksum { correctable })
}

/// The number under which the page would be whole, if there is one.
fn other_number(page: &[u8], page_number: u32) -> Option<u32> {
    let found = if is_small(page.len()) {
        // The number is part of the XOR half of the checksum, and of nothing else.
        let changed = u64_at(page, header::CHECKSUM) ^ computed(page, 0, page_number);
        let number = page_number ^ u32::try_from(changed).ok()?;
        (1..=MAX_PAGE_NUMBER).contains(&number).then_some(number)?
    } else {
        PageView::new(page).page_number()
    };
    (found != page_number && is_whole(page, found)).then_some(found)
}

/// Turns back the one wrong bit of `page`, if there is exactly one. Returns where it was.
///
/// The bit that says "this checksum can correct" is never turned, nor, on small pages, is one of the
/// half of the checksum that holds the number: another page must not pass for this one.
pub fn repair(page: &mut [u8], page_number: u32) -> Option<WrongBit> {
    let size = block_bytes(page.len());
    for block in 0..blocks(page) {
        let place = place_of(block);
        let wrong_bit = match difference(
            u64_at(page, place),
            computed(page, block, page_number),
            size,
        ) {
            Difference::None => continue,
            Difference::DataBit(bit) => block * size * 8 + bit,
            Difference::ChecksumBit(bit) if is_small(page.len()) && bit < 32 => return None,
            Difference::ChecksumBit(bit) => place * 8 + bit,
            Difference::Many => return None,
        };
        let (byte, bit) = (wrong_bit / 8, (wrong_bit % 8) as u8);
        let ecc_bit = header::FLAGS * 8 + PageFlags::ECC.0.trailing_zeros() as usize;
        if wrong_bit == ecc_bit {
            return None;
        }
        page[byte] ^= 1 << bit;
        // Block 0 covers all other checksums, so the first block repaired must leave a whole page.
        if is_whole(page, page_number) {
            return Some(WrongBit { byte, bit });
        }
        page[byte] ^= 1 << bit;
        return None;
    }
    None
}
