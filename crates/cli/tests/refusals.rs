//! What `run` refuses before it writes anything.

mod common;

use std::fs;

use common::Scratch;

/// A run that fits anywhere.
const SMALL: &str = "--databases 1 --target-size 16MiB --set engine.checkpoint_depth=4MiB";

#[test]
fn a_dry_run_says_what_would_be_built_and_writes_nothing() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.proofload(&format!(
        "run exchange-2013 --on target {SMALL} --threads 3 --dry-run"
    ))
    .exits(0)
    .prints("1 database of 16 MiB")
    .prints("mail-001")
    .prints("3 threads");
    // The line for several ranks, which a script starts with one.
    let only = fs::canonicalize(here.directory("target-0")).expect("a directory");
    here.proofload(&format!(
        "run exchange-2013 --on target-{{rank}} {SMALL} --dry-run"
    ))
    .exits(0)
    .prints(&only.display().to_string());
    // Many are not listed one by one.
    here.directory("other");
    let many = SMALL.replace("--databases 1 --target-size 16MiB", "--databases 13");
    here.proofload(&format!(
        "run exchange-2013 --on target,other --target-size 208MiB {many} --dry-run"
    ))
    .exits(0)
    .prints("  mail-001, mail-003, ..., mail-013 (7 databases): in target, logs in target\n")
    .prints("  mail-002, mail-004, ..., mail-012 (6 databases): in other, logs in other\n");
    for workload in ["exchange-2013", "brokerage --database sqlite"] {
        here.proofload(&format!(
            "run {workload} --on target --target-size 1GB --duration 1m --dry-run"
        ))
        .exits(0)
        .prints("measured phase: 1 min, 30 samples of 2 s")
        .prints("in all: ");
        here.proofload(&format!(
            "run {workload} --on target --target-size 1GB --duration 1m --dry-run \
             --set run.sample_interval=15s"
        ))
        .exits(0)
        .prints("4 samples of 15s fit into 1m");
    }
    assert_eq!(fs::read_dir(target).expect("the target").count(), 0);
    assert!(!here.path("proofload-runs").exists());
}

#[test]
fn what_was_typed_wrong_exits_2() {
    let here = Scratch::new();
    here.directory("target");
    let run = |words: &str| here.proofload(&format!("run exchange-2013 {SMALL} {words}"));
    here.proofload("run exchange-2013").exits(2).says("--on");
    run("--on nowhere")
        .exits(2)
        .says("does not exist")
        .says("mkdir");
    run("--on target,target")
        .exits(2)
        .says("names target twice");
    run("--on target --duration 2")
        .exits(2)
        .says("--duration")
        .says("has no unit of time");
    run("--on target --rate fast").exits(2).says("--rate");
    run("--on target --set mail.mix.insert_percent=90")
        .exits(2)
        .says("115 percent");
    run("--on target --reuse")
        .exits(2)
        .says("find no databases");
    run("--on target --out target/results")
        .exits(2)
        .says("inside the target");
    fs::write(here.directory("results").join("report.html"), "x").expect("a report");
    run("--on target --out results --dry-run")
        .exits(2)
        .says("already holds files");
    run("--on target --set extends=exchange-2003")
        .exits(2)
        .says("name the profile itself");
    run("--on target --set mail=5")
        .exits(2)
        .says("write --set mail.SETTING=VALUE");
    assert_eq!(
        fs::read_dir(here.path("target"))
            .expect("the target")
            .count(),
        0
    );
}

#[test]
fn surroundings_that_do_not_allow_it_exit_3() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.proofload("run exchange-2013 --on target --mailboxes 20000000")
        .exits(3)
        .says("free, but 4 databases")
        .says("--target-size");
    fs::write(target.join("thesis.doc"), "x").expect("a file");
    here.proofload(&format!("run exchange-2013 --on target {SMALL}"))
        .exits(3)
        .says("is not empty: it holds 'thesis.doc'");
}

#[test]
fn results_are_never_overwritten() {
    let here = Scratch::new();
    let target = here.directory("target");
    let out = here.directory("out");
    fs::write(out.join("old"), "x").expect("a file");
    here.proofload(&format!("run exchange-2013 --on target --out out {SMALL}"))
        .exits(2)
        .says("already holds files");
    assert_eq!(fs::read_dir(target).expect("the target").count(), 0);
}

#[test]
fn what_would_change_nothing_is_refused() {
    let here = Scratch::new();
    here.directory("target");
    here.proofload(&format!(
        "run exchange-2013 {SMALL} --on target --set array.pool.ssd_count=1 --dry-run"
    ))
    .exits(2)
    .says("array.pool.ssd_count is about a modelled array");
    here.proofload("doctor target --profile mine.toml")
        .exits(2)
        .says("--profile");
    here.proofload("predict exchange-2013 --array msa2050 --find max-iops --rate 100")
        .exits(2)
        .says("--find max-iops looks for one");
    here.proofload("predict exchange-2013 --array nvme-raid10 --rate 300 --find min-flash")
        .exits(2)
        .says("No array is possible with any number of SSDs")
        .says("msa2050-tier");
    // What is wrong whatever the number of SSDs is named as what it is.
    here.proofload("predict exchange-2013 --array msa2050 --set mail.databses=3 --find min-flash")
        .exits(2)
        .says("databses");
    here.proofload("predict brokerage --array msa2042 --rate-transactions 100")
        .exits(2);
}

#[test]
fn a_cache_that_would_be_measured_is_named_before_the_run() {
    let here = Scratch::new();
    here.directory("target");
    let run = |words: &str| here.proofload(&format!("run {words} --on target --dry-run"));
    let open = "where every service level is met, the run is inconclusive";
    for (words, cache) in [
        (
            "exchange-2013 --databases 1 --target-size 16MiB",
            "the engine's cache",
        ),
        ("brokerage --target-size 200MB", "memory of this host"),
        (
            "exchange-2013 --databases 1 --target-size 1GB --array-cache 2GiB",
            "the array's cache",
        ),
    ] {
        run(words).exits(0).prints(open).prints(cache);
        let allowed = run(&format!("{words} --allow-cached")).exits(0);
        assert!(!allowed.stdout.contains(open), "{}", allowed.stdout);
    }
    let large = run("exchange-2013 --databases 1 --target-size 1GB").exits(0);
    assert!(!large.stdout.contains(open), "{}", large.stdout);
}
