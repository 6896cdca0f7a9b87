//! Damage to what a database can do without: it is reported, and the database is opened.

use super::*;
use edb::RecoveryReport;
use edb::format::database_header::DatabaseHeader;
use edb::integrity::DbtimeRange;

/// A database that was killed, after work that made several log files.
async fn killed(handle: &Handle, seed: u64) -> SimulatedDisk {
    let life = Life::begin(handle, seed).await;
    life.work(seed + 1).await;
    life.disk.killed_copy(handle)
}

/// Opens and closes a database, which must be sound afterwards; what was found when it was opened.
async fn opened(handle: &Handle, disk: &SimulatedDisk) -> (RecoveryReport, Vec<Damage>) {
    let (db, report) = open(handle, disk, &watchful_settings()).await.unwrap();
    let damage = db.take_damage();
    db.rebuild_versions(|_| true).await.unwrap();
    db.close().await.unwrap();
    let (database, log) = (disk.directory("database"), disk.directory("log"));
    let state = db.closed_state();
    let verified = state.verify(handle, (&database, "mail.edb"), &log, Rc::new(|_| true));
    let found = verified.await.unwrap();
    assert!(is_sound(&found), "{found:?}");
    (report, damage)
}

#[test]
fn a_log_file_that_was_made_ready_is_made_again() {
    for is_cut in [false, true] {
        on_virtual_clock(async move |handle| {
            let life = Life::begin(&handle, 41).await;
            let log = life.disk.directory("log");
            let next = "E00tmp.log".to_owned();
            while !log.list().await.unwrap().contains(&next) {
                handle.sleep_ns(1_000_000).await;
            }
            match is_cut {
                false => log.remove(&next).await.unwrap(),
                true => {
                    let file = log.open(&next).await.unwrap();
                    file.set_size_bytes(4096).await.unwrap();
                }
            }
            for seed in 42..46 {
                life.work(seed).await;
            }
            let damage = file_damage(&life.found_in_use().await);
            assert_eq!(damage.len(), 1, "{damage:?}");
            assert!(
                damage.iter().all(|one| one.contains("Missing")),
                "{damage:?}"
            );
            let killed = life.disk.killed_copy(&handle);
            let state = life.close().await;
            assert!(is_sound(&life.verify(&state).await));
            let (report, damage) = opened(&handle, &killed).await;
            assert_eq!((report.damaged_log, damage), (None, Vec::new()));
        });
    }
}

#[test]
fn the_header_of_the_log_file_being_written_is_known_from_the_others() {
    on_virtual_clock(async move |handle| {
        let disk = killed(&handle, 51).await;
        let intact = disk.killed_copy(&handle);
        let file = disk.directory("log").open("E00.log").await.unwrap();
        let mut header = bytes_of(&file, 0, 4096).await;
        header[60..68].fill(0xA5);
        put(&file, 0, &header).await;
        let (report, damage) = opened(&handle, &disk).await;
        let finding = report.damaged_log.expect("it is reported");
        assert_eq!(finding.class, FileClass::Checksum);
        assert!(
            finding.problem.contains("written again"),
            "{}",
            finding.problem
        );
        assert_eq!(damage, [Damage::File(finding)]);
        // As much was recovered as with it.
        let (expected, damage) = opened(&handle, &intact).await;
        assert_eq!((expected.records, damage), (report.records, Vec::new()));
    });
}

#[test]
fn an_open_database_without_a_checkpoint_says_so() {
    for copies in [&[0_u64][..], &[1], &[0, 1]] {
        on_virtual_clock(async move |handle| {
            let life = Life::begin(&handle, 61).await;
            handle.sleep_ns(2 * SECOND_NS).await;
            life.work(62).await;
            let disk = life.disk.killed_copy(&handle);
            let file = disk.directory("log").open("E00.chk").await.unwrap();
            for copy in copies {
                let mut bytes = bytes_of(&file, copy * PAGE, PAGE).await;
                assert!(bytes.iter().any(|&byte| byte != 0), "it was written");
                bytes[200] ^= 8;
                put(&file, copy * PAGE, &bytes).await;
            }
            let (report, _) = opened(&handle, &disk).await;
            // A power cut may leave one of them so.
            let is_found = report.damaged_checkpoint.is_some();
            assert_eq!(is_found, copies.len() == 2, "{copies:?}");
        });
    }
}

#[test]
fn a_header_of_another_database_is_replaced_by_the_copy_of_its_own() {
    for copy in [1, 2_u8] {
        for is_closed in [false, true] {
            on_virtual_clock(async move |handle| {
                let life = Life::begin(&handle, 71).await;
                let disk = match is_closed {
                    true => {
                        life.close().await;
                        life.disk.killed_copy(&handle)
                    }
                    false => life.disk.killed_copy(&handle),
                };
                let file = disk.directory("database").open("mail.edb").await.unwrap();
                let bytes = bytes_of(&file, 0, PAGE).await;
                let mut foreign = DatabaseHeader::decode(&bytes).unwrap();
                foreign.signature.random ^= 1;
                foreign.log_signature.random ^= 1;
                foreign.dbtime = DbtimeRange::of_new(foreign.signature).base + 99;
                let mut bytes = Buffer::zeroed(PAGE as usize);
                foreign.encode(&mut bytes);
                put(&file, u64::from(copy - 1) * PAGE, &bytes).await;
                let (report, _) = opened(&handle, &disk).await;
                let finding = report.damaged_header.expect("it is reported");
                let found = (finding.part, finding.class);
                assert_eq!(found, (FilePart::Header { copy }, FileClass::Foreign));
                assert_eq!(report.was_clean, is_closed);
                let (report, _) = opened(&handle, &disk).await;
                assert_eq!(report.damaged_header, None);
            });
        }
    }
}
