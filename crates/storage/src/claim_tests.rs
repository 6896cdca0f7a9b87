//! Files, links and mounts that are exchanged under a claim: nothing of others is removed, and what
//! somebody uses is refused.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use config::ByteSize;
use mail::profile::MailProfile;
use runtime::host::{FileLock, LockKind};
use tempfile::TempDir;
use workload::Profile;

use crate::claim::Step;
use crate::marker::{LOCK_ATTEMPTS, LOCK_PAUSE};
use crate::testing::{Mount, disk, exit_status, make_file};
use crate::{Claim, Layout, Request, survey};
use workload::Refusal;

const DATABASE: &str = "mail-001.edb";

/// A target with one database, and a directory of somebody else with files of the same names.
struct Setup {
    root: TempDir,
    profile: MailProfile,
}

impl Setup {
    fn new() -> Self {
        let root = TempDir::new_in(disk()).unwrap();
        fs::create_dir(root.path().join("target")).unwrap();
        let foreign = root.path().join("foreign");
        fs::create_dir(&foreign).unwrap();
        fs::write(foreign.join(DATABASE), "of somebody else").unwrap();
        let mut profile = MailProfile::default();
        profile.mail.databases = 1;
        profile.mail.scale_to(ByteSize::mib(32));
        profile.engine.checkpoint_depth = ByteSize::mib(4);
        Self { root, profile }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(name)
    }

    fn survey_of(&self, on: &str, reuse: bool) -> Result<Layout, Refusal> {
        survey(
            &Request {
                on: &[self.path(on)],
                log_on: &[],
                profile: &self.profile,
                reuse,
                erase_device: false,
            },
            &mut |_| {},
        )
    }

    fn make(&self, layout: Layout) -> Result<Claim, Refusal> {
        Claim::make(layout, "exchange-2013", &self.profile, false)
    }

    /// A claim with a database file in it.
    fn claim(&self) -> Claim {
        let claim = self.make(self.survey_of("target", false).unwrap()).unwrap();
        make_file(&claim, 0, DATABASE);
        claim
    }

    fn assert_foreign_is_whole(&self) {
        let text = fs::read_to_string(self.path("foreign").join(DATABASE));
        assert_eq!(text.unwrap(), "of somebody else");
    }
}

fn refusal<T>(result: Result<T, Refusal>, status: u8) -> String {
    let failure = result.err().expect("a refusal");
    assert_eq!(exit_status(&failure), status, "{failure:?}");
    format!("{failure:?}")
}

/// A mount, or a message and the end of the test.
macro_rules! bind_mount {
    ($what:expr, $at:expr) => {
        match Mount::bind($what, $at) {
            Some(mount) => mount,
            None => {
                test_support::skip("nothing can be bind-mounted (needs root)");
                return;
            }
        }
    };
}

#[test]
fn a_link_in_place_of_a_directory_is_not_followed() {
    let setup = Setup::new();
    let claim = setup.claim();
    let directory = setup.path("target/mail-001");
    fs::rename(&directory, setup.path("aside")).unwrap();
    symlink(setup.path("foreign"), &directory).unwrap();
    assert_eq!(claim.release().unwrap(), std::slice::from_ref(&directory));
    setup.assert_foreign_is_whole();
    assert!(directory.is_symlink(), "the link itself is somebody's, too");
    assert!(setup.path("target/proofload.json").exists());
}

#[test]
fn a_link_that_comes_while_a_directory_is_emptied_is_not_followed() {
    let setup = Setup::new();
    let claim = setup.claim();
    let directory = setup.path("target/mail-001");
    let mut exchanged = false;
    let left = claim.release_with(&mut |step| {
        if let (Step::File(_), false) = (step, exchanged) {
            fs::rename(&directory, setup.path("aside")).unwrap();
            symlink(setup.path("foreign"), &directory).unwrap();
            exchanged = true;
        }
    });
    assert_eq!(left.unwrap(), std::slice::from_ref(&directory));
    assert!(exchanged && directory.is_symlink());
    setup.assert_foreign_is_whole();
}

#[test]
fn another_file_of_the_same_name_is_left() {
    for exchange_late in [false, true] {
        let setup = Setup::new();
        let claim = setup.claim();
        let file = setup.path("target/mail-001").join(DATABASE);
        let exchange = || {
            fs::rename(&file, setup.path("aside")).unwrap();
            fs::copy(setup.path("foreign").join(DATABASE), &file).unwrap();
        };
        if !exchange_late {
            exchange();
        }
        let left = claim.release_with(&mut |step| {
            if exchange_late && step == Step::File(file.clone()) {
                exchange();
            }
        });
        assert_eq!(left.unwrap(), std::slice::from_ref(&file));
        assert_eq!(fs::read_to_string(&file).unwrap(), "of somebody else");
    }
}

#[test]
fn a_link_in_place_of_a_file_is_left_with_what_it_leads_to() {
    let setup = Setup::new();
    let claim = setup.claim();
    let file = setup.path("target/mail-001").join(DATABASE);
    fs::remove_file(&file).unwrap();
    symlink(setup.path("foreign").join(DATABASE), &file).unwrap();
    assert_eq!(claim.release().unwrap(), [file]);
    setup.assert_foreign_is_whole();
}

#[test]
fn a_target_that_was_moved_is_cleared_where_it_is() {
    let setup = Setup::new();
    let claim = setup.claim();
    fs::rename(setup.path("target"), setup.path("moved")).unwrap();
    let foreign = setup.path("target/mail-001");
    fs::create_dir_all(&foreign).unwrap();
    fs::write(foreign.join(DATABASE), "of somebody else").unwrap();
    fs::write(setup.path("target/proofload.json"), "{}").unwrap();
    assert!(claim.release().unwrap().is_empty());
    assert_eq!(fs::read_dir(setup.path("moved")).unwrap().count(), 0);
    assert!(foreign.join(DATABASE).exists());
    assert!(setup.path("target/proofload.json").exists());
}

#[test]
fn another_marker_is_left() {
    let setup = Setup::new();
    let claim = setup.claim();
    let marker = setup.path("target/proofload.json");
    let left = claim.release_with(&mut |step| {
        if step == Step::Marker(marker.clone()) {
            fs::remove_file(&marker).unwrap();
            fs::write(&marker, "of somebody else").unwrap();
        }
    });
    assert_eq!(left.unwrap(), std::slice::from_ref(&marker));
    assert_eq!(fs::read_to_string(&marker).unwrap(), "of somebody else");
}

#[test]
fn mounts_are_not_entered() {
    let setup = Setup::new();
    let claim = setup.claim();
    let directory = setup.path("target/mail-001");
    let _mount = bind_mount!(&setup.path("foreign"), &directory);
    assert_eq!(claim.release().unwrap(), [directory]);
    setup.assert_foreign_is_whole();
}

#[test]
fn a_file_that_another_is_mounted_on_is_left() {
    let setup = Setup::new();
    let claim = setup.claim();
    let file = setup.path("target/mail-001").join(DATABASE);
    let _mount = bind_mount!(&setup.path("foreign").join(DATABASE), &file);
    assert_eq!(claim.release().unwrap(), [file]);
    setup.assert_foreign_is_whole();
}

#[test]
fn kept_directories_that_were_exchanged_are_refused() {
    let setup = Setup::new();
    drop(setup.claim());
    let directory = setup.path("target/mail-001");
    fs::rename(&directory, setup.path("aside")).unwrap();
    symlink(setup.path("foreign"), &directory).unwrap();
    let reuse = || {
        let layout = setup.survey_of("target", true).unwrap();
        Claim::reuse(layout, setup.profile.workload())
    };
    let said = refusal(reuse(), 3);
    assert!(said.contains("is a symbolic link"), "{said}");
    fs::remove_file(&directory).unwrap();
    fs::create_dir(&directory).unwrap();
    let mount = bind_mount!(&setup.path("foreign"), &directory);
    let said = refusal(reuse(), 3);
    assert!(said.contains("is mounted at"), "{said}");
    drop(mount);
    symlink(
        setup.path("foreign").join(DATABASE),
        directory.join(DATABASE),
    )
    .unwrap();
    let said = refusal(reuse(), 3);
    assert!(said.contains("is a symbolic link"), "{said}");
    setup.assert_foreign_is_whole();
}

/// A process that says what is in use is named: here it is this one.
fn assert_names_this_process(said: &str) {
    let own = format!("(process {}, started 2", std::process::id());
    assert!(said.contains(&own), "{said}");
    assert!(!said.contains("rm -r"), "{said}");
}

#[test]
fn what_is_in_use_is_refused_and_not_to_be_removed() {
    let setup = Setup::new();
    let claim = setup.claim();
    for reuse in [false, true] {
        assert_names_this_process(&refusal(setup.survey_of("target", reuse), 3));
    }
    drop(claim);
    let said = refusal(setup.survey_of("target", false), 3);
    assert!(said.contains("rm -r"), "nobody uses them now: {said}");
    let layout = setup.survey_of("target", true).unwrap();
    // The look itself has taken it over.
    assert_names_this_process(&refusal(setup.survey_of("target", true), 3));
    let claim = Claim::reuse(layout, setup.profile.workload()).unwrap();
    assert_names_this_process(&refusal(setup.survey_of("target", true), 3));
    drop(claim);
    setup.survey_of("target", true).unwrap();
}

#[test]
fn of_two_that_looked_at_an_empty_target_one_takes_it() {
    let setup = Setup::new();
    let late = setup.survey_of("target", false).unwrap();
    let claim = setup.claim();
    let said = refusal(setup.make(late), 3);
    assert_names_this_process(&said);
    assert!(setup.path("target/mail-001").join(DATABASE).exists());
    assert!(claim.release().unwrap().is_empty());
    assert_eq!(fs::read_dir(setup.path("target")).unwrap().count(), 0);
}

/// A marker without text and lock: another run has made it a moment ago.
#[test]
fn a_target_that_is_being_taken_is_refused_as_in_use() {
    let setup = Setup::new();
    let marker = fs::File::create(setup.path("target/proofload.json")).unwrap();
    let file = marker.try_clone().unwrap();
    let other = std::thread::spawn(move || {
        std::thread::sleep(LOCK_PAUSE * 3);
        let mut attempts = (0..LOCK_ATTEMPTS).map(|_| {
            std::thread::sleep(LOCK_PAUSE / 7);
            FileLock::take(file.try_clone().unwrap().into(), LockKind::Exclusive)
        });
        attempts.find_map(Result::ok).expect("a lock")
    });
    assert_names_this_process(&refusal(setup.survey_of("target", false), 3));
    drop(other.join());
    // A file of somebody else stays what it was.
    let said = refusal(setup.survey_of("target", false), 3);
    assert!(said.contains("it holds 'proofload.json'"), "{said}");
}

#[test]
fn databases_with_a_file_open_elsewhere_are_not_to_be_removed() {
    let setup = Setup::new();
    drop(setup.claim());
    let file = setup.path("target/mail-001").join(DATABASE);
    let mut other = std::process::Command::new("sleep")
        .arg("600")
        .stdin(fs::File::open(&file).unwrap())
        .spawn()
        .unwrap();
    let said = refusal(setup.survey_of("target", false), 3);
    let named = format!("in use by sleep (process {}", other.id());
    let _ = other.kill();
    let _ = other.wait();
    assert!(said.contains(&named) && !said.contains("rm -r"), "{said}");
}

#[test]
fn a_directory_of_databases_is_no_target() {
    let setup = Setup::new();
    let _claim = setup.make(setup.survey_of("target", false).unwrap());
    let said = refusal(setup.survey_of("target/mail-001", false), 3);
    assert!(said.contains("belongs to the databases"), "{said}");
}

#[test]
fn a_claim_that_fails_leaves_what_was_there() {
    let setup = Setup::new();
    let layout = setup.survey_of("target", false).unwrap();
    let foreign = setup.path("target/mail-001");
    fs::create_dir(&foreign).unwrap();
    fs::write(foreign.join(DATABASE), "of somebody else").unwrap();
    refusal(setup.make(layout), 3);
    assert!(Path::new(&foreign.join(DATABASE)).exists());
    assert!(!setup.path("target/proofload.json").exists());
}
