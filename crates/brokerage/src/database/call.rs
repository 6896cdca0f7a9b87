//! What is looked at before a call leaves for any database, so that all three refuse the same.

use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::Call;
use crate::statement::Statement;
use crate::value::Value;

/// A mistake in a statement, or in how it was called.
pub(super) fn mistake(statement: &Statement, message: String) -> DatabaseError {
    DatabaseError::Failed {
        statement: statement.name.to_owned(),
        message,
    }
}

/// Whether the parameters are of the types that the statement names.
pub(super) fn check(call: &Call) -> Result<(), DatabaseError> {
    let statement = call.statement;
    if statement.parameters.len() != call.parameters.len() {
        return Err(mistake(
            statement,
            format!(
                "it takes {} parameters and was given {}",
                statement.parameters.len(),
                call.parameters.len()
            ),
        ));
    }
    for (number, (value, of)) in call.parameters.iter().zip(statement.parameters).enumerate() {
        let fits = match (value, of) {
            (Value::Null, _)
            | (Value::Integer(_), Type::Big)
            | (Value::Text(_), Type::Text(_) | Type::Long) => true,
            (Value::Integer(number), Type::Integer) => i32::try_from(*number).is_ok(),
            (Value::Integer(number), Type::Small) => i16::try_from(*number).is_ok(),
            (Value::Integer(_), Type::Text(_) | Type::Long) | (Value::Text(_), _) => false,
        };
        if !fits {
            let place = number + 1;
            return Err(mistake(
                statement,
                format!("${place} is not of type {of:?}"),
            ));
        }
    }
    Ok(())
}
