//! Files of a server on another storage than the one that is measured.

use super::{Load, copies};
use crate::common;
use brokerage::database::Database;
use brokerage::database::mariadb::MariaDb;
use brokerage::database::owners::ServerProcess;
use brokerage::run::placement::Placement;
use measure::result::FilesElsewhere;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};
use std::path::Path;
use std::sync::Arc;
use tempfile::TempDir;

/// A directory on another file system than this one, for the user that owns it; `None` where there is one only.
fn elsewhere(room: &Path, owner: &Path) -> Option<TempDir> {
    let device = |path: &Path| std::fs::metadata(path).unwrap().dev();
    let candidates = [std::env::temp_dir(), env!("CARGO_TARGET_TMPDIR").into()];
    let other = candidates.iter().find(|path| device(path) != device(room));
    let Some(other) = other else {
        test_support::skip("there is one file system only");
        return None;
    };
    let directory = tempfile::tempdir_in(other).unwrap();
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(directory.path(), mode).unwrap();
    let facts = std::fs::metadata(owner).unwrap();
    chown(directory.path(), Some(facts.uid()), Some(facts.gid())).unwrap();
    Some(directory)
}

fn placement(measured: &Path, process: ServerProcess) -> Placement {
    Placement {
        data: measured.to_owned(),
        log: measured.to_owned(),
        process,
    }
}

/// Moves an entry of a directory to another one, and puts a link in its place.
fn move_away(entry: &Path, into: &Path) {
    let name = entry.file_name().unwrap();
    let moved = std::process::Command::new("mv")
        .args([entry, into])
        .status();
    assert!(moved.unwrap().success());
    symlink(into.join(name), entry).unwrap();
}

#[track_caller]
fn assert_path(found: &[FilesElsewhere], what: &str, inside: &Path) {
    let inside = inside.canonicalize().unwrap();
    let is_there = |one: &FilesElsewhere| {
        one.what == what && Path::new(&one.path).starts_with(&inside) && !one.file_system.is_empty()
    };
    assert!(found.iter().any(is_there), "{what} {found:?}");
}

#[test]
fn files_of_postgresql_on_another_storage_are_named() {
    let room = common::room();
    let Some(mut cluster) = copies::cluster(&room) else {
        return;
    };
    let data = cluster.data_directory();
    let Some(other) = elsewhere(room.path(), &data) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    let process = postgres.server().unwrap().process;
    let here = placement(room.path(), process.clone());
    let placed = here.examine(&postgres);
    assert_eq!(
        (placed.elsewhere.len(), placed.unknown.len()),
        (0, 0),
        "{placed:?}"
    );
    // The whole server, seen from the other storage.
    let placed = placement(other.path(), process.clone()).examine(&postgres);
    let whole: Vec<_> = placed.elsewhere.into_iter().collect();
    for what in ["the data directory", "the WAL"] {
        assert_path(&whole, what, room.path());
    }
    let mut administrator = postgres.connect_for_sql().unwrap();
    let spaces = other.path().join("spaces");
    std::fs::create_dir(&spaces).unwrap();
    let facts = std::fs::metadata(&data).unwrap();
    chown(&spaces, Some(facts.uid()), Some(facts.gid())).unwrap();
    // The server's user must be able to reach it.
    let reach = std::fs::Permissions::from_mode(0o711);
    std::fs::set_permissions(other.path(), reach).unwrap();
    let create = format!("CREATE TABLESPACE fast LOCATION '{}'", spaces.display());
    administrator.ask(&create).unwrap();
    let load = Load::placed(Arc::new(postgres.clone()), here.clone());
    load.wait_for_load();
    // Under the load: what is there at its end counts, too.
    administrator
        .ask("ALTER INDEX trade_by_account_id_entered_at SET TABLESPACE fast")
        .unwrap();
    let result = load.end();
    let found = &result.server.as_ref().unwrap().files_elsewhere;
    assert_path(found, "tables or indexes (trade)", &spaces);
    assert_eq!(found.len(), 1, "{found:?}");
    drop(administrator);
    cluster.stop();
    move_away(&data.join("pg_wal"), other.path());
    cluster.restart().unwrap();
    let found: Vec<_> = here.examine(&postgres).elsewhere.into_iter().collect();
    assert_path(&found, "the WAL", other.path());
    assert_eq!(found.len(), 2, "{found:?}");
    // The log may be there, if that is what is measured as its storage.
    let there = Placement {
        log: other.path().to_owned(),
        ..here
    };
    let found: Vec<_> = there.examine(&postgres).elsewhere.into_iter().collect();
    assert_eq!(found.len(), 1, "{found:?}");
    assert_path(&found, "tables or indexes (trade)", &spaces);
    cluster.stop();
}

#[test]
fn files_of_mariadb_on_another_storage_are_named() {
    let Some(mut server) = copies::mariadb() else {
        return;
    };
    let room = server.room.path().to_owned();
    let Some(other) = elsewhere(&room, &room) else {
        return;
    };
    let maria = MariaDb::open(&server.address()).unwrap();
    let process = maria.server().unwrap().process;
    let here = placement(&room, process);
    let placed = here.examine(&maria);
    assert_eq!(
        (placed.elsewhere.len(), placed.unknown.len()),
        (0, 0),
        "{placed:?}"
    );
    let mut administrator = maria.connect_for_sql().unwrap();
    for sql in [
        format!(
            "CREATE TABLE moved ENGINE = InnoDB DATA DIRECTORY = '{}' SELECT * FROM charge",
            other.path().display()
        ),
        "RENAME TABLE charge TO old, moved TO charge".to_owned(),
    ] {
        administrator.ask(&sql).unwrap();
    }
    drop(administrator);
    server.stop();
    let redo = other.path().join("redo");
    std::fs::create_dir(&redo).unwrap();
    let facts = std::fs::metadata(&room).unwrap();
    chown(&redo, Some(facts.uid()), Some(facts.gid())).unwrap();
    let option = format!("--innodb-log-group-home-dir={}", redo.display());
    let log = std::process::Command::new("mv")
        .arg(room.join("data/ib_logfile0"))
        .arg(&redo)
        .status();
    assert!(log.unwrap().success());
    server.child = common::mariadb::start_with(&room, &[option]);
    server.wait();
    let found: Vec<_> = here.examine(&maria).elsewhere.into_iter().collect();
    assert_path(&found, "the redo log", &redo);
    assert_path(&found, "tables or indexes (charge)", other.path());
    assert_eq!(found.len(), 2, "{found:?}");
    // Of a server that this machine does not have nothing is claimed.
    let unknown = placement(other.path(), ServerProcess::Unknown).examine(&maria);
    assert!(
        unknown.elsewhere.is_empty() && unknown.unknown.len() == 1,
        "{unknown:?}"
    );
}
