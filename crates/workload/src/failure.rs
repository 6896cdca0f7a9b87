//! What ends a run: the failures of every workload, with the file, page and action concerned.

use edb::EngineError;
use edb::log::LogError;
use edb::pool::{PageError, PageProblem};
use measure::result::ErrorKind;
use runtime::{IoError, IoFailure};
use std::fmt;

/// What kind of failure ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The storage did not carry out a request.
    Io,
    /// Data came back other than it was written.
    Integrity,
    /// The consistency checks of the workload do not pass.
    Inconsistent,
    /// There is no space left.
    OutOfSpace,
    /// The database server was gone and did not come back.
    Unavailable,
    /// The database server ended the work for a reason that is not the storage's.
    ServerSide,
    /// Nothing failed, but simulated time does not advance, so the run would never end.
    ZeroDelayLoop,
    /// Nothing failed: the work was asked to stop.
    Stopped,
    /// The program itself did not do what it should.
    Internal,
}

impl From<FailureKind> for ErrorKind {
    fn from(kind: FailureKind) -> Self {
        match kind {
            FailureKind::Io => Self::Io,
            FailureKind::Integrity => Self::Integrity,
            FailureKind::Inconsistent => Self::Inconsistent,
            FailureKind::OutOfSpace => Self::OutOfSpace,
            FailureKind::Unavailable => Self::Unavailable,
            FailureKind::ServerSide => Self::ServerSide,
            FailureKind::ZeroDelayLoop | FailureKind::Stopped | FailureKind::Internal => {
                Self::Internal
            }
        }
    }
}

/// An error that ends a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind it is.
    pub kind: FailureKind,
    /// The file in which it happened.
    pub file: String,
    /// The page of the database, when it is about a page.
    pub page: Option<u64>,
    /// What was being done, such as `database read`.
    pub operation: String,
    /// What went wrong, as a sentence.
    pub error: String,
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.file)?;
        if let Some(page) = self.page {
            write!(f, "page {page}: ")?;
        }
        write!(f, "{} ({})", self.error, self.operation)
    }
}

impl Failure {
    /// The failure that an error of the storage is; `operation` is what was being done.
    #[must_use]
    pub fn of_io(error: &IoError, operation: &str) -> Self {
        let mut failure = Self {
            kind: FailureKind::Io,
            file: String::new(),
            page: None,
            operation: operation.to_owned(),
            error: String::new(),
        };
        failure.take_io(error);
        failure
    }

    /// The failure that an engine's error is: with its own file and page where it names them.
    #[must_use]
    pub fn of_engine(error: &EngineError, file: &str, operation: &str) -> Self {
        let mut failure = Self {
            kind: FailureKind::Integrity,
            file: file.to_owned(),
            page: None,
            operation: operation.to_owned(),
            error: error.to_string(),
        };
        match error {
            EngineError::Page(error) => failure.take_page(error),
            EngineError::Io(error)
            | EngineError::OutOfSpace(error)
            | EngineError::Log(LogError::Io(error) | LogError::OutOfSpace(error)) => {
                failure.take_io(error);
            }
            EngineError::Poisoned { out_of_space, .. } => {
                failure.kind = if *out_of_space {
                    FailureKind::OutOfSpace
                } else {
                    FailureKind::Io
                };
            }
            EngineError::NotADatabase { file, reason } => {
                failure.file.clone_from(file);
                failure.error = format!("it cannot be opened: {reason}");
            }
            EngineError::Recovery { file, reason } => {
                failure.file.clone_from(file);
                failure.error = format!("it cannot be recovered: {reason}");
            }
            _ => {}
        }
        failure
    }

    fn take_page(&mut self, error: &PageError) {
        self.file.clone_from(&error.file);
        self.page = Some(u64::from(error.page.0));
        match &error.problem {
            PageProblem::Io(error) => self.take_io(error),
            PageProblem::Damaged(damage) => self.error = format!("the page is damaged: {damage}"),
        }
    }

    /// Takes the kind, the file and what went wrong from an error of the storage.
    fn take_io(&mut self, error: &IoError) {
        self.kind = match error.failure {
            IoFailure::OutOfSpace => FailureKind::OutOfSpace,
            _ => FailureKind::Io,
        };
        self.file.clone_from(&error.file);
        self.error = error.without_file();
    }
}
