//! Databases from the bulk builder in everyday use.

use super::common::*;
use crashtest::model::{RowModel, State};
use crashtest::reading::{equals, read_all};
use crashtest::sessions::TestDatabase;
use edb::bulk::{BuildPlan, RowSource, build, long_value_id};
use edb::format::database_header::{LogTime, Signature};
use edb::format::record::Field;
use runtime::simulated::{SimulatedDisk, SimulatedOptions};
use runtime::{Directory, Runtime};

const ROWS: u64 = 900;

fn model_row(row: u64) -> RowModel {
    let token = row.wrapping_mul(0x9E37_79B9_7F4A_7C15).to_be_bytes();
    let length = [20, 900, 3000, 0][row as usize % 4];
    RowModel {
        token: token.to_vec(),
        size: row as i32,
        body: (row as u32, length),
    }
}

#[derive(Default)]
struct Rows {
    token: Vec<u8>,
    body: Vec<u8>,
    /// Tokens not given yet, the lowest last.
    index: Option<Vec<(Vec<u8>, u64)>>,
}

impl RowSource for Rows {
    fn rows(&self) -> u64 {
        ROWS
    }

    fn row(&mut self, row: u64) -> Vec<Field<'_>> {
        let model = model_row(row);
        self.body = model.body_bytes();
        self.token = model.token;
        let body = match self.body.len() {
            ..=1023 => Field::Bytes(&self.body),
            _ => Field::LongValue(long_value_id(row)),
        };
        let size = Field::Long(model.size);
        vec![
            Field::LongLong(row as i64 + 1),
            size,
            Field::Bytes(&self.token),
            body,
        ]
    }

    fn long_value_bytes(&mut self, row: u64) -> Option<usize> {
        let length = model_row(row).body_bytes().len();
        (length > 1023).then_some(length)
    }

    fn write_long_value(&mut self, row: u64, value: &mut [u8]) {
        value.copy_from_slice(&model_row(row).body_bytes());
    }

    fn next_index_entry(&mut self, value: &mut Vec<u8>) -> Option<u64> {
        let entries = self.index.get_or_insert_with(|| {
            let mut entries: Vec<_> = (0..ROWS).map(|row| (model_row(row).token, row)).collect();
            entries.sort_by(|a, b| b.cmp(a));
            entries
        });
        let (token, row) = entries.pop()?;
        *value = token;
        Some(row)
    }
}

#[test]
fn a_built_database_is_opened_worked_on_and_emptied() {
    for page_bytes in [4096, 32_768] {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move {
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(3));
            let settings = small_settings(page_bytes);
            let file = disk.directory("database").create("mail.edb").await.unwrap();
            let plan = BuildPlan {
                page_size_bytes: page_bytes,
                extension_pages: settings.engine.extension_pages,
                table: messages(),
                signature: Signature {
                    random: 7,
                    created: LogTime { unix_ms: 1 << 40 },
                },
            };
            build(&handle, &file, &plan, &mut Rows::default(), |_| ())
                .await
                .unwrap();
            let (db, report) = open(&handle, &disk, &settings).await.unwrap();
            assert!(report.was_clean);
            let table = db.table("messages").unwrap();
            let state: State = (0..ROWS)
                .map(|row| (row as i64 + 1, model_row(row)))
                .collect();
            let world = TestDatabase::new(&handle, db.clone(), table.clone(), state, 11);
            assert_eq!(world.run(5, 4, 150).await, []);
            let rows = read_all(&db, &table).await.unwrap();
            assert!(equals(&rows, &world.model.borrow().state));
            // Everything goes away: pages are merged and freed.
            for &key in rows.keys() {
                let mut tx = db.begin();
                assert!(tx.delete(&table, key).await.unwrap());
                tx.commit(edb::Commit::Lazy { within_ms: 10 })
                    .await
                    .unwrap();
            }
            db.close().await.unwrap();
            let (db, _) = open(&handle, &disk, &settings).await.unwrap();
            let table = db.table("messages").unwrap();
            assert!(read_all(&db, &table).await.unwrap().is_empty());
            db.close().await.unwrap();
        });
    }
}
