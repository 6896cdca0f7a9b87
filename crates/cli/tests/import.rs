//! `proofload import`: profiles of configurations of Jetstress.

mod common;

use std::fs;
use std::path::PathBuf;

use common::Scratch;

fn corpus(name: &str) -> String {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../fuzz/corpus/jetstress")
        .join(name);
    fs::read_to_string(path).expect("a configuration")
}

#[test]
fn an_imported_profile_is_shown_predicted_and_run() {
    let here = Scratch::new();
    here.file("JetstressConfig.xml", &corpus("2013.xml"));
    let ended = here
        .proofload("import JetstressConfig.xml --out profile.toml")
        .exits(0)
        .says("Jetstress 2013 (15.0.995.0, ESE 15.0.847.30)")
        .says("MailboxQuota 500: mail.mailbox_size = \"500MiB\"")
        .says("MaximumLatencyErrors 6: service_levels.allowed_maximum_violations = 0, as")
        .says("LogInterval 15000: run.sample_interval = \"auto\"")
        .says("LogInterval2 5000: run.second_sample_interval = \"5s\"")
        .says("BinaryPerfLog true: samples are written");
    assert_eq!(
        ended.stdout,
        "proofload run profile.toml --on /mnt/e/db1,/mnt/f/db2 --log-on /mnt/g/log1,/mnt/g/log2 \
         --duration 2h\n"
    );
    let profile = fs::read_to_string(here.path("profile.toml")).expect("the profile");
    for line in [
        "extends = \"exchange-2013\"",
        "description = \"Two volumes & a log volume\"",
        "# MailboxIops 0.12\niops_per_mailbox = 0.12",
        "# ThreadCount 4\nthreads = 4",
        "mailboxes_per_database = 500",
    ] {
        assert!(profile.contains(line), "{line} is not in:\n{profile}");
    }
    here.proofload("show profile.toml --resolved")
        .exits(0)
        .prints("lazy_commit_window");
    here.proofload("predict profile.toml --array nvme-raid10 --dry-run")
        .exits(0);
    here.directory("target");
    here.proofload("run profile.toml --on target --target-size 64MiB --duration 1m --dry-run")
        .exits(0)
        .prints("4 threads")
        .prints("2 databases of 32 MiB");
    // A second time nothing is overwritten.
    here.proofload("import JetstressConfig.xml --out profile.toml")
        .exits(2)
        .says("is not overwritten");
    here.proofload("import JetstressConfig.xml")
        .exits(0)
        .prints("kind = \"mail\"")
        .says("To run it: proofload run profile.toml");
}

#[test]
fn threads_and_limits_of_jetstress_2007_are_converted() {
    let here = Scratch::new();
    here.file("2007.xml", &corpus("2007.xml"));
    here.proofload("import 2007.xml")
        .exits(0)
        .prints("extends = \"exchange-2007\"")
        .prints("start_threads = 6")
        .prints("average_database_read = \"20ms\"")
        .prints("maximum_database_read_strict = \"50ms\"")
        .prints("mailbox_size = \"250MiB\"")
        .prints("log_buffer = \"4500KiB\"")
        .says("Jetstress 2007 counts threads for each database, and there are 2")
        .says("databases are alike: 2 of them have 8 mailboxes")
        .says("--test stress --duration 1d");
}

#[test]
fn load_backups_and_parts_of_the_maximum_are_converted() {
    let here = Scratch::new();
    let changed = |changes: &[(&str, &str)]| {
        let mut text = corpus("2013.xml");
        for (right, other) in changes {
            assert!(text.contains(right), "{right}");
            text = text.replacen(right, other, 1);
        }
        here.file("J.xml", &text);
    };
    let backup_path = "<DatabaseBackupPath />";
    changed(&[
        ("PrereadOnRead>false", "PrereadOnRead>true"),
        ("TransPerSec>0", "TransPerSec>120"),
        ("IopsBias=\"1\"", "IopsBias=\"2.5\""),
        ("BackupToDisk>false", "BackupToDisk>true"),
        ("<Type>Performance", "<Type>DatabaseBackup"),
        (
            backup_path,
            "<DatabaseBackupPath>H:\\copies</DatabaseBackupPath>",
        ),
        (
            backup_path,
            "<DatabaseBackupPath>I:\\copies</DatabaseBackupPath>",
        ),
    ]);
    let ended = here
        .proofload("import J.xml --out profile.toml")
        .exits(0)
        .says("2 different DatabaseBackupPath: --backup-to /mnt/h/copies")
        .says("read_ahead = true, as wanted, but without effect while a transaction has one operation");
    assert!(
        ended
            .stdout
            .ends_with("--test backup --backup-to /mnt/h/copies\n"),
        "{}",
        ended.stdout
    );
    here.proofload("show profile.toml --resolved")
        .exits(0)
        .prints("read_ahead = true")
        .prints("held_transactions_per_second = 120")
        .prints("load_weights = [2.5, 1");

    changed(&[
        ("DatabaseSizing>Profile", "DatabaseSizing>Capacity"),
        ("CapacityPercentage>100", "CapacityPercentage>80"),
        ("TransPerSec>0", "TransPerSec>120"),
        ("BackupToDisk>false", "BackupToDisk>true"),
    ]);
    let ended = here
        .proofload("import J.xml")
        .exits(0)
        .says("BackupToDisk true: the test is no backup")
        .says("TransPerSec 120: a throughput test finds the rate");
    let options = "--scenario throughput --capacity-percent 80 --throughput-percent 100";
    assert!(ended.stderr.contains(options), "{}", ended.stderr);

    changed(&[("ThroughputPercentage>100", "ThroughputPercentage>80")]);
    here.proofload("import J.xml")
        .exits(0)
        .says("ThroughputPercentage 80: mailboxes give the size and the rate");
}

#[test]
fn the_hint_to_import_comes_wherever_a_workload_is_named() {
    let here = Scratch::new();
    here.file("J.xml", &corpus("2013.xml"));
    fs::write(here.path("U.xml"), b"\xff\xfe<\0c\0").expect("a file");
    here.directory("target");
    for words in [
        "run J.xml --on target",
        "run U.xml --on target",
        "predict J.xml --array nvme-raid10",
        "show J.xml",
    ] {
        here.proofload(words).exits(2).says("proofload import");
    }
}

#[test]
fn what_is_no_configuration_is_refused_in_one_sentence() {
    let here = Scratch::new();
    let sound = corpus("2013.xml");
    let within = |text: &str| sound.replace("<Type>Performance</Type>", text);
    let utf16: Vec<u8> = sound.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let with_mark = [b"\xff\xfe".to_vec(), utf16.clone()].concat();
    let bomb = format!(
        "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]>{}",
        within("<Type>&b;</Type>").replace("<?xml version=\"1.0\"?>", "")
    );
    let deep = within(&format!(
        "{}{}",
        "<a>".repeat(100_000),
        "</a>".repeat(100_000)
    ));
    let many = within(&"<a>1</a>".repeat(100_000));
    let attributes: String = (0..100_000)
        .map(|number| format!(" a{number}=\"\""))
        .collect();
    let cases: Vec<(&str, Vec<u8>)> = vec![
        ("is in UTF-16", utf16),
        ("is in UTF-16", with_mark),
        ("document type definition", bomb.into_bytes()),
        ("undeclared entity", within("<Type>&b;</Type>").into_bytes()),
        ("more than 16 deep", deep.into_bytes()),
        ("more than 20000 elements", many.into_bytes()),
        (
            "very many attributes",
            within(&format!("<a{attributes}/>")).into_bytes(),
        ),
        (
            "very long name",
            within(&format!("<{}/>", "a".repeat(1000))).into_bytes(),
        ),
        (
            "is not valid XML",
            sound.as_bytes()[..sound.len() / 2].to_vec(),
        ),
        ("is larger than 4MiB", vec![b' '; 5 << 20]),
        ("is empty", b" \n".to_vec()),
        (
            "is not text in UTF-8: line 6 has the byte 0xE9",
            within("<Type>\u{e9}</Type>")
                .chars()
                .map(|one| one as u8)
                .collect(),
        ),
        ("none of its sections", b"kind = \"mail\"".to_vec()),
        ("no configuration of Jetstress", b"<html/>".to_vec()),
        ("none of its sections", b"<configuration/>".to_vec()),
        (
            "has Duration twice, in lines 6 and 9.",
            within("<Duration>PT1S</Duration>").into_bytes(),
        ),
        (
            "has Duration twice, in line 6.",
            within("<Duration>PT1S</Duration><Duration>PT1S</Duration>").into_bytes(),
        ),
        (
            "bad.xml:6: the character U+0000 is here",
            within("<Type>Perform\0ance</Type>").into_bytes(),
        ),
        (
            "bad.xml:6: this is not valid XML",
            within("<Type>&#0;</Type>").into_bytes(),
        ),
        (
            "bad.xml:6: the character U+001B is here",
            within("<Type>&#27;[31m</Type>").into_bytes(),
        ),
        (
            "bad.xml:6: the character U+0007 is here",
            within("<Type of=\"a&#x7;b\">Stress</Type>").into_bytes(),
        ),
        (
            "begins with 08, 14 or 15",
            sound.replace("15.0.995.0", "16.1").into_bytes(),
        ),
    ];
    for (says, bytes) in cases {
        fs::write(here.path("bad.xml"), bytes).expect("a file");
        let ended = here
            .proofload("import bad.xml")
            .exits(2)
            .says(says)
            .prints_nothing();
        let lines = ended.stderr.lines().count();
        assert!(lines <= 2, "{says}: {}", ended.stderr);
    }
    here.proofload("import nowhere.xml")
        .exits(2)
        .says("cannot be read");
}

#[test]
fn values_that_no_profile_may_have_are_refused_with_their_element() {
    let here = Scratch::new();
    let sound = corpus("2013.xml");
    for (right, wrong, says) in [
        (
            "<MailboxIops>0.12<",
            "<MailboxIops>-1<",
            "MailboxIops is '-1', which is not a number",
        ),
        (
            "<MailboxIops>0.12<",
            "<MailboxIops>99999<",
            "MailboxIops 99999: ",
        ),
        (
            "<MailboxCount>1000<",
            "<MailboxCount>99999999999999999999<",
            "bad.xml:59: MailboxCount",
        ),
        (
            "<MailboxQuota>500<",
            "<MailboxQuota>999999999999999<",
            "MailboxQuota",
        ),
        ("InsertOps=\"40\"", "InsertOps=\"90\"", "115 percent"),
        (
            "<DatabasePageSize>32768<",
            "<DatabasePageSize>5000<",
            "DatabasePageSize 5000",
        ),
        (
            "<Duration>P0Y0M0DT2H0M0S<",
            "<Duration>P1Y0M0DT0H0M0S<",
            "not a duration",
        ),
        ("<CircularLog>1<", "<CircularLog>perhaps<", "true or false"),
    ] {
        here.file("bad.xml", &sound.replace(right, wrong));
        here.proofload("import bad.xml")
            .exits(2)
            .says(says)
            .prints_nothing();
    }
}
