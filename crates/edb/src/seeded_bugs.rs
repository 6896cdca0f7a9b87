//! Bugs that tests of the tests put into the engine, one at a time, to see them found.
//!
//! They exist with the feature `seeded-bugs` only, which no program that is shipped has: without it
//! [`is_seeded`] is the constant `false`, and the compiler removes what depends on it.

/// A bug that the engine can be made to have on the present thread.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "seeded-bugs", derive(strum::VariantArray))]
pub enum SeededBug {
    /// The checkpoint passes the beginning of open transactions and of nodes that wait for cleanup.
    CheckpointIgnoresTransactions,
    /// The checkpoint passes changes of pages that have not been written.
    CheckpointIgnoresDirtyPages,
    /// The checkpoint moves although page writes were not flushed (`flush-at-checkpoint`).
    CheckpointWithoutFlush,
    /// Recovery carries an operation out on a page that is not as old as the record says.
    RecoveryIgnoresDatabaseTime,
    /// Recovery leaves the last open transaction as it is.
    RecoveryUndoesAllButOne,
    /// The hold of a transaction ends at its commit, not when the commit is durable.
    HoldEndsBeforeLogIsDurable,
    /// A page is written although the log of its changes is not durable.
    PageBeforeLog,
    /// Some pages are overwritten without an image in the log (`log-images`).
    PageWithoutImage,
    /// A change made while a page is being written counts as written.
    WriteCoversLaterChange,
    /// Only the first copy of the header is written.
    OneHeaderCopy,
    /// A durable commit returns before the log is written.
    CommitBeforeFlush,
    /// Log segments are accepted without a check of their checksums.
    TornSegmentAccepted,
    /// The end of a log that was cut off is not marked.
    TornEndNotMarked,
    /// A log file is used again while the checkpoint is still in it.
    LogFileReusedTooEarly,
    /// Names of log files are not made durable when the log moves to a new file.
    RolloverWithoutDirectorySync,
    /// The last operation of a large step, such as a split, is missing from the log.
    SplitLoggedInPart,
    /// Deleted nodes are removed although older snapshots still see them.
    CleanupIgnoresSnapshots,
    /// The log says of an undone update that it is still to be undone.
    UndoCountedTwice,
}

impl SeededBug {
    /// Every seeded bug, for tests that expect each of them to be found.
    #[cfg(feature = "seeded-bugs")]
    pub const ALL: &'static [Self] = <Self as strum::VariantArray>::VARIANTS;
}

#[cfg(feature = "seeded-bugs")]
mod active {
    use super::SeededBug;
    use std::cell::Cell;

    thread_local! {
        static ACTIVE: Cell<Option<SeededBug>> = const { Cell::new(None) };
    }

    /// Takes the bug out again, also when the work ends by a panic.
    struct Restore(Option<SeededBug>);

    impl Drop for Restore {
        fn drop(&mut self) {
            ACTIVE.set(self.0);
        }
    }

    /// Does `work` on this thread with an engine that has the bug.
    pub fn with_seeded_bug<T>(bug: SeededBug, work: impl FnOnce() -> T) -> T {
        let _restore = Restore(ACTIVE.replace(Some(bug)));
        work()
    }

    pub(crate) fn is_seeded(bug: SeededBug) -> bool {
        ACTIVE.get() == Some(bug)
    }
}

#[cfg(feature = "seeded-bugs")]
pub(crate) use active::is_seeded;
#[cfg(feature = "seeded-bugs")]
pub use active::with_seeded_bug;

/// Whether the engine is to have this bug: never.
#[cfg(not(feature = "seeded-bugs"))]
pub(crate) const fn is_seeded(_: SeededBug) -> bool {
    false
}
