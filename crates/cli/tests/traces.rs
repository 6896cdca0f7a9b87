//! Block traces replayed on modelled storage, as a user types it.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::process::Command;

use common::{Ended, Running, Scratch};
use serde_json::Value;

/// A trace of reads and writes all over 8 GB at so many a second.
fn random_trace(requests: u64, per_second: u64) -> String {
    let mut text = "time_s,volume,offset_bytes,size_bytes,operation\n".to_owned();
    let mut state = 1_u64;
    for number in 0..requests {
        // A linear congruence is random enough here, and the same everywhere.
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let page = (state >> 33) % 2_000_000;
        let at_us = number * 1_000_000 / per_second + (state >> 40) % (500_000 / per_second);
        let operation = if state >> 63 == 0 { "read" } else { "write" };
        let _ = writeln!(
            text,
            "{}.{:06},v,{},4096,{operation}",
            at_us / 1_000_000,
            at_us % 1_000_000,
            page * 4096
        );
    }
    text
}

fn result(here: &Scratch, out: &str) -> Value {
    let text = fs::read_to_string(here.path(out).join("result.json")).expect("a result");
    serde_json::from_str(&text).expect("JSON")
}

/// A column of a file of responses.
fn column(here: &Scratch, file: &str, name: &str) -> Vec<String> {
    let text = fs::read_to_string(here.path(file)).expect("responses");
    let mut lines = text.lines();
    let head: Vec<&str> = lines.next().expect("a head").split(',').collect();
    let place = head
        .iter()
        .position(|one| *one == name)
        .expect("the column");
    lines
        .map(|line| line.split(',').nth(place).expect("a field").to_owned())
        .collect()
}

#[test]
fn a_replay_is_the_same_every_time_and_its_own_measurement() {
    let here = Scratch::new();
    here.file("a.csv", &random_trace(3_000, 150));
    let line = "predict a.csv --array sas-10k-900gb --quiet";
    here.proofload(&format!("{line} --responses one.csv --out one"))
        .exits(0);
    here.proofload(&format!("{line} --responses one.csv --dry-run"))
        .exits(2)
        .says("is there already");
    here.proofload(&format!("{line} --responses two.csv --out two"))
        .exits(0);
    let (one, two) = (
        fs::read(here.path("one.csv")),
        fs::read(here.path("two.csv")),
    );
    assert!(one.expect("responses") == two.expect("responses"));
    let found = result(&here, "one");
    assert_eq!(found["kind"], "trace");
    assert_eq!(found["trace"]["requests"], 3_000);
    assert_eq!(found["trace"]["mode"], "open");
    assert!(
        found["trace"]["demerits"]
            .as_array()
            .expect("a list")
            .is_empty()
    );
    let counted = |side: &str| found["totals"][side]["count"].as_u64().expect("a count");
    assert_eq!(counted("reads") + counted("writes"), 3_000);
    assert!(found["samples"]["count"].as_u64().expect("a count") >= 30);
    assert_eq!(found["array"]["disks"].as_array().expect("disks").len(), 1);
    // A random read of a disk takes a seek and half a turn.
    let mean_ms = found["totals"]["reads"]["latency"]["average_ms"]
        .as_f64()
        .expect("a mean");
    assert!((3.0..12.0).contains(&mean_ms), "{mean_ms}");
    assert!(here.path("one/report.html").exists() && here.path("one/array.toml").exists());
    // Its rows are a trace, whose measured times are the model's own.
    here.proofload("predict one.csv --array sas-10k-900gb --out again --responses three.csv")
        .exits(0)
        .prints("Model and measurement")
        .prints("REPLAYED");
    let again = result(&here, "again");
    let demerits = again["trace"]["demerits"].as_array().expect("a list");
    assert_eq!(demerits.len(), 3);
    for demerit in demerits {
        assert_eq!(demerit["demerit_ms"], 0.0, "{demerit}");
        assert_eq!(demerit["exact"], true);
    }
    let times = |file| column(&here, file, "response_time_ms");
    assert_eq!(times("one.csv"), times("three.csv"));
    let page = fs::read_to_string(here.path("again/report.html")).expect("a report");
    assert!(page.contains("Response times, measured and modelled"));
}

#[test]
fn measured_times_that_are_later_by_so_much_have_that_demerit() {
    let here = Scratch::new();
    here.file("a.csv", &random_trace(800, 100));
    here.proofload("predict a.csv --array sas-10k-900gb --quiet --responses one.csv --out one")
        .exits(0);
    let text = fs::read_to_string(here.path("one.csv")).expect("responses");
    let mut shifted = String::new();
    for (number, line) in text.lines().enumerate() {
        let mut fields: Vec<String> = line.split(',').map(str::to_owned).collect();
        if number > 0 {
            let (whole, rest) = fields[7].split_once('.').expect("a fraction");
            fields[7] = format!("{}.{rest}", whole.parse::<u64>().expect("a number") + 2);
        }
        shifted += &(fields.join(",") + "\n");
    }
    here.file("shifted.csv", &shifted);
    here.proofload("predict shifted.csv --array sas-10k-900gb --out two")
        .exits(0);
    for demerit in result(&here, "two")["trace"]["demerits"]
        .as_array()
        .expect("a list")
    {
        let found = demerit["demerit_ms"].as_f64().expect("a figure");
        assert!((found - 2.0).abs() < 1e-9, "{demerit}");
    }
}

#[test]
fn a_closed_loop_is_an_open_one_at_its_own_times() {
    let here = Scratch::new();
    let mut text = "think_time_ms,offset_bytes,size_bytes,operation\n".to_owned();
    for number in 0..600_u64 {
        let _ = writeln!(
            text,
            "{},{},8192,r",
            number % 3,
            number * 7_919 % 60_000 * 8192
        );
    }
    here.file("a.csv", &text);
    let line = "predict a.csv --array sas-10k-900gb --quiet";
    here.proofload(&format!("{line} --responses one.csv --out one"))
        .exits(0);
    let one = result(&here, "one");
    assert_eq!(
        (&one["trace"]["mode"], &one["trace"]["outstanding"]),
        (&"closed".into(), &1.into())
    );
    assert_eq!(one["trace"]["largest_queue_depth"], 1);
    let depth = |found: &Value| {
        found["trace"]["average_queue_depth"]
            .as_f64()
            .expect("a depth")
    };
    assert!(depth(&one) < 1.0, "one client thinks now and then");
    let open = "predict one.csv --array sas-10k-900gb --quiet --responses two.csv --out two";
    here.proofload(open).exits(0);
    let times = |file| column(&here, file, "response_time_ms");
    assert_eq!(times("one.csv"), times("two.csv"));
    here.proofload(&format!(
        "{line} --threads 16 --out many --set trace.speed=1000"
    ))
    .exits(0);
    let many = result(&here, "many");
    assert_eq!(many["trace"]["largest_queue_depth"], 16);
    let rate = |found: &Value| {
        found["throughput"]["achieved_iops"]
            .as_f64()
            .expect("a rate")
    };
    assert!(rate(&many) > 1.5 * rate(&one), "a deep queue sorts");
}

#[test]
fn arrivals_faster_than_the_disk_wait_at_the_host_and_are_counted() {
    let here = Scratch::new();
    here.file("a.csv", &random_trace(2_000, 20_000));
    let line = "predict a.csv --array sas-10k-900gb --set trace.queue_limit=32 --out out --json";
    let ended = here.proofload(line).exits(0);
    let found: Value = serde_json::from_str(&ended.stdout).expect("JSON alone");
    assert_eq!(found["trace"]["largest_queue_depth"], 32);
    assert!(
        found["trace"]["held_back_requests"]
            .as_u64()
            .expect("a count")
            > 1_000
    );
    assert!(
        found["warnings"][0]
            .as_str()
            .expect("a warning")
            .contains("cannot keep up")
    );
    // Little's law over the whole replay: what waited is the rate times the mean time.
    let waited = found["trace"]["average_queue_depth"]
        .as_f64()
        .expect("a depth");
    let seconds = found["simulated_seconds"].as_f64().expect("a time");
    let mean = |side: &str| {
        let figures = &found["totals"][side];
        let count = figures["count"].as_f64().expect("a count");
        count * figures["latency"]["average_ms"].as_f64().expect("a mean") / 1e3
    };
    let by_law = (mean("reads") + mean("writes")) / seconds;
    assert!((waited / by_law - 1.0).abs() < 1e-6, "{waited} {by_law}");
}

#[test]
fn a_trace_goes_to_the_volumes_of_an_array() {
    let here = Scratch::new();
    here.file(
        "a.csv",
        "time_ms,volume,offset_bytes,size_bytes,operation\n0,x,0,4096,r\n1,y,0,4096,w\n\
         2,x,199000000000,4096,r\n3,y,8192,1000,r\n4,y,0,0,flush\n5,x,0,65536,trim\n",
    );
    let sized = "--set array.volumes.database_size_gb=200";
    here.proofload(&format!("predict a.csv --array msa2050 --dry-run {sized}"))
        .exits(0)
        .prints("6 requests, 3 reads, 1 write, 2 others")
        .prints("x: 3 requests, reaching 185 GiB, on volume x of 186 GiB in a")
        .prints("in b");
    here.proofload("predict a.csv --array msa2050 --quiet --out out")
        .exits(0);
    let found = result(&here, "out");
    assert_eq!(found["databases"][1]["name"], "y");
    assert_eq!(found["trace"]["widened_requests"], 1);
    assert_eq!(found["totals"]["other_writes"]["count"], 2);
    // What was never written is read without any disk; volumes are full before a trace.
    let busy = |found: &Value| -> f64 {
        let disks = found["array"]["disks"].as_array().expect("disks").clone();
        let of_x = disks.iter().filter(|disk| disk["group"] == "a-disks");
        of_x.map(|disk| disk["reads_per_second"].as_f64().expect("a rate"))
            .sum()
    };
    assert!(busy(&found) > 0.0);
    let empty = "predict a.csv --array msa2050 --quiet --out empty --set trace.first_write=none";
    here.proofload(empty).exits(0);
    assert_eq!(busy(&result(&here, "empty")), 0.0);
}

#[test]
fn faults_name_line_and_remedy_and_nothing_is_written() {
    let here = Scratch::new();
    let head = "time_s,offset_bytes,size_bytes,operation\n0,0,4096,read\n";
    let line = "predict bad.csv --array sas-10k-900gb --out out";
    for (row, said) in [
        (
            "1,0,4096,copy",
            "bad.csv:3: 'copy' is not an operation; write read, write",
        ),
        ("-1,0,4096,r", "bad.csv:3: time runs backwards"),
        ("1,2000000000000,4096,r", "--set trace.wrap=true"),
        ("1,0,4096", "bad.csv:3: 3 fields"),
    ] {
        here.file("bad.csv", &format!("{head}{row}\n"));
        here.proofload(line).exits(2).says(said).prints_nothing();
        assert!(!here.path("out").exists());
    }
    here.file("bad.csv", &format!("{head}1,2000000000000,4096,r\n"));
    here.proofload(line)
        .exits(2)
        .says("bad.csv:3: this read ends at 2000000004096 bytes");
    here.proofload(&format!("{line} --set trace.wrap=true --quiet"))
        .exits(0);
    assert_eq!(result(&here, "out")["trace"]["wrapped_requests"], 1);
}

#[test]
fn what_is_typed_wrong_is_a_usage_error() {
    let here = Scratch::new();
    here.file("a.csv", &random_trace(10, 100));
    here.file("b.csv", "a,b,c\n1,2,3\n");
    let disk = "--array sas-10k-900gb";
    for (line, said) in [
        (
            format!("predict missing.csv {disk}"),
            "no file called 'missing.csv'",
        ),
        (
            format!("predict b.csv {disk}"),
            "does not look like any trace",
        ),
        (
            format!("predict a.csv {disk} --set trace.format=blkparse"),
            "is not an event of blkparse",
        ),
        (
            format!("predict a.csv {disk} --set trace.mode=ajar"),
            "\"open\" or \"closed\"",
        ),
        (
            format!("predict a.csv {disk} --set run.duration=2h"),
            "not a setting of a block trace",
        ),
        (
            format!("predict a.csv {disk} --mailboxes 7"),
            "--mailboxes says nothing",
        ),
        (
            format!("predict a.csv {disk} --duration 0"),
            "leaves nothing",
        ),
        (
            "predict a.csv --array sas-10k-901gb".to_owned(),
            "no bundled array",
        ),
        (
            "predict exchange-2013 --array msa2050 --responses o.csv".to_owned(),
            "belongs to a block trace",
        ),
    ] {
        here.proofload(&line).exits(2).says(said);
    }
    here.proofload(&format!(
        "predict a.csv {disk} --responses no/such/place.csv"
    ))
    .exits(3)
    .says("cannot be written");
}

#[test]
fn an_interrupted_replay_keeps_what_it_has() {
    let here = Scratch::new();
    let mut text = "think_time_s,offset_bytes,size_bytes,operation\n".to_owned();
    for number in 0..2_000_000_u64 {
        let _ = writeln!(text, "0,{},4096,r", number * 7_919 % 2_000_000 * 4096);
    }
    here.file("a.csv", &text);
    let line = "predict a.csv --array sas-10k-900gb --threads 8 --out out --responses o.csv";
    let mut running = Running::start(&here, line);
    running.wait_until_it_says("measuring");
    // It has begun when the first responses are in the file.
    while std::fs::metadata(here.path("o.csv")).map_or(0, |file| file.len()) == 0 {
        assert!(running.is_alive(), "it has ended and written nothing");
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    running.signal("INT");
    running.end().exits(130);
    let found = result(&here, "out");
    assert_eq!(found["verdict"], "interrupted");
    assert_eq!(found["complete"], true);
    assert!(
        column(&here, "o.csv", "result")
            .iter()
            .all(|result| result == "ok")
    );
}

#[test]
fn what_fio_wrote_is_read() {
    let here = Scratch::new();
    let line = "--name=j --filename=scratch --size=4m --bs=4k --rw=randrw --ioengine=psync \
        --number_ios=200 --write_iolog=io.log --write_lat_log=x --log_offset=1 --minimal";
    let made = Command::new("fio")
        .current_dir(here.path(""))
        .args(line.split_whitespace())
        .output();
    if !made.is_ok_and(|output| output.status.success()) {
        test_support::skip("fio is not installed");
        return;
    }
    let line = "--array ssd-nvme-3840gb --json --responses";
    for (trace, format, out) in [
        ("io.log", "fio-iolog", "a.csv"),
        ("x_lat.1.log", "fio-log", "b.csv"),
    ] {
        let ended: Ended = here
            .proofload(&format!("predict {trace} {line} {out}"))
            .exits(0);
        let found: Value = serde_json::from_str(&ended.stdout).expect("JSON alone");
        assert_eq!(found["trace"]["format"], format);
        assert_eq!(found["trace"]["requests"], 200);
        assert_eq!(column(&here, out, "size_bytes"), vec!["4096"; 200]);
        let measured = found["trace"]["demerits"].as_array().expect("a list").len();
        assert_eq!(measured > 0, format == "fio-log");
    }
    // Both are about the same requests.
    let places = |file| {
        let mut places = column(&here, file, "offset_bytes");
        places.sort();
        places
    };
    assert_eq!(places("a.csv"), places("b.csv"));
}

#[test]
fn a_disk_of_ones_own_is_an_array_for_a_trace() {
    let here = Scratch::new();
    here.file("a.csv", &random_trace(300, 100));
    let bundled = here.proofload("show sas-10k-900gb").exits(0).stdout;
    here.file("mine.v2.toml", &bundled);
    here.proofload("predict a.csv --array sas-10k-900gb --quiet --responses one.csv --out one")
        .exits(0);
    here.proofload("predict a.csv --array mine.v2.toml --quiet --responses two.csv --out two")
        .exits(0);
    let rows = |file| fs::read_to_string(here.path(file)).expect("responses");
    assert!(rows("one.csv") == rows("two.csv"));
    here.proofload("predict a.csv --array mine.v2.toml --dry-run")
        .exits(0)
        .prints("One disk: mine-v2")
        .prints("of 838 GiB in disk");
    // What is wrong with it is shown in it.
    here.file(
        "wrong.toml",
        &bundled.replace("rpm = 10_000", "rpm = 'fast'"),
    );
    here.proofload("predict a.csv --array wrong.toml")
        .exits(2)
        .says("wrong.toml:15")
        .says("\"fast\" does not fit");
    here.file("none.toml", &bundled.replace("heads = 6", "heads = 0"));
    here.proofload("predict a.csv --array none.toml")
        .exits(2)
        .says("none.toml:17");
}

#[test]
fn a_disk_is_no_array_for_databases() {
    let here = Scratch::new();
    here.file(
        "mine.toml",
        "title = 'x'\n[ideal]\ncapacity_bytes = 1000000000\n",
    );
    for (disk, instead) in [
        ("sas-10k-900gb", "--set array.pool.disk=sas-10k-900gb"),
        ("mine.toml", "[disks.NAME]"),
    ] {
        for workload in ["exchange-2013", "brokerage"] {
            here.proofload(&format!("predict {workload} --array {disk}"))
                .exits(2)
                .says("is a single disk, on which block traces are replayed")
                .says(instead);
        }
    }
}

#[test]
fn writes_to_an_ssd_cost_what_was_written_before() {
    let here = Scratch::new();
    here.file(
        "w.csv",
        &random_trace(6_000, 20_000).replace(",read", ",write"),
    );
    let mean_ms = |settings: &str| -> f64 {
        let line = "predict w.csv --array ssd-dc-s3500-800gb --quiet --json";
        let ended = here.proofload(&format!("{line} {settings}")).exits(0);
        let result: Value = serde_json::from_str(&ended.stdout).expect("JSON");
        let mean_ms = &result["totals"]["writes"]["latency"]["average_ms"];
        mean_ms.as_f64().expect("a mean")
    };
    let fresh = mean_ms("--set trace.first_write=none");
    let random = mean_ms("--set trace.first_write=random");
    assert!(random > 2.0 * fresh, "{random} {fresh}");
    assert_eq!(mean_ms(""), random, "as the description of the disk says");
    let by_array = mean_ms("--set trace.first_write=random --set array.ssds.history=fresh");
    assert_eq!(by_array, fresh);
}
