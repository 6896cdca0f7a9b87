//! A database for the tests of damage.

use super::tests::{built, report_of};
use super::{Finding, FindingKind};
use crate::format::checksum::header_checksum;
use crate::format::layout::page_offset;
use crate::format::page::{PageChange, PageFlags, PageView, seal_as_is};

pub(super) const PAGE: usize = 4096;
/// Root of the only user table.
pub(super) const TABLE: u32 = 31;

/// A database that is damaged step by step.
pub(super) struct DamagedDatabase {
    pub(super) bytes: Vec<u8>,
}

impl DamagedDatabase {
    pub(super) fn new() -> Self {
        Self::with_rows(600)
    }

    pub(super) fn with_rows(rows: u64) -> Self {
        Self {
            bytes: built(PAGE, rows, 9000),
        }
    }

    /// Makes the header say that another program wrote the file.
    pub(super) fn pretend_other_writer(&mut self) {
        for copy in self.bytes[..2 * PAGE].chunks_exact_mut(PAGE) {
            copy[600] = 1;
            let checksum = header_checksum(copy);
            copy[..4].copy_from_slice(&checksum.to_le_bytes());
        }
    }

    pub(super) fn slot(&mut self, number: u32) -> &mut [u8] {
        let start = page_offset(number, PAGE) as usize;
        &mut self.bytes[start..start + PAGE]
    }

    pub(super) fn view(&self, number: u32) -> PageView<'_> {
        let start = page_offset(number, PAGE) as usize;
        PageView::new(&self.bytes[start..start + PAGE])
    }

    pub(super) fn change(&mut self, number: u32, change: impl FnOnce(&mut PageChange<'_>)) {
        change(&mut PageChange::new(self.slot(number)));
        seal_as_is(self.slot(number), number);
    }

    /// Changes bytes of a page that no method would change.
    pub(super) fn poke(&mut self, number: u32, at: usize, byte: u8) {
        self.slot(number)[at] = byte;
        seal_as_is(self.slot(number), number);
    }

    pub(super) fn pages(&self) -> u32 {
        (self.bytes.len() / PAGE) as u32 - 2
    }

    /// The leaves of a tree, left to right.
    pub(super) fn leaves(&self, root: u32) -> Vec<u32> {
        let mut number = root;
        while !self.view(number).is_leaf() {
            number = self.view(number).child(0);
        }
        let mut leaves = vec![number];
        while self.view(number).next() != 0 {
            number = self.view(number).next();
            leaves.push(number);
        }
        leaves
    }

    /// A page of the lowest internal level.
    pub(super) fn parent_of_leaves(&self, root: u32) -> u32 {
        let mut number = root;
        while !self
            .view(number)
            .flags()
            .contains(PageFlags::PARENT_OF_LEAF)
        {
            number = self.view(number).child(0);
        }
        number
    }

    /// Roots of the secondary index and of the long values.
    pub(super) fn index_root(&self) -> u32 {
        self.root_with(PageFlags::INDEX)
    }

    pub(super) fn long_value_root(&self) -> u32 {
        self.root_with(PageFlags::LONG_VALUE)
    }

    fn root_with(&self, kind: PageFlags) -> u32 {
        let wanted = |number: &u32| {
            let flags = self.view(*number).flags();
            flags.contains(kind | PageFlags::ROOT) && !flags.contains(PageFlags::SPACE)
        };
        (TABLE + 1..self.pages()).find(wanted).unwrap()
    }

    /// The only findings, after checking that each names the kind and the object.
    pub(super) fn found(&self, kind: FindingKind, object: &str) -> Vec<Finding> {
        let report = report_of(&self.bytes).unwrap();
        let text: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        let fits = |finding: &&Finding| finding.kind == kind && finding.object.contains(object);
        let fitting: Vec<Finding> = report.findings.iter().filter(fits).cloned().collect();
        assert!(
            !fitting.is_empty(),
            "no {kind:?} of {object:?} in {text:#?}"
        );
        fitting
    }

    /// The damage is found, and nothing else is.
    pub(super) fn only(&self, kind: FindingKind, object: &str) -> Vec<Finding> {
        let all = report_of(&self.bytes).unwrap().findings;
        let found = self.found(kind, object);
        assert_eq!(found, all, "findings besides {kind:?}");
        found
    }
}
