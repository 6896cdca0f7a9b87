//! The versions that are kept beside a closed database.

use super::*;

#[test]
fn an_older_database_under_newer_versions_is_refused() {
    on_virtual_clock(async |handle| {
        let life = Life::begin(&handle, 31).await;
        life.close().await;
        let file = life.database_file().await;
        let earlier = bytes_of(&file, 0, file.size_bytes().await.unwrap()).await;
        let (db, _) = open(&handle, &life.disk, &life.settings).await.unwrap();
        let table = db.table("messages").unwrap();
        let mut tx = db.begin();
        tx.insert(&table, &row(b"later", 1, vec![1; 10]))
            .await
            .unwrap();
        tx.commit(edb::Commit::Durable).await.unwrap();
        db.close().await.unwrap();
        put(&file, 0, &earlier).await;
        let refused = open(&handle, &life.disk, &life.settings).await;
        let refused = refused.err().unwrap().to_string();
        assert!(refused.contains("replaced by an older copy"), "{refused}");
        assert!(refused.contains("mail.edb.versions"), "{refused}");
    });
}

#[test]
fn versions_that_are_missing_or_damaged_are_made_anew() {
    for damage_done in [false, true] {
        on_virtual_clock(async move |handle| {
            let life = Life::begin(&handle, 33).await;
            life.close().await;
            let directory = life.disk.directory("database");
            let name = versions_file("mail.edb");
            if damage_done {
                let file = directory.open(&name).await.unwrap();
                let mut bytes = bytes_of(&file, PAGE, PAGE).await;
                bytes[7] ^= 1;
                put(&file, PAGE, &bytes).await;
            } else {
                directory.remove(&name).await.unwrap();
            }
            let (db, report) = open(&handle, &life.disk, &life.settings).await.unwrap();
            let damage = report
                .damaged_versions
                .map(|found| (found.part, found.class));
            let expected = damage_done.then_some((FilePart::Versions, FileClass::Checksum));
            assert_eq!(damage, expected);
            let reason = report.missing_versions.unwrap();
            assert!(reason.contains(&name), "{reason}");
            let rebuilt = db.rebuild_versions(|_| true).await.unwrap();
            assert!(
                rebuilt.pages > 50 && rebuilt.damaged_pages == 0,
                "{rebuilt:?}"
            );
            let known = db.versions().versions();
            assert!(known.len() as u64 >= rebuilt.pages);
            assert!(known.iter().all(|&code| code != 0), "every page is known");
            // In use there is no file, so that it cannot be out of date.
            assert!(!directory.list().await.unwrap().contains(&name));
            db.close().await.unwrap();
            assert!(directory.list().await.unwrap().contains(&name));
        });
    }
}

pub(super) async fn add_rows(db: &Db, prefix: &str) {
    let table = db.table("messages").unwrap();
    for number in 0..60 {
        let mut tx = db.begin();
        let token = format!("{prefix} {number}");
        let values = row(token.as_bytes(), 1, vec![3; 900]);
        tx.insert(&table, &values).await.unwrap();
        tx.commit(edb::Commit::Durable).await.unwrap();
    }
}

#[test]
fn no_stored_version_outlives_a_kill() {
    for seed in 0..40_u64 {
        on_virtual_clock(async move |handle| {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let life = Life::begin(&handle, seed).await;
            let mut disk = life.disk.clone();
            for round in 0..3 {
                // The process ends somewhere on the way: at work, or while it closes.
                let after_ns = random.random_range(0..60_000_000);
                let killed = disk.clone();
                if round > 0 {
                    let (db, report) = open(&handle, &disk, &life.settings).await.unwrap();
                    if report.missing_versions.is_some() {
                        db.rebuild_versions(|_| true).await.unwrap();
                    }
                    assert_eq!(db.take_damage(), [], "seed {seed}");
                    drop(handle.spawn(async move {
                        add_rows(&db, &format!("{seed} {round}")).await;
                        db.close().await.unwrap();
                    }));
                }
                handle.sleep_ns(after_ns).await;
                disk = killed.killed_copy(&handle);
            }
            let (db, report) = open(&handle, &disk, &life.settings).await.unwrap();
            if report.missing_versions.is_some() {
                db.rebuild_versions(|_| true).await.unwrap();
            }
            assert_eq!(db.take_damage(), [], "seed {seed}: {report:?}");
            db.close().await.unwrap();
            let state = db.closed_state();
            let (data, log) = (disk.directory("database"), disk.directory("log"));
            let place = (&data, "mail.edb");
            let verified = state.verify(&handle, place, &log, Rc::new(|_| true));
            let found = verified.await.unwrap();
            assert!(is_sound(&found), "seed {seed}: {found:?}");
            let stored = StoredVersions::read(&data, "mail.edb", &state.header).await;
            assert!(matches!(stored, Ok(StoredVersions::Found(_))), "{stored:?}");
        });
    }
}
