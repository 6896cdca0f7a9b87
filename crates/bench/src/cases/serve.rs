//! Served arrays: how late answers are, whether a load takes as long as its prediction says, and how many requests a
//! model without delays answers, beside nbdkit and a plain file.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::Bench;
use crate::fio;
use crate::ratio::median;

/// The head of the table of response times.
pub const TIMES_HEAD: &str = "| load | reached by | median, us | p99, us | mean, us | of the model, us | beyond it |\n\
                              |---|---|---:|---:|---:|---:|---|";
/// The head of the table of rates.
pub const RATES_HEAD: &str =
    "| 8 KiB random reads, depth 32 | IOPS, median (range) | goal |\n|---|---:|---|";

/// How long a server may take until it can be reached.
const READY: Duration = Duration::from_secs(60);

/// What programs have in common with a disk of a fixed service time.
fn disk(service_us: f64) -> String {
    format!(
        "title = 'Fixed'\n[ideal]\ncapacity_bytes = 1073741824\nservice_us = {service_us:?}\n\
         distribution = 'fixed'\nservers = 1024\n"
    )
}

/// A server, ended when dropped.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        let id = self.0.id().to_string();
        let _ = Command::new("kill").args(["-INT", &id]).status();
        let _ = self.0.wait();
    }
}

/// A place for sockets and a mount.
struct Room(PathBuf);

impl Room {
    /// Starts an array, with its volume as a file and by NBD.
    fn serve(&self, bench: &Bench, array: &Path, more: &[&str]) -> Result<Server, String> {
        let at = self.0.join("array");
        fs::create_dir_all(&at)
            .map_err(|error| format!("cannot make {}: {error}", at.display()))?;
        let mut command = Command::new(&bench.product.binary);
        command.arg("serve").arg(array).arg("--at").arg(&at);
        command
            .arg("--nbd")
            .arg(format!("unix:{}", self.0.join("nbd").display()));
        command
            .arg("--control")
            .arg(self.0.join("control"))
            .args(more);
        self.start(command, &[self.volume(), self.0.join("nbd")])
    }

    /// Starts nbdkit with a disk in memory, and a delay before each read if one is given.
    fn nbdkit(&self, delay: Option<&str>) -> Result<Server, String> {
        let mut command = Command::new("nbdkit");
        command
            .args(["--foreground", "--exit-with-parent", "--unix"])
            .arg(self.0.join("nbd"));
        command
            .args(delay.map(|_| "--filter=delay"))
            .args(["memory", "1G"]);
        command.args(delay.map(|delay| format!("rdelay={delay}")));
        self.start(command, &[self.0.join("nbd")])
    }

    fn start(&self, mut command: Command, ready: &[PathBuf]) -> Result<Server, String> {
        let _ = fs::remove_file(self.0.join("nbd"));
        let name = command.get_program().to_string_lossy().into_owned();
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let child = command
            .spawn()
            .map_err(|error| format!("cannot start {name}: {error}"))?;
        let mut server = Server(child);
        let until = Instant::now() + READY;
        while !ready.iter().all(|path| path.exists()) {
            let has_ended = server.0.try_wait().is_ok_and(|status| status.is_some());
            if has_ended || Instant::now() > until {
                return Err(format!("{name} does not serve"));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Ok(server)
    }

    fn volume(&self) -> PathBuf {
        self.0.join("array/volume-1")
    }

    /// Lines of a job of fio by which the volume is reached.
    fn by_fuse(&self) -> String {
        format!(
            "ioengine=libaio\ndirect=1\nfilename={}\n",
            self.volume().display()
        )
    }

    fn by_nbd(&self, export: &str) -> String {
        let socket = self.0.join("nbd");
        format!(
            "ioengine=nbd\nuri=nbd+unix:///{export}?socket={}\n",
            socket.display()
        )
    }
}

/// Response times that fio saw, us.
struct Times {
    median_us: f64,
    p99_us: f64,
    mean_us: f64,
    per_second: f64,
}

fn times(bench: &Bench, job: &str) -> Result<Times, String> {
    let document = fio::document(job, &bench.scratch)?;
    let read = &document["jobs"][0]["read"];
    let us = |value: &Value| value.as_f64().map(|ns| ns / 1e3);
    let percentile = |name: &str| us(&read["clat_ns"]["percentile"][name]);
    let found = || {
        Some(Times {
            median_us: percentile("50.000000")?,
            p99_us: percentile("99.000000")?,
            mean_us: us(&read["clat_ns"]["mean"])?,
            per_second: read["iops"].as_f64()?,
        })
    };
    found().ok_or_else(|| "fio's JSON lacks the expected fields".to_owned())
}

/// A row of the medians over the rounds.
fn row(load: &str, way: &str, model_us: f64, rounds: &[Times]) -> String {
    let of = |value: fn(&Times) -> f64| median(&rounds.iter().map(value).collect::<Vec<_>>());
    let (median_us, p99_us, mean_us) = (
        of(|one| one.median_us),
        of(|one| one.p99_us),
        of(|one| one.mean_us),
    );
    let means = rounds.iter().map(|one| one.mean_us);
    let least_us = means.clone().fold(f64::INFINITY, f64::min);
    let most_us = means.fold(0.0, f64::max);
    format!(
        "| {load} | {way} | {median_us:.0} | {p99_us:.0} | {mean_us:.0} ({least_us:.0} to {most_us:.0}) | {model_us:.0} \
         | median {:+.0} us, p99 {:+.0} us, mean {:+.1} % |",
        median_us - model_us,
        p99_us - model_us,
        (mean_us / model_us - 1.0) * 100.0
    )
}

/// Rows of response times of disks that take a fixed time, and of nbdkit with the same delay.
///
/// # Errors
/// A sentence when a side cannot run.
pub fn times_rows(bench: &Bench) -> Result<Vec<String>, String> {
    let room = room(bench)?;
    let mut rows = Vec::new();
    for (service_us, delay, load, job) in [
        (150.0, None, "150 us, one request at a time", "iodepth=1\n"),
        (
            150.0,
            None,
            "150 us, 5,000/s",
            "iodepth=64\nrate_process=poisson\nrate_iops=5000\n",
        ),
        (
            5000.0,
            Some("5ms"),
            "5 ms, 500/s",
            "iodepth=64\nrate_process=poisson\nrate_iops=500\n",
        ),
        (
            5000.0,
            Some("5ms"),
            "5 ms, 2,000/s",
            "iodepth=128\nrate_process=poisson\nrate_iops=2000\n",
        ),
    ] {
        let array = bench.scratch.join("disk.toml");
        fs::write(&array, disk(service_us)).map_err(|error| error.to_string())?;
        let job = format!(
            "rw=randread\nbs=4k\nsize=512m\nnorandommap\ntime_based\nruntime={}\n{job}",
            bench.seconds
        );
        let mut found: [Vec<Times>; 3] = Default::default();
        for _ in 0..bench.rounds {
            {
                let _array = room.serve(bench, &array, &[])?;
                found[0].push(times(bench, &format!("[reads]\n{}{job}", room.by_fuse()))?);
                found[1].push(times(
                    bench,
                    &format!("[reads]\n{}{job}", room.by_nbd("volume-1")),
                )?);
            }
            // Its delays are whole milliseconds.
            if delay.is_some() {
                let _peer = room.nbdkit(delay)?;
                found[2].push(times(bench, &format!("[reads]\n{}{job}", room.by_nbd("")))?);
            }
        }
        let ways = ["FUSE", "NBD", "nbdkit with a delay filter"];
        for (way, rounds) in ways
            .iter()
            .zip(&found)
            .filter(|(_, rounds)| !rounds.is_empty())
        {
            rows.push(row(load, way, service_us, rounds));
        }
    }
    rows.extend(predicted(bench, &room)?);
    Ok(rows)
}

/// Rows of an array under a load, beside the prediction of the same load.
fn predicted(bench: &Bench, room: &Room) -> Result<Vec<String>, String> {
    const SETTINGS: [&str; 4] = [
        "--set",
        "array.cache.capacity_mib=64",
        "--set",
        "array.cache.cache_reads=false",
    ];
    let (mut served, mut by_model) = (Vec::new(), Vec::new());
    for _ in 0..bench.rounds {
        let more = [SETTINGS.as_slice(), &["--size", "2GiB"]].concat();
        let _array = room.serve(bench, Path::new("msa2050"), &more)?;
        let fill = "[fill]\nrw=write\nbs=1m\nsize=2g\niodepth=8\nend_fsync=1\n";
        fio::document(&format!("{fill}{}", room.by_fuse()), &bench.scratch)?;
        // What the cache has of it goes to the disks.
        std::thread::sleep(Duration::from_secs(5));
        // fio goes on with a file that is there.
        let trace = bench.scratch.join("trace.iolog");
        let _ = fs::remove_file(&trace);
        let job = format!(
            "[reads]\n{}rw=randrw\nrwmixread=90\nbs=8k\nsize=2g\nnorandommap\ntime_based\nruntime={}\niodepth=256\n\
             rate_process=poisson\nrate_iops=1800,200\nwrite_iolog={}\n",
            room.by_fuse(),
            bench.seconds,
            trace.display()
        );
        served.push(times(bench, &job)?);
        let output = Command::new(&bench.product.binary)
            .arg("predict")
            .arg(&trace)
            .args([
                "--array",
                "msa2050",
                "--json",
                "--quiet",
                "--set",
                "trace.volume_size=2GiB",
            ])
            .args(SETTINGS)
            .arg("--out")
            .arg(
                bench
                    .product
                    .runs
                    .join(format!("predicted-{}", by_model.len())),
            )
            .output()
            .map_err(|error| format!("cannot start {}: {error}", bench.product.binary.display()))?;
        let result: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("{error}: {}", String::from_utf8_lossy(&output.stderr)))?;
        let reads = &result["totals"]["reads"]["latency"];
        let us = |name: &str| reads[name].as_f64().map(|ms| ms * 1e3);
        let predicted = us("average_ms").zip(us("p99_ms"));
        by_model.push(predicted.ok_or("the result has no latency of reads")?);
    }
    let pairs = served.iter().zip(&by_model);
    let mean: Vec<f64> = pairs
        .clone()
        .map(|(one, (mean_us, _))| one.mean_us / mean_us)
        .collect();
    let p99: Vec<f64> = pairs
        .map(|(one, (_, p99_us))| one.p99_us / p99_us)
        .collect();
    let model_us = median(&by_model.iter().map(|one| one.0).collect::<Vec<_>>());
    let percent = |ratios: &[f64]| (median(ratios) - 1.0) * 100.0;
    let row = row(
        "msa2050, 1,800 reads and 200 writes a second: reads",
        "FUSE",
        model_us,
        &served,
    );
    let row = row.trim_end_matches(" |");
    Ok(vec![format!(
        "{row}; of the prediction of the same requests: mean {:+.1} %, p99 {:+.1} % |",
        percent(&mean),
        percent(&p99)
    )])
}

/// Rows of rates of a model without delays, nbdkit and a plain file.
///
/// # Errors
/// A sentence when a side cannot run.
pub fn rates_rows(bench: &Bench) -> Result<Vec<String>, String> {
    let room = room(bench)?;
    let array = bench.scratch.join("disk.toml");
    fs::write(&array, disk(0.001)).map_err(|error| error.to_string())?;
    let job = format!(
        "rw=randread\nbs=8k\nsize=512m\nnorandommap\ntime_based\nruntime={}\niodepth=32\n",
        bench.seconds
    );
    let file = bench.scratch.join("plain-file");
    let ways = [
        ("FUSE", ">= 150,000"),
        ("NBD", ">= 100,000"),
        ("nbdkit, memory", ""),
        ("nbdkit, memory and a delay filter of 0", ""),
        ("a plain file", ""),
    ];
    let mut rates = vec![Vec::new(); ways.len()];
    for _ in 0..bench.rounds {
        {
            let _array = room.serve(bench, &array, &[])?;
            rates[0].push(times(bench, &format!("[reads]\n{}{job}", room.by_fuse()))?.per_second);
            rates[1].push(
                times(bench, &format!("[reads]\n{}{job}", room.by_nbd("volume-1")))?.per_second,
            );
        }
        for (number, delay) in [(2, None), (3, Some("0ms"))] {
            let _peer = room.nbdkit(delay)?;
            rates[number]
                .push(times(bench, &format!("[reads]\n{}{job}", room.by_nbd("")))?.per_second);
        }
        let plain = format!(
            "[reads]\nioengine=libaio\ndirect=1\nfilename={}\n{job}",
            file.display()
        );
        rates[4].push(times(bench, &plain)?.per_second);
    }
    let rows = ways.iter().zip(&rates).map(|((way, goal), rates)| {
        let least = rates.iter().copied().fold(f64::INFINITY, f64::min);
        let most = rates.iter().copied().fold(0.0, f64::max);
        format!(
            "| {way} | {:.0} ({least:.0} to {most:.0}) | {goal} |",
            median(rates)
        )
    });
    Ok(rows.collect())
}

fn room(bench: &Bench) -> Result<Room, String> {
    let path = bench.scratch.join("served");
    fs::create_dir_all(&path)
        .map_err(|error| format!("cannot make {}: {error}", path.display()))?;
    let path = path.canonicalize().map_err(|error| error.to_string())?;
    Ok(Room(path))
}
