//! What the log says of the age of pages, read without the engine's recovery.
//!
//! Every operation in the log names the database time of its page before and afterwards. If the page
//! on the disk is older than the first operation that it has not seen expects, a write was lost, and
//! recovery must say so: what it would make of the page was never committed by anybody.

use crate::table::{DATABASE_DIRECTORY, DATABASE_FILE, LOG_DIRECTORY};
use edb::checkpoint::CheckpointFile;
use edb::database::LOG_PREFIX;
use edb::format::database_header::{DatabaseHeader, DatabaseState};
use edb::format::page::{PageView, verify};
use edb::log::{LogError, LogReader};
use edb::position::{LogPosition, PageNumber};
use edb::recovery::{LoggedPage, logged_pages};
use runtime::simulated::{SimulatedDirectory, SimulatedDisk, SimulatedFile, SimulatedOptions};
use runtime::trace::NoObserver;
use runtime::{Buffer, Directory, File, Handle, Runtime};
use std::collections::BTreeMap;
use std::rc::Rc;

/// A page that is older than the log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Gap {
    /// Number of the page.
    pub page: u32,
    /// Its database time on the disk.
    pub found: u64,
    /// The database time that the log expects.
    pub expected: u64,
}

/// Looks for a page that recovery of the database on `disk` must refuse. `None` also where the files
/// cannot be read far enough.
#[must_use]
pub fn find_gap(disk: &SimulatedDisk, page_bytes: usize, with_images: bool) -> Option<Gap> {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let disk = disk.restarted(&handle, SimulatedOptions::instant());
    runtime.block_on(async move {
        let mut history = History::open(&handle, &disk, page_bytes, with_images).await?;
        history.read().await.ok().flatten()
    })
}

struct History {
    file: SimulatedFile,
    page_bytes: usize,
    with_images: bool,
    checkpoint: LogPosition,
    reader: LogReader<SimulatedDirectory>,
    /// Database times of pages as redo leaves them; `None` for a page that cannot be read.
    times: BTreeMap<u32, Option<u64>>,
    gaps: BTreeMap<u32, Gap>,
}

impl History {
    /// `None`: there is nothing to redo, or it cannot be read.
    async fn open(
        handle: &Handle,
        disk: &SimulatedDisk,
        page_bytes: usize,
        with_images: bool,
    ) -> Option<Self> {
        let observer = || Rc::new(NoObserver);
        let directory = disk.directory(DATABASE_DIRECTORY);
        let log = disk.directory(LOG_DIRECTORY);
        let file = directory.open(DATABASE_FILE).await.ok()?;
        let (first, _) = file.read(0, Buffer::zeroed(page_bytes)).await;
        let (second, _) = file
            .read(page_bytes as u64, Buffer::zeroed(page_bytes))
            .await;
        let header = DatabaseHeader::choose(&first, &second).ok()?;
        if header.state != DatabaseState::Dirty {
            return None;
        }
        let stated = CheckpointFile::open(handle, &log, LOG_PREFIX, observer()).await;
        let stated = stated.ok()?.read().await.ok()?;
        let stated = stated.filter(|stated| stated.signature == header.log_signature);
        let checkpoint = stated.map_or(LogPosition::START, |stated| stated.position);
        let reader = LogReader::open(handle, &log, LOG_PREFIX, checkpoint, observer()).await;
        let reader = reader.ok()??;
        let is_ours = reader.signature() == header.log_signature;
        is_ours.then_some(Self {
            file,
            page_bytes,
            with_images,
            checkpoint,
            reader,
            times: BTreeMap::new(),
            gaps: BTreeMap::new(),
        })
    }

    async fn read(&mut self) -> Result<Option<Gap>, LogError> {
        let mut records = Vec::new();
        while let Some((span, record)) = self.reader.next().await? {
            if span.begin >= self.checkpoint {
                let Some(pages) = logged_pages(&record) else {
                    return Ok(None);
                };
                records.extend(pages);
            }
        }
        if self.with_images {
            // The last image of each page counts, whatever the disk holds.
            for one in &records {
                if let LoggedPage::Image { page, dbtime } = one {
                    self.times.insert(*page, Some(*dbtime));
                }
            }
        }
        for one in records {
            self.follow(one).await;
            if !self.with_images && !self.gaps.is_empty() {
                break;
            }
        }
        Ok(self.gaps.pop_first().map(|(_, gap)| gap))
    }

    async fn follow(&mut self, one: LoggedPage) {
        match one {
            LoggedPage::Image { .. } => {}
            LoggedPage::Formatted { page, after } => {
                let time = self.time_of(page).await;
                self.times.insert(page, time.max(Some(after)));
                self.gaps.remove(&page);
            }
            LoggedPage::Changed {
                page,
                before,
                after,
            } => {
                let Some(found) = self.time_of(page).await else {
                    return;
                };
                if found >= after || self.gaps.contains_key(&page) {
                    return;
                }
                if found == before {
                    self.times.insert(page, Some(after));
                    return;
                }
                let expected = before;
                let gap = Gap {
                    page,
                    found,
                    expected,
                };
                self.gaps.insert(page, gap);
            }
        }
    }

    async fn time_of(&mut self, page: u32) -> Option<u64> {
        if let Some(time) = self.times.get(&page) {
            return *time;
        }
        let offset = PageNumber(page).offset_bytes(self.page_bytes);
        let (bytes, result) = self
            .file
            .read(offset, Buffer::zeroed(self.page_bytes))
            .await;
        let is_whole = result.is_ok() && verify(&bytes, page).is_ok();
        let time = is_whole.then(|| PageView::new(&bytes).dbtime());
        self.times.insert(page, time);
        time
    }
}
