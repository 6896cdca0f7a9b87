//! Every kind of finding, provoked by damage done on purpose.
//!
//! Each test changes a sound database in one way and seals the changed pages, so that only the
//! damage itself is wrong.

use std::rc::Rc;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::{Fault, FaultEffect};
use runtime::{IoFailure, IoOperation};

use super::damaged_database::{DamagedDatabase, PAGE, TABLE};
use super::tests::{report_of, with_file};
use super::*;
use crate::format::database_header::DatabaseHeader;
use crate::format::layout::{CATALOG, CATALOG_NAME_INDEX, CATALOG_SHADOW};
use crate::format::page::{NodeFlags, PageChange, PageFlags};
use crate::format::space::{Extent, SPACE_HEADER_BYTES, SpaceHeader};

fn write_extents(damaged_database: &mut DamagedDatabase, root: u32, extents: &[Extent]) {
    damaged_database.change(root, |page| {
        page.remove_nodes(0..page.view().node_count());
        assert_eq!(page.view().external_header(), [0; SPACE_HEADER_BYTES]);
        for (index, extent) in extents.iter().enumerate() {
            page.insert_node(index, &extent.key(), &extent.data(), NodeFlags::NONE)
                .unwrap();
        }
    });
}

fn extents_at(damaged_database: &DamagedDatabase, root: u32) -> Vec<Extent> {
    let view = damaged_database.view(root);
    view.nodes()
        .map(|node| Extent::decode(&node.key(), node.data).unwrap())
        .collect()
}

#[test]
fn the_patient_is_sound_at_first() {
    let damaged_database = DamagedDatabase::new();
    assert_eq!(report_of(&damaged_database.bytes).unwrap().findings, []);
    assert!(
        damaged_database.leaves(TABLE).len() > 20
            && damaged_database.leaves(damaged_database.index_root()).len() > 5
    );
}

#[test]
fn a_damaged_or_different_header() {
    let mut damaged_database = DamagedDatabase::new();
    damaged_database.bytes[PAGE + 700] ^= 1;
    let found = damaged_database.only(FindingKind::Header, "");
    assert!(found[0].to_string().contains("second header is damaged"));
    let mut header = DatabaseHeader::decode(&damaged_database.bytes).unwrap();
    header.scan.highest_page = 7;
    header.encode(&mut damaged_database.bytes[PAGE..2 * PAGE]);
    let found = damaged_database.only(FindingKind::Header, "");
    assert!(found[0].to_string().contains("differ"));
}

#[test]
fn wrong_bytes_in_a_page() {
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(TABLE)[3];
    damaged_database.slot(leaf)[1000] ^= 4;
    let found = damaged_database.only(FindingKind::Checksum, "table messages");
    assert_eq!(found[0].page, Some(leaf));
    let expected = format!(
        "page {leaf} of table messages: the page's checksum is wrong (one bit: byte 1000, bit 2)"
    );
    assert_eq!(found[0].to_string(), expected);
    // A free page is verified, too.
    let mut damaged_database = DamagedDatabase::new();
    let last = damaged_database.pages();
    damaged_database.slot(last)[77] = 1;
    let found = damaged_database.only(FindingKind::Checksum, "");
    assert_eq!((found[0].page, found[0].object.as_str()), (Some(last), ""));
}

#[test]
fn a_page_that_was_never_written_or_is_another() {
    let mut damaged_database = DamagedDatabase::new();
    let leaves = damaged_database.leaves(TABLE);
    damaged_database.slot(leaves[2]).fill(0);
    assert_eq!(
        damaged_database.only(FindingKind::NeverWritten, "messages")[0].page,
        Some(leaves[2])
    );
    let mut damaged_database = DamagedDatabase::new();
    let other = damaged_database.slot(leaves[5]).to_vec();
    damaged_database.slot(leaves[2]).copy_from_slice(&other);
    let found = damaged_database.only(FindingKind::PageNumber, "messages");
    assert_eq!(found[0].page, Some(leaves[2]));
    assert!(found[0].sentence.contains(&format!("page {}", leaves[5])));
}

#[test]
fn a_page_the_storage_refuses() {
    let damaged_database = DamagedDatabase::new();
    let report = with_file(&damaged_database.bytes, async |file, disk| {
        // Some reads of a run of leaves fail: once for the run, then for one of its pages.
        let failure = FaultEffect::Fail(IoFailure::Device("medium error".into()));
        disk.set_fault(Fault {
            count: 2,
            ..Fault::once(IoOperation::Read, 41, failure)
        });
        check(&file, |_, _| ()).await.unwrap()
    });
    let unreadable = |f: &&Finding| f.kind == FindingKind::Unreadable;
    assert_eq!(
        report.findings.iter().filter(unreadable).count(),
        1,
        "{:?}",
        report.findings
    );
    assert!(report.findings[0].sentence.contains("medium error"));
}

#[test]
fn a_page_that_breaks_the_format() {
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(TABLE)[0];
    damaged_database.poke(leaf, 28, 0xFF);
    assert_eq!(
        damaged_database.only(FindingKind::Structure, "messages")[0].page,
        Some(leaf)
    );
}

#[test]
fn a_page_of_another_tree() {
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(TABLE)[4];
    let foreign = damaged_database.leaves(damaged_database.index_root())[0];
    damaged_database.change(leaf, |page| {
        let flags = page.view().flags();
        page.set_flags(flags | PageFlags::INDEX);
    });
    assert_eq!(
        damaged_database.only(FindingKind::WrongPage, "table messages")[0].page,
        Some(leaf)
    );
    let mut damaged_database = DamagedDatabase::new();
    damaged_database.poke(foreign, 24, 99);
    let found = damaged_database.only(FindingKind::WrongPage, "index ByToken of table messages");
    assert!(found[0].sentence.contains("object 99"));
    // A child beyond the end of the file.
    let mut damaged_database = DamagedDatabase::new();
    let parent = damaged_database.parent_of_leaves(TABLE);
    damaged_database.change(parent, |page| {
        page.replace_data(1, &9_999_999_u32.to_le_bytes()).unwrap();
    });
    let found = damaged_database.found(FindingKind::WrongPage, "table messages");
    assert!(found[0].sentence.contains("9999999"));
}

#[test]
fn keys_outside_the_bounds_of_their_parent() {
    let mut damaged_database = DamagedDatabase::new();
    let parent = damaged_database.parent_of_leaves(TABLE);
    damaged_database.change(parent, |page| {
        let lower = page.view().node(1).key();
        let child = page.view().child(0).to_le_bytes();
        page.remove_node(0);
        // A bound just below the next one: keys of the second child lie below it now.
        let mut bound = lower;
        *bound.last_mut().unwrap() -= 1;
        bound.push(0xFF);
        page.insert_node(0, &bound, &child, NodeFlags::NONE)
            .unwrap();
    });
    let found = damaged_database.only(FindingKind::KeyBounds, "table messages");
    assert_eq!(found[0].page, Some(damaged_database.leaves(TABLE)[1]));
}

#[test]
fn leaves_at_different_depths() {
    let mut damaged_database = DamagedDatabase::new();
    // The root's first child is an internal page; let the root point at one of its leaves.
    let root = damaged_database.long_value_root();
    assert!(
        !damaged_database
            .view(damaged_database.view(root).child(0))
            .is_leaf()
    );
    let leaf = damaged_database.leaves(root)[0];
    damaged_database.change(root, |page| {
        page.replace_data(0, &leaf.to_le_bytes()).unwrap();
    });
    damaged_database.found(FindingKind::Depth, "long values of table messages");
}

#[test]
fn neighbours_that_do_not_point_at_each_other() {
    let mut damaged_database = DamagedDatabase::new();
    let leaves = damaged_database.leaves(TABLE);
    damaged_database.change(leaves[3], |page| page.set_previous(leaves[1]));
    let found = damaged_database.only(FindingKind::Links, "table messages");
    assert_eq!(found[0].page, Some(leaves[3]));
    let mut damaged_database = DamagedDatabase::new();
    damaged_database.change(leaves[3], |page| page.set_next(leaves[5]));
    assert_eq!(
        damaged_database.only(FindingKind::Links, "table messages")[0].page,
        Some(leaves[3])
    );
    let mut damaged_database = DamagedDatabase::new();
    let last = *leaves.last().unwrap();
    damaged_database.change(last, |page| page.set_next(leaves[0]));
    assert_eq!(
        damaged_database.only(FindingKind::Links, "table messages")[0].page,
        Some(last)
    );
}

#[test]
fn two_parents_of_one_page() {
    let mut damaged_database = DamagedDatabase::new();
    let parent = damaged_database.parent_of_leaves(TABLE);
    let child = damaged_database.view(parent).child(0);
    damaged_database.change(parent, |page| {
        page.replace_data(2, &child.to_le_bytes()).unwrap();
    });
    assert_eq!(
        damaged_database.only(FindingKind::ReachedTwice, "messages")[0].page,
        Some(child)
    );
}

#[test]
fn a_deleted_node_is_counted_and_hides_what_it_holds() {
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(damaged_database.index_root())[1];
    damaged_database.change(leaf, |page| page.set_node_flags(2, NodeFlags::DELETED));
    let report = report_of(&damaged_database.bytes).unwrap();
    assert_eq!(report.deleted_nodes, 1);
    damaged_database.only(FindingKind::Index, "ByToken");
}

#[test]
fn a_page_from_the_future() {
    let mut damaged_database = DamagedDatabase::new();
    damaged_database.change(TABLE, |page| page.set_dbtime(1 << 63));
    assert_eq!(
        damaged_database.only(FindingKind::PageTime, "messages")[0].page,
        Some(TABLE)
    );
}

#[test]
fn extents_that_contradict_each_other() {
    // The index claims pages of the long values.
    let mut damaged_database = DamagedDatabase::new();
    let index = damaged_database.index_root();
    let mut owned = extents_at(&damaged_database, index + 1);
    let last = owned.len() - 1;
    owned[last] = Extent::from_first(owned[last].first(), owned[last].pages + 2);
    write_extents(&mut damaged_database, index + 1, &owned);
    let found = damaged_database.only(FindingKind::Extents, "");
    assert!(found[0].sentence.contains("more than one tree"));
    // A table claims pages beyond the end of the file.
    let mut damaged_database = DamagedDatabase::new();
    let pages = damaged_database.pages();
    write_extents(
        &mut damaged_database,
        TABLE + 1,
        &[Extent::from_first(TABLE, pages)],
    );
    damaged_database.found(FindingKind::Extents, "table messages");
    // A space header with another parent, and one that is none.
    let mut damaged_database = DamagedDatabase::new();
    damaged_database.change(index, |page| {
        let header = SpaceHeader::decode(page.view().external_header()).unwrap();
        let wrong = SpaceHeader {
            parent_root: 1,
            ..header
        };
        page.set_external_header(&wrong.encode()).unwrap();
    });
    assert!(
        damaged_database.only(FindingKind::Extents, "ByToken")[0]
            .sentence
            .contains("parent")
    );
    damaged_database.change(index, |page| page.set_external_header(&[0; 3]).unwrap());
    assert!(
        damaged_database.found(FindingKind::Extents, "ByToken")[0]
            .sentence
            .contains("cannot be read")
    );
    // A space header that points at no extents.
    let mut damaged_database = DamagedDatabase::new();
    damaged_database.change(TABLE + 1, |page| page.replace_data(0, b"x").unwrap());
    damaged_database.found(FindingKind::Extents, "owned extents of table messages");
}

#[test]
fn a_used_page_that_is_listed_as_free() {
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(TABLE)[6];
    write_extents(
        &mut damaged_database,
        TABLE + 2,
        &[Extent::from_first(leaf, 1)],
    );
    assert_eq!(
        damaged_database.only(FindingKind::UsedAndFree, "table messages")[0].page,
        Some(leaf)
    );
    // Also a page of an extent tree.
    let mut damaged_database = DamagedDatabase::new();
    write_extents(
        &mut damaged_database,
        TABLE + 2,
        &[Extent::from_first(TABLE + 2, 1)],
    );
    assert_eq!(
        damaged_database.only(FindingKind::UsedAndFree, "")[0].page,
        Some(TABLE + 2)
    );
}

#[test]
fn a_page_outside_the_space_of_its_tree() {
    let mut damaged_database = DamagedDatabase::new();
    let index = damaged_database.index_root();
    let owned = extents_at(&damaged_database, index + 1);
    let short = Extent::from_first(owned[0].first(), owned[0].pages - 1);
    write_extents(&mut damaged_database, index + 1, &[short]);
    let found = damaged_database.only(FindingKind::NotOwned, "index ByToken");
    assert_eq!(found[0].page, Some(owned[0].last));
}

#[test]
fn pages_that_are_neither_used_nor_free() {
    let mut damaged_database = DamagedDatabase::new();
    let free = extents_at(&damaged_database, 3);
    let short = Extent {
        pages: free[0].pages - 3,
        ..free[0]
    };
    write_extents(&mut damaged_database, 3, &[short]);
    let found = damaged_database.only(FindingKind::Leaked, "database");
    let first = free[0].first();
    assert!(
        found[0]
            .sentence
            .starts_with(&format!("pages {first}..={}", first + 2))
    );
}

#[test]
fn a_catalog_that_differs_from_its_copy_or_its_index() {
    let mut damaged_database = DamagedDatabase::new();
    let shadow_leaf = damaged_database.leaves(CATALOG_SHADOW.root)[0];
    damaged_database.change(shadow_leaf, |page| page.data_mut(1)[20] ^= 1);
    damaged_database.only(FindingKind::Catalog, "MSysObjectsShadow");
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(CATALOG_NAME_INDEX.root)[0];
    damaged_database.change(leaf, |page| page.data_mut(1)[4] ^= 1);
    damaged_database.only(FindingKind::Catalog, "Name");
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(CATALOG.root)[0];
    damaged_database.change(leaf, |page| page.data_mut(1)[0] = 99);
    damaged_database.found(FindingKind::Catalog, "MSysObjects");
}

#[test]
fn a_damaged_catalog_is_replaced_by_its_copy() {
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(CATALOG.root)[0];
    damaged_database.slot(leaf)[2000..2200].fill(0x55);
    let found = damaged_database.only(FindingKind::Checksum, "MSysObjects");
    assert_eq!(found[0].page, Some(leaf));
    assert_eq!(report_of(&damaged_database.bytes).unwrap().rows, 600);
}

#[test]
fn a_record_that_cannot_be_read_or_has_another_key() {
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(TABLE)[2];
    damaged_database.change(leaf, |page| page.data_mut(0)[2] = 200);
    assert_eq!(
        damaged_database.only(FindingKind::Record, "table messages")[0].page,
        Some(leaf)
    );
    let mut damaged_database = DamagedDatabase::new();
    damaged_database.change(leaf, |page| page.data_mut(0)[4] ^= 1);
    assert!(
        damaged_database.only(FindingKind::Record, "messages")[0]
            .sentence
            .contains("key")
    );
}

#[test]
fn an_index_that_does_not_fit_its_rows() {
    let mut damaged_database = DamagedDatabase::new();
    let leaf = damaged_database.leaves(damaged_database.index_root())[1];
    damaged_database.change(leaf, |page| page.remove_node(1));
    let found = damaged_database.only(FindingKind::Index, "index ByToken of table messages");
    assert_eq!(found[0].sentence, "it has 599 entries for 600 rows");
    let mut damaged_database = DamagedDatabase::new();
    damaged_database.change(leaf, |page| {
        let (a, b) = (
            page.view().node(1).data.to_vec(),
            page.view().node(2).data.to_vec(),
        );
        page.replace_data(1, &b).unwrap();
        page.replace_data(2, &a).unwrap();
    });
    assert!(
        damaged_database.only(FindingKind::Index, "ByToken")[0]
            .sentence
            .contains("do not point")
    );
}

#[test]
fn long_values_that_are_missing_or_not_wanted() {
    let root = DamagedDatabase::new().long_value_root();
    let sentences = |damaged_database: &DamagedDatabase| {
        let found = damaged_database.only(FindingKind::LongValue, "long values of table messages");
        found
            .into_iter()
            .map(|finding| finding.sentence)
            .collect::<Vec<_>>()
            .join("; ")
    };
    // Row 2 is the first with a long value, so its id is 3.
    let damaged = |change: Rc<dyn Fn(&mut PageChange<'_>)>| {
        let mut damaged_database = DamagedDatabase::new();
        let leaf = damaged_database.leaves(root)[0];
        damaged_database.change(leaf, |page| change(page));
        sentences(&damaged_database)
    };
    let text = damaged(Rc::new(|page| page.data_mut(0)[0] = 2));
    assert_eq!(text, "long value 3 counts 2 references, not 1");
    let text = damaged(Rc::new(|page| page.data_mut(0)[4] ^= 1));
    assert!(text.contains("long value 3 has "), "{text}");
    let text = damaged(Rc::new(|page| page.remove_node(0)));
    assert!(
        text.contains("long value 3 is missing") && text.contains("follows no chunk"),
        "{text}"
    );
    let text = damaged(Rc::new(|page| page.replace_data(1, b"short").unwrap()));
    assert!(text.contains("wrong length"), "{text}");
    let last = *DamagedDatabase::new().leaves(root).last().unwrap();
    let with_node = |key: &[u8], data: &[u8]| {
        let mut damaged_database = DamagedDatabase::new();
        damaged_database.change(last, |page| {
            let end = page.view().node_count();
            page.insert_node(end, key, data, NodeFlags::NONE).unwrap();
        });
        sentences(&damaged_database)
    };
    let text = with_node(&[0x70, 0, 0, 0], &[1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(text, format!("no row refers to long value {}", 0x7000_0000));
    let text = with_node(&[0x70, 0, 0, 0, 5], b"");
    assert_eq!(text, "it holds a key that names no long value");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn no_damage_breaks_the_check_itself(seed: u64, by_other: bool) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut damaged_database = DamagedDatabase::with_rows(40);
        if by_other {
            damaged_database.pretend_other_writer();
        }
        for _ in 0..random.random_range(1..12) {
            let pages = damaged_database.pages();
            let number = random.random_range(1..=pages.min(60));
            let at = if random.random_bool(0.6) {
                random.random_range(16..400)
            } else {
                random.random_range(0..PAGE)
            };
            // Mostly single bits: they look most like what was there.
            let old = damaged_database.slot(number)[at];
            let bit = old ^ (1 << random.random_range(0..8));
            let new = if random.random_bool(0.8) { bit } else { random.random() };
            damaged_database.poke(number, at, new);
        }
        let _ = report_of(&damaged_database.bytes);
        let described = with_file(&damaged_database.bytes, async |file, _| info(&file, true).await.is_ok());
        prop_assert!(described);
    }
}
