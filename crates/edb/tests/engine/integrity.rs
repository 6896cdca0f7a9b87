//! Faults done to the files of a database, while it is in use and while it is not.

mod copies;
mod log_end;
mod log_reads;
mod missing_parts;
mod rebuilt_pages;
mod stored_versions;
mod without_loss;

use super::common::*;
use config::{ByteSize, TimeSpan};
use crashtest::model::State;
use crashtest::sessions::TestDatabase;
use edb::Damage;
use edb::EngineSettings;
use edb::integrity::{DamageClass, FileClass, FilePart};
use edb::verification::{ClosedState, Verification};
use edb::verification::{StoredVersions, versions_file};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use runtime::simulated::{SimulatedDisk, SimulatedFile, SimulatedOptions};
use runtime::time::SECOND_NS;
use runtime::{Buffer, Directory, File, Handle, Persistence, Runtime};
use std::collections::BTreeSet;
use std::rc::Rc;
use stored_versions::add_rows;

const PAGE: u64 = 4096;

/// Settings under which everything is read back all the time.
fn watchful_settings() -> EngineSettings {
    let mut settings = small_settings(PAGE as usize);
    settings.maintenance.enabled = true;
    settings.maintenance.pause = TimeSpan::millis(20);
    settings.maintenance.log_read_back_rate = Some(ByteSize::mib(100));
    settings.maintenance.header_read_back_interval = Some(TimeSpan::millis(200));
    settings
}

async fn bytes_of(file: &SimulatedFile, offset: u64, length: u64) -> Buffer {
    let (bytes, result) = file.read(offset, Buffer::zeroed(length as usize)).await;
    result.unwrap();
    bytes
}

async fn put(file: &SimulatedFile, offset: u64, bytes: &Buffer) {
    let write = file.write(offset, Rc::new(bytes.copied()), Persistence::Durable);
    write.await.unwrap();
}

/// An open database that has worked for a while, and its disk.
struct Life {
    handle: Handle,
    disk: SimulatedDisk,
    settings: EngineSettings,
    db: Db,
    world: Rc<TestDatabase>,
}

impl Life {
    async fn begin(handle: &Handle, seed: u64) -> Self {
        Self::begin_with(handle, seed, watchful_settings()).await
    }

    async fn begin_with(handle: &Handle, seed: u64, settings: EngineSettings) -> Self {
        let disk = SimulatedDisk::new(handle, SimulatedOptions::seeded(seed));
        let db = create(handle, &disk, &settings).await;
        let table = db.create_table(&messages()).await.unwrap();
        let world = TestDatabase::new(handle, db.clone(), table, State::new(), seed);
        let life = Self {
            handle: handle.clone(),
            disk,
            settings,
            db,
            world,
        };
        life.work(seed).await;
        life
    }

    async fn work(&self, seed: u64) {
        assert_eq!(self.world.run(seed, 4, 60).await, []);
    }

    async fn database_file(&self) -> SimulatedFile {
        let directory = self.disk.directory("database");
        directory.open("mail.edb").await.unwrap()
    }

    async fn log_file(&self, name: &str) -> SimulatedFile {
        self.disk.directory("log").open(name).await.unwrap()
    }

    /// Names of the full log files, oldest first.
    async fn full_logs(&self) -> Vec<String> {
        let names = self.disk.directory("log").list().await.unwrap();
        let is_full =
            |name: &String| name.len() == "E0000000001.log".len() && name.ends_with(".log");
        names.into_iter().filter(is_full).collect()
    }

    /// What the work in the background finds within some seconds.
    async fn found_in_use(&self) -> Vec<Damage> {
        self.handle.sleep_ns(12 * SECOND_NS).await;
        self.db.take_damage()
    }

    async fn close(&self) -> ClosedState {
        self.db.close().await.unwrap();
        assert_eq!(self.db.take_damage(), []);
        self.db.closed_state()
    }

    async fn verify(&self, state: &ClosedState) -> Verification {
        let (database, log) = (self.disk.directory("database"), self.disk.directory("log"));
        let place = (&database, "mail.edb");
        let verified = state.verify(&self.handle, place, &log, Rc::new(|_| true));
        verified.await.unwrap()
    }
}

fn is_sound(found: &Verification) -> bool {
    found.pages.findings.is_empty()
        && found.copies.is_empty()
        && found.log.findings.is_empty()
        && matches!(&found.trees, Some(Ok(trees)) if trees.is_sound())
}

fn page_damage(damage: &[Damage]) -> Vec<(u32, DamageClass)> {
    let page = |one: &Damage| match one {
        Damage::Page(error) => Some((error.page.0, error.finding()?.class)),
        Damage::File(_) => None,
    };
    damage.iter().filter_map(page).collect()
}

fn file_damage(damage: &[Damage]) -> BTreeSet<String> {
    let file = |one: &Damage| match one {
        Damage::File(finding) => Some(format!("{:?} {:?}", finding.part, finding.class)),
        Damage::Page(_) => None,
    };
    damage.iter().filter_map(file).collect()
}

fn on_virtual_clock<T: 'static>(work: impl AsyncFnOnce(Handle) -> T + 'static) -> T {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move { work(handle).await })
}

#[test]
fn a_run_without_faults_is_found_sound() {
    for seed in 0..4 {
        on_virtual_clock(async move |handle| {
            let life = Life::begin(&handle, seed).await;
            assert_eq!(life.found_in_use().await, [], "seed {seed}");
            life.work(seed + 100).await;
            let statistics = life.db.statistics();
            assert!(statistics.log.read_back_files > 3, "{statistics:?}");
            assert!(statistics.maintenance.passes > 1, "{statistics:?}");
            let state = life.close().await;
            let found = life.verify(&state).await;
            assert!(is_sound(&found), "seed {seed}: {found:?}");
            assert!(
                found.pages.pages > 50 && found.log.segments > 10,
                "{found:?}"
            );
            assert!(found.coverage.written_pages > 20, "{found:?}");
            // All pages have been read now.
            assert_eq!(state.versions.coverage().never_read_back_pages, 0);
        });
    }
}

/// Pages with something on them, which have been written at least twice.
async fn changed_pages(life: &Life, earlier: &Buffer) -> Vec<u64> {
    let file = life.database_file().await;
    let size = earlier.len() as u64;
    let now = bytes_of(&file, 0, size).await;
    let place = |page: u64| ((page + 1) * PAGE) as usize..((page + 2) * PAGE) as usize;
    (1..size / PAGE - 1)
        .filter(|&page| {
            let (old, new) = (&earlier[place(page)], &now[place(page)]);
            old != new && old.iter().any(|&byte| byte != 0)
        })
        .collect()
}

/// Does a fault of that class to a page; `earlier` is the file as it once was.
async fn harm(life: &Life, class: DamageClass, page: u64, earlier: &Buffer, stranger: &Buffer) {
    let file = life.database_file().await;
    let offset = (page + 1) * PAGE;
    let mut bytes = bytes_of(&file, offset, PAGE).await;
    let place = offset as usize..(offset + PAGE) as usize;
    match class {
        DamageClass::LostWrite => bytes.copy_from_slice(&earlier[place]),
        DamageClass::Misdirected => bytes = bytes_of(&file, 2 * PAGE, PAGE).await,
        DamageClass::Foreign => bytes.copy_from_slice(&stranger[place]),
        DamageClass::Zeroed => bytes.fill(0),
        DamageClass::Checksum => bytes[1000..1100].fill(0x77),
        DamageClass::Torn | DamageClass::FromTheFuture | DamageClass::NeverWritten => {
            unreachable!("not done here")
        }
    }
    put(&file, offset, &bytes).await;
}

const CLASSES: [DamageClass; 5] = [
    DamageClass::LostWrite,
    DamageClass::Misdirected,
    DamageClass::Foreign,
    DamageClass::Zeroed,
    DamageClass::Checksum,
];

/// The file of another database with the same history, which began at another time.
async fn stranger(handle: &Handle, seed: u64) -> Buffer {
    handle.sleep_ns(SECOND_NS).await;
    let life = Life::begin(handle, seed).await;
    life.close().await;
    let file = life.database_file().await;
    let size = file.size_bytes().await.unwrap();
    bytes_of(&file, 0, size).await
}

#[test]
fn pages_harmed_in_use_are_found_by_the_scan() {
    for (number, class) in CLASSES.into_iter().enumerate() {
        on_virtual_clock(async move |handle| {
            let seed = 40 + number as u64;
            let life = Life::begin(&handle, seed).await;
            let file = life.database_file().await;
            let earlier = bytes_of(&file, 0, file.size_bytes().await.unwrap()).await;
            life.work(seed + 1).await;
            handle.sleep_ns(5 * SECOND_NS).await;
            assert_eq!(life.db.take_damage(), []);
            let stranger = stranger(&handle, seed).await;
            let pages = changed_pages(&life, &earlier).await;
            let page = pages[pages.len() / 2];
            harm(&life, class, page, &earlier, &stranger).await;
            let damage = life.found_in_use().await;
            assert_eq!(page_damage(&damage), [(page as u32, class)], "{damage:?}");
        });
    }
}

#[test]
fn pages_harmed_at_rest_are_found_by_verification_and_at_the_next_opening() {
    for (number, class) in CLASSES.into_iter().enumerate() {
        on_virtual_clock(async move |handle| {
            let seed = 60 + number as u64;
            let life = Life::begin(&handle, seed).await;
            let file = life.database_file().await;
            let earlier = bytes_of(&file, 0, file.size_bytes().await.unwrap()).await;
            life.work(seed + 1).await;
            let state = life.close().await;
            let stranger = stranger(&handle, seed).await;
            let pages = changed_pages(&life, &earlier).await;
            let page = pages[pages.len() / 2];
            harm(&life, class, page, &earlier, &stranger).await;
            let found = life.verify(&state).await;
            let finding = found.pages.findings[0].finding().unwrap();
            assert_eq!((u64::from(finding.page), finding.class), (page, class));
            assert_eq!(found.pages.classes[&class], 1);
            assert_eq!(found.pages.findings.len(), 1, "{found:?}");
            // The next process knows it from the versions beside the database.
            let (db, report) = open(&handle, &life.disk, &life.settings).await.unwrap();
            assert_eq!(report.missing_versions, None);
            handle.sleep_ns(8 * SECOND_NS).await;
            let damage = db.take_damage();
            assert_eq!(page_damage(&damage), [(page as u32, class)], "{damage:?}");
        });
    }
}

/// How a log file is harmed.
#[derive(Debug, Clone, Copy)]
enum LogHarm {
    Garbled,
    Zeroed,
    ByAnOlderOne,
    HeaderGarbled,
    CutShort,
    Removed,
}

const LOG_HARMS: [(LogHarm, FileClass); 6] = [
    (LogHarm::Garbled, FileClass::Checksum),
    (LogHarm::Zeroed, FileClass::Zeroed),
    (LogHarm::ByAnOlderOne, FileClass::LostWrite),
    (LogHarm::HeaderGarbled, FileClass::Checksum),
    (LogHarm::CutShort, FileClass::Missing),
    (LogHarm::Removed, FileClass::Missing),
];

async fn harm_log(life: &Life, harm: LogHarm, name: &str, older: &str) {
    let file = life.log_file(name).await;
    let mut block = bytes_of(&file, PAGE, PAGE).await;
    match harm {
        LogHarm::Garbled => {
            block[500..600].fill(0x55);
            put(&file, PAGE, &block).await;
        }
        LogHarm::Zeroed => {
            block.fill(0);
            put(&file, PAGE, &block).await;
        }
        LogHarm::ByAnOlderOne => {
            let size = file.size_bytes().await.unwrap();
            let bytes = bytes_of(&life.log_file(older).await, 0, size).await;
            put(&file, 0, &bytes).await;
        }
        LogHarm::HeaderGarbled => {
            let mut header = bytes_of(&file, 0, PAGE).await;
            header[100] ^= 0x40;
            put(&file, 0, &header).await;
        }
        LogHarm::CutShort => file.set_size_bytes(PAGE).await.unwrap(),
        LogHarm::Removed => {
            let directory = life.disk.directory("log");
            directory.remove(name).await.unwrap();
        }
    }
}

#[test]
fn log_files_harmed_at_rest_are_found() {
    for (harm, class) in LOG_HARMS {
        for current in [false, true] {
            on_virtual_clock(async move |handle| {
                let life = Life::begin(&handle, 7).await;
                let state = life.close().await;
                let full = life.full_logs().await;
                assert!(full.len() > 1, "{full:?}");
                let name = if current { "E00.log" } else { full[1].as_str() };
                harm_log(&life, harm, name, &full[0]).await;
                let found = life.verify(&state).await;
                let first = &found.log.findings.first();
                let first = first.unwrap_or_else(|| panic!("{harm:?} of {name}: nothing found"));
                assert_eq!(first.class, class, "{harm:?} of {name}: {first}");
                assert!(first.file.ends_with(name), "{first:?}");
                assert!(found.pages.findings.is_empty(), "{found:?}");
            });
        }
    }
}

#[test]
fn log_files_harmed_in_use_are_found() {
    for (harm, class) in LOG_HARMS {
        if matches!(harm, LogHarm::Removed) {
            continue; // The directory is not watched: it is found afterwards.
        }
        on_virtual_clock(async move |handle| {
            let mut slow = watchful_settings();
            slow.maintenance.log_read_back_rate = Some(ByteSize::kib(64));
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(3));
            let db = create(&handle, &disk, &slow).await;
            let table = db.create_table(&messages()).await.unwrap();
            let world = TestDatabase::new(&handle, db.clone(), table, State::new(), 3);
            let life = Life {
                handle: handle.clone(),
                disk,
                settings: slow,
                db,
                world,
            };
            life.work(3).await;
            let full = life.full_logs().await;
            assert!(full.len() > 1, "{full:?}");
            // The newest of them has not been read back yet.
            let name = full.last().unwrap();
            harm_log(&life, harm, name, &full[0]).await;
            let damage = life.found_in_use().await;
            let found = file_damage(&damage);
            assert!(
                found
                    .iter()
                    .any(|one| one.contains("Log") && one.ends_with(&format!("{class:?}"))),
                "{harm:?} of {name}: {found:?}"
            );
        });
    }
}

#[test]
fn a_log_file_garbled_after_it_was_read_back_is_found_before_it_is_used_again() {
    on_virtual_clock(async |handle| {
        let mut settings = watchful_settings();
        settings.maintenance.enabled = false;
        // So slow that its turn never comes.
        settings.maintenance.log_read_back_rate = Some(ByteSize::kib(64));
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(9));
        let db = create(&handle, &disk, &settings).await;
        db.create_table(&messages()).await.unwrap();
        let log = disk.directory("log");
        let is_full = |name: &&String| name.starts_with("E000") && name.ends_with(".log");
        let mut garbled = None;
        for round in 0..40 {
            add_rows(&db, &format!("round {round}")).await;
            // The checkpoint moves every second, and releases files.
            handle.sleep_ns(SECOND_NS / 4).await;
            let names = log.list().await.unwrap();
            if let (None, Some(newest)) = (&garbled, names.iter().rfind(is_full)) {
                let file = log.open(newest).await.unwrap();
                let mut block = bytes_of(&file, 5 * PAGE, PAGE).await;
                block[300..400].fill(0x5A);
                put(&file, 5 * PAGE, &block).await;
                garbled = Some(newest.clone());
            }
        }
        let garbled = garbled.unwrap();
        assert!(
            !log.list().await.unwrap().contains(&garbled),
            "it was used again"
        );
        let damage = db.take_damage();
        let Some(Damage::File(finding)) = damage.first() else {
            panic!("nothing was found of {garbled}: {damage:?}");
        };
        assert!(finding.file.ends_with(&garbled), "{finding:?}");
        assert_eq!((damage.len(), finding.class), (1, FileClass::Checksum));
    });
}

#[test]
fn the_oldest_log_file_is_read_before_a_log_that_is_opened_uses_it_again() {
    for harm in [LogHarm::Garbled, LogHarm::Zeroed] {
        on_virtual_clock(async move |handle| {
            let life = Life::begin(&handle, 7).await;
            life.close().await;
            let oldest = life.full_logs().await[0].clone();
            harm_log(&life, harm, &oldest, &oldest).await;
            let (db, _) = open(&handle, &life.disk, &life.settings).await.unwrap();
            for round in 0..40 {
                add_rows(&db, &format!("round {round}")).await;
                handle.sleep_ns(SECOND_NS / 4).await;
            }
            assert!(
                !life.full_logs().await.contains(&oldest),
                "it was used again"
            );
            let damage = db.take_damage();
            let of_oldest = |one: &&Damage| matches!(one, Damage::File(finding) if finding.file.ends_with(&oldest));
            let found = damage.iter().filter(of_oldest).count();
            assert_eq!((found, damage.len()), (1, 1), "{harm:?}: {damage:?}");
        });
    }
}
