//! Building on simulated storage.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::{Fault, FaultEffect};
use runtime::{Directory, File, IoFailure, IoOperation, Runtime, SimulatedDisk, SimulatedOptions};

use super::*;
use crate::format::database_header::{DatabaseHeader, DatabaseState, Signature};
use crate::format::record::Field;
use crate::format::schema::{COLUMN_AUTO_INCREMENT, ColumnType, TableDefinition};

/// Rows whose values follow from a seed and the row number.
pub(crate) struct TestRows {
    pub(crate) count: u64,
    pub(crate) longest_value: usize,
    buffer: Vec<u8>,
    /// Tokens not given yet, the lowest last.
    index: Option<Vec<([u8; 16], u64)>>,
}

impl TestRows {
    pub(crate) fn new(count: u64, longest_value: usize) -> Self {
        Self {
            count,
            longest_value,
            buffer: Vec::new(),
            index: None,
        }
    }

    fn random(row: u64) -> Xoshiro256PlusPlus {
        Xoshiro256PlusPlus::seed_from_u64(row ^ 0x5EED)
    }

    pub(crate) fn token(row: u64) -> [u8; 16] {
        // An odd factor makes a permutation of the row numbers.
        let mut token = [7; 16];
        token[..8].copy_from_slice(&row.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes());
        token
    }

    /// Bytes of the body: none, within the record, or a long value.
    pub(crate) fn body(&self, row: u64) -> Option<Vec<u8>> {
        let mut random = Self::random(row);
        let length = match row % 4 {
            0 => return None,
            1 => random.random_range(0..700),
            _ => random.random_range(1024..=self.longest_value.max(1024)),
        };
        let mut body = vec![0; length];
        random.fill_bytes(&mut body);
        // Some readers misunderstand values with small bytes at the start of a chunk.
        body.iter_mut().for_each(|byte| *byte |= 0x40);
        Some(body)
    }

    pub(crate) fn subject(row: u64) -> String {
        format!("Subject {row} {}", "x".repeat((row % 60) as usize))
    }
}

impl RowSource for TestRows {
    fn rows(&self) -> u64 {
        self.count
    }

    fn row(&mut self, row: u64) -> Vec<Field<'_>> {
        let body = self.body(row);
        let long = body.as_ref().is_some_and(|body| body.len() > 1023);
        let subject = Self::subject(row);
        self.buffer.clear();
        self.buffer.extend_from_slice(&Self::token(row));
        self.buffer.extend_from_slice(subject.as_bytes());
        let body_at = self.buffer.len();
        self.buffer
            .extend_from_slice(body.as_deref().unwrap_or_default());
        vec![
            Field::LongLong(row as i64 + 1),
            Field::Long(row as i32 * 3),
            Field::Bytes(&self.buffer[..16]),
            Field::Bytes(&self.buffer[16..body_at]),
            match body {
                None => Field::Null,
                Some(_) if long => Field::LongValue(long_value_id(row)),
                Some(_) => Field::Bytes(&self.buffer[body_at..]),
            },
        ]
    }

    fn long_value_bytes(&mut self, row: u64) -> Option<usize> {
        self.body(row)
            .map(|body| body.len())
            .filter(|&length| length > 1023)
    }

    fn write_long_value(&mut self, row: u64, value: &mut [u8]) {
        value.copy_from_slice(&self.body(row).unwrap_or_default());
    }

    fn next_index_entry(&mut self, value: &mut Vec<u8>) -> Option<u64> {
        let count = self.count;
        let entries = self.index.get_or_insert_with(|| {
            let mut entries: Vec<_> = (0..count).map(|row| (Self::token(row), row)).collect();
            entries.sort_unstable_by(|a, b| b.cmp(a));
            entries
        });
        let (token, row) = entries.pop()?;
        *value = token.to_vec();
        Some(row)
    }
}

pub(crate) fn messages() -> TableDefinition {
    TableDefinition::new("messages")
        .fixed("Id", ColumnType::LongLong, COLUMN_AUTO_INCREMENT)
        .fixed("Number", ColumnType::Long, 0)
        .variable("Token", ColumnType::Binary)
        .variable("Subject", ColumnType::Text)
        .tagged("Body", ColumnType::LongBinary)
        .primary("ById", &["Id"])
        .unique_index("ByToken", &["Token"])
}

pub(crate) fn plan(page_size_bytes: usize) -> BuildPlan {
    BuildPlan {
        page_size_bytes,
        extension_pages: 256,
        table: messages(),
        signature: Signature {
            random: 5,
            ..Signature::default()
        },
    }
}

async fn header_of(file: &impl File, page_size: usize) -> DatabaseHeader {
    let buffer = runtime::Buffer::zeroed(page_size);
    let (buffer, read) = file.read(0, buffer).await;
    read.unwrap();
    DatabaseHeader::decode(&buffer).unwrap()
}

#[test]
fn the_same_plan_gives_the_same_file() {
    let built = || {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move {
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(3));
            let file = disk.directory("d").create("a.edb").await.unwrap();
            let mut progress = Vec::new();
            let mut source = TestRows::new(700, 20_000);
            let report = build(&handle, &file, &plan(32_768), &mut source, |bytes| {
                progress.push(bytes);
            })
            .await
            .unwrap();
            assert_eq!(file.size_bytes().await.unwrap(), report.file_size_bytes);
            assert!(report.file_size_bytes.is_multiple_of(256 * 32_768));
            assert!(progress.is_sorted() && progress.len() > 8);
            let buffer = runtime::Buffer::zeroed(report.file_size_bytes as usize);
            let (bytes, read) = file.read(0, buffer).await;
            read.unwrap();
            bytes.to_vec()
        })
    };
    let first = built();
    assert!(first == built());
    assert_eq!(
        first[..32_768],
        first[32_768..65_536],
        "both headers are the same"
    );
}

#[test]
fn an_interrupted_build_is_not_a_database() {
    for nth in [3, 5, 9] {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move {
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(3));
            let file = disk.directory("d").create("a.edb").await.unwrap();
            let full = FaultEffect::Fail(IoFailure::OutOfSpace);
            disk.set_fault(Fault::from_then_on(IoOperation::Write, nth, full));
            let mut source = TestRows::new(700, 20_000);
            let error = build(&handle, &file, &plan(32_768), &mut source, |_| ()).await;
            assert!(matches!(error, Err(BuildError::Io(e)) if e.failure == IoFailure::OutOfSpace));
            disk.clear_faults();
            let state = header_of(&file, 32_768).await.state;
            assert_eq!(state, DatabaseState::JustCreated);
        });
    }
}

#[test]
fn an_inconsistent_source_is_refused() {
    struct Wrong(TestRows);
    impl RowSource for Wrong {
        fn rows(&self) -> u64 {
            self.0.rows()
        }
        fn row(&mut self, row: u64) -> Vec<Field<'_>> {
            self.0.row(row)
        }
        fn long_value_bytes(&mut self, row: u64) -> Option<usize> {
            let right = self.0.long_value_bytes(row);
            right.or(row.is_multiple_of(8).then_some(2000))
        }
        fn write_long_value(&mut self, row: u64, value: &mut [u8]) {
            match self.0.long_value_bytes(row) {
                Some(_) => self.0.write_long_value(row, value),
                None => value.fill(0x55),
            }
        }
        fn next_index_entry(&mut self, value: &mut Vec<u8>) -> Option<u64> {
            self.0.next_index_entry(value)
        }
    }
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(3));
        let file = disk.directory("d").create("a.edb").await.unwrap();
        let mut source = Wrong(TestRows::new(100, 2000));
        let error = build(&handle, &file, &plan(8192), &mut source, |_| ())
            .await
            .unwrap_err();
        assert!(matches!(error, BuildError::Source(_)), "{error}");
    });
}
