//! Files that Windows wrote are sound, and damage in them is found.
//!
//! The files are test data of dissect.esedb and no part of this project; `scripts/setup test` fetches
//! them, and PROOFLOAD_WINDOWS_FILES names their directory.

use std::path::PathBuf;

use super::tests::report_of;
use super::*;
use crate::format::database_header::Writer;
use crate::format::layout::page_offset;
use crate::format::page::{PageChange, PageFlags, PageView, seal_as_is};

const PAGE: usize = 4096;

/// Each file with the rows of its user tables.
const CLEAN: [(&str, u64); 9] = [
    ("Current.mdb", 34),
    ("SRUDB.dat", 326),
    ("basic.edb", 2),
    ("binary.edb", 1),
    ("default.edb", 1),
    ("index.edb", 1),
    ("large.edb", 16),
    ("multi.edb", 2),
    ("text.edb", 1),
];

/// The directory of the files; `None` if they are not there.
pub(crate) fn directory() -> Option<PathBuf> {
    let directory = std::env::var_os("PROOFLOAD_WINDOWS_FILES").map(PathBuf::from);
    if directory.is_none() {
        test_support::skip("PROOFLOAD_WINDOWS_FILES names no directory of files by Windows");
    }
    directory
}

#[test]
fn files_by_windows_are_sound() {
    let Some(directory) = directory() else {
        return;
    };
    for (name, rows) in CLEAN {
        let bytes = std::fs::read(directory.join(name)).unwrap();
        let report = report_of(&bytes).unwrap();
        let text: Vec<String> = report.findings.iter().map(ToString::to_string).collect();
        assert!(report.is_sound(), "{name}: {text:#?}");
        assert_eq!(report.writer, Writer::Other);
        assert_eq!(report.rows, rows, "{name}");
    }
}

#[test]
fn a_file_by_windows_that_was_not_closed_is_refused() {
    let Some(directory) = directory() else {
        return;
    };
    let bytes = std::fs::read(directory.join("Windows.edb")).unwrap();
    let error = report_of(&bytes).unwrap_err();
    assert!(matches!(error, CheckError::NotClean { .. }), "{error}");
}

/// One of the files, to be damaged.
struct WindowsFile(Vec<u8>);

impl WindowsFile {
    fn read(name: &str) -> Option<Self> {
        let path = directory()?.join(name);
        Some(Self(std::fs::read(path).unwrap()))
    }

    fn slot(&mut self, number: u32) -> &mut [u8] {
        let start = page_offset(number, PAGE) as usize;
        &mut self.0[start..start + PAGE]
    }

    /// The pages that hold nodes and have all of these flags and none of those.
    fn pages_with(&mut self, flags: PageFlags, without: PageFlags) -> Vec<u32> {
        let last = (self.0.len() / PAGE) as u32 - 2;
        let wanted = |number: &u32| {
            let view = PageView::new(self.slot(*number));
            let found = view.flags();
            view.node_count() > 0 && found.contains(flags) && found & without == PageFlags(0)
        };
        (1..=last).filter(wanted).collect()
    }

    fn change(&mut self, number: u32, change: impl FnOnce(&mut PageChange<'_>)) {
        change(&mut PageChange::new(self.slot(number)));
        seal_as_is(self.slot(number), number);
    }

    fn kinds(&self) -> Vec<FindingKind> {
        let findings = report_of(&self.0).unwrap().findings;
        findings.iter().map(|finding| finding.kind).collect()
    }
}

#[test]
fn a_wrong_byte_in_any_tree_of_a_file_by_windows_is_found() {
    let Some(mut file) = WindowsFile::read("multi.edb") else {
        return;
    };
    let used = file.pages_with(PageFlags::LEAF, PageFlags::EMPTY);
    assert!(used.len() > 10, "{used:?}");
    for number in used {
        file.slot(number)[1000] ^= 4;
        assert!(
            file.kinds().contains(&FindingKind::Checksum),
            "page {number}"
        );
        file.slot(number)[1000] ^= 4;
    }
    assert_eq!(file.kinds(), []);
}

#[test]
fn a_lost_entry_row_or_chunk_of_a_file_by_windows_is_found() {
    let Some(mut file) = WindowsFile::read("index.edb") else {
        return;
    };
    let entries = file.pages_with(
        PageFlags::INDEX | PageFlags::LEAF | PageFlags::NON_UNIQUE,
        PageFlags::SPACE,
    );
    assert!(entries.len() > 10, "{entries:?}");
    for number in entries {
        let before = file.slot(number).to_vec();
        file.change(number, |page| page.remove_node(0));
        assert_eq!(file.kinds(), [FindingKind::Index], "page {number}");
        file.slot(number).copy_from_slice(&before);
    }
    let Some(mut file) = WindowsFile::read("multi.edb") else {
        return;
    };
    let values = file.pages_with(PageFlags::LONG_VALUE | PageFlags::LEAF, PageFlags::SPACE);
    for number in values {
        let before = file.slot(number).to_vec();
        file.change(number, |page| page.remove_node(0));
        let kinds = file.kinds();
        assert!(!kinds.is_empty(), "page {number}");
        assert!(kinds.iter().all(|&kind| kind == FindingKind::LongValue));
        file.slot(number).copy_from_slice(&before);
    }
}
