//! Making the file larger, by the engine's rules: extensions are filled with zeros by the engine's
//! own file store, the next one in the background.

use super::core::Core;
use super::record;
use super::shape::StepWork;
use super::spaces::{DATABASE_ROOT, SpaceWork};
use edb::EngineError;
use edb::position::PageNumber;
use runtime::{Directory, IoCause, IoError};
use std::rc::Rc;

impl<D: Directory> Core<D> {
    /// Gives the database root at least `pages` more pages, unless somebody else has let it grow
    /// meanwhile.
    pub(crate) async fn grow(&self, pages: u32) -> Result<(), EngineError> {
        let before = self.owned_pages.get();
        let turn = self.growth_turn.acquire().await;
        if self.owned_pages.get() != before {
            return Ok(());
        }
        let extension = self.settings.engine.extension_pages.max(1);
        let count = (pages + extension / 4 + 8).next_multiple_of(extension);
        self.lengthen(before + count).await?;
        let roots = [DATABASE_ROOT, DATABASE_ROOT + 1, DATABASE_ROOT + 2].map(PageNumber);
        let mut pins = Vec::new();
        for page in roots {
            pins.push(self.cache.fetch(page).await?);
        }
        self.log.admit().await?;
        let mut space = SpaceWork::default();
        let mut shape = self.shape.borrow_mut();
        shape.spaces.extend(before + 1, count, &mut space);
        drop(shape);
        let mut work = StepWork::new();
        work.take_over(&space);
        self.log_and_change(&work, record::system(space.bytes));
        self.owned_pages.set(before + count);
        drop(turn);
        Ok(())
    }

    async fn lengthen(&self, pages: u32) -> Result<(), IoError> {
        if self.file_pages.get() < pages {
            self.file.extend_to(pages, IoCause::Build).await?;
            self.file_pages.set(pages);
        }
        Ok(())
    }

    /// Prepares the next extension in the background if it is not there.
    pub(crate) fn prepare_next_extension(self: &Rc<Self>) {
        let wanted = self.owned_pages.get() + self.settings.engine.extension_pages;
        if self.file_pages.get() >= wanted || self.growth_turn.available() == 0 {
            return;
        }
        let core = Rc::clone(self);
        drop(self.handle.spawn(async move {
            let _turn = core.growth_turn.acquire().await;
            if !core.closing.get() {
                // That it fails is no harm yet: whoever needs the pages tries again.
                let _ = core.lengthen(wanted).await;
            }
        }));
    }
}
