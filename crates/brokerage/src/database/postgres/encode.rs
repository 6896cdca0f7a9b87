//! Calls as messages, and rows out of them.
//!
//! All values travel in binary: a number needs no digits then, and the bytes of a text are the
//! same either way.

use bytes::{BufMut, BytesMut};
use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::RowDescriptionBody;
use postgres_protocol::message::frontend;
use postgres_protocol::{IsNull, Oid};

use crate::database::call::mistake;
use crate::database::render::render;
use crate::error::DatabaseError;
use crate::row::Answers;
use crate::schema::Type;
use crate::session::Call;
use crate::statement::{Dialect, Statement};
use crate::value::Value;

/// Types of PostgreSQL by their numbers in its catalogue (pg_type).
const INT8: Oid = 20;
const INT2: Oid = 21;
const INT4: Oid = 23;
const TEXT: Oid = 25;
const BPCHAR: Oid = 1042;
const VARCHAR: Oid = 1043;

/// Every value is in binary, one code for all.
const BINARY: [i16; 1] = [1];

/// Asks the server to prepare a statement and to tell the types of its columns. What it may know
/// under this name from a try that failed is forgotten first.
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
        .map_err(|error| mistake(statement, error.to_string()))
}

/// A call that [`check`] has found right.
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
        return Err(mistake(statement, "its parameters are too long".to_owned()));
    }
    frontend::execute("", 0, out).map_err(|error| mistake(statement, error.to_string()))
}

/// Carries out a statement without parameters or rows that was prepared under a name.
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

/// Why a value could not be written, in the words of the codec.
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

/// Whether the columns that the server will send are those that the statement names. This is
/// looked at once, so that rows can be read without.
pub(super) fn check_columns(
    statement: &Statement,
    described: Option<&RowDescriptionBody>,
) -> Result<(), DatabaseError> {
    let mut count = 0;
    if let Some(body) = described {
        let mut fields = body.fields();
        let garbled = |error: std::io::Error| mistake(statement, error.to_string());
        while let Some(field) = fields.next().map_err(garbled)? {
            let is_number = match statement.columns.get(count) {
                Some(Type::Big | Type::Integer | Type::Small) => true,
                Some(Type::Text(_) | Type::Long) => false,
                None => break,
            };
            let fits = match field.type_oid() {
                INT2 | INT4 | INT8 => is_number,
                TEXT | VARCHAR | BPCHAR => !is_number,
                _ => false,
            };
            if !fits {
                return Err(mistake(
                    statement,
                    format!(
                        "its column {} ({}) is of another type than it says; CAST it",
                        count + 1,
                        field.name()
                    ),
                ));
            }
            count += 1;
        }
    }
    let described = match described {
        Some(body) => body.fields().count().unwrap_or(0),
        None => 0,
    };
    if described == statement.columns.len() && count == described {
        return Ok(());
    }
    Err(mistake(
        statement,
        format!(
            "it answers {described} columns and says {}",
            statement.columns.len()
        ),
    ))
}

/// The body of a row of an answer: how many columns there are, then each with its length in front.
pub(super) fn row(
    mut body: &[u8],
    statement: &Statement,
    answers: &mut Answers,
) -> Result<(), DatabaseError> {
    let garbled = || mistake(statement, "the server sent a garbled row".to_owned());
    let columns = take(&mut body, 2).and_then(number).ok_or_else(garbled)?;
    if columns != statement.columns.len() as i64 {
        return Err(garbled());
    }
    for of in statement.columns {
        let length = take(&mut body, 4).and_then(number).ok_or_else(garbled)?;
        if length < 0 {
            answers.null();
            continue;
        }
        let bytes = take(&mut body, length as usize).ok_or_else(garbled)?;
        match of {
            Type::Big | Type::Integer | Type::Small => {
                answers.integer(number(bytes).ok_or_else(garbled)?);
            }
            Type::Text(_) | Type::Long => {
                answers.text(str::from_utf8(bytes).map_err(|_| garbled())?);
            }
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

/// How many rows a change has touched, from what the server calls it: `INSERT 0 5`, `UPDATE 3`. A
/// question (`SELECT 7`) has changed none.
pub(super) fn changed(tag: &str) -> u64 {
    changed_by(tag.as_bytes())
}

/// The same, from the body of its message, which a zero ends.
pub(super) fn changed_by(tag: &[u8]) -> u64 {
    let tag = tag.strip_suffix(&[0]).unwrap_or(tag);
    if tag.starts_with(b"SELECT") {
        return 0;
    }
    let last = tag.rsplit(|byte| *byte == b' ').next().unwrap_or_default();
    let last = str::from_utf8(last).unwrap_or_default();
    last.parse().unwrap_or(0)
}
