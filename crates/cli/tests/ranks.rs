//! One load from several processes that mpirun starts, on one machine: one verdict, one result.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Ended, Running, SMALL, Scratch, WIDE, copy};
use serde_json::Value;

/// Open MPI lets root start processes, and more of them than there are CPUs, only where that is allowed.
const OPEN_MPI: [(&str, &str); 4] = [
    ("OMPI_ALLOW_RUN_AS_ROOT", "1"),
    ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"),
    ("OMPI_MCA_rmaps_base_oversubscribe", "1"),
    ("OMPI_MCA_hwloc_base_binding_policy", "none"),
];

/// Ranks that each have a database of their own.
const EACH: &str = "--rate 100 --rank-timeout 3s --on {}/target-{rank}";

/// Whether this binary has MPI and there is a launcher.
fn has_mpi() -> bool {
    if !cfg!(feature = "mpi") {
        test_support::skip("proofload was built without MPI (libopenmpi-dev is not installed)");
        return false;
    }
    if Command::new("mpirun").arg("--version").output().is_err() {
        test_support::skip("mpirun is not installed");
        return false;
    }
    true
}

/// `mpirun` with so many processes of the program, not yet started.
fn mpirun(scratch: &Scratch, ranks: usize, options: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command.current_dir(scratch.path("")).env("NO_COLOR", "1");
    command.envs(OPEN_MPI).args(options);
    command.args(["-n", &ranks.to_string(), env!("CARGO_BIN_EXE_proofload")]);
    command
}

/// Runs so many ranks with these words to their end.
fn run(scratch: &Scratch, ranks: usize, line: &str) -> Ended {
    let here = scratch.path("").display().to_string();
    let words = line.split_whitespace();
    let words = words.map(|word| word.replace("{}/", &here));
    Ended::of(mpirun(scratch, ranks, &[]).args(words))
}

/// A scratch directory with a target for each rank.
fn targets(ranks: usize) -> Scratch {
    let scratch = Scratch::new();
    for rank in 0..ranks {
        scratch.directory(&format!("target-{rank}"));
    }
    scratch
}

/// The options of a small run whose targets `EACH` names.
fn small() -> String {
    let line = SMALL.replace("--on target ", "");
    format!("{line} {WIDE} {EACH}")
}

fn json(path: &Path) -> Value {
    let text =
        fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The run directory of each rank.
fn of_ranks(scratch: &Scratch, result: &Value) -> Vec<Value> {
    let ranks = result["ranks"].as_array().expect("ranks");
    let directory = |rank: &Value| {
        scratch
            .path("out")
            .join(rank["directory"].as_str().expect("a name"))
    };
    ranks
        .iter()
        .map(|rank| json(&directory(rank).join("result.json")))
        .collect()
}

#[test]
fn four_ranks_have_one_result_that_can_be_verified() {
    if !has_mpi() {
        return;
    }
    let scratch = targets(4);
    let line = format!(
        "{} --json --quiet --jetstress-report --set run.second_sample_interval=500ms",
        small()
    );
    let ended = run(&scratch, 4, &line).exits(0);
    let printed: Value = serde_json::from_str(&ended.stdout).expect("one document");
    let result = json(&scratch.path("out/result.json"));
    assert_eq!(printed, result);
    assert_eq!(
        (&result["verdict"], &result["complete"]),
        (&"pass".into(), &true.into())
    );
    let ranks = result["ranks"].as_array().expect("ranks");
    let own = of_ranks(&scratch, &result);
    assert_eq!((ranks.len(), own.len()), (4, 4));
    let count = |of: &Value| of["totals"]["reads"]["count"].as_u64().expect("a count");
    assert_eq!(
        count(&result),
        own.iter().map(count).sum::<u64>(),
        "no request is lost"
    );
    let highest = |of: &Value| {
        of["totals"]["reads"]["latency"]["max_ms"]
            .as_f64()
            .expect("a latency")
    };
    let of_ranks = own.iter().map(highest).fold(0.0, f64::max);
    assert!((highest(&result) - of_ranks).abs() < 1e-3);
    for rank in ranks {
        let directory = rank["directory"].as_str().expect("a name");
        let second = scratch.path("out").join(directory).join("samples-2.csv");
        let second = fs::read_to_string(second).expect("a second series");
        assert!(second.contains(",measured,"));
        assert!(rank["clock_uncertainty_ms"].as_f64() >= Some(0.0), "{rank}");
        assert!(rank["start_skew_ms"].as_f64().is_some(), "{rank}");
    }
    let page = fs::read_to_string(scratch.path("out/report.html")).expect("the report");
    assert!(page.contains("Ranks"), "a row for each rank");
    let files = fs::read_dir(scratch.path("out")).expect("the results");
    let names = files.map(|file| {
        file.expect("a file")
            .file_name()
            .into_string()
            .expect("a name")
    });
    let names: Vec<String> = names.filter(|name| name.ends_with(".xml")).collect();
    let begins = |begin: &str| names.iter().any(|name| name.starts_with(begin));
    assert!(begins("Performance_") && begins("DBChecksum_"), "{names:?}");
    let log = fs::read_to_string(scratch.path("out/log.txt")).expect("a log");
    assert!(log.contains(" ended: pass. All "), "{log}");
    scratch
        .proofload("verify out")
        .exits(0)
        .prints("and the verdict `pass` recomputed");
    let one = ranks[2]["directory"].as_str().expect("a name");
    let samples = scratch.path("out").join(one).join("samples.csv");
    let text = fs::read_to_string(&samples).expect("samples");
    let changed = text.replacen("measured,", "measured, ", 1);
    fs::write(&samples, changed).expect("changed samples");
    scratch
        .proofload("verify out")
        .exits(4)
        .prints(&format!("{one}/samples.csv"));
}

#[test]
fn a_rank_that_fails_fails_the_run_of_all() {
    if !has_mpi() {
        return;
    }
    let scratch = targets(2);
    let profile = scratch.proofload("show exchange-2013").exits(0).stdout;
    scratch.file("profile.toml", &profile);
    // A limit below any latency: both fail, and one of them is named.
    let line = format!(
        "{} --set service_levels.average_log_write=1us --quiet",
        small()
    );
    let ended = run(&scratch, 2, &line);
    assert!(
        matches!(ended.status, Some(1 | 5)),
        "{}{}",
        ended.stdout,
        ended.stderr
    );
    let result = json(&scratch.path("out/result.json"));
    let reason = result["verdict_reason"].as_str().expect("a reason");
    assert!(reason.starts_with("Rank "), "{reason}");
    scratch.proofload("verify out").exits(0);
}

#[test]
fn what_is_wrong_on_one_rank_is_reported_once_and_nothing_is_written() {
    if !has_mpi() {
        return;
    }
    let scratch = targets(1);
    let ended = run(&scratch, 2, &small()).prints_nothing();
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    assert_eq!(
        ended.stderr.matches("Rank 1 on").count(),
        1,
        "{}",
        ended.stderr
    );
    assert!(ended.stderr.contains("target-1"), "{}", ended.stderr);
    assert!(!scratch.path("out").exists());
    let left = fs::read_dir(scratch.path("target-0"))
        .expect("a target")
        .count();
    assert_eq!(left, 0);
}

/// The launcher is asked to let the others go on.
#[test]
fn a_killed_rank_is_named_and_what_was_measured_is_kept() {
    if !has_mpi() {
        return;
    }
    if !is_open_mpi() {
        test_support::skip("mpirun is that of MPICH, which kills all ranks when one has died");
        return;
    }
    let scratch = targets(2);
    let line = small().replace("--duration 2s", "--duration 60s");
    let line = line.replace("{}/", &scratch.path("").display().to_string());
    let mut run = Running::start_with(mpirun(&scratch, 2, &["--enable-recovery"]), &line);
    run.wait_until_it_says("measuring");
    kill_rank(&run, 1);
    let ended = run.end();
    assert!(ended.stderr.contains("Rank 1 on"), "{}", ended.stderr);
    assert!(ended.stdout.contains("is lost"), "{}", ended.stdout);
    let result = json(&scratch.path("out/result.json"));
    assert_eq!(
        (&result["verdict"], &result["complete"]),
        (&"interrupted".into(), &false.into())
    );
    let lost = result["ranks"][1]["lost"].as_str().expect("why");
    assert!(
        lost.starts_with("nothing was heard of it for 3.0 s."),
        "{lost}"
    );
    assert!(result["throughput"]["achieved_iops"].as_f64() > Some(0.0));
    scratch.proofload("verify out").exits(5);
    copy(&scratch.path("out"), &scratch.path("copy"));
    scratch.proofload("report copy").exits(0).prints("is lost");
}

/// A prediction of some simulated seconds.
const PREDICTION: &str = "predict exchange-2013 --array nvme-raid10 --databases 1 \
    --target-size 48MiB --duration 1s --set run.sample_interval=250ms --jobs 1 --quiet \
    --set engine.cache_size_per_database=8MiB --set engine.checkpoint_depth=4MiB \
    --set run.warm_up.maximum=500ms --set run.steady_state.required=false \
    --sweep array.group.disk_count=4,6,8 --sweep threads=1,3 --out";

/// Takes out of a document what says when and on which machine it was made.
fn without_time(mut value: Value) -> Value {
    const OF_MACHINE: [&str; 7] = [
        "started",
        "wall_seconds",
        "host",
        "phases",
        "files",
        "document_sha256",
        "version",
    ];
    match &mut value {
        Value::Object(fields) => {
            OF_MACHINE
                .iter()
                .for_each(|field| drop(fields.remove(*field)));
            fields
                .values_mut()
                .for_each(|field| *field = without_time(field.take()));
        }
        Value::Array(items) => items
            .iter_mut()
            .for_each(|item| *item = without_time(item.take())),
        _ => {}
    }
    value
}

#[test]
fn a_sweep_on_three_ranks_is_that_of_one_process() {
    if !has_mpi() {
        return;
    }
    let scratch = Scratch::new();
    scratch
        .proofload(&format!("{PREDICTION} alone {WIDE}"))
        .exits(0);
    let ended = run(&scratch, 3, &format!("{PREDICTION} together {WIDE}"));
    ended.exits(0).prints_nothing();
    let both = |file: &str| ["alone", "together"].map(|run| scratch.path(run).join(file));
    let [alone, together] = both("grid.json").map(|path| without_time(json(&path)));
    assert_eq!(alone, together);
    for (disks, threads) in [(4, 1), (4, 3), (6, 1), (6, 3), (8, 1), (8, 3)] {
        let point = format!("points/disk_count={disks},threads={threads}");
        let [alone, together] = both(&format!("{point}/result.json")).map(|path| json(&path));
        assert_eq!(without_time(alone), without_time(together), "{point}");
        let [alone, together] = both(&format!("{point}/samples.csv"));
        assert_eq!(
            fs::read(alone).expect("samples"),
            fs::read(together).expect("samples")
        );
    }
    let made = both("points").map(|path| fs::read_dir(path).expect("points").count());
    assert_eq!(made, [6, 6]);
}

#[test]
fn the_doctor_finds_ranks_in_one_directory() {
    let scratch = targets(1);
    scratch
        .proofload("doctor --mpi")
        .exits(3)
        .prints("mpirun -n 4");
    if !has_mpi() {
        return;
    }
    run(&scratch, 2, "doctor --mpi --on {}/target-0")
        .exits(3)
        .prints("The same directory is the target of ranks 0 on");
    scratch.directory("target-1");
    let ended = run(&scratch, 2, "doctor --mpi --on {}/target-{rank}").exits(0);
    assert!(
        ended.stdout.contains("The launch is right"),
        "{}",
        ended.stdout
    );
}

/// Without MPI, or with the launcher of another one, every process would believe that it is alone.
#[test]
fn processes_that_do_not_see_each_other_are_refused() {
    let scratch = targets(1);
    let mut command = common::proofload(&scratch.path(""));
    // As a launcher of another MPI says it.
    command.envs([("PMI_SIZE", "2"), ("PMI_RANK", "0")]);
    let line = small().replace("{}/target-{rank}", "target-0");
    let ended = Ended::of(command.args(line.split_whitespace()));
    if cfg!(feature = "mpi") {
        ended.exits(3).says("believes that it is alone");
    } else {
        ended.exits(2).says("built without MPI");
    }
    assert!(!scratch.path("out").exists());
}

/// Rank 0 has the result of all; when it dies the others say where theirs are.
#[test]
fn a_killed_rank_0_leaves_a_document_and_the_others_say_where_theirs_are() {
    if !has_mpi() || !is_open_mpi() {
        return;
    }
    let scratch = targets(2);
    let line = small().replace("--duration 2s", "--duration 60s");
    let line = line.replace("{}/", &scratch.path("").display().to_string());
    let mut run = Running::start_with(mpirun(&scratch, 2, &["--enable-recovery"]), &line);
    run.wait_until_it_says("measuring 0:01");
    kill_rank(&run, 0);
    let ended = run.end();
    assert!(ended.stderr.contains("Rank 0 on"), "{}", ended.stderr);
    assert!(ended.stderr.contains("ranks/0001-"), "{}", ended.stderr);
    let result = json(&scratch.path("out/result.json"));
    assert_eq!(
        (&result["verdict"], &result["complete"]),
        (&"interrupted".into(), &false.into())
    );
    assert!(
        result["ranks"][1]["achieved_iops"].as_f64() > Some(0.0),
        "{result}"
    );
    scratch
        .proofload("verify out")
        .exits(5)
        .prints("did not end");
    scratch
        .proofload("report out")
        .exits(0)
        .prints("UNFINISHED");
}

fn is_open_mpi() -> bool {
    let version = Command::new("mpirun").arg("--version").output();
    version.is_ok_and(|said| String::from_utf8_lossy(&said.stdout).contains("Open"))
}

/// Kills the process that has this number among those that the launcher has started.
fn kill_rank(run: &Running, rank: usize) {
    let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", run.id()));
    let children = children.expect("the processes of the launcher");
    let wanted = format!("OMPI_COMM_WORLD_RANK={rank}");
    let is_wanted = |process: &&str| {
        let environment = fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        environment
            .split(|byte| *byte == 0)
            .any(|one| one == wanted.as_bytes())
    };
    let process = children
        .split_whitespace()
        .find(is_wanted)
        .expect("the rank");
    let killed = Command::new("kill").args(["-KILL", process]).status();
    assert!(killed.expect("kill").success());
}
