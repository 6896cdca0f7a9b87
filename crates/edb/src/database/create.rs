//! A new database.
//!
//! The header says "just created" until everything is in the file, so an unfinished one is refused
//! later instead of being half used. The first pages are made by the same logged steps as all
//! others; since pages are handed out in order, every system tree comes to lie where the format
//! expects it.

use super::Database;
use super::parts::{LateLog, Parts};
use crate::cache::Cache;
use crate::engine::{Core, SharedState};
use crate::error::EngineError;
use crate::format::catalog::system_rows;
use crate::format::database_header::{
    DatabaseHeader, DatabaseState, HeaderLogPosition, TimeAndPosition,
};
use crate::format::layout::{DATABASE_ROOT, INITIAL_PAGES, SYSTEM_TREES, SystemTree};
use crate::format::page::PageFlags;
use crate::integrity::DbtimeRange;
use crate::log::Log;
use crate::log_record::encode_system;
use crate::position::LogPosition;
use crate::settings::EngineSettings;
use crate::space::{self, Extent};
use crate::table::add_rows;
use crate::tree::{Need, Step};
use runtime::{Directory, Handle, IoCause, IoObserver};
use std::rc::Rc;

impl<D: Directory> Database<D> {
    /// Creates the database file `name` in one directory and its log in another (or the same). Both
    /// must hold no database and no log yet.
    ///
    /// # Errors
    /// If the settings cannot work, a file exists, or the storage fails.
    pub async fn create(
        handle: &Handle,
        database_directory: &D,
        name: &str,
        log_directory: &D,
        settings: EngineSettings,
        observer: Rc<dyn IoObserver>,
    ) -> Result<Self, EngineError> {
        let file = (database_directory, name);
        let parts = Parts::new(handle, file, log_directory, &settings, observer)?;
        parts.create().await
    }
}

impl<D: Directory> Parts<'_, D> {
    async fn create(&self) -> Result<Database<D>, EngineError> {
        let file = self.database_directory.create(self.name).await?;
        let signature = self.signature("database");
        let range = DbtimeRange::of_new(signature);
        let store = self.store(file, range, range.base);
        let log_settings = self.log_settings(self.signature("log"));
        let log = Log::create(
            self.handle,
            self.log_directory,
            &log_settings,
            Rc::clone(&self.observer),
        );
        let log = log.await?;
        let page_bytes = self.settings.engine.page_bytes() as u32;
        let mut header = DatabaseHeader::new(page_bytes, signature);
        header.dbtime = range.base;
        header.log_signature = log.signature();
        header.lowest_log_needed = log.generation();
        let write_ahead = Rc::new(LateLog::default());
        write_ahead.set(log.clone());
        let cache = Cache::new(self.handle, self.settings, store, write_ahead);
        self.log_images(&cache, &log);
        let shared = SharedState::new(range.base, header.last_object_id);
        let begin = log.end();
        let checkpoint_parts = self
            .checkpoint_parts(&cache, &log, &shared, header, LogPosition::START)
            .await?;
        checkpoint_parts.headers.update(|_| {}).await?;
        cache
            .store()
            .extend_to(INITIAL_PAGES, IoCause::Build)
            .await?;
        self.database_directory.sync().await?;
        let core = Core::new(self.handle, self.settings, cache, log, shared);
        core.growth.owned_pages.set(INITIAL_PAGES);
        core.growth.file_pages.set(INITIAL_PAGES);
        core.write(|mut step| {
            create_system_trees(&mut step)?;
            core.commit_step(step, encode_system);
            Ok(())
        })
        .await?;
        for row in system_rows() {
            let rows = [row];
            core.write(|mut step| {
                add_rows(&mut step, &rows, DATABASE_ROOT.name)?;
                core.commit_step(step, encode_system);
                Ok(())
            })
            .await?;
        }
        core.log.make_durable(core.log.end()).await?;
        core.cache.flush_all().await?;
        core.cache.sync().await?;
        let attach = TimeAndPosition {
            time: core.log.time(),
            position: HeaderLogPosition::from_stream(begin.0, core.log.file_size_bytes()),
        };
        let ready = checkpoint_parts.headers.update(|header| {
            header.state = DatabaseState::Dirty;
            header.attach = attach;
            header.dbtime = core.dbtime.get();
        });
        ready.await?;
        Ok(Database::start(core, checkpoint_parts, self.place()))
    }
}

fn create_system_trees(step: &mut Step<'_>) -> Result<(), Need> {
    for tree in SYSTEM_TREES {
        let SystemTree {
            object_id,
            root,
            parent_root,
            primary_pages,
            multiple_extents,
            ..
        } = tree;
        let is_index = parent_root != 0 && parent_root != DATABASE_ROOT.root;
        let flags = if is_index {
            PageFlags::INDEX
        } else {
            PageFlags::default()
        };
        let created = if parent_root == 0 {
            let extent = Extent::from_first(root, primary_pages);
            space::format_tree(step, extent, 0, flags, object_id, true)?;
            root
        } else {
            let pages = primary_pages;
            space::create_tree(step, parent_root, pages, flags, object_id, multiple_extents)?
        };
        assert_eq!(created, root, "{} lies at its fixed place", tree.name);
    }
    Ok(())
}
