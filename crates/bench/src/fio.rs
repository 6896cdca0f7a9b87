//! Runs fio, the peer, and reads its figures.

use serde_json::Value;
use std::path::Path;
use std::process::Command;

/// What one fio run achieved, summed over its jobs.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FioFigures {
    /// Completed reads per second.
    pub reads_per_second: f64,
    /// Completed writes per second.
    pub writes_per_second: f64,
    /// Bytes written per second.
    pub write_bytes_per_second: f64,
    /// User and system CPU time per completed request, in microseconds.
    pub cpu_per_request_us: f64,
    /// Requests outstanding on average, by Little's law from fio's own latencies.
    pub outstanding: f64,
}

/// Depths whose sum is `depth`, each a power of two. fio's io_uring engine rounds a depth up to a
/// power of two and really keeps so many requests outstanding (40 become up to 64), so any other
/// depth has to be kept by several jobs.
pub fn exact_depths(depth: u32) -> impl Iterator<Item = u32> {
    (0..u32::BITS)
        .rev()
        .map(move |bit| depth & (1 << bit))
        .filter(|&part| part > 0)
}

/// Lets the file system finish what earlier runs left to it: deleted files still have their blocks
/// given back and discarded in the background, which would slow down whoever comes next.
///
/// # Errors
/// A sentence when `sync` cannot be started or fails.
pub fn settle(directory: &Path) -> Result<(), String> {
    let status = Command::new("sync").arg("-f").arg(directory).status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!(
            "sync -f {} ended with {status}",
            directory.display()
        )),
        Err(error) => Err(format!("cannot start sync: {error}")),
    }
}

/// Runs fio on a job file's text and returns its figures.
///
/// # Errors
/// As [`document`], and when figures are missing.
pub fn run(job: &str, scratch: &Path) -> Result<FioFigures, String> {
    figures(&document(job, scratch)?)
        .ok_or_else(|| "fio's JSON lacks the expected fields".to_owned())
}

/// Runs fio on a job file's text and returns its JSON.
///
/// # Errors
/// A sentence when fio cannot be started, fails, or answers with something that is not its JSON.
pub fn document(job: &str, scratch: &Path) -> Result<Value, String> {
    let job_file = scratch.join("bench.fio");
    std::fs::write(&job_file, job)
        .map_err(|error| format!("cannot write {}: {error}", job_file.display()))?;
    let output = Command::new("fio")
        .arg("--output-format=json")
        .arg(&job_file)
        .output()
        .map_err(|error| format!("cannot start fio ({error}); install it with your packages"))?;
    if !output.status.success() {
        return Err(format!(
            "fio failed: {}",
            String::from_utf8_lossy(&output.stderr)
        ));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    // fio may print notes before the document.
    let document = text
        .find('{')
        .map(|start| &text[start..])
        .unwrap_or_default();
    serde_json::from_str(document).map_err(|error| format!("fio's JSON: {error}"))
}

fn figures(document: &Value) -> Option<FioFigures> {
    let mut sum = FioFigures {
        reads_per_second: 0.0,
        writes_per_second: 0.0,
        write_bytes_per_second: 0.0,
        cpu_per_request_us: 0.0,
        outstanding: 0.0,
    };
    let mut cpu_us = 0.0;
    let mut requests = 0.0;
    for job in document.get("jobs")?.as_array()? {
        let (read, write) = (job.get("read")?, job.get("write")?);
        sum.reads_per_second += read.get("iops")?.as_f64()?;
        sum.writes_per_second += write.get("iops")?.as_f64()?;
        sum.write_bytes_per_second += write.get("bw_bytes")?.as_f64()?;
        requests += read.get("total_ios")?.as_f64()? + write.get("total_ios")?.as_f64()?;
        for way in [read, write] {
            let latency_s = way.get("lat_ns")?.get("mean")?.as_f64()? / 1e9;
            sum.outstanding += way.get("iops")?.as_f64()? * latency_s;
        }
        let cpu_percent = job.get("usr_cpu")?.as_f64()? + job.get("sys_cpu")?.as_f64()?;
        // job_runtime is in milliseconds; percent of it is CPU time.
        cpu_us += cpu_percent / 100.0 * job.get("job_runtime")?.as_f64()? * 1000.0;
    }
    sum.cpu_per_request_us = cpu_us / requests;
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn depths_are_powers_of_two_and_add_up() {
        for depth in 1..=300 {
            let parts: Vec<u32> = exact_depths(depth).collect();
            assert_eq!(parts.iter().sum::<u32>(), depth);
            assert!(parts.iter().all(|part| part.is_power_of_two()), "{parts:?}");
        }
    }
}
