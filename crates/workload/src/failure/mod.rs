//! What goes wrong in a run: the failures of every workload, with the file, page and action concerned.
//! Some end the run ([`Failure::ends_run`]); after others it goes on, and they are counted.

mod finding;

pub use finding::{IntegrityFinding, class_of};

use edb::EngineError;
use edb::cache::{PageError, PageProblem};
use edb::integrity::{FileFinding, PageFinding};
use edb::log::LogError;
use measure::result::{ErrorKind, IntegrityClass};
use runtime::{IoError, IoFailure};
use std::fmt;

/// What kind of failure it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureKind {
    /// The storage did not carry out a request.
    Io,
    /// Data came back other than it was written.
    Integrity,
    /// The consistency checks of the workload do not pass.
    Inconsistent,
    /// A database takes no more work, because a write or its log failed.
    Halted,
    /// There is no space left.
    OutOfSpace,
    /// Space ran out earlier while data was being written, and it was written in part.
    HalfWritten,
    /// The database server was gone and did not come back.
    Unavailable,
    /// The database server ended the work for a reason that is not the storage's.
    ServerSide,
    /// The settings do not let the workload do its work.
    Settings,
    /// Another program removed the directory of the files.
    Removed,
    /// The process may have no more of something, such as open files.
    ProcessLimit,
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
            FailureKind::Io | FailureKind::Halted => Self::Io,
            FailureKind::Integrity => Self::Integrity,
            FailureKind::Inconsistent => Self::Inconsistent,
            FailureKind::OutOfSpace => Self::OutOfSpace,
            FailureKind::HalfWritten => Self::HalfWritten,
            FailureKind::Unavailable => Self::Unavailable,
            FailureKind::ServerSide => Self::ServerSide,
            FailureKind::Settings => Self::Settings,
            FailureKind::Removed => Self::Removed,
            FailureKind::ProcessLimit => Self::ProcessLimit,
            FailureKind::ZeroDelayLoop | FailureKind::Stopped | FailureKind::Internal => {
                Self::Internal
            }
        }
    }
}

impl From<&IoFailure> for FailureKind {
    fn from(failure: &IoFailure) -> Self {
        match failure {
            IoFailure::OutOfSpace => Self::OutOfSpace,
            IoFailure::Removed => Self::Removed,
            IoFailure::ProcessLimit(_) => Self::ProcessLimit,
            _ => Self::Io,
        }
    }
}

/// An error of the storage, the engine or a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// What kind it is.
    pub kind: FailureKind,
    /// What is known of the damage, when it is about data or a failed request.
    pub integrity: Option<Box<IntegrityFinding>>,
    /// The database that it belongs to, by its number in the run; `None` where nobody has said so.
    pub database: Option<usize>,
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
    /// A failure in `file` while `operation` was being done, of which no more is known than `error`.
    pub fn new(
        kind: FailureKind,
        file: impl Into<String>,
        operation: impl Into<String>,
        error: impl Into<String>,
    ) -> Self {
        Self {
            kind,
            integrity: None,
            database: None,
            file: file.into(),
            page: None,
            operation: operation.into(),
            error: error.into(),
        }
    }

    /// The same of a database, by its number in the run.
    #[must_use]
    pub fn of_database(self, database: usize) -> Self {
        Self {
            database: Some(database),
            ..self
        }
    }

    /// A thread ended by a panic while `operation` was being done.
    #[must_use]
    pub fn of_panic(operation: &str) -> Self {
        let error = "a thread of the run ended by a panic; this is a bug of the program";
        Self::new(FailureKind::Internal, "", operation, error)
    }

    /// `operation` is nothing that these databases can do.
    #[must_use]
    pub fn unsupported(operation: &str) -> Self {
        let error = "databases of this workload cannot do that";
        Self::new(FailureKind::Internal, "", operation, error)
    }

    /// Whether no transaction can follow on this one. Otherwise the transaction that has met it is
    /// rolled back, and the run goes on.
    #[must_use]
    pub fn ends_run(&self) -> bool {
        !matches!(self.kind, FailureKind::Io | FailureKind::Integrity)
    }

    /// Whether it is a request that was not carried out.
    #[must_use]
    pub fn is_failed_request(&self) -> bool {
        let class = self.class();
        matches!(
            class,
            Some(IntegrityClass::Unreadable | IntegrityClass::Unwritable)
        )
    }

    /// The class of the damage, if it is about data or a failed request.
    #[must_use]
    pub fn class(&self) -> Option<IntegrityClass> {
        self.integrity.as_ref().map(|finding| finding.class)
    }

    /// The failure that data of this class is in `file`; `error` says what is wrong.
    #[must_use]
    pub fn of_data(class: IntegrityClass, file: &str, operation: &str, error: &str) -> Self {
        let mut failure = Self::new(FailureKind::Integrity, file, operation, error);
        failure.take_class(class);
        failure
    }

    /// The failure that a wrong log file, header or checkpoint is; `operation` is what was being done.
    #[must_use]
    pub fn of_file(finding: &FileFinding, operation: &str) -> Self {
        Self {
            integrity: Some(Box::new(IntegrityFinding::of_file(finding))),
            ..Self::new(
                FailureKind::Integrity,
                &finding.file,
                operation,
                finding.to_string(),
            )
        }
    }

    /// The failure that an error of the storage is; `operation` is what was being done.
    #[must_use]
    pub fn of_io(error: &IoError, operation: &str) -> Self {
        let mut failure = Self::new(FailureKind::Io, "", operation, "");
        failure.take_io(error);
        failure
    }

    /// The failure that an engine's error is: with its own file and page where it names them.
    #[must_use]
    pub fn of_engine(error: &EngineError, file: &str, operation: &str) -> Self {
        let mut failure = Self::new(FailureKind::Internal, file, operation, error.to_string());
        match error {
            EngineError::Page(error) => failure.take_page(error),
            EngineError::Io(error) | EngineError::OutOfSpace(error) => failure.take_io(error),
            EngineError::Log(LogError::Io(error) | LogError::OutOfSpace(error)) => {
                failure.take_io(error);
                failure.halt();
            }
            EngineError::Log(LogError::Closed | LogError::RecordTooLarge { .. }) => {}
            EngineError::Log(error) => {
                failure.integrity = Some(Box::new(IntegrityFinding {
                    ese_error: Some(error.ese_error().0),
                    ..IntegrityFinding::of_class(IntegrityClass::Log)
                }));
                failure.kind = FailureKind::Integrity;
            }
            EngineError::Poisoned { failure: cause, .. } => {
                failure.kind = cause
                    .as_ref()
                    .map_or(FailureKind::Halted, FailureKind::from);
                failure.halt();
            }
            EngineError::NotADatabase { file, reason } => {
                failure.take_class(IntegrityClass::Header);
                failure.file.clone_from(file);
                failure.error = format!("it cannot be opened: {reason}");
            }
            EngineError::HalfWritten { file, page } => {
                failure.kind = FailureKind::HalfWritten;
                failure.file.clone_from(file);
                failure.page = Some(u64::from(*page));
                failure.error = format!(
                    "it cannot be recovered: page {page} was being written when no space was left, and only \
                     a part of it was written; build the database again"
                );
            }
            EngineError::LostWrite {
                file,
                page,
                found,
                expected,
            } => {
                failure.kind = FailureKind::Integrity;
                failure.integrity = Some(Box::new(IntegrityFinding {
                    expected_version: Some(*expected),
                    found_version: Some(*found),
                    ..IntegrityFinding::of_class(IntegrityClass::LostWrite)
                }));
                failure.file.clone_from(file);
                failure.page = Some(u64::from(*page));
                failure.error = format!(
                    "it cannot be recovered: the page is of database time {found} where the log expects \
                     {expected}: the storage lost a write; restore the database from a backup"
                );
            }
            EngineError::Recovery { file, reason } => {
                failure.take_class(IntegrityClass::Log);
                failure.file.clone_from(file);
                failure.error = format!("it cannot be recovered: {reason}");
            }
            EngineError::LogEndLost { file, evidence } => {
                failure.take_class(IntegrityClass::Log);
                failure.file.clone_from(file);
                failure.error = format!(
                    "it cannot be recovered: the storage lost the end of the log ({evidence})"
                );
            }
            // A key that is there twice, or a table that is not there, contradicts what was written.
            EngineError::Damaged { .. }
            | EngineError::KeyDuplicate { .. }
            | EngineError::NoSuchTable(_)
            | EngineError::NoSuchIndex { .. } => failure.take_class(IntegrityClass::Structure),
            _ => {}
        }
        failure
    }

    /// Nothing more can be written after it. A reason that is not the storage's remains the reason.
    fn halt(&mut self) {
        if self.kind == FailureKind::Io {
            self.kind = FailureKind::Halted;
        }
    }

    fn take_class(&mut self, class: IntegrityClass) {
        self.kind = FailureKind::Integrity;
        self.integrity = Some(Box::new(IntegrityFinding::of_class(class)));
    }

    fn take_damage(&mut self, damage: &PageFinding) {
        self.kind = FailureKind::Integrity;
        self.integrity = Some(Box::new(IntegrityFinding::of_page(damage)));
        self.error = format!("the page is damaged: {damage}");
    }

    fn take_page(&mut self, error: &PageError) {
        self.file.clone_from(&error.file);
        self.page = Some(u64::from(error.page.0));
        match &error.problem {
            PageProblem::Io(error) => self.take_io(error),
            PageProblem::Damaged(damage) => self.take_damage(damage),
        }
    }

    /// Takes the kind, the file and what went wrong from an error of the storage.
    fn take_io(&mut self, error: &IoError) {
        self.kind = FailureKind::from(&error.failure);
        self.integrity = IntegrityFinding::of_io(error).map(Box::new);
        self.file.clone_from(&error.file);
        self.error = error.without_file();
    }
}
