//! The two copies of the database header, kept in step with the log.

use crate::format::database_header::DatabaseHeader;
use crate::integrity::{Copy, FileClass, FileFinding, FilePart, LastWritten, two_copies};
use crate::seeded_bugs::{SeededBug, is_seeded};
use crate::store::FileStore;
use runtime::sync::Semaphore;
use runtime::{Buffer, File, Handle, IoCause, IoError};
use std::cell::RefCell;
use std::rc::Rc;

/// The header in memory and how it reaches the file. Clones share it.
pub struct HeaderWriter<F: File> {
    shared: Rc<Shared<F>>,
}

struct Shared<F: File> {
    store: FileStore<F>,
    header: RefCell<DatabaseHeader>,
    /// One pair of writes at a time, or an older one could overtake.
    turn: Rc<Semaphore>,
    written: Rc<LastWritten>,
}

impl<F: File> Clone for HeaderWriter<F> {
    fn clone(&self) -> Self {
        Self {
            shared: Rc::clone(&self.shared),
        }
    }
}

impl<F: File> HeaderWriter<F> {
    /// Keeps `header`, which the file in `store` holds or will hold after the first
    /// [`HeaderWriter::update`].
    #[must_use]
    pub fn new(store: FileStore<F>, header: DatabaseHeader) -> Self {
        Self {
            shared: Rc::new(Shared {
                store,
                header: RefCell::new(header),
                turn: Semaphore::new(1),
                written: Rc::default(),
            }),
        }
    }

    /// The header as it is in memory.
    #[must_use]
    pub fn header(&self) -> DatabaseHeader {
        self.shared.header.borrow().clone()
    }

    /// Changes the header in memory only; the next write takes the change along.
    pub fn amend(&self, change: impl FnOnce(&mut DatabaseHeader)) {
        change(&mut self.shared.header.borrow_mut());
    }

    /// Changes the header and writes both copies, the second once the first is durable. The
    /// copies in place are read back first where [`LastWritten::set_reads_before_overwriting`] says so.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn update(&self, change: impl FnOnce(&mut DatabaseHeader)) -> Result<(), IoError> {
        self.amend(change);
        let _turn = self.shared.turn.acquire().await;
        self.read_before_overwriting().await;
        let page = {
            let mut page = Buffer::zeroed(self.shared.store.page_size_bytes());
            self.shared.header.borrow().encode(&mut page);
            Rc::new(page)
        };
        self.shared.written.begin();
        for copy in [0, 1] {
            if copy == 1 && is_seeded(SeededBug::OneHeaderCopy) {
                break;
            }
            let page = Rc::clone(&page);
            self.shared
                .store
                .write_header(copy, page, IoCause::Checkpoint)
                .await?;
        }
        self.shared.written.completed(page);
        Ok(())
    }

    async fn read_before_overwriting(&self) {
        let Shared { store, written, .. } = &*self.shared;
        let copies = header_copies(store.page_size_bytes() as u64);
        let read = written.read_before_overwriting(store.file(), copies, class_of);
        read.await;
    }

    /// What both copies must be.
    #[must_use]
    pub fn written(&self) -> Rc<LastWritten> {
        Rc::clone(&self.shared.written)
    }
}

/// Reads both copies of the header of a database in `file` back.
///
/// # Errors
/// If the storage fails.
pub(crate) async fn read_header_back<F: File>(
    handle: &Handle,
    file: &F,
    written: &LastWritten,
    page_size_bytes: u64,
) -> Result<Vec<FileFinding>, IoError> {
    let copies = header_copies(page_size_bytes);
    written.read_back(handle, file, copies, class_of).await
}

fn header_copies(page_size_bytes: u64) -> [Copy; 2] {
    two_copies(page_size_bytes, |copy| FilePart::Header { copy })
}

/// What has become of a header.
fn class_of(found: &[u8], expected: &[u8]) -> FileClass {
    let (Ok(found), Ok(expected)) = (
        DatabaseHeader::decode(found),
        DatabaseHeader::decode(expected),
    ) else {
        return FileClass::Checksum;
    };
    let age = |header: &DatabaseHeader| {
        let positions = (header.attach.position, header.detach.position);
        (header.dbtime, header.highest_log_committed, positions)
    };
    if found.signature != expected.signature {
        FileClass::Foreign
    } else if age(&found) < age(&expected) || found.lowest_log_needed < expected.lowest_log_needed {
        FileClass::LostWrite
    } else {
        FileClass::Different
    }
}
