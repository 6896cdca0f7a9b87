//! The copies of the header and of the checkpoint, read back while the database is in use; and what
//! is known of a database when it has been closed.

use super::{Database, Inner};
use crate::checkpoint::read_header_back;
use crate::damage::Damage;
use crate::integrity::{FileFinding, LastWritten};
use crate::log::ClosedLog;
use crate::verification::ClosedState;
use runtime::{Directory, IoError};
use std::rc::{Rc, Weak};

/// Starts the task if the settings ask for it, and has copies read back before they are written over.
/// The task ends with the database.
pub(super) fn start<D: Directory>(inner: &Rc<Inner<D>>) {
    let settings = &inner.core.settings.maintenance;
    let Some(interval) = settings.header_read_back_interval else {
        return;
    };
    let handle = inner.core.handle.clone();
    for written in inner.written_copies() {
        written.set_reads_before_overwriting(&handle);
    }
    let weak: Weak<Inner<D>> = Rc::downgrade(inner);
    drop(inner.core.handle.spawn(async move {
        loop {
            handle.sleep_ns(interval.as_ns()).await;
            let Some(inner) = weak.upgrade() else { return };
            if inner.core.closing.get() {
                return;
            }
            // A request that failed has been seen by the observer; the next one may not fail.
            let _ = inner.read_copies_back().await;
        }
    }));
}

impl<D: Directory> Inner<D> {
    async fn read_copies_back(&self) -> Result<(), IoError> {
        self.report_overwritten_copies();
        let store = self.core.cache.store();
        let written = self.checkpoint_parts.headers.written();
        let page_bytes = store.page_size_bytes() as u64;
        let (handle, file) = (&self.core.handle, store.file());
        let mut findings = read_header_back(handle, file, &written, page_bytes).await?;
        findings.extend(self.checkpoint_parts.checkpointer.read_back().await?);
        self.report_copies(findings);
        Ok(())
    }

    /// Reports the copies that were wrong when they were written over.
    pub(super) fn report_overwritten_copies(&self) {
        for written in self.written_copies() {
            self.report_copies(written.take_overwritten());
        }
    }

    fn written_copies(&self) -> [Rc<LastWritten>; 2] {
        let checkpoint_parts = &self.checkpoint_parts;
        [
            checkpoint_parts.headers.written(),
            checkpoint_parts.checkpointer.written(),
        ]
    }

    /// Each kind of damage of a copy once: a copy stays wrong until it is written over.
    fn report_copies(&self, findings: Vec<FileFinding>) {
        for finding in findings {
            let mut reported = self.reported_copies.borrow_mut();
            let kind = (finding.part, finding.class);
            if !reported.contains(&kind) {
                reported.push(kind);
                self.core.note(Damage::File(finding));
            }
        }
    }
}

impl<D: Directory> Database<D> {
    /// What is known of the database, for [`ClosedState::verify`]. To be called once it is closed.
    #[must_use]
    pub fn closed_state(&self) -> ClosedState {
        let Inner {
            core,
            checkpoint_parts,
            ..
        } = &*self.inner;
        ClosedState {
            versions: self.versions(),
            header: checkpoint_parts.headers.header(),
            log: ClosedLog {
                signature: core.log.signature(),
                oldest_full: core.log.oldest_full(),
                end: core.log.durable(),
                file_size_bytes: core.log.file_size_bytes(),
            },
            written_header: checkpoint_parts.headers.written(),
            written_checkpoint: checkpoint_parts.checkpointer.written(),
        }
    }
}
