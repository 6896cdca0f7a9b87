//! Comparing the pages of a closed database with the changes that its log has.

use crate::error::EngineError;
use crate::log::{LOG_PREFIX, LogReader};
use crate::log_record::LogRecord;
use crate::position::LogPosition;
use crate::reading::{CheckError, Reader};
use crate::recovery::{LoggedPage, logged_pages};
use runtime::{Directory, File, Handle, IoObserver};
use rustc_hash::{FxHashMap, FxHashSet};
use std::rc::Rc;

/// The newest change of each page in a log: its database time.
#[derive(Debug, Clone, Default)]
pub struct LoggedVersions(FxHashMap<u32, u64>);

impl LoggedVersions {
    /// Pages that the log has changes of.
    #[must_use]
    pub fn pages(&self) -> u64 {
        self.0.len() as u64
    }

    /// Takes note of the changes of a record; bytes that are no record are for recovery to refuse.
    pub(super) fn note(&mut self, record: &[u8]) {
        for (page, after) in changes(record) {
            let newest = self.0.entry(page).or_insert(after);
            *newest = after.max(*newest);
        }
    }
}

/// Pages that a record changes, each with its database time afterwards.
fn changes(record: &[u8]) -> impl Iterator<Item = (u32, u64)> {
    let pages = logged_pages(record).unwrap_or_default().into_iter();
    pages.filter_map(|change| match change {
        LoggedPage::Changed { page, after, .. } | LoggedPage::Formatted { page, after } => {
            Some((page, after))
        }
        LoggedPage::Image { .. } => None,
    })
}

/// A page that lacks changes which the log has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StalePage {
    /// Number of the page in the file.
    pub page: u32,
    /// Its database time; 0 if it cannot be read as a page.
    pub found: u64,
    /// The database time of its newest change in the log.
    pub logged: u64,
    /// What is wrong with it, for people.
    pub problem: String,
}

/// Reads every page that the log has changes of, and returns those that lack one. The database must have
/// been closed.
///
/// # Errors
/// If the storage fails as a whole.
pub async fn stale_pages<F: File>(
    file: &F,
    versions: &LoggedVersions,
) -> Result<Vec<StalePage>, EngineError> {
    let reader = Reader::open(file).await.map_err(|error| match error {
        CheckError::Io(error) => error.into(),
        error => EngineError::NotADatabase {
            file: file.name(),
            reason: error.to_string(),
        },
    })?;
    let mut pages: Vec<(u32, u64)> = versions.0.iter().map(|(&page, &at)| (page, at)).collect();
    pages.sort_unstable();
    let mut stale = Vec::new();
    for (page, logged) in pages {
        let (found, problem) = match reader.page(page).await {
            Ok(read) => {
                let found = read.view().dbtime();
                (
                    found,
                    format!("it is of database time {found}, the log of {logged}"),
                )
            }
            Err(problem) => (0, problem.to_string()),
        };
        if found < logged {
            stale.push(StalePage {
                page,
                found,
                logged,
                problem,
            });
        }
    }
    Ok(stale)
}

/// Positions of the commits of transactions that had changed one of these pages after the state in which
/// it was found.
///
/// # Errors
/// If the log cannot be read any more.
pub async fn commits_on<D: Directory>(
    handle: &Handle,
    log_directory: &D,
    stale: &[StalePage],
    observer: Rc<dyn IoObserver>,
) -> Result<Vec<LogPosition>, EngineError> {
    let found: FxHashMap<u32, u64> = stale.iter().map(|one| (one.page, one.found)).collect();
    let from = LogPosition::START;
    let reader = LogReader::open(handle, log_directory, LOG_PREFIX, from, observer).await?;
    let (mut touched, mut commits) = (FxHashSet::default(), Vec::new());
    let Some(mut reader) = reader else {
        return Ok(commits);
    };
    while let Some((span, record)) = reader.next().await? {
        match LogRecord::decode(&record) {
            Some(LogRecord::Begin { transaction }) => {
                touched.remove(&transaction);
            }
            Some(LogRecord::Update { transaction, .. }) => {
                let is_lost = |(page, after)| found.get(&page).is_some_and(|&at| after > at);
                if changes(&record).any(is_lost) {
                    touched.insert(transaction);
                }
            }
            Some(LogRecord::Commit { transaction }) if touched.remove(&transaction) => {
                commits.push(span.begin);
            }
            _ => {}
        }
    }
    Ok(commits)
}
