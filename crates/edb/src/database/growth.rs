//! Making the file larger.
//!
//! The database root owns pages 1 to some last page; the file is mostly one extension longer, already
//! filled with zeros. To grow, those pages are given to the root by a logged step, which waits for
//! nothing, and the next extension is prepared in the background. Pages are registered only after
//! the file has them on stable storage, so recovery never finds the file too short.

use crate::engine::{Admission, Core};
use crate::error::EngineError;
use crate::log_record::encode_system;
use crate::space::{self, DATABASE_ROOT, Extent};
use runtime::{Directory, IoCause, IoError};
use std::rc::Rc;

impl<D: Directory> Core<D> {
    /// Gives the database root at least `pages` more pages in a row, unless somebody else has let
    /// it grow meanwhile.
    pub(crate) async fn grow(&self, pages: u32) -> Result<(), EngineError> {
        let before = self.growth.owned_pages.get();
        let turn = self.growth.turn.acquire().await;
        if self.growth.owned_pages.get() != before {
            return Ok(());
        }
        let extension = self.settings.engine.extension_pages.max(1);
        // Room for the reserve and for pages of the space trees, too.
        let count = (pages + extension / 4 + 8).next_multiple_of(extension);
        self.lengthen(before + count).await?;
        let extent = Extent::from_first(before + 1, count);
        let register = self.write_growth(extent).await;
        drop(turn);
        register?;
        Ok(())
    }

    async fn write_growth(&self, extent: Extent) -> Result<(), EngineError> {
        let mut pins = Vec::new();
        loop {
            self.admit(Admission::Finishing).await?;
            let mut step = crate::tree::Step::new(self);
            match space::add_owned(&mut step, DATABASE_ROOT, extent) {
                Ok(()) => {
                    self.commit_step(step, encode_system);
                    self.growth.owned_pages.set(extent.last);
                    return Ok(());
                }
                Err(crate::tree::Need::Page(page)) => {
                    pins.push(self.cache.fetch(page.into()).await?);
                }
                Err(crate::tree::Need::Refused(error)) => return Err(error),
                Err(crate::tree::Need::Space { .. }) => {
                    unreachable!("an extent brings the pages to register it")
                }
            }
        }
    }

    /// Makes the file at least `pages` pages long.
    async fn lengthen(&self, pages: u32) -> Result<(), IoError> {
        if self.growth.file_pages.get() < pages {
            self.cache.store().extend_to(pages, IoCause::Build).await?;
            self.growth.file_pages.set(pages);
        }
        Ok(())
    }

    /// Prepares the next extension in the background if it is not there. That it fails is no harm
    /// yet: whoever needs the pages tries again and reports it.
    pub(crate) fn prepare_next_extension(self: &Rc<Self>) {
        let wanted = self.growth.owned_pages.get() + self.settings.engine.extension_pages;
        if self.growth.file_pages.get() >= wanted || self.growth.turn.available() == 0 {
            return;
        }
        let core = Rc::clone(self);
        self.handle.spawn(async move {
            let _turn = core.growth.turn.acquire().await;
            if !core.closing.get() {
                let _ = core.lengthen(wanted).await;
            }
        });
    }
}
