//! Headers that are not those of the pages behind them.

use super::Finding;
use super::damaged_database::{DamagedDatabase, PAGE};
use super::tests::report_of;
use crate::format::database_header::DatabaseHeader;
use crate::integrity::DbtimeRange;

/// Puts the header of another database, which has come further, into these copies.
fn findings_with_foreign_header(copies: &[usize]) -> Vec<Finding> {
    let mut damaged = DamagedDatabase::new();
    let mut header = DatabaseHeader::decode(&damaged.bytes[..PAGE]).unwrap();
    let own = DbtimeRange::of_existing(header.signature, header.dbtime);
    let range = loop {
        header.signature.random += 1;
        let range = DbtimeRange::of_new(header.signature);
        if range.base > own.end {
            break range;
        }
    };
    header.dbtime = range.base + 1_000_000;
    for &copy in copies {
        header.encode(&mut damaged.bytes[copy * PAGE..(copy + 1) * PAGE]);
    }
    report_of(&damaged.bytes).unwrap().findings
}

#[test]
fn a_header_of_another_database() {
    for copy in [0, 1] {
        let findings = findings_with_foreign_header(&[copy]);
        assert_eq!(findings.len(), 1, "{findings:?}");
        let which = ["first", "second"][copy];
        let sentence = format!("the {which} header is that of another database");
        assert_eq!(findings[0].sentence, sentence);
    }
    let findings = findings_with_foreign_header(&[0, 1]);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert!(
        findings[0]
            .sentence
            .starts_with("the headers are those of another database")
    );
}
