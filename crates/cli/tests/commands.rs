//! The commands that need no storage, as a user types them.

mod common;

use std::fs;

use common::{Ended, Scratch, proofload};

#[test]
fn the_help_leads_with_examples() {
    let here = Scratch::new();
    here.proofload("help")
        .exits(0)
        .prints("--target-size 20GB")
        .prints("Exit status:");
    here.proofload("--version").exits(0).prints("proofload 0.");
    here.proofload("help show")
        .exits(0)
        .prints("proofload show exchange-2010");
}

#[test]
fn what_is_listed_can_be_shown_and_loaded_again() {
    let here = Scratch::new();
    let listed = here.proofload("list").exits(0).stdout;
    let names: Vec<&str> = listed
        .lines()
        .filter_map(|line| line.split(' ').next())
        .collect();
    assert_eq!(
        names,
        [
            "exchange-2013",
            "exchange-2010",
            "exchange-2007",
            "exchange-2003",
            "brokerage"
        ]
    );
    for name in names {
        let kind = if name == "brokerage" { name } else { "mail" };
        let shown = here
            .proofload(&format!("show {name}"))
            .exits(0)
            .prints(&format!("kind = \"{kind}\""));
        here.file("shown.toml", &shown.stdout);
        let resolved = here
            .proofload(&format!("show {name} --resolved"))
            .exits(0)
            .stdout;
        here.proofload("show shown.toml").exits(0).prints(&resolved);
    }
}

#[test]
fn an_error_that_cannot_be_printed_keeps_its_exit_status() {
    let here = Scratch::new();
    let full = std::fs::File::options().write(true).open("/dev/full");
    let mut command = common::proofload(&here.path("."));
    command.args(["predict", "exchange-2013", "--array", "nosuch"]);
    command.stderr(full.expect("a file that is always full"));
    let status = command.status().expect("proofload runs");
    assert_eq!(status.code(), Some(2));
}

#[test]
fn settings_show_what_a_profile_comes_to() {
    let here = Scratch::new();
    here.proofload("show exchange-2007 --set mail.threads=12 --set run.duration=90s")
        .exits(0)
        .prints("\nthreads = 12\n")
        .prints("\nduration = \"90s\"\n")
        .prints("\npage_size = \"8KiB\"\n");
}

#[test]
fn a_wrong_profile_is_shown_where_it_is_wrong() {
    let here = Scratch::new();
    here.file("wrong.toml", "kind = \"mail\"\n[mail]\ndatabses = 3\n");
    here.proofload("show wrong.toml")
        .exits(2)
        .prints_nothing()
        .says("wrong.toml:3:1")
        .says("did you mean 'mail.databases'?");
    here.proofload("show exchange-2013 --set mail.treads=3")
        .exits(2)
        .says("did you mean 'mail.threads'?");
    here.proofload("run exchange-2013 --on target --rate -1")
        .exits(2)
        .says("-1 is out of range");
    here.proofload("show exchange-2016")
        .exits(2)
        .says("Did you mean exchange-2013?");
    here.proofload("show exchnage-2013")
        .exits(2)
        .says("Did you mean exchange-2013?");
    here.proofload("show msa2055")
        .exits(2)
        .says("Did you mean msa2050?");
    here.proofload("show entirely-other")
        .exits(2)
        .says("proofload list arrays");
    here.file("binary.toml", "");
    fs::write(here.path("binary.toml"), [0xff, 0xfe]).expect("a file");
    here.proofload("show binary.toml")
        .exits(2)
        .says("not text in UTF-8");
    here.proofload("show .").exits(2).says("cannot be read");
}

#[test]
fn a_wrong_command_line_is_a_usage_error() {
    let here = Scratch::new();
    here.proofload("shwo").exits(2).says("show");
    here.proofload("report").exits(2);
    here.proofload("report nowhere")
        .exits(2)
        .says("does not exist");
}

#[test]
fn a_file_that_is_no_database_is_distinguished_from_one_that_is_missing() {
    let here = Scratch::new();
    here.file("letter.edb", &"Dear Sir. ".repeat(10_000));
    here.proofload("edb info letter.edb")
        .exits(4)
        .says("letter.edb");
    here.proofload("edb check letter.edb")
        .exits(4)
        .says("Is it a database file at all?");
    here.proofload("edb check missing.edb")
        .exits(2)
        .says("does not exist");
    here.proofload("edb check .").exits(2).says("is not a file");
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let here = Scratch::new();
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = proofload(&here.path(""));
    command.args(["show", "exchange-2013"]).stdout(writer);
    assert_eq!(Ended::of(&mut command).exits(0).stderr, "");
}

#[test]
fn a_verdict_is_the_exit_status_also_when_nobody_reads_it() {
    let here = Scratch::new();
    let line = "predict exchange-2013 --array msa2050 --duration 1m --seed 1 --out out \
                --set service_levels.average_database_read=1us";
    for json in ["", " --json"] {
        let (reader, writer) = std::io::pipe().expect("a pipe");
        drop(reader);
        let mut command = proofload(&here.path(""));
        command.args(format!("{line}{json}").split_whitespace());
        Ended::of(command.stdout(writer)).exits(1);
        std::fs::remove_dir_all(here.path("out")).expect("the results");
        let full = std::fs::File::options().write(true).open("/dev/full");
        let mut command = proofload(&here.path(""));
        command.args(format!("{line}{json}").split_whitespace());
        let ended = Ended::of(command.stdout(full.expect("/dev/full")));
        ended.exits(1).says("The output could not be written");
        std::fs::remove_dir_all(here.path("out")).expect("the results");
    }
}

#[test]
fn completions_and_manual_know_the_commands() {
    let here = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        here.proofload(&format!("completions {shell}"))
            .exits(0)
            .prints("show");
    }
}

/// Every page that a page refers to is written, and says how its command is called.
#[test]
fn each_command_has_a_manual_page() {
    let here = Scratch::new();
    here.proofload("manual --out pages").exits(0);
    let files = std::fs::read_dir(here.path("pages")).expect("the pages");
    let mut names: Vec<String> = files
        .map(|file| {
            file.expect("a page")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    names.sort();
    assert!(names.len() >= 12, "{names:?}");
    for name in &names {
        let page = std::fs::read_to_string(here.path("pages").join(name)).expect("a page");
        let title = name.trim_end_matches(".1");
        assert!(page.contains(&format!(".TH {title} 1 ")), "{name}: {page}");
        let called = title.replace('-', " ");
        let synopsis = page.split(".SH SYNOPSIS").nth(1).expect("a synopsis");
        assert!(
            synopsis
                .trim_start()
                .starts_with(&format!("\\fB{called}\\fR")),
            "{name}: {synopsis}"
        );
        assert!(!page.contains("EXTRA"), "{name}");
        for (before, _) in page.match_indices("\\fR(1)") {
            let other = page[..before].rsplit("\\fB").next().expect("a name");
            let other = other.replace("\\-", "-") + ".1";
            assert!(names.contains(&other), "{name} refers to {other}");
        }
    }
    let run = std::fs::read_to_string(here.path("pages/proofload-run.1")).expect("a page");
    assert!(run.contains(".SH EXAMPLES"), "{run}");
    here.proofload("manual edb info")
        .exits(0)
        .prints(".TH proofload-edb-info 1");
    here.proofload("manual walk")
        .exits(2)
        .says("no command 'walk'");
}
