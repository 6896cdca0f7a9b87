//! Harm done to the pages of a database file.

use super::super::PAGE_BYTES;
use super::super::common::open_direct;
use runtime::Buffer;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

/// Pages at the beginning that hold the catalog and the roots of trees: without them there is no load.
const FIRST_PAGE: u32 = 40;
/// What is done to a page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum PageHarm {
    /// One bit is another.
    Flip,
    Zero,
    /// The second half is other bytes.
    Half,
    /// The page holds what another page of the file holds.
    Elsewhere,
    /// The page holds one of another database.
    Foreign,
    /// The page holds what it held some seconds before.
    Older,
}

impl PageHarm {
    pub const ALL: [Self; 6] = [
        Self::Flip,
        Self::Zero,
        Self::Half,
        Self::Elsewhere,
        Self::Foreign,
        Self::Older,
    ];

    /// What it may be reported as. A page that the run has written since it was read gets a first half of an
    /// older version.
    pub fn classes(self) -> &'static [&'static str] {
        match self {
            Self::Flip | Self::Half => &["torn", "checksum"],
            Self::Zero => &["zeroed"],
            Self::Elsewhere => &["misdirected"],
            Self::Foreign => &["foreign"],
            Self::Older => &["lost-write"],
        }
    }
}

/// A page as it was left.
pub struct HarmedPage {
    pub harm: PageHarm,
    pub bytes: Vec<u8>,
}

/// The bytes of a database file at some time.
pub struct Pages(Vec<u8>);

impl Pages {
    pub fn read(file: &Path) -> Self {
        Self(fs::read(file).expect("a database"))
    }

    /// Page 1 follows the two headers.
    pub fn page(&self, number: u32) -> &[u8] {
        let start = offset(number) as usize;
        self.0
            .get(start..start + PAGE_BYTES as usize)
            .unwrap_or(&[])
    }

    fn numbers(&self) -> std::ops::Range<u32> {
        FIRST_PAGE..(self.0.len() as u64 / PAGE_BYTES - 2) as u32
    }
}

fn offset(page: u32) -> u64 {
    (u64::from(page) + 1) * PAGE_BYTES
}

/// Harms pages that hold something, in each way `of_a_kind`, chosen by `seed`.
pub fn harm_pages(
    file: &Path,
    earlier: &Pages,
    foreign: &Pages,
    of_a_kind: usize,
    seed: u64,
) -> BTreeMap<u32, HarmedPage> {
    let now = Pages::read(file);
    let is_used = |pages: &Pages, number: u32| pages.page(number).iter().any(|&byte| byte != 0);
    let mut candidates: Vec<u32> = now.numbers().filter(|&page| is_used(&now, page)).collect();
    // A permutation that depends on the seed.
    candidates.sort_by_key(|&page| (u64::from(page) + seed).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    let disk = open_direct(file);
    let mut aligned = Buffer::zeroed(PAGE_BYTES as usize);
    let mut harmed = BTreeMap::new();
    for harm in PageHarm::ALL {
        let mut left = of_a_kind;
        for (place, &number) in candidates.iter().enumerate() {
            if left == 0 {
                break;
            }
            if harmed.contains_key(&number) {
                continue;
            }
            let other = candidates[(place + 1) % candidates.len()];
            let mut bytes = now.page(number).to_vec();
            match harm {
                PageHarm::Flip => bytes[20_000] ^= 16,
                PageHarm::Zero => bytes.fill(0),
                PageHarm::Half => bytes[16_384..].fill(0xA5),
                PageHarm::Elsewhere => bytes = now.page(other).to_vec(),
                PageHarm::Foreign if is_used(foreign, number) => {
                    bytes = foreign.page(number).to_vec();
                }
                PageHarm::Older if is_used(earlier, number) => {
                    bytes = earlier.page(number).to_vec();
                }
                PageHarm::Foreign | PageHarm::Older => continue,
            }
            if bytes == now.page(number) {
                continue;
            }
            aligned.copy_from_slice(&bytes);
            disk.write_all_at(&aligned, offset(number))
                .expect("written");
            harmed.insert(number, HarmedPage { harm, bytes });
            left -= 1;
        }
        assert_eq!(left, 0, "pages to harm: {harm:?}");
    }
    harmed
}
