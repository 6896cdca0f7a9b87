//! Encodes calls as messages, and decodes rows.
//!
//! All values are binary: integers need no digits then, and the bytes of a text are the same either
//! way.

use std::sync::Arc;

use bytes::{BufMut, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::RowDescriptionBody;
use postgres_protocol::message::frontend;
use postgres_protocol::{IsNull, Oid};

use crate::database::call::invalid_call;
use crate::database::render::render;
use crate::error::DatabaseError;
use crate::row::Answers;
use crate::schema::Type;
use crate::session::Call;
use crate::statement::{Dialect, Statement};
use crate::value::Value;

/// Type numbers of PostgreSQL's catalog (pg_type).
const INT8: Oid = 20;
const INT2: Oid = 21;
const INT4: Oid = 23;
const TEXT: Oid = 25;
const BPCHAR: Oid = 1042;
const VARCHAR: Oid = 1043;

/// One format code, binary, for all values.
const BINARY: [i16; 1] = [1];

/// Parse and Describe of a statement. One of the same name from a failed attempt is closed first.
pub(super) fn prepare(statement: &Statement, out: &mut BytesMut) -> Result<(), DatabaseError> {
    let rendered = render(statement, Dialect::PostgreSql);
    let types = statement.parameters.iter().map(|of| match of {
        Type::Big => INT8,
        Type::Integer => INT4,
        Type::Small => INT2,
        Type::Text(_) | Type::Long => TEXT,
    });
    frontend::close(b'S', statement.name, out)
        .and_then(|()| frontend::parse(statement.name, &rendered.sql, types, out))
        .and_then(|()| frontend::describe(b'S', statement.name, out))
        .map_err(|error| invalid_call(statement, error.to_string()))
}

/// Bind and Execute of a call that [`check`] has accepted.
pub(super) fn call(call: &Call, out: &mut BytesMut) -> Result<(), DatabaseError> {
    let statement = call.statement;
    let values = call.parameters.iter().zip(statement.parameters);
    let bound = frontend::bind(
        "",
        statement.name,
        BINARY,
        values,
        |(value, of), out| put_value(value, *of, out),
        BINARY,
        out,
    );
    if bound.is_err() {
        return Err(invalid_call(
            statement,
            "its parameters are too long".to_owned(),
        ));
    }
    frontend::execute("", 0, out).map_err(|error| invalid_call(statement, error.to_string()))
}

/// Bind and Execute of a prepared statement without parameters or rows.
pub(super) fn control(name: &'static str, out: &mut BytesMut) -> Result<(), DatabaseError> {
    let nothing = std::iter::empty::<()>();
    let bound = frontend::bind("", name, [], nothing, |(), _| Ok(IsNull::Yes), [], out);
    let failed = |message: &str| DatabaseError::Failed {
        statement: name.to_owned(),
        message: message.to_owned(),
    };
    bound.map_err(|_| failed("it could not be bound"))?;
    frontend::execute("", 0, out).map_err(|error| failed(&error.to_string()))
}

/// Error of the protocol codec.
type Unwritten = Box<dyn std::error::Error + Sync + Send>;

fn put_value(value: &Value, of: Type, out: &mut BytesMut) -> Result<IsNull, Unwritten> {
    match (value, of) {
        (Value::Null, _) => return Ok(IsNull::Yes),
        (Value::Integer(number), Type::Small) => out.put_i16(i16::try_from(*number)?),
        (Value::Integer(number), Type::Integer) => out.put_i32(i32::try_from(*number)?),
        (Value::Integer(number), _) => out.put_i64(*number),
        (Value::Text(text), _) => out.put_slice(text.as_bytes()),
    }
    Ok(IsNull::No)
}

/// Whether each column of a result holds integers; the others hold texts.
pub(super) type Columns = Arc<[bool]>;

/// The columns that the server describes. This is done once, so that rows can be decoded without
/// checks.
pub(super) fn columns_of(
    statement: &Statement,
    described: &RowDescriptionBody,
) -> Result<Columns, DatabaseError> {
    let garbled = |error: std::io::Error| invalid_call(statement, error.to_string());
    let columns = described.fields().map(|field| {
        Ok(match field.type_oid() {
            INT2 | INT4 | INT8 => Ok(true),
            TEXT | VARCHAR | BPCHAR => Ok(false),
            _ => Err(invalid_call(
                statement,
                format!(
                    "its column {} is neither an integer nor a text; CAST it",
                    field.name()
                ),
            )),
        })
    });
    let columns: Vec<_> = columns.collect().map_err(garbled)?;
    columns.into_iter().collect()
}

/// Decodes a DataRow: the number of columns, then each with its length in front.
pub(super) fn row(
    mut body: &[u8],
    statement: &Statement,
    columns: &[bool],
    answers: &mut Answers,
) -> Result<(), DatabaseError> {
    let garbled = || invalid_call(statement, "the server sent a garbled row".to_owned());
    let count = take(&mut body, 2).and_then(number).ok_or_else(garbled)?;
    if count != columns.len() as i64 {
        return Err(garbled());
    }
    for is_number in columns {
        let length = take(&mut body, 4).and_then(number).ok_or_else(garbled)?;
        if length < 0 {
            answers.null();
            continue;
        }
        let bytes = take(&mut body, length as usize).ok_or_else(garbled)?;
        match is_number {
            true => answers.integer(number(bytes).ok_or_else(garbled)?),
            false => answers.text(str::from_utf8(bytes).map_err(|_| garbled())?),
        }
    }
    Ok(())
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, left) = rest.split_at_checked(length)?;
    *rest = left;
    Some(taken)
}

fn number(bytes: &[u8]) -> Option<i64> {
    match bytes.len() {
        8 => Some(i64::from_be_bytes(bytes.try_into().ok()?)),
        4 => Some(i64::from(i32::from_be_bytes(bytes.try_into().ok()?))),
        2 => Some(i64::from(i16::from_be_bytes(bytes.try_into().ok()?))),
        _ => None,
    }
}

/// Rows affected, from the command tag: `INSERT 0 5`, `UPDATE 3`. A query (`SELECT 7`) has changed
/// none.
pub(super) fn changed(tag: &str) -> u64 {
    changed_by(tag.as_bytes())
}

/// The same, from the body of CommandComplete, which is zero-terminated.
pub(super) fn changed_by(tag: &[u8]) -> u64 {
    let tag = tag.strip_suffix(&[0]).unwrap_or(tag);
    if tag.starts_with(b"SELECT") {
        return 0;
    }
    let last = tag.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let last = str::from_utf8(last).unwrap_or_default();
    last.parse().unwrap_or(0)
}
