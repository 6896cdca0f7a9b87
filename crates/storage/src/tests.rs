//! Directories as targets: every refusal, on real file systems.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use config::ByteSize;
use mail::profile::MailProfile;
use runtime::host::DirectoryHandle;
use tempfile::TempDir;
use workload::Profile;

use crate::marker::Marker;
use crate::{Claim, Layout, Place, Request, survey};
use workload::Refusal;

/// A small profile, so that space is there.
fn small() -> MailProfile {
    let mut profile = MailProfile::default();
    profile.mail.databases = 2;
    profile.mail.scale_to(ByteSize::mib(32));
    profile.engine.checkpoint_depth = ByteSize::mib(4);
    profile
}

struct Try {
    on: Vec<PathBuf>,
    log_on: Vec<PathBuf>,
    profile: MailProfile,
    reuse: bool,
}

fn on(paths: &[&Path]) -> Try {
    Try {
        on: paths.iter().map(|path| path.to_path_buf()).collect(),
        log_on: Vec::new(),
        profile: small(),
        reuse: false,
    }
}

impl Try {
    fn survey(&self) -> Result<Layout, Refusal> {
        survey(
            &Request {
                on: &self.on,
                log_on: &self.log_on,
                profile: &self.profile,
                reuse: self.reuse,
                erase_device: false,
            },
            &mut |_| {},
        )
    }

    /// The message with its help; panics when nothing was refused.
    fn refusal(&self, status: u8) -> String {
        let failure = self.survey().unwrap_err();
        assert_eq!(crate::testing::exit_status(&failure), status, "{failure:?}");
        format!("{failure:?}")
    }
}

fn temporary() -> TempDir {
    // The build directory lies on a disk, while /tmp may lie in memory.
    TempDir::new_in(crate::testing::disk()).unwrap()
}

#[test]
fn databases_and_logs_are_dealt_out_in_turn() {
    let root = temporary();
    let [a, b, log] = ["a", "b", "log"].map(|name| root.path().join(name));
    for path in [&a, &b, &log] {
        fs::create_dir(path).unwrap();
    }
    fs::create_dir(a.join("lost+found")).unwrap();
    let mut request = on(&[&a, &b]);
    request.log_on = vec![log.clone()];
    request.profile.mail.databases = 3;
    let layout = request.survey().unwrap();
    let found: Vec<(Place, Place)> = layout
        .databases
        .iter()
        .map(|place| (place.data.clone(), place.log.clone()))
        .collect();
    let place = |path: PathBuf| Place::Directory(path.canonicalize().unwrap_or(path));
    assert_eq!(
        found,
        [
            (place(a.join("mail-001")), place(log.join("log-001"))),
            (place(b.join("mail-002")), place(log.join("log-002"))),
            (place(a.join("mail-003")), place(log.join("log-003"))),
        ]
    );
    assert_eq!(fs::read_dir(&b).unwrap().count(), 0, "nothing was written");
}

#[test]
fn wrong_paths_are_refused() {
    let root = temporary();
    let file = root.path().join("file");
    fs::write(&file, "x").unwrap();
    let dangling = root.path().join("dangling");
    symlink(root.path().join("nowhere"), &dangling).unwrap();
    let missing = root.path().join("missing");
    assert!(on(&[&missing]).refusal(2).contains("mkdir"));
    assert!(on(&[&file]).refusal(2).contains("is a regular file"));
    assert!(
        on(&[&file.join("below")])
            .refusal(2)
            .contains("not a directory")
    );
    assert!(
        on(&[&dangling])
            .refusal(2)
            .contains("symbolic link to nothing")
    );
    assert!(on(&[Path::new("")]).refusal(2).contains("empty path"));
    assert!(
        on(&[Path::new("/dev/null")])
            .refusal(2)
            .contains("a character device")
    );
}

#[test]
fn the_same_place_twice_is_refused_whatever_it_is_called() {
    let root = temporary();
    let a = root.path().join("a");
    fs::create_dir_all(a.join("inner")).unwrap();
    let link = root.path().join("link");
    symlink(&a, &link).unwrap();
    assert!(on(&[&a, &a]).refusal(2).contains("twice"));
    let said = on(&[&a, &link]).refusal(2);
    assert!(said.contains("link") && said.contains("are one"), "{said}");
    assert!(on(&[&a, &a.join("inner")]).refusal(2).contains("is inside"));
    let mut request = on(&[&a]);
    request.log_on = vec![a.join("inner")];
    assert!(request.refusal(2).contains("is inside"));
}

#[test]
fn a_target_that_nothing_would_go_to_is_refused() {
    let root = temporary();
    let paths = ["a", "b", "c", "log"].map(|name| root.path().join(name));
    paths.iter().for_each(|path| fs::create_dir(path).unwrap());
    let [a, b, c, log] = &paths;
    let said = on(&[a, b, c]).refusal(2);
    assert!(
        said.contains("/c would not be tested") && said.contains("--databases"),
        "{said}"
    );
    let mut request = on(&[a]);
    request.log_on = vec![log.clone(), b.clone(), c.clone()];
    assert!(request.refusal(2).contains("/c would not be tested"));
    request.profile.mail.databases = 3;
    request.survey().unwrap();
}

#[test]
fn the_same_directory_may_take_databases_and_logs() {
    let root = temporary();
    let mut request = on(&[root.path()]);
    request.log_on = vec![root.path().to_path_buf()];
    assert_eq!(request.survey().unwrap().targets.len(), 1);
}

#[test]
fn a_directory_with_something_in_it_is_refused() {
    let root = temporary();
    fs::write(root.path().join("payroll.xls"), "x").unwrap();
    fs::create_dir(root.path().join("lost+found")).unwrap();
    let said = on(&[root.path()]).refusal(3);
    assert!(
        said.contains("payroll.xls") && said.contains("never touches"),
        "{said}"
    );
}

#[test]
fn too_little_space_says_what_would_fit() {
    let root = temporary();
    let mut request = on(&[root.path()]);
    request.profile = MailProfile::default();
    request.profile.mail.mailboxes_per_database = 1_000_000;
    let said = request.refusal(3);
    let (_, after) = said.split_once("--target-size ").expect("a remedy");
    let size = after.split([',', ' ']).next().unwrap();
    request
        .profile
        .mail
        .scale_to(ByteSize::parse(size).unwrap());
    request.survey().unwrap();
}

#[test]
fn a_log_that_keeps_every_file_must_fit_for_the_whole_run() {
    let root = temporary();
    let mut request = on(&[root.path()]);
    request.survey().unwrap();
    // A month at a rate that writes some megabytes of log per second.
    request.profile.run.duration = config::TimeSpan::seconds(31 * 86_400);
    request.profile.run.held_rate = Some(20_000.0);
    request.survey().unwrap();
    request.profile.engine.circular_logging = false;
    let said = request.refusal(3);
    assert!(
        said.contains("circular_logging = false keeps every file"),
        "{said}"
    );
    assert!(said.contains("--duration"), "{said}");
}

#[test]
fn one_file_system_under_two_targets_counts_once() {
    let root = temporary();
    let [a, b] = ["a", "b"].map(|name| root.path().join(name));
    fs::create_dir(&a).unwrap();
    fs::create_dir(&b).unwrap();
    let free = rustix::fs::statvfs(root.path()).unwrap();
    let free = free.f_bavail * free.f_frsize;
    let mut request = on(&[&a, &b]);
    // Each database alone would fit, both together do not.
    request.profile.mail.mailboxes_per_database = 1;
    request.profile.mail.mailbox_size = ByteSize(free / 10 * 6);
    assert!(request.refusal(3).contains("share"));
}

#[test]
fn a_read_only_or_forbidden_directory_is_refused() {
    let root = temporary();
    let closed = root.path().join("closed");
    fs::create_dir(&closed).unwrap();
    if rustix::process::geteuid().is_root() {
        let Some(_mount) = crate::testing::Mount::read_only(&closed) else {
            test_support::skip("no directory can be bind-mounted (needs root)");
            return;
        };
        assert!(on(&[&closed]).refusal(3).contains("mounted read-only"));
    } else {
        fs::set_permissions(&closed, fs::Permissions::from_mode(0o500)).unwrap();
        assert!(
            on(&[&closed])
                .refusal(3)
                .contains("You may not read and write")
        );
    }
}

#[test]
fn a_bind_mount_of_a_target_is_the_same_target() {
    let root = temporary();
    let [a, b] = ["a", "b"].map(|name| root.path().join(name));
    fs::create_dir(&a).unwrap();
    fs::create_dir(&b).unwrap();
    let Some(_mount) = crate::testing::Mount::bind(&a, &b) else {
        test_support::skip("no directory can be bind-mounted (needs root)");
        return;
    };
    assert!(on(&[&a, &b]).refusal(2).contains("are one"));
}

#[test]
fn memory_is_not_storage() {
    let root = temporary();
    let Some(_mount) = crate::testing::Mount::tmpfs(root.path()) else {
        test_support::skip("no tmpfs can be mounted (needs root)");
        return;
    };
    let said = on(&[root.path()]).refusal(3);
    assert!(
        said.contains("tmpfs") && said.contains("direct I/O"),
        "{said}"
    );
}

#[test]
fn layers_over_memory_are_not_storage() {
    let (memory, root) = (temporary(), temporary());
    let Some(_memory) = crate::testing::Mount::tmpfs(memory.path()) else {
        test_support::skip("no tmpfs can be mounted (needs root)");
        return;
    };
    let Some(_layers) = crate::testing::Mount::overlay(memory.path(), root.path()) else {
        test_support::skip("no overlay can be mounted");
        return;
    };
    let said = on(&[root.path()]).refusal(3);
    assert!(said.contains("upper layer is on tmpfs"), "{said}");
}

#[test]
fn a_claim_leaves_a_target_as_it_found_it() {
    let root = temporary();
    let layout = on(&[root.path()]).survey().unwrap();
    let claim = Claim::make(layout, "exchange-2013", &small(), false).unwrap();
    crate::testing::make_file(&claim, 0, "mail.edb");
    let handle = DirectoryHandle::open(root.path()).unwrap();
    assert_eq!(Marker::read(&handle).unwrap().directories.len(), 4);
    assert!(claim.release().unwrap().is_empty());
    assert_eq!(fs::read_dir(root.path()).unwrap().count(), 0);
}

#[test]
fn a_claim_never_removes_what_it_did_not_make() {
    let root = temporary();
    let layout = on(&[root.path()]).survey().unwrap();
    let claim = Claim::make(layout, "exchange-2013", &small(), false).unwrap();
    let foreign = root.path().join("log-002").join("thesis.doc");
    fs::write(&foreign, "x").unwrap();
    let left = claim.release().unwrap();
    assert_eq!(left, [foreign.canonicalize().unwrap()]);
    assert!(foreign.exists());
}

#[test]
fn kept_databases_are_run_on_only_with_reuse_and_only_as_they_are() {
    let root = temporary();
    let mut request = on(&[root.path()]);
    request.reuse = true;
    assert!(request.refusal(2).contains("find no databases"));
    request.reuse = false;
    let layout = request.survey().unwrap();
    drop(Claim::make(layout, "exchange-2013", &small(), false).unwrap());
    let said = request.refusal(3);
    assert!(said.contains("--reuse") && said.contains("rm -r"), "{said}");
    // Nothing is said that would remove what somebody else has put there.
    let foreign = root.path().join("mail-002").join("thesis.doc");
    fs::write(&foreign, "x").unwrap();
    let said = request.refusal(3);
    assert!(
        said.contains("thesis.doc") && !said.contains("rm -r"),
        "{said}"
    );
    fs::remove_file(&foreign).unwrap();
    request.reuse = true;
    let layout = request.survey().unwrap();
    assert_eq!(layout.built_seed(), Some(small().run.seed));
    let claim = Claim::reuse(layout, small().workload()).unwrap();
    assert!(claim.release().unwrap().is_empty());
    assert!(root.path().join("mail-001").exists(), "kept databases stay");
    request.profile.mail.item.long_bytes += 1;
    assert!(
        request
            .refusal(2)
            .contains("built with mail.item.long_bytes = 2000")
    );
    request.profile = small();
    request.profile.mail.databases = 3;
    assert!(
        request
            .refusal(2)
            .contains("other databases than asked for")
    );
}
