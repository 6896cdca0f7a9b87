//! `proofload init`: the dialogue by pipe.

mod common;

use std::fs;
use std::io::Write;
use std::process::Stdio;

use common::{Ended, LoopMount, Scratch, proofload};

/// Answers the questions in turn.
fn answered(here: &Scratch, answers: &str) -> Ended {
    let mut command = proofload(&here.path(""));
    command
        .arg("init")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn().expect("the program starts");
    let mut input = child.stdin.take().expect("its input");
    // It may end before it has read all of it.
    let _ = input.write_all(answers.as_bytes());
    drop(input);
    Ended::of_output("init", &child.wait_with_output().expect("its end"))
}

#[test]
fn a_mail_server_becomes_a_profile_and_a_command() {
    let here = Scratch::new();
    here.directory("db");
    here.directory("log");
    let answers = "exchange-2010\ndb\nlog\n1\n60\n0.2\n2MiB\n90s\nmine.toml\n";
    let ended = answered(&here, answers)
        .exits(0)
        .says("Exchange 2010 mailboxes")
        .says("[0.15]");
    // The command must not depend on the directory it is given in.
    let (db, log) = (here.path("db"), here.path("log"));
    let run = format!(
        "proofload run mine.toml --on {} --log-on {}",
        db.display(),
        log.display()
    );
    assert_eq!(ended.stdout, format!("{run}\n"));
    let profile = fs::read_to_string(here.path("mine.toml")).expect("the profile");
    for line in [
        "extends = \"exchange-2010\"",
        "description = \"60 mailboxes of 2 MiB at 0.2 IOPS each\"",
        "mailboxes_per_database = 60",
        "mailbox_size = \"2MiB\"",
        "iops_per_mailbox = 0.2",
        "duration = \"90s\"",
        &format!("# Run it with: {run}"),
    ] {
        assert!(profile.contains(line), "{line} is not in:\n{profile}");
    }
    let words = ended
        .stdout
        .trim()
        .trim_start_matches("proofload ")
        .to_owned();
    here.proofload(&format!("{words} --dry-run"))
        .exits(0)
        .prints("1 database of 120 MiB");
    assert_eq!(
        fs::read_dir(here.path("db")).expect("the target").count(),
        0
    );
}

#[test]
fn a_wrong_answer_is_refused_at_once_and_asked_again() {
    let here = Scratch::new();
    here.directory("db");
    let answers = "exchange-2103\nexchange-2013\nnowhere\ndb\n\nmany\n1\n50\n-1\n0.1\n99999TiB\n500PB\n1GB2\n1MiB\n2\n2h\nabsent/p.toml\ndb/p.toml\nout.toml\n";
    let ended = answered(&here, answers).exits(0);
    for says in [
        "Did you mean exchange-2013?",
        "nowhere does not exist",
        "'many' is not a whole number",
        "The directory of absent/p.toml does not exist",
        "db/p.toml would lie on the storage under test",
    ] {
        assert!(
            ended.stderr.contains(says),
            "{says} is not in:\n{}",
            ended.stderr
        );
    }
    assert!(here.path("out.toml").is_file());
}

#[test]
fn answers_that_end_leave_nothing() {
    let here = Scratch::new();
    here.directory("db");
    answered(&here, "exchange-2013\ndb\n\n")
        .exits(2)
        .says("nothing was written")
        .prints_nothing();
    let left: Vec<_> = fs::read_dir(here.path(""))
        .expect("the directory")
        .collect();
    assert_eq!(left.len(), 1);
    assert_eq!(
        fs::read_dir(here.path("db")).expect("the target").count(),
        0
    );
}

#[test]
fn a_file_that_is_there_is_replaced_only_after_a_yes() {
    let here = Scratch::new();
    here.directory("db");
    here.file("mine.toml", "kept");
    let until_file = "\ndb\n\n1\n50\n\n1MiB\n1m\nmine.toml\n";
    answered(&here, &format!("{until_file}no\nother.toml\n"))
        .exits(0)
        .prints("run other.toml");
    assert_eq!(
        fs::read_to_string(here.path("mine.toml")).expect("a file"),
        "kept"
    );
    answered(&here, &format!("{until_file}yes\n"))
        .exits(0)
        .prints("run mine.toml");
    let profile = fs::read_to_string(here.path("mine.toml")).expect("a file");
    assert!(profile.contains("kind = \"mail\""), "{profile}");
}

#[test]
fn a_small_file_system_is_not_filled_wholly() {
    let here = Scratch::new();
    let target = here.directory("target");
    let Some(mount) = LoopMount::new(&here.path("image"), 2 << 30, &target) else {
        return test_support::skip("no file system on a loop device can be mounted (needs root)");
    };
    fs::create_dir(target.join("here")).expect("a directory");
    answered(
        &here,
        "exchange-2013\ntarget/here\n\n1\n60\n0.2\n\n90s\nmine.toml\n",
    )
    .exits(0)
    .says("2GiB would leave too little room there: ")
    .says("is at most 90 % of the largest size that fits");
    let profile = fs::read_to_string(here.path("mine.toml")).expect("the profile");
    let size = profile.split("mailbox_size = \"").nth(1).expect("a size");
    let size: u64 = size
        .split("MiB")
        .next()
        .and_then(|text| text.parse().ok())
        .expect("a size in MiB");
    let run = |size: u64| {
        let set = format!("--set mail.mailbox_size={size}MiB --dry-run");
        here.proofload(&format!("run mine.toml --on target/here {set}"))
    };
    run(size).exits(0);
    // A tenth more fits, which stays free.
    run(size * 11 / 10).exits(0);
    drop(mount);
}
