//! Sound databases are found sound, and described as they are.

use runtime::{Buffer, Directory, File, Runtime, SimulatedDisk, SimulatedOptions};

use super::*;
use crate::bulk::tests::{TestRows, messages, plan};
use crate::bulk::{BuildPlan, build};
use crate::format::page::PAGE_SIZES_BYTES;

/// The bytes of a built database.
pub(crate) fn built(page_size_bytes: usize, rows: u64, longest_value: usize) -> Vec<u8> {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        let file = disk.directory("d").create("a.edb").await.unwrap();
        let plan = BuildPlan {
            extension_pages: 64,
            ..plan(page_size_bytes)
        };
        let mut source = TestRows::new(rows, longest_value);
        let report = build(&handle, &file, &plan, &mut source, |_| ())
            .await
            .unwrap();
        let buffer = Buffer::zeroed(report.file_size_bytes as usize);
        let (bytes, read) = file.read(0, buffer).await;
        read.unwrap();
        bytes.to_vec()
    })
}

/// Runs something on a file with these bytes.
pub(crate) fn with_file<T: 'static>(
    bytes: &[u8],
    work: impl AsyncFnOnce(runtime::SimulatedFile, SimulatedDisk) -> T + 'static,
) -> T {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let mut buffer = Buffer::zeroed(bytes.len());
    buffer.copy_from_slice(bytes);
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        let file = disk.directory("d").create("a.edb").await.unwrap();
        file.write(0, buffer.into(), runtime::Persistence::Volatile)
            .await
            .unwrap();
        work(file, disk).await
    })
}

pub(super) fn report_of(bytes: &[u8]) -> Result<CheckReport, CheckError> {
    with_file(bytes, async |file, _| check(&file, |_, _| ()).await)
}

#[test]
fn built_databases_are_sound() {
    for page_size in PAGE_SIZES_BYTES {
        for (rows, longest) in [
            (0, 0),
            (1, 0),
            (1, 5000),
            (7, 1100),
            (120, 30_000),
            (3000, 1500),
        ] {
            let bytes = built(page_size, rows, longest);
            let report = report_of(&bytes).unwrap();
            assert_eq!(report.findings, [], "{page_size}-byte pages, {rows} rows");
            assert_eq!(report.rows, rows);
            assert_eq!(report.file_pages as usize + 2, bytes.len() / page_size);
        }
    }
}

#[test]
fn progress_ends_where_it_should() {
    let bytes = built(8192, 500, 3000);
    let last = std::rc::Rc::new(std::cell::Cell::new((0, 0)));
    let seen = std::rc::Rc::clone(&last);
    with_file(&bytes, async move |file, _| {
        check(&file, move |done, total| seen.set((done, total)))
            .await
            .unwrap();
    });
    let (done, total) = last.get();
    assert!(done > total * 9 / 10 && done <= total, "{done} of {total}");
}

#[test]
fn info_describes_the_file() {
    let bytes = built(8192, 3000, 1500);
    let size = bytes.len() as u64;
    let info = with_file(&bytes, async |file, _| info(&file, true).await.unwrap());
    assert_eq!(info.file_size_bytes, size);
    assert!(info.headers_agree);
    assert_eq!(info.tables.len(), 1);
    let table = &info.tables[0];
    let columns: Vec<&str> = table
        .table
        .columns
        .iter()
        .map(|c| c.name.as_str())
        .collect();
    let definition = messages();
    let defined: Vec<&str> = definition.columns.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(columns, defined);
    assert_eq!(table.table.indexes.len(), 2);
    assert_eq!(table.rows, Some(3000));
    let counts = info.page_counts.unwrap();
    let all = counts.row_leaves
        + counts.index_leaves
        + counts.long_value_leaves
        + counts.internal
        + counts.space
        + counts.never_written;
    assert_eq!((all, counts.unreadable), (u64::from(info.pages), 0));
    assert!(counts.row_leaves > 10 && counts.index_leaves > 10 && counts.long_value_leaves > 10);
    let names: Vec<&str> = table.trees.iter().map(|tree| tree.name.as_str()).collect();
    let expected = [
        "table messages",
        "index ByToken of table messages",
        "long values of table messages",
    ];
    assert_eq!(names, expected);
    assert!(
        table
            .trees
            .iter()
            .all(|tree| tree.levels >= 2 && tree.owned_pages > 10)
    );
    let owned: u64 = table.trees.iter().map(|tree| tree.owned_pages).sum();
    assert_eq!(owned + info.free_pages + 30, u64::from(info.pages));
}

#[test]
fn files_that_are_no_clean_database_are_refused() {
    use crate::format::database_header::{DatabaseHeader, DatabaseState};
    let with_state = |state| {
        let mut bytes = built(4096, 3, 0);
        let mut header = DatabaseHeader::decode(&bytes).unwrap();
        header.state = state;
        header.encode(&mut bytes[..4096]);
        report_of(&bytes).unwrap_err()
    };
    assert!(matches!(
        with_state(DatabaseState::Dirty),
        CheckError::NotClean { .. }
    ));
    assert!(matches!(
        with_state(DatabaseState::JustCreated),
        CheckError::Unfinished { .. }
    ));
    assert!(matches!(
        report_of(&[7; 65_536]).unwrap_err(),
        CheckError::Header { .. }
    ));
    assert!(matches!(
        report_of(&[0; 4096]).unwrap_err(),
        CheckError::Header { .. }
    ));
}
