//! What is known of damage: the one place where errors of storage and engine get their class.

use edb::integrity::{DamageClass, FileFinding, FilePart, PageFinding, Persistence};
use measure::result::IntegrityClass;
use runtime::{IoError, IoFailure, IoOperation};

/// What is known of wrong data, or of a request that was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct IntegrityFinding {
    /// The class of error.
    pub class: IntegrityClass,
    /// The number of the error in ESE where it says more than that of the class.
    pub ese_error: Option<i32>,
    /// Where in the file.
    pub offset_bytes: Option<u64>,
    /// The version (dbtime) of the page that was written last.
    pub expected_version: Option<u64>,
    /// When that write completed, in milliseconds since 1970.
    pub last_write_unix_ms: Option<u64>,
    /// The version that was found.
    pub found_version: Option<u64>,
    /// Whether reading again gave the same; `None` when it was not read again.
    pub on_medium: Option<bool>,
    /// Whether it was put right in place with what the log says was written last.
    pub is_patched: bool,
    /// The page whose contents were found, or that has the contents missed here.
    pub partner_page: Option<u64>,
    /// A hung request: how long it has been outstanding.
    pub outstanding_ns: Option<u64>,
    /// A hung request: whether it was answered.
    pub answered: Option<bool>,
}

impl IntegrityFinding {
    /// A finding of which only the class is known.
    #[must_use]
    pub fn of_class(class: IntegrityClass) -> Self {
        Self {
            class,
            ..Self::default()
        }
    }

    /// The finding that a wrong page is.
    #[must_use]
    pub fn of_page(page: &PageFinding) -> Self {
        let found = page.misplaced.map(|misplaced| misplaced.number);
        Self {
            class: class_of(page.class),
            offset_bytes: Some(page.offset_bytes),
            expected_version: page.last_write.map(|write| write.dbtime),
            last_write_unix_ms: page.last_write.map(|write| write.unix_ms),
            found_version: page.found_dbtime,
            on_medium: on_medium(page.persistence),
            is_patched: page.persistence == Persistence::Patched,
            partner_page: found.or(page.found_at).map(u64::from),
            ..Self::default()
        }
    }

    /// The finding that a wrong log file, header or checkpoint is.
    #[must_use]
    pub fn of_file(finding: &FileFinding) -> Self {
        let class = match finding.part {
            FilePart::Header { .. } => IntegrityClass::Header,
            FilePart::Checkpoint { .. } => IntegrityClass::Checkpoint,
            FilePart::Log { .. } => IntegrityClass::Log,
            FilePart::DatabaseEnd => IntegrityClass::CutShort,
            FilePart::Versions => IntegrityClass::PageVersions,
        };
        Self {
            ese_error: finding.ese_error().map(|number| number.0),
            on_medium: on_medium(finding.persistence),
            ..Self::of_class(class)
        }
    }

    /// The finding that a failed request is; `None` for one that says nothing of the data, such as one
    /// that found no space.
    #[must_use]
    pub fn of_io(error: &IoError) -> Option<Self> {
        let class = match (&error.failure, error.operation) {
            (IoFailure::OutOfSpace | IoFailure::ProcessLimit(_), _) => return None,
            (_, IoOperation::Read) => IntegrityClass::Unreadable,
            (_, IoOperation::Write | IoOperation::Sync | IoOperation::Resize) => {
                IntegrityClass::Unwritable
            }
            _ => return None,
        };
        Some(Self {
            offset_bytes: Some(error.offset_bytes),
            ..Self::of_class(class)
        })
    }
}

/// Whether reading again gave the same; `None` where nothing can be said.
fn on_medium(persistence: Persistence) -> Option<bool> {
    match persistence {
        Persistence::ReadOnce | Persistence::Rewritten { wrong_reads: 0 | 1 } => None,
        Persistence::Transient { .. } => Some(false),
        Persistence::Medium { .. } | Persistence::Rewritten { .. } | Persistence::Patched => {
            Some(true)
        }
    }
}

/// The class of a result that a class of the engine is.
#[must_use]
pub fn class_of(class: DamageClass) -> IntegrityClass {
    match class {
        DamageClass::NeverWritten => IntegrityClass::NeverWritten,
        DamageClass::LostWrite => IntegrityClass::LostWrite,
        DamageClass::Misdirected => IntegrityClass::Misdirected,
        DamageClass::Foreign => IntegrityClass::Foreign,
        DamageClass::Torn => IntegrityClass::Torn,
        DamageClass::Zeroed => IntegrityClass::Zeroed,
        DamageClass::FromTheFuture => IntegrityClass::FromTheFuture,
        DamageClass::Checksum => IntegrityClass::Checksum,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::failure::Failure;
    use edb::EngineError;
    use edb::log::LogError;

    #[test]
    fn damage_and_failed_requests_get_their_class() {
        for class in DamageClass::ALL {
            // One name and one error number, whoever prints it.
            let named = class_of(class);
            let name = serde_json::to_value(named).ok();
            assert_eq!(name, Some(class.name().into()));
            assert_eq!(named.ese_error(), Some(class.ese_error().0), "{named:?}");
        }
        let error = |operation, failure| IoError {
            operation,
            file: "a".to_owned(),
            offset_bytes: 4096,
            length_bytes: 4096,
            failure,
        };
        let device = || IoFailure::Device("EIO".to_owned());
        for (operation, failure, class) in [
            (
                IoOperation::Read,
                device(),
                Some(IntegrityClass::Unreadable),
            ),
            (
                IoOperation::Write,
                device(),
                Some(IntegrityClass::Unwritable),
            ),
            (
                IoOperation::Sync,
                device(),
                Some(IntegrityClass::Unwritable),
            ),
            (IoOperation::Write, IoFailure::OutOfSpace, None),
            (IoOperation::List, device(), None),
        ] {
            let finding = IntegrityFinding::of_io(&error(operation, failure));
            assert_eq!(finding.map(|finding| finding.class), class, "{operation}");
        }
    }

    #[test]
    fn what_recovery_and_the_log_refuse_has_its_class_and_number() {
        let lost = EngineError::LostWrite {
            file: "a.edb".to_owned(),
            page: 7,
            found: 3,
            expected: 5,
        };
        let failure = Failure::of_engine(&lost, "a", "opening");
        let finding = failure.integrity.expect("a finding");
        assert_eq!(
            (failure.page, finding.class),
            (Some(7), IntegrityClass::LostWrite)
        );
        assert_eq!(
            (finding.found_version, finding.expected_version),
            (Some(3), Some(5))
        );
        let missing = LogError::MissingGeneration {
            generation: 2,
            directory: "log".to_owned(),
        };
        let failure = Failure::of_engine(&EngineError::Log(missing), "a", "opening");
        let finding = failure.integrity.expect("a finding");
        assert_eq!(
            (finding.class, finding.ese_error),
            (IntegrityClass::Log, Some(-528))
        );
    }
}
