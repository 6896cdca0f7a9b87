//! Classifies the server's errors.

use fallible_iterator::FallibleIterator;
use postgres_protocol::message::backend::ErrorResponseBody;

use crate::database::target::no_such_database;
use crate::error::{CANCELLED, DatabaseError, NO_LONGER_SUPPORTED, ROWS_OF_OTHERS, SERVER_LIMIT};
use measure::result::OutageCause;

/// The error of an ErrorResponse received while `what` was running.
pub(super) fn failure(body: &ErrorResponseBody, what: &str) -> DatabaseError {
    let (code, message) = code_and_message(body);
    let source = source_of(body);
    if code == NO_PRIVILEGE && OF_FILES.contains(&source.as_str()) {
        return DatabaseError::Damaged(message);
    }
    if code == ENDED_BY_COMMAND && source != OF_COMMANDS {
        return DatabaseError::unavailable(message);
    }
    by_code(&code, message, what)
}

/// A session was ended by a command: its own end, or the shutdown of the server.
const ENDED_BY_COMMAND: &str = "57P01";

/// The source file of the server in which a session is ended by a command. The code is the same, from another
/// file, when the session finds that the main process of the server is gone.
const OF_COMMANDS: &str = "postgres.c";

/// Insufficient privilege: of a user, or of the server itself on a file.
const NO_PRIVILEGE: &str = "42501";

/// Source files of the server that open and write files. There [`NO_PRIVILEGE`] stands for EPERM, EACCES and
/// EROFS, as where the kernel has mounted a file system read-only after an error.
const OF_FILES: [&str; 7] = [
    "fd.c",
    "md.c",
    "smgr.c",
    "slru.c",
    "xlog.c",
    "relmapper.c",
    "buffile.c",
];

/// The source file of the server that an error is from.
fn source_of(body: &ErrorResponseBody) -> String {
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        if field.type_() == b'F' {
            return String::from_utf8_lossy(field.value_bytes()).into_owned();
        }
    }
    String::new()
}

/// Whether a rule of pg_hba.conf, or that there is none, keeps this connection out.
pub(super) fn is_forbidden_by_rule(body: &ErrorResponseBody) -> bool {
    code_and_message(body).0 == "28000"
}

fn code_and_message(body: &ErrorResponseBody) -> (String, String) {
    let mut code = String::new();
    let mut message = String::new();
    let mut detail = None;
    let mut fields = body.fields();
    while let Ok(Some(field)) = fields.next() {
        let value = String::from_utf8_lossy(field.value_bytes()).into_owned();
        match field.type_() {
            b'C' => code = value,
            b'M' => message = value,
            b'D' => detail = Some(value),
            _ => {}
        }
    }
    if let Some(detail) = detail {
        message = format!("{message} ({detail})");
    }
    (code, message)
}

/// By SQLSTATE (appendix A of the PostgreSQL manual).
pub(super) fn by_code(code: &str, message: String, what: &str) -> DatabaseError {
    match code {
        // Serialization failure, deadlock, lock not available.
        "40001" | "40P01" | "55P03" => DatabaseError::Conflict(message),
        "53100" => DatabaseError::NoSpace(message),
        // Corrupted data or index, I/O error, missing file of the database.
        "XX001" | "XX002" | "58030" | "58P01" => DatabaseError::Damaged(message),
        "3D000" => DatabaseError::Unusable(no_such_database(&message)),
        // Missing privilege; read-only transaction.
        NO_PRIVILEGE | "25006" => DatabaseError::Refused(message),
        _ if code.starts_with("28") => DatabaseError::Refused(message),
        // Too many connections; shutdown, crash of another session, starting up, database dropped.
        _ if code == "53300" || code.starts_with("57P") || code.starts_with("08") => {
            DatabaseError::Unavailable {
                cause: outage_cause(code),
                message,
            }
        }
        _ => DatabaseError::failed_by(server_side(code), what, format!("{message} [{code}]")),
    }
}

/// Why a server does not serve. A crash, which storage may be the reason for, has a code of its own.
fn outage_cause(code: &str) -> OutageCause {
    match code {
        ENDED_BY_COMMAND | "57P04" => OutageCause::Command,
        "53300" => OutageCause::ConnectionLimit,
        _ => OutageCause::Other,
    }
}

/// What a code means that has its cause in the server or in other clients.
fn server_side(code: &str) -> Option<&'static str> {
    match code {
        // Cancelled; time limits of idle and of long transactions.
        "57014" | "25P03" | "25P04" => Some(CANCELLED),
        // Unique and foreign keys.
        "23505" | "23503" => Some(ROWS_OF_OTHERS),
        // A standby has no serializable transactions.
        "0A000" => Some(NO_LONGER_SUPPORTED),
        // Out of memory; configuration limit exceeded.
        "53200" | "53400" => Some(SERVER_LIMIT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_that_no_test_can_provoke_have_their_meaning_too() {
        let of = |code| by_code(code, "message".to_owned(), "look");
        let message = || "message".to_owned();
        assert_eq!(of("53100"), DatabaseError::NoSpace(message()));
        for code in ["XX001", "XX002", "58030", "58P01"] {
            assert_eq!(of(code), DatabaseError::Damaged(message()));
        }
        for (code, cause) in [
            ("57P01", OutageCause::Command),
            ("57P02", OutageCause::Other),
            ("57P03", OutageCause::Other),
            ("57P04", OutageCause::Command),
            ("08006", OutageCause::Other),
            ("53300", OutageCause::ConnectionLimit),
        ] {
            let message = message();
            assert_eq!(of(code), DatabaseError::Unavailable { cause, message });
        }
        for code in ["40001", "40P01", "55P03"] {
            assert_eq!(of(code), DatabaseError::Conflict(message()));
        }
        let absent = of("3D000").to_string();
        assert!(
            absent.starts_with("message: leave its name out"),
            "{absent}"
        );
        for code in ["28P01", "28000", "42501", "25006"] {
            assert_eq!(of(code), DatabaseError::Refused(message()));
        }
        for (code, cause) in [
            ("57014", CANCELLED),
            ("23505", ROWS_OF_OTHERS),
            ("53200", SERVER_LIMIT),
            ("0A000", NO_LONGER_SUPPORTED),
        ] {
            let error = of(code);
            assert!(
                matches!(&error, DatabaseError::ServerSide { cause: of, .. } if *of == cause),
                "{error:?}"
            );
        }
        let failed = of("42P01");
        assert!(matches!(failed, DatabaseError::Failed { .. }), "{failed:?}");
    }
}
