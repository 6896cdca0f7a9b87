//! What is printed of the rows of databases.

use std::cell::RefCell;
use std::rc::Rc;

use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::*;
use crate::bulk::tests::TestRows;
use crate::check::tests::{built, with_file};
use crate::format::layout::page_offset;
use crate::format::page::{PAGE_SIZES_BYTES, PageChange, PageFlags, PageView, seal, seal_as_is};

/// The values of all rows as text, one line each.
fn dumped(bytes: &[u8], table: &'static str) -> Result<Vec<String>, String> {
    Ok(dumped_from(bytes, table, false)?.0)
}

/// The same, of a file that may be read as it is, and how many values were incomplete.
fn dumped_from(
    bytes: &[u8],
    table: &'static str,
    as_is: bool,
) -> Result<(Vec<String>, u64), String> {
    with_file(bytes, async move |file, _| {
        let database = match as_is {
            true => DatabaseReader::open_as_is(&file).await,
            false => DatabaseReader::open(&file).await,
        };
        let database = database.map_err(|error| error.to_string())?;
        let lines = Rc::new(RefCell::new(Vec::new()));
        let mut line = String::new();
        let kept = Rc::clone(&lines);
        let mut take = move |event: RowEvent<'_>| {
            match event {
                RowEvent::BeginRow => line.clear(),
                RowEvent::EndRow => kept.borrow_mut().push(line.clone()),
                RowEvent::Bytes(bytes) => bytes.iter().for_each(|b| line += &format!("{b:02x}")),
                RowEvent::EndBytes => line.push(' '),
                other => line += &format!("{other:?} "),
            }
            Ok(())
        };
        let table = database.table(table).ok_or("there is no such table")?;
        let rows = database.rows(table, &mut take).await;
        drop(take);
        let rows = rows.map_err(|error| error.to_string())?;
        let lines = lines.borrow().clone();
        assert_eq!(rows.rows, lines.len() as u64);
        Ok((lines, rows.incomplete_values))
    })
}

#[test]
fn every_value_of_built_databases_is_printed() {
    for page_size in PAGE_SIZES_BYTES {
        let (rows, longest) = (300, 30_000);
        let lines = dumped(&built(page_size, rows, longest), "messages").unwrap();
        assert_eq!(lines.len(), rows as usize);
        let source = TestRows::new(rows, longest);
        let hex = |bytes: &[u8]| -> String { bytes.iter().map(|b| format!("{b:02x}")).collect() };
        for (row, line) in (0..rows).zip(&lines) {
            let body = match source.body(row) {
                None => "Null ".to_owned(),
                Some(body) => format!("One BeginBytes {} ", hex(&body)),
            };
            let expected = format!(
                "One Fixed(LongLong({})) One Fixed(Long({})) One BeginBytes {} One BeginBytes {} {body}",
                row + 1,
                row * 3,
                hex(&TestRows::token(row)),
                hex(TestRows::subject(row).as_bytes()),
            );
            assert!(*line == expected, "row {row} on {page_size}-byte pages");
        }
    }
}

#[test]
fn damage_is_named() {
    let mut bytes = built(4096, 300, 9000);
    let lines = dumped(&bytes, "messages").unwrap();
    assert_eq!(lines.len(), 300);
    let root = page_offset(31, 4096) as usize;
    bytes[root + 100] ^= 1;
    let error = dumped(&bytes, "messages").unwrap_err();
    assert!(error.starts_with("page 31 of table messages"), "{error}");
}

#[test]
fn long_values_that_are_not_there_are_counted_where_a_file_is_read_as_it_is() {
    let mut bytes = built(4096, 300, 9000);
    let whole = dumped_from(&bytes, "messages", true).unwrap();
    assert_eq!(whole.1, 0);
    let pages = (bytes.len() / 4096) as u32 - 2;
    let mut leaves = 0;
    for number in 1..=pages {
        let start = page_offset(number, 4096) as usize;
        let page = &mut bytes[start..start + 4096];
        let view = PageView::new(page);
        let nodes = view.node_count();
        if view.is_leaf() && view.flags().contains(PageFlags::LONG_VALUE) && nodes > 1 {
            PageChange::new(page).remove_nodes(1..nodes);
            seal(page, number);
            leaves += 1;
        }
    }
    assert!(leaves > 0);
    let error = dumped(&bytes, "messages").map(|lines| lines.len());
    assert!(error.unwrap_err().contains("long value"));
    let (lines, incomplete) = dumped_from(&bytes, "messages", true).unwrap();
    assert!(incomplete > 0);
    let changed = lines.iter().zip(&whole.0).filter(|(now, then)| now != then);
    assert_eq!(changed.count() as u64, incomplete);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn no_damage_breaks_the_dump_itself(seed: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bytes = built(4096, 40, 9000);
        let pages = (bytes.len() / 4096) as u32 - 2;
        for _ in 0..random.random_range(1..12) {
            let number = random.random_range(1..=pages.min(60));
            let start = page_offset(number, 4096) as usize;
            let page = &mut bytes[start..start + 4096];
            page[random.random_range(16..4096)] ^= 1 << random.random_range(0..8);
            seal_as_is(page, number);
        }
        for table in ["messages", "MSysObjects"] {
            let _ = dumped(&bytes, table);
        }
    }
}
