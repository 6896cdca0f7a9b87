//! Page images in the log, against torn writes.

use super::parts::Parts;
use crate::cache::{Cache, PageImages};
use crate::log::Log;
use crate::log_record::encode_image;
use crate::position::{LogPosition, PageNumber};
use crate::settings::TornPages;
use crate::store::FileStore;
use crate::tree::Page;
use runtime::Directory;
use std::rc::Rc;

struct Images {
    log: Log,
}

impl PageImages<Page> for Images {
    fn log_image(&self, page: PageNumber, payload: &Page) -> LogPosition {
        self.log.append(&encode_image(page.0, payload)).end
    }
}

impl<D: Directory> Parts<'_, D> {
    /// Lets the cache log page images if the settings say so.
    pub(crate) fn log_images(&self, cache: &Cache<Page, FileStore<D::File>>, log: &Log) {
        if self.settings.engine.torn_pages == TornPages::LogImages {
            cache.log_images_with(Rc::new(Images { log: log.clone() }));
        }
    }
}
