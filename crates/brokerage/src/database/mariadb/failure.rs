//! Classifies the server's errors.

use super::wire::Reader;
use crate::database::target::no_such_database;
use crate::error::{CANCELLED, DatabaseError, ROWS_OF_OTHERS, SERVER_LIMIT};
use measure::result::OutageCause;

/// The error in a packet that begins with 0xff, received while `what` was running.
pub(super) fn failure(packet: &[u8], what: &str) -> DatabaseError {
    let mut reader = Reader::new(packet);
    reader.skip(1);
    let code = reader.number(2);
    let mut message = reader.rest();
    // The code may be followed by # and the five characters of SQLSTATE.
    if message.first() == Some(&b'#') {
        message = message.get(6..).unwrap_or_default();
    }
    by_code(code, String::from_utf8_lossy(message).into_owned(), what)
}

/// By error code (the server's errmsg list).
pub(super) fn by_code(code: u64, message: String, what: &str) -> DatabaseError {
    // The errno of a full volume is in the text only.
    let is_full = ["errno: 28", "Errcode: 28", "error 28"]
        .iter()
        .any(|words| message.contains(words));
    match code {
        // Deadlock, lock wait timeout, record has changed since last read.
        1213 | 1205 | 1020 => DatabaseError::Conflict(message),
        // Disk full, table full.
        1021 | 1114 => DatabaseError::NoSpace(message),
        _ if is_full => DatabaseError::NoSpace(message),
        // Errors of files, of the storage engine, of damaged tables and indexes.
        3 | 126 | 127 | 145 | 1023 | 1024 | 1026 | 1030 | 1034 | 1035 | 1194 | 1712 | 1877 => {
            DatabaseError::Damaged(message)
        }
        1049 => DatabaseError::Unusable(no_such_database(&message)),
        // Privileges, blocked hosts, read-only server.
        1044 | 1045 | 1129 | 1130 | 1142 | 1143 | 1227 | 1290 | 1698 | 1836 => {
            DatabaseError::Refused(message)
        }
        // Too many connections, shutdown, killed.
        1040 | 1053 | 1077 | 1079 | 1152 | 1158..=1161 | 1203 | 1317 | 1927 => {
            DatabaseError::Unavailable {
                cause: outage_cause(code),
                message,
            }
        }
        _ => DatabaseError::failed_by(server_side(code), what, format!("{message} [{code}]")),
    }
}

/// Why a server does not serve.
fn outage_cause(code: u64) -> OutageCause {
    match code {
        // Shutdown in progress, normal shutdown, statement or connection killed.
        1053 | 1077 | 1317 | 1927 => OutageCause::Command,
        // Too many connections: of the server, of the user.
        1040 | 1203 => OutageCause::ConnectionLimit,
        // Aborted connections and errors of the network.
        _ => OutageCause::Other,
    }
}

/// What a number means that has its cause in the server or in other clients.
fn server_side(code: u64) -> Option<&'static str> {
    match code {
        // Time limits of statements, in MariaDB and in MySQL.
        1969 | 3024 => Some(CANCELLED),
        // Unique and foreign keys.
        1062 | 1451 | 1452 => Some(ROWS_OF_OTHERS),
        // Out of memory, of resources.
        1037 | 1038 | 1041 => Some(SERVER_LIMIT),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_no_test_can_provoke_have_their_meaning_too() {
        let of = |code| by_code(code, "message".to_owned(), "look");
        assert!(matches!(of(1020), DatabaseError::Conflict(_)));
        assert!(matches!(of(1114), DatabaseError::NoSpace(_)));
        assert!(matches!(of(1034), DatabaseError::Damaged(_)));
        for (code, expected) in [
            (1040, OutageCause::ConnectionLimit),
            (1053, OutageCause::Command),
            (1927, OutageCause::Command),
            (1158, OutageCause::Other),
        ] {
            let found = of(code);
            let is_expected =
                matches!(&found, DatabaseError::Unavailable { cause, .. } if *cause == expected);
            assert!(is_expected, "{code}: {found:?}");
        }
        assert!(matches!(of(1142), DatabaseError::Refused(_)));
        assert!(matches!(of(1062), DatabaseError::ServerSide { .. }));
        assert!(matches!(of(1064), DatabaseError::Failed { .. }));
        let full = "Error writing file './x' (Errcode: 28 \"No space left on device\")";
        let full = by_code(3, full.to_owned(), "look");
        assert!(matches!(full, DatabaseError::NoSpace(_)));
    }
}
