//! `proofload edb dump`: the rows of a table.

use std::io::{self, BufWriter, Write};

use edb::dump::{DatabaseReader, ReadError, RowEvent};
use runtime::host::LockKind;
use runtime::{AnyFile, Runtime};

use super::formats::{CsvRows, JsonRows, RowFormat};
use super::open::{lock, open, unusable};
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::{DumpFormat, DumpOptions};

/// Bytes collected before a write to standard output.
const BUFFER_BYTES: usize = 64 * 1024;

/// Prints the rows of a table.
pub(super) fn run(runtime: &Runtime, options: &DumpOptions) -> Result<ExitStatus, CommandError> {
    let _lock = lock(&options.file, LockKind::Shared)?;
    let file = open(runtime, &options.file)?;
    let options = options.clone();
    let done = runtime.block_on(async move { dump(&file, &options).await });
    done.map(|()| ExitStatus::Pass)
}

async fn dump(file: &AnyFile, options: &DumpOptions) -> Result<(), CommandError> {
    let database = if options.as_is {
        DatabaseReader::open_as_is(file).await
    } else {
        DatabaseReader::open(file).await
    };
    let database = database.map_err(|error| refusal(&error))?;
    let name = chosen(&database, options)?;
    let table = database
        .table(&name)
        .ok_or_else(|| unknown(&database, &name))?;
    let columns = DatabaseReader::<AnyFile>::columns(table);
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, io::stdout().lock());
    let mut format: Box<dyn RowFormat> = match options.format {
        DumpFormat::Csv => Box::new(CsvRows::new(&columns)),
        DumpFormat::JsonLines => Box::new(JsonRows::new(&columns)),
    };
    let failed = |error: io::Error| CommandError::output(&error);
    format.begin(&mut out).map_err(failed)?;
    let mut take = |event: RowEvent<'_>| format.take(event, &mut out);
    let done = database.rows(table, &mut take).await;
    // The rows before a damaged one are worth having.
    out.flush().map_err(failed)?;
    done.map(drop).map_err(|error| refusal(&error))
}

/// The table that was named, or the only one there is.
fn chosen(
    database: &DatabaseReader<AnyFile>,
    options: &DumpOptions,
) -> Result<String, CommandError> {
    if let Some(name) = &options.table {
        return Ok(name.clone());
    }
    let names = user_tables(database);
    match names.as_slice() {
        [only] => Ok(only.clone()),
        [] => Err(CommandError::usage(
            format!("{} has no tables.", options.file.display()),
            "Those of the system can be named, such as MSysObjects.",
        )),
        _ => Err(CommandError::usage(
            format!("{} has several tables.", options.file.display()),
            format!("Name one of them: {}.", names.join(", ")),
        )),
    }
}

fn user_tables(database: &DatabaseReader<AnyFile>) -> Vec<String> {
    let tables = database.tables().iter().filter(|table| !table.is_system());
    tables.map(|table| table.name.clone()).collect()
}

fn unknown(database: &DatabaseReader<AnyFile>, name: &str) -> CommandError {
    let names: Vec<&str> = database.tables().iter().map(|t| t.name.as_str()).collect();
    CommandError::usage(
        format!("There is no table {name}."),
        format!("Name one of these: {}.", names.join(", ")),
    )
}

fn refusal(error: &ReadError) -> CommandError {
    match error {
        ReadError::File(error) => unusable(error),
        ReadError::Output(error) => CommandError::output(error),
        ReadError::Value { .. } => CommandError::environment(
            format!("{}.", capitalised(&error.to_string())),
            "The rows before it have been printed.",
        ),
        _ => CommandError::integrity(
            format!("{}.", capitalised(&error.to_string())),
            "The rows before it have been printed. 'proofload edb check' lists all damage.",
        ),
    }
}

fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    let first = letters.next().map(|letter| letter.to_ascii_uppercase());
    first.into_iter().chain(letters).collect()
}
