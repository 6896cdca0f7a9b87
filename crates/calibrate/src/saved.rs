//! Measured probes as a file that [`crate::fio::read`] reads: what was measured once can be fitted again, with
//! another class.

use serde_json::{Map, Value, json};

use crate::figures::{Figures, QUANTILES};
use crate::probe::{Job, Measured, Probe};

/// The probes as JSON, one a line.
#[must_use]
pub fn to_json(measured: &[Measured]) -> String {
    let tests: Vec<String> = measured.iter().map(|one| test(one).to_string()).collect();
    format!("{{\"tests\": [\n{}\n]}}\n", tests.join(",\n"))
}

fn test(measured: &Measured) -> Value {
    let pairs = measured.probe.jobs.iter().zip(&measured.figures);
    let jobs: Vec<Value> = pairs
        .enumerate()
        .map(|(number, (job, figures))| {
            let direction = match job.access.is_write() {
                true => "write",
                false => "read",
            };
            json!({
                "jobname": format!("{}", number + 1),
                "options": options(&measured.probe, job),
                direction: figures_of(figures),
            })
        })
        .collect();
    json!({ "test": measured.probe.name, "jobs": jobs })
}

/// fio's options, all of them texts.
fn options(probe: &Probe, job: &Job) -> Value {
    let mut options = json!({
        "rw": job.access.fio_word(),
        "bsrange": format!("{}-{}", job.sizes.start(), job.sizes.end()),
        "iodepth": job.outstanding.to_string(),
        "ioengine": "io_uring",
        "direct": "1",
        "size": probe.span_bytes.to_string(),
        "runtime": format!("{}ms", probe.duration_ns / 1_000_000),
    });
    if let Some(limit) = job.limit_bytes_per_s {
        options["rate"] = format!("{limit:.0}").into();
    }
    options
}

fn figures_of(figures: &Figures) -> Value {
    let mut latency = Map::new();
    latency.insert("mean".to_owned(), figures.mean_us.into());
    for (quantile, time_us) in QUANTILES.iter().zip(figures.quantiles_us) {
        if let Some(time_us) = time_us {
            let percent = (quantile * 1e5).round() / 1e3;
            latency.insert(format!("p{percent}"), time_us.into());
        }
    }
    json!({
        "iops": figures.iops,
        "bytes_per_s": figures.bytes_per_s,
        "requests": figures.requests,
        "latency_us": latency,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{PlanRequest, probes};

    #[test]
    fn what_was_saved_is_read_as_it_was() {
        let request = PlanRequest {
            is_hard_disk: false,
            span_bytes: 1 << 30,
            least_request_bytes: 512,
            with_writes: true,
            time_ns: 280_000_000_000,
        };
        let probes = probes(&request).expect("a plan");
        let figures = |job: &Job| {
            let limit = job.limit_bytes_per_s;
            let bytes = *job.sizes.end() as f64;
            let iops = limit.map_or(f64::from(job.outstanding) * 1e4, |limit| limit / bytes);
            Figures {
                iops,
                bytes_per_s: iops * bytes,
                requests: 12_345,
                mean_us: 100.0,
                quantiles_us: [Some(90.5), Some(120.25), None, Some(1_000.0)],
            }
        };
        let measured: Vec<Measured> = probes
            .into_iter()
            .map(|probe| Measured {
                figures: probe.jobs.iter().map(figures).collect(),
                probe,
            })
            .collect();
        let read = crate::fio::read("saved", &to_json(&measured)).expect("results");
        assert_eq!(read, measured);
    }
}
