//! A note beside a database that pages may be half written.
//!
//! A file system that finds no space in the middle of a write leaves a part of it. That is no damage by the
//! storage, but the process that knew of it may have ended when the page is read. So an empty file is made
//! when a write of pages fails for lack of space: that takes no room for data. It is removed when recovery
//! has written every such page again.

use crate::cache::PageError;
use crate::error::EngineError;
use crate::integrity::PageFinding;
use crate::log::LocalFuture;
use runtime::{Directory, IoError, IoFailure};

/// How the name of such a file ends; it begins with the name of the database file.
pub const HALF_WRITTEN_ENDING: &str = ".half-written";

fn note_file(name: &str) -> String {
    format!("{name}{HALF_WRITTEN_ENDING}")
}

/// Leaves a note for the database `name`. If that is not possible either, there is none.
pub(crate) fn leave_note<D: Directory>(directory: &D, name: &str) -> LocalFuture<'static, ()> {
    let (directory, note) = (directory.clone(), note_file(name));
    Box::pin(async move {
        if directory.create(&note).await.is_ok() {
            let _ = directory.sync().await;
        }
    })
}

/// Removes the note, durably, if there is one.
pub(crate) async fn remove_note<D: Directory>(directory: &D, name: &str) -> Result<(), IoError> {
    match directory.remove(&note_file(name)).await {
        Ok(()) => directory.sync().await,
        Err(error) if error.failure == IoFailure::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// What the error of an opening is about: a page that was found in parts, and there is a note that pages
/// may be so.
pub(crate) async fn explain<D: Directory>(
    directory: &D,
    name: &str,
    error: EngineError,
) -> EngineError {
    let EngineError::Page(PageError { file, page, .. }) = &error else {
        return error;
    };
    let of_parts = error
        .finding()
        .is_some_and(PageFinding::may_be_half_written);
    if !of_parts || directory.open(&note_file(name)).await.is_err() {
        return error;
    }
    EngineError::HalfWritten {
        file: file.clone(),
        page: page.0,
    }
}
