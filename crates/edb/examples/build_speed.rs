//! How fast a database is built in the directory given as the first argument, with as many rows as
//! the second one says (about 20 KB each). The file is removed afterwards.
//!
//! Prints one JSON line: bytes, seconds of the whole build and MB/s.

use std::path::Path;
use std::process::ExitCode;
use std::time::Instant;

use edb::bulk::{BuildPlan, RowSource, build, long_value_id};
use edb::format::database_header::Signature;
use edb::format::record::Field;
use edb::format::schema::{COLUMN_AUTO_INCREMENT, ColumnType, TableDefinition};
use runtime::{Directory, Runtime};

const BODY_BYTES: usize = 20_000;
const SHORT_BYTES: usize = 200;

/// Rows cut from one piece of random bytes.
struct Rows {
    count: u64,
    random: Vec<u8>,
}

impl Rows {
    fn new(count: u64) -> Self {
        let mut state = 0x9E37_79B9_7F4A_7C15_u64;
        let mut step = || {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            state as u8
        };
        Self {
            count,
            random: (0..1 << 20).map(|_| step()).collect(),
        }
    }

    fn piece(&self, row: u64, bytes: usize) -> &[u8] {
        let start = (row.wrapping_mul(7919) as usize * 8) % (self.random.len() - bytes);
        &self.random[start..start + bytes]
    }
}

impl RowSource for Rows {
    fn rows(&self) -> u64 {
        self.count
    }

    fn row(&mut self, row: u64) -> Vec<Field<'_>> {
        vec![
            Field::LongLong(row as i64 + 1),
            Field::Bytes(self.piece(row, SHORT_BYTES)),
            Field::LongValue(long_value_id(row)),
        ]
    }

    fn long_value_bytes(&mut self, _row: u64) -> Option<usize> {
        Some(BODY_BYTES)
    }

    fn write_long_value(&mut self, row: u64, value: &mut [u8]) {
        value.copy_from_slice(self.piece(row, BODY_BYTES));
    }

    fn next_index_entry(&mut self, _value: &mut Vec<u8>) -> Option<u64> {
        None // The table has no secondary index.
    }
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let (Some(directory), Some(Ok(rows))) = (
        arguments.next(),
        arguments.next().map(|rows| rows.parse::<u64>()),
    ) else {
        eprintln!("usage: build_speed DIRECTORY ROWS");
        return ExitCode::from(2);
    };
    match measure(&directory, rows) {
        Ok(line) => {
            println!("{line}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::from(3)
        }
    }
}

fn measure(directory: &str, rows: u64) -> Result<String, Box<dyn std::error::Error>> {
    let runtime = Runtime::wall_clock(&runtime::WallClockOptions::default())?;
    let handle = runtime.handle();
    let directory = runtime::HostDirectory::open(&handle, Path::new(directory))?;
    let line = runtime.block_on(async move {
        let table = TableDefinition::new("messages")
            .fixed("Id", ColumnType::LongLong, COLUMN_AUTO_INCREMENT)
            .variable("Short", ColumnType::Binary)
            .tagged("Body", ColumnType::LongBinary)
            .primary("ById", &["Id"]);
        let signature = Signature {
            random: 1,
            ..Signature::default()
        };
        let plan = BuildPlan {
            page_size_bytes: 32_768,
            extension_pages: 256,
            table,
            signature,
        };
        let name = "build-speed.edb";
        let file = directory.create(name).await?;
        let start = Instant::now();
        let report = build(&handle, &file, &plan, &mut Rows::new(rows), |_| ()).await;
        let seconds = start.elapsed().as_secs_f64();
        drop(file);
        directory.remove(name).await?;
        let bytes = report?.file_size_bytes;
        let rate = bytes as f64 / seconds / 1e6;
        Ok::<_, Box<dyn std::error::Error>>(format!(
            "{{\"bytes\": {bytes}, \"seconds\": {seconds:.3}, \"mb_per_s\": {rate:.0}}}"
        ))
    })?;
    Ok(line)
}
