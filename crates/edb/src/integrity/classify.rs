//! What the storage has done to a page, from its bytes and what is known of it.

use super::finding::{DamageClass, Misplaced, PageFinding, Persistence, WrongBlocks};
use super::table::{Contents, VersionTable};
use super::version::Version;
use crate::format::page::{self, PageDamage, PageView, WrongBit};

/// What a page that was read looks like by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Evidence {
    /// The page that was asked for.
    pub page: u32,
    /// What the table cares for.
    pub contents: Contents,
    /// The number in the page, if it is a whole page of any number.
    pub number: Option<u32>,
    /// The database time in the page, if it is a whole page of any number.
    pub dbtime: Option<u64>,
    /// The database time in a page whose checksum is wrong, if it names itself the right page.
    pub claimed_dbtime: Option<u64>,
    /// Which partial checksums are wrong.
    pub wrong_blocks: WrongBlocks,
    /// The one wrong bit, if there is exactly one.
    pub wrong_bit: Option<WrongBit>,
}

impl Evidence {
    /// Looks at the bytes read for page `page`.
    #[must_use]
    #[inline]
    pub fn of(bytes: &[u8], page: u32) -> Self {
        let evidence = Self {
            page,
            contents: Contents::Damaged,
            number: None,
            dbtime: None,
            claimed_dbtime: None,
            wrong_blocks: WrongBlocks::default(),
            wrong_bit: None,
        };
        match page::verify(bytes, page) {
            Ok(()) => {
                let dbtime = PageView::new(bytes).dbtime();
                Self {
                    contents: Contents::Whole { dbtime },
                    number: Some(page),
                    dbtime: Some(dbtime),
                    ..evidence
                }
            }
            Err(damage) => evidence.of_damage(bytes, damage),
        }
    }

    #[cold]
    fn of_damage(self, bytes: &[u8], damage: PageDamage) -> Self {
        match damage {
            PageDamage::NeverWritten => Self {
                contents: Contents::Zero,
                ..self
            },
            PageDamage::WrongNumber { found } => Self {
                number: Some(found),
                dbtime: Some(PageView::new(bytes).dbtime()),
                ..self
            },
            PageDamage::WrongChecksum { correctable } => {
                let (mask, blocks) = page::wrong_blocks(bytes, self.page);
                let view = PageView::new(bytes);
                Self {
                    claimed_dbtime: (view.page_number() == self.page).then(|| view.dbtime()),
                    wrong_blocks: WrongBlocks { mask, blocks },
                    wrong_bit: correctable,
                    ..self
                }
            }
        }
    }
}

/// Says what is wrong with a page that the table calls wrong.
#[must_use]
pub fn classify(evidence: &Evidence, table: &VersionTable, page_size_bytes: usize) -> PageFinding {
    let page = evidence.page;
    let expected = table.version(page);
    PageFinding {
        page,
        offset_bytes: (u64::from(page) + 1) * page_size_bytes as u64,
        class: class_of(evidence, table),
        persistence: Persistence::ReadOnce,
        found_dbtime: evidence.dbtime,
        found_version: evidence.dbtime.map(|dbtime| Version::of(dbtime).code()),
        expected_version: expected.code(),
        last_write: table.last_write(page),
        misplaced: misplaced(evidence, table),
        found_at: None,
        wrong_blocks: evidence.wrong_blocks,
        wrong_bit: evidence.wrong_bit,
    }
}

fn class_of(evidence: &Evidence, table: &VersionTable) -> DamageClass {
    let is_ours = |dbtime| table.range().contains(dbtime);
    match (evidence.contents, evidence.dbtime) {
        (Contents::Zero, _) if table.version(evidence.page).is_written() => DamageClass::Zeroed,
        (Contents::Zero, _) => DamageClass::NeverWritten,
        (_, Some(dbtime)) if !is_ours(dbtime) => DamageClass::Foreign,
        (Contents::Whole { dbtime }, _) => {
            let later = table
                .last_write(evidence.page)
                .is_some_and(|last| last.dbtime < dbtime);
            if later || dbtime > table.newest() {
                DamageClass::FromTheFuture
            } else {
                DamageClass::LostWrite
            }
        }
        (Contents::Damaged, Some(_)) if is_behind_end(evidence, table) => DamageClass::Checksum,
        (Contents::Damaged, Some(_)) => DamageClass::Misdirected,
        (Contents::Damaged, None) => {
            // Its first part is not of the version that was written last, and the others are not of that of the
            // first: so it has parts of different versions. Where the first part is of the version that was written
            // last, nothing distinguishes older parts behind it from bytes that are damaged.
            let expected = table.version(evidence.page);
            let is_other = |dbtime| {
                is_ours(dbtime)
                    && dbtime <= table.newest()
                    && expected.is_written()
                    && Version::of(dbtime) != expected
            };
            let is_torn = evidence.claimed_dbtime.is_some_and(is_other);
            if is_torn && evidence.wrong_bit.is_none() {
                DamageClass::Torn
            } else {
                DamageClass::Checksum
            }
        }
    }
}

/// Whether a page has a number that no page of this file has. The number of a small page follows from its checksum, so
/// that damage within four bytes looks like another number.
fn is_behind_end(evidence: &Evidence, table: &VersionTable) -> bool {
    let last = table.last_page();
    last > 0 && evidence.number.is_some_and(|number| number > last)
}

fn misplaced(evidence: &Evidence, table: &VersionTable) -> Option<Misplaced> {
    let is_page = |number: &u32| *number != evidence.page && !is_behind_end(evidence, table);
    let number = evidence.number.filter(is_page)?;
    let expected = table.version(number);
    let found = evidence.dbtime.map(Version::of);
    Some(Misplaced {
        number,
        is_newest: (expected != Version::UNKNOWN).then_some(found == Some(expected)),
    })
}
