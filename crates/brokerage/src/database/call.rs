//! Checks of a call before it is sent, so that all databases refuse the same ones.

use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::Call;
use crate::statement::Statement;
use crate::value::Value;

/// An invalid statement or call.
pub(super) fn invalid_call(statement: &Statement, message: String) -> DatabaseError {
    DatabaseError::failed(statement.name, message)
}

/// Checks that the parameters are of the types that the statement declares.
pub(super) fn check(call: &Call) -> Result<(), DatabaseError> {
    let statement = call.statement;
    if statement.parameters.len() != call.parameters.len() {
        return Err(invalid_call(
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
            return Err(invalid_call(
                statement,
                format!("${place} is not of type {of:?}"),
            ));
        }
    }
    Ok(())
}
