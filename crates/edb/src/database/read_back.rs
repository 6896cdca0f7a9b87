//! The copies of the header and of the checkpoint, read back while the database is in use; and what
//! is known of a database when it has been closed.

use super::{Database, Inner};
use crate::checkpoint::read_header_back;
use crate::damage::Damage;
use crate::verification::ClosedState;
use runtime::{Directory, IoError};
use std::rc::{Rc, Weak};

/// Starts the task if the settings ask for it. It ends with the database.
pub(super) fn start<D: Directory>(inner: &Rc<Inner<D>>) {
    let settings = &inner.core.settings.maintenance;
    let Some(interval) = settings.header_read_back_interval else {
        return;
    };
    let handle = inner.core.handle.clone();
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
        let store = self.core.pool.store();
        let written = self.keepers.headers.written();
        let page_bytes = store.page_size_bytes() as u64;
        let (handle, file) = (&self.core.handle, store.file());
        let mut findings = read_header_back(handle, file, &written, page_bytes).await?;
        findings.extend(self.keepers.checkpointer.read_back().await?);
        for finding in findings {
            let mut reported = self.reported_copies.borrow_mut();
            let kind = (finding.part, finding.class);
            if !reported.contains(&kind) {
                reported.push(kind);
                self.core.note(Damage::File(finding));
            }
        }
        Ok(())
    }
}

impl<D: Directory> Database<D> {
    /// What is known of the database, for [`ClosedState::verify`]. To be called once it is closed.
    #[must_use]
    pub fn closed_state(&self) -> ClosedState {
        let Inner { core, keepers, .. } = &*self.inner;
        ClosedState {
            versions: self.versions(),
            header: keepers.headers.header(),
            log_end: core.log.durable(),
            log_file_size_bytes: core.log.file_size_bytes(),
            log_signature: core.log.signature(),
            written_header: keepers.headers.written(),
            written_checkpoint: keepers.checkpointer.written(),
        }
    }
}
