//! When two errors are the same one, met again.

use crate::failure::{Failure, FailureKind};
use measure::result::IntegrityClass;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Where an error is: two with one key count as one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct ErrorKey {
    database: Option<usize>,
    class: Option<IntegrityClass>,
    place: Place,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Place {
    /// A page of the database.
    Page(u64),
    /// A place in a file, which stands here by the hash of its name.
    Offset { file: u64, offset_bytes: u64 },
    /// No place is known: the same text means the same error.
    Text(u64),
}

impl ErrorKey {
    /// The key of a wrong page.
    #[must_use]
    pub fn of_page(database: usize, class: IntegrityClass, page: u64) -> Self {
        Self {
            database: Some(database),
            class: Some(class),
            place: Place::Page(page),
        }
    }

    /// The key of an error of a database.
    #[must_use]
    pub fn of(database: Option<usize>, failure: &Failure) -> Self {
        let offset = failure.integrity.as_ref();
        let offset = offset.and_then(|finding| finding.offset_bytes);
        // A request that failed is reported by whoever sees requests and by whoever needed one of its
        // pages: both know where it began.
        let page = failure.page.filter(|_| !failure.is_failed_request());
        let place = match (page, offset) {
            (Some(page), _) => Place::Page(page),
            (None, Some(offset_bytes)) => Place::Offset {
                file: hash(&failure.file),
                offset_bytes,
            },
            (None, None) => Place::Text(hash(&(&failure.file, &failure.error, is_end(failure)))),
        };
        Self {
            database,
            class: failure.class(),
            place,
        }
    }
}

fn is_end(failure: &Failure) -> bool {
    failure.kind == FailureKind::Halted
}

fn hash(value: &impl Hash) -> u64 {
    // Its keys are fixed, so one seed gives one run.
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}
