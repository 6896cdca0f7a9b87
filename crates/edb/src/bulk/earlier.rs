//! What an interrupted build has left in its file: as far as it is what this build would write, it is not
//! written again.
//!
//! A build is a function of its plan and its rows, so nothing had to be noted on the way: what is in the
//! file is read and compared, byte for byte. It ends where the first difference is, whatever came to that
//! place: nothing yet, half of a request, or what a device lost that had confirmed it.

use std::cell::Cell;
use std::rc::Rc;

use runtime::{Buffer, File, IoError, Persistence};

/// Hears how many bytes of a file need not be written.
pub(super) type OnFound = Box<dyn FnOnce(u64)>;

/// The file of an interrupted build.
pub(super) struct Earlier {
    size_bytes: u64,
    page_size_bytes: usize,
    /// Offset of the first request that differs, as far as it is known.
    end: Cell<Option<u64>>,
    comparing: Cell<u32>,
    /// Hears, once, how many bytes were there.
    found: Cell<Option<OnFound>>,
}

impl Earlier {
    /// A file of this size. `found` hears how many bytes from its beginning on need not be written.
    pub(super) fn new(size_bytes: u64, page_size_bytes: usize, found: OnFound) -> Rc<Self> {
        Rc::new(Self {
            size_bytes,
            page_size_bytes,
            end: Cell::new(None),
            comparing: Cell::new(0),
            found: Cell::new(Some(found)),
        })
    }

    /// Writes pages that are not there yet.
    pub(super) async fn write<F: File>(
        &self,
        file: &F,
        offset: u64,
        pages: Buffer,
    ) -> Result<(), IoError> {
        if self.end.get().is_none() {
            self.comparing.set(self.comparing.get() + 1);
            let compared = self.is_there(file, offset, &pages).await;
            self.comparing.set(self.comparing.get() - 1);
            self.report_end();
            if compared? {
                return Ok(());
            }
        }
        file.write(offset, Rc::new(pages), Persistence::Volatile)
            .await
    }

    /// All requests were compared or written; the last one ends at `end`.
    pub(super) fn finish(&self, end: u64) {
        self.ends_at(end);
        self.report_end();
    }

    async fn is_there<F: File>(
        &self,
        file: &F,
        offset: u64,
        pages: &Buffer,
    ) -> Result<bool, IoError> {
        if offset + pages.len() as u64 > self.size_bytes {
            self.ends_at(offset);
            return Ok(false);
        }
        let (there, result) = file.read(offset, Buffer::zeroed(pages.len())).await;
        result?;
        if there[..] == pages[..] {
            return Ok(true);
        }
        let size = self.page_size_bytes;
        let differs = |(wanted, there): (&[u8], &[u8])| {
            // Pages that were left out are written at the end, and may be there already.
            wanted != there && wanted.iter().any(|&byte| byte != 0)
        };
        let mut both = pages.chunks_exact(size).zip(there.chunks_exact(size));
        if both.any(differs) {
            self.ends_at(offset);
        }
        Ok(false)
    }

    fn ends_at(&self, offset: u64) {
        let before = self.end.get().unwrap_or(u64::MAX);
        self.end.set(Some(before.min(offset)));
    }

    /// Requests are compared side by side: where the file ends is known when none of them is under way.
    fn report_end(&self) {
        if let (Some(end), 0) = (self.end.get(), self.comparing.get())
            && let Some(found) = self.found.take()
        {
            found(end);
        }
    }
}
