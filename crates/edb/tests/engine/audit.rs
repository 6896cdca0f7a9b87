//! What an audit finds of acknowledged commits, after power cuts on honest storage and on storage that
//! loses writes.

use super::common::*;
use crashtest::model::State;
use crashtest::sessions::TestDatabase;
use edb::EngineSettings;
use edb::audit::{
    AcknowledgedCommit, AuditedLog, CommitObserver, CommitState, Lineage, Opening, commits_on,
    read_log, stale_pages,
};
use runtime::simulated::{SimulatedDisk, SimulatedOptions};
use runtime::time::SECOND_NS;
use runtime::trace::NoObserver;
use runtime::{Buffer, Directory, File, Handle, Persistence, Runtime};
use std::cell::RefCell;
use std::rc::Rc;

const PAGE: usize = 4096;

/// Keeps what is acknowledged.
#[derive(Default)]
struct Kept(RefCell<Vec<AcknowledgedCommit>>);

impl CommitObserver for Kept {
    fn acknowledged(&self, commit: AcknowledgedCommit) {
        self.0.borrow_mut().push(commit);
    }
}

/// A database at work, with what it has acknowledged.
struct Life {
    disk: SimulatedDisk,
    settings: EngineSettings,
    opening: Opening,
    kept: Rc<Kept>,
    db: Db,
    world: Rc<TestDatabase>,
}

impl Life {
    async fn begin(handle: &Handle, seed: u64, settings: EngineSettings) -> Self {
        let disk = SimulatedDisk::new(handle, SimulatedOptions::seeded(seed));
        let db = create(handle, &disk, &settings).await;
        db.create_table(&messages()).await.unwrap();
        db.close().await.unwrap();
        let (db, _) = open(handle, &disk, &settings).await.unwrap();
        let table = db.table("messages").unwrap();
        let kept = Rc::new(Kept::default());
        let opening = db.observe_commits(kept.clone());
        let world = TestDatabase::new(handle, db.clone(), table, State::new(), seed);
        Self {
            disk,
            settings,
            opening,
            kept,
            db,
            world,
        }
    }

    async fn work(&self, seed: u64) {
        assert_eq!(self.world.run(seed, 4, 60).await, []);
    }

    fn commits(&self) -> Vec<AcknowledgedCommit> {
        let mut commits = self.kept.0.borrow().clone();
        commits.sort();
        commits
    }
}

async fn audit(handle: &Handle, disk: &SimulatedDisk, life: &Life) -> AuditedLog {
    let (database, log) = (disk.directory("database"), disk.directory("log"));
    let (place, observer) = ((&database, "mail.edb"), Rc::new(NoObserver));
    let commits = life.commits();
    let found = read_log(handle, place, &log, &life.opening, &commits, observer);
    found.await.unwrap()
}

fn count(found: &AuditedLog, state: CommitState) -> usize {
    found.states.iter().filter(|one| **one == state).count()
}

fn settings(circular: bool, images: bool) -> EngineSettings {
    let mut settings = small_settings(PAGE);
    if images {
        settings = with_images(&settings);
    }
    settings.engine.circular_logging = circular;
    settings
}

fn on_virtual_clock<T: 'static>(work: impl AsyncFnOnce(Handle) -> T + 'static) -> T {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move { work(handle).await })
}

#[test]
fn nothing_acknowledged_is_lost_by_a_power_cut_of_honest_storage() {
    for seed in 0..24_u64 {
        on_virtual_clock(async move |handle| {
            let settings = settings(seed % 2 == 0, seed % 3 == 0);
            let life = Life::begin(&handle, seed, settings).await;
            for round in 0..4 {
                life.work(seed * 10 + round).await;
                handle.sleep_ns(SECOND_NS).await;
            }
            let disk = match seed % 4 {
                0 => life.disk.killed_copy(&handle),
                _ => life.disk.crashed_copy(&handle, seed),
            };
            let found = audit(&handle, &disk, &life).await;
            assert_eq!((found.lineage, &found.problem), (Lineage::Same, &None));
            assert_eq!(count(&found, CommitState::Lost), 0, "seed {seed}");
            assert!(count(&found, CommitState::InLog) > 0 && !found.is_closed);
            if !settings.engine.circular_logging {
                assert_eq!(count(&found, CommitState::BeforeLog), 0, "seed {seed}");
            }
            let (db, _) = open(&handle, &disk, &life.settings).await.unwrap();
            db.close().await.unwrap();
            let file = disk.directory("database").open("mail.edb").await.unwrap();
            let stale = stale_pages(&file, &found.versions).await.unwrap();
            assert_eq!(stale, [], "seed {seed}");
            assert!(found.versions.pages() > 5);
            let again = audit(&handle, &disk, &life).await;
            assert_eq!(again.lineage, Lineage::OpenedAgain);
        });
    }
}

#[test]
fn after_a_proper_close_everything_is_there() {
    on_virtual_clock(async |handle| {
        let life = Life::begin(&handle, 5, settings(false, false)).await;
        life.work(6).await;
        life.db.close().await.unwrap();
        let found = audit(&handle, &life.disk, &life).await;
        assert!(found.is_closed && !found.states.is_empty());
        assert_eq!(count(&found, CommitState::InLog), found.states.len());
    });
}

#[test]
fn commits_behind_the_end_of_the_log_are_lost_and_no_others() {
    on_virtual_clock(async |handle| {
        let life = Life::begin(&handle, 7, settings(false, false)).await;
        life.work(8).await;
        let disk = life.disk.killed_copy(&handle);
        let log = disk.directory("log").open("E00.log").await.unwrap();
        let size = log.size_bytes().await.unwrap();
        let from = life.commits().last().unwrap().position.offset_bytes(size) / 4096 * 4096;
        let zeros = Rc::new(Buffer::zeroed((size - from) as usize));
        log.write(from, zeros, Persistence::Durable).await.unwrap();
        let found = audit(&handle, &disk, &life).await;
        let generation = life.commits().last().unwrap().position.generation(size);
        for (commit, state) in life.commits().iter().zip(&found.states) {
            let position = commit.position;
            let is_cut =
                position.generation(size) == generation && position.offset_bytes(size) >= from;
            assert_eq!(*state == CommitState::Lost, is_cut, "{position}");
        }
        assert!(count(&found, CommitState::Lost) > 0);
    });
}

#[test]
fn an_earlier_copy_and_another_database_are_distinguished() {
    on_virtual_clock(async |handle| {
        let first = Life::begin(&handle, 9, settings(false, false)).await;
        first.work(10).await;
        let middle = first.disk.killed_copy(&handle);
        let then = first.commits().len();
        first.work(11).await;
        let found = audit(&handle, &middle, &first).await;
        assert_eq!(found.lineage, Lineage::Same);
        let lost = count(&found, CommitState::Lost);
        assert_eq!(lost, first.commits().len() - then);
        first.db.close().await.unwrap();
        let before = first.disk.killed_copy(&handle);
        let (db, _) = open(&handle, &first.disk, &first.settings).await.unwrap();
        let opening = db.observe_commits(Rc::new(Kept::default()));
        let second = Life {
            opening,
            db,
            ..first
        };
        let found = audit(&handle, &before, &second).await;
        assert_eq!(found.lineage, Lineage::Earlier);
        handle.sleep_ns(SECOND_NS).await;
        let other = Life::begin(&handle, 9, settings(false, false)).await;
        let found = audit(&handle, &other.disk, &second).await;
        assert_eq!(found.lineage, Lineage::Other);
    });
}

#[test]
fn a_page_that_lost_its_last_write_is_found_with_its_commits() {
    on_virtual_clock(async |handle| {
        let life = Life::begin(&handle, 12, settings(false, false)).await;
        life.work(13).await;
        handle.sleep_ns(3 * SECOND_NS).await;
        let earlier = life.disk.killed_copy(&handle);
        life.work(14).await;
        life.db.close().await.unwrap();
        let found = audit(&handle, &life.disk, &life).await;
        assert_eq!(count(&found, CommitState::Lost), 0);
        let (now, then) = (&life.disk, &earlier);
        let file = now.directory("database").open("mail.edb").await.unwrap();
        let old = then.directory("database").open("mail.edb").await.unwrap();
        let pages = old.size_bytes().await.unwrap() / PAGE as u64;
        let (mut harmed, mut acknowledged) = (0, 0);
        for page in 3..pages {
            let offset = page * PAGE as u64;
            let (bytes, read) = old.read(offset, Buffer::zeroed(PAGE)).await;
            read.unwrap();
            let (newer, read) = file.read(offset, Buffer::zeroed(PAGE)).await;
            read.unwrap();
            if *bytes == *newer {
                continue;
            }
            let put = async |bytes| {
                let written = file.write(offset, Rc::new(bytes), Persistence::Durable);
                written.await.unwrap();
            };
            put(bytes).await;
            let stale = stale_pages(&file, &found.versions).await.unwrap();
            let numbers: Vec<u64> = stale.iter().map(|one| u64::from(one.page)).collect();
            assert_eq!(numbers, [page - 1]);
            let log = now.directory("log");
            let lost = commits_on(&handle, &log, &stale, Rc::new(NoObserver));
            let lost = lost.await.unwrap();
            // Lazy commits are among them, too, which nobody has acknowledged.
            let known = |position| life.commits().iter().any(|one| one.position == position);
            acknowledged += lost.into_iter().filter(|&position| known(position)).count();
            harmed += 1;
            put(newer).await;
        }
        assert!(
            harmed > 5 && acknowledged > 5,
            "{harmed} pages, {acknowledged} commits"
        );
    });
}
