//! The two copies of the database header, kept in step with the log.

use crate::format::database_header::DatabaseHeader;
use crate::store::FileStore;
use runtime::sync::Semaphore;
use runtime::{Buffer, File, IoCause, IoError};
use std::cell::RefCell;
use std::rc::Rc;

/// The header in memory and how it reaches the file. Clones share it.
pub struct HeaderKeeper<F: File> {
    shared: Rc<Shared<F>>,
}

struct Shared<F: File> {
    store: FileStore<F>,
    header: RefCell<DatabaseHeader>,
    /// One pair of writes at a time, or an older one could overtake.
    turn: Rc<Semaphore>,
}

impl<F: File> Clone for HeaderKeeper<F> {
    fn clone(&self) -> Self {
        Self {
            shared: Rc::clone(&self.shared),
        }
    }
}

impl<F: File> HeaderKeeper<F> {
    /// Keeps `header`, which the file in `store` holds or will hold after the first
    /// [`HeaderKeeper::update`].
    #[must_use]
    pub fn new(store: FileStore<F>, header: DatabaseHeader) -> Self {
        Self {
            shared: Rc::new(Shared {
                store,
                header: RefCell::new(header),
                turn: Semaphore::new(1),
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

    /// Changes the header and writes both copies, the second once the first is durable.
    ///
    /// # Errors
    /// If the storage fails.
    pub async fn update(&self, change: impl FnOnce(&mut DatabaseHeader)) -> Result<(), IoError> {
        self.amend(change);
        let _turn = self.shared.turn.acquire().await;
        let page = {
            let mut page = Buffer::zeroed(self.shared.store.page_size_bytes());
            self.shared.header.borrow().encode(&mut page);
            Rc::new(page)
        };
        for copy in [0, 1] {
            let page = Rc::clone(&page);
            self.shared
                .store
                .write_header(copy, page, IoCause::Checkpoint)
                .await?;
        }
        Ok(())
    }
}
