//! Damage to what a database can do without: it is reported, and the database is opened.

use super::*;
use edb::RecoveryReport;
use edb::format::database_header::DatabaseHeader;
use edb::integrity::DbtimeRange;

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
