//! Files of a closed database that have lost a part.

use super::*;
use edb::format::database_header::DatabaseHeader;
use edb::verification::compare_beside;

#[test]
fn a_gap_between_the_log_files_is_found_when_the_log_is_opened() {
    on_virtual_clock(async |handle| {
        let life = Life::begin(&handle, 7).await;
        life.work(8).await;
        life.close().await;
        let full = life.full_logs().await;
        assert!(full.len() > 2, "{full:?}");
        let removed = &full[full.len() - 2];
        life.disk.directory("log").remove(removed).await.unwrap();
        let (db, _) = open(&handle, &life.disk, &life.settings).await.unwrap();
        let damage = db.take_damage();
        let [Damage::File(finding)] = &damage[..] else {
            panic!("{damage:?}");
        };
        assert!(finding.file.ends_with(removed), "{finding:?}");
        assert_eq!(finding.class, FileClass::Missing);
    });
}

#[test]
fn a_database_file_that_has_lost_its_end_is_found() {
    on_virtual_clock(async |handle| {
        let life = Life::begin(&handle, 9).await;
        let state = life.close().await;
        let (directory, log) = (life.disk.directory("database"), life.disk.directory("log"));
        let place = (&directory, "mail.edb");
        let file = life.database_file().await;
        let header = DatabaseHeader::decode(&bytes_of(&file, 0, PAGE).await).unwrap();
        let beside = compare_beside(&header, place, Some(&log)).await.unwrap();
        assert_eq!(beside, []);
        assert_eq!(life.verify(&state).await.pages.cut_short, None);
        let size_bytes = file.size_bytes().await.unwrap();
        file.set_size_bytes(size_bytes - PAGE).await.unwrap();
        // By the pages that this process knows, and by those of which it has left the versions.
        let in_run = life.verify(&state).await.pages.cut_short;
        let at_rest = compare_beside(&header, place, Some(&log))
            .await
            .unwrap()
            .pop();
        for found in [in_run, at_rest] {
            let found = found.expect("a finding");
            assert_eq!(found.part, FilePart::DatabaseEnd);
            assert_eq!(found.class, FileClass::Missing);
        }
    });
}
