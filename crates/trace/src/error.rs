//! What is wrong with a trace, and where.

use std::io;

use thiserror::Error;

/// Why a trace cannot be replayed.
#[derive(Debug, Error)]
pub enum TraceError {
    /// A line is wrong.
    #[error("{file}:{line}: {message}; {}", ended(help))]
    Line {
        /// Path of the trace.
        file: String,
        /// The line, from 1.
        line: u64,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// The file as a whole is wrong.
    #[error("{file}: {message}; {}", ended(help))]
    File {
        /// Path of the trace.
        file: String,
        /// What is wrong with it.
        message: String,
        /// What to do about it.
        help: String,
    },
    /// The file cannot be read.
    #[error("{file} cannot be read: {error}.")]
    Unreadable {
        /// Path of the trace.
        file: String,
        /// What the system said.
        error: io::Error,
    },
}

/// A remedy with its mark at the end; a question has one of its own.
fn ended(help: &str) -> String {
    match help.ends_with(['.', '?', '!']) {
        true => help.to_owned(),
        false => format!("{help}."),
    }
}

/// What is wrong with a line, before it is known which file and line it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LineError {
    pub message: String,
    pub help: String,
}

impl LineError {
    pub fn new(message: impl Into<String>, help: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            help: help.into(),
        }
    }

    pub fn at(self, file: &str, line: u64) -> TraceError {
        TraceError::Line {
            file: file.to_owned(),
            line,
            message: self.message,
            help: self.help,
        }
    }
}

/// A piece of a line as messages show it: short, and in quotes.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 60;
    let text = text.trim();
    if text.chars().count() <= LONGEST {
        return format!("'{}'", text.escape_debug());
    }
    let begin: String = text.chars().take(LONGEST).collect();
    format!("'{}...'", begin.escape_debug())
}
