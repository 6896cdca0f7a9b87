//! Directories held open: names in them lead nowhere else, and only what is expected is removed.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use runtime::host::{DirectoryHandle, FileIdentity, FileLock, Holder, LockError, LockKind};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

/// A directory with a directory of ours and one of somebody else in it.
fn setup() -> (tempfile::TempDir, DirectoryHandle) {
    let root = tempfile::tempdir().unwrap();
    for name in ["ours/inner", "theirs"] {
        fs::create_dir_all(root.path().join(name)).unwrap();
    }
    for name in ["ours/file", "ours/inner/file", "theirs/file"] {
        fs::write(root.path().join(name), "x").unwrap();
    }
    let handle = DirectoryHandle::open(root.path()).unwrap();
    (root, handle)
}

fn identity(handle: &DirectoryHandle, name: &str) -> FileIdentity {
    handle.identity_of(name).unwrap().unwrap()
}

#[test]
fn a_tree_is_removed_without_what_its_links_lead_to() {
    let (root, handle) = setup();
    symlink(root.path().join("theirs"), root.path().join("ours/link")).unwrap();
    symlink(
        root.path().join("theirs/file"),
        root.path().join("ours/inner/link"),
    )
    .unwrap();
    let ours = identity(&handle, "ours");
    assert!(
        !handle
            .remove_tree("ours", identity(&handle, "theirs"))
            .unwrap()
    );
    assert!(root.path().join("ours/inner/file").exists());
    assert!(handle.remove_tree("ours", ours).unwrap());
    assert!(!root.path().join("ours").exists());
    assert!(root.path().join("theirs/file").exists());
    assert!(handle.remove_tree("ours", ours).unwrap(), "gone already");
}

#[test]
fn a_link_in_place_of_a_tree_is_left() {
    let (root, handle) = setup();
    let ours = identity(&handle, "ours");
    fs::rename(root.path().join("ours"), root.path().join("aside")).unwrap();
    symlink(root.path().join("theirs"), root.path().join("ours")).unwrap();
    assert!(!handle.remove_tree("ours", ours).unwrap());
    let link = identity(&handle, "ours");
    let error = handle.remove_tree("ours", link).unwrap_err();
    assert!(error.to_string().contains("is a symbolic link"), "{error}");
    assert!(root.path().join("theirs/file").exists());
}

#[test]
fn nothing_is_removed_from_a_tree_with_a_mount_in_it() {
    let (root, handle) = setup();
    let inner = root.path().join("ours/inner");
    let mounted = Command::new("mount")
        .arg("--bind")
        .args([&root.path().join("theirs"), &inner])
        .status();
    if !mounted.is_ok_and(|status| status.success()) {
        test_support::skip("nothing can be bind-mounted (needs root)");
        return;
    }
    let removed = handle.remove_tree("ours", identity(&handle, "ours"));
    Command::new("umount").arg(&inner).status().unwrap();
    let error = removed.unwrap_err();
    assert!(error.to_string().contains("is mounted at"), "{error}");
    assert!(root.path().join("ours/file").exists());
    assert!(root.path().join("theirs/file").exists());
}

#[test]
fn a_file_is_replaced_and_a_link_is_not_followed() {
    let (root, handle) = setup();
    for name in ["new", "new.tmp"] {
        symlink(root.path().join("theirs/file"), root.path().join(name)).unwrap();
    }
    handle.replace_file("new", b"contents").unwrap();
    assert_eq!(fs::read(root.path().join("new")).unwrap(), b"contents");
    assert_eq!(fs::read(root.path().join("theirs/file")).unwrap(), b"x");
    assert!(!root.path().join("new.tmp").exists());
    symlink(root.path().join("theirs/file"), root.path().join("link")).unwrap();
    assert!(handle.open_file("link").is_err());
    assert!(handle.create_file("link").is_err());
}

#[test]
fn what_is_done_in_a_directory_that_was_moved_is_done_there() {
    let (root, handle) = setup();
    let ours = handle.open_directory("ours").unwrap();
    fs::rename(root.path().join("ours"), root.path().join("moved")).unwrap();
    symlink(root.path().join("theirs"), root.path().join("ours")).unwrap();
    assert!(ours.remove_file("file", identity(&ours, "file")).unwrap());
    assert!(root.path().join("theirs/file").exists());
    assert!(!root.path().join("moved/file").exists());
}

/// Whether another program gets a lock on a file.
fn others_may_lock(path: &Path) -> bool {
    let status = Command::new("flock")
        .arg("--nonblock")
        .arg(path)
        .arg("true")
        .status();
    status.unwrap().success()
}

#[test]
fn a_lock_keeps_others_out_until_it_ends() {
    let (root, handle) = setup();
    let path = root.path().join("theirs/file");
    let theirs = handle.open_directory("theirs").unwrap();
    let open = || theirs.open_file("file").unwrap().into();
    let lock = FileLock::take_for_process(&open()).unwrap();
    assert!(!others_may_lock(&path));
    let same = FileLock::take_for_process(&open()).unwrap();
    drop(lock);
    assert!(!others_may_lock(&path), "it is still in use by the second");
    match FileLock::take(open(), LockKind::Shared) {
        Err(LockError::InUse(Some(holder))) => {
            assert_eq!(holder, Holder::of_process(std::process::id()));
        }
        other => panic!("{other:?}"),
    }
    drop(same);
    assert!(others_may_lock(&path));
    let shared = [(); 2].map(|()| FileLock::take(open(), LockKind::Shared).unwrap());
    assert!(!others_may_lock(&path));
    drop(shared);
    drop(FileLock::take_for_process(&open()).unwrap());
    assert!(others_may_lock(&path));
}
