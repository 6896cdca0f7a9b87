//! How fast the array model runs: closed loops on modelled disks and arrays, and a prediction of the
//! mail load on an array of 20 disks.
//!
//! No peer is measured beside it: the figures are rates of one core and hold for the machine they
//! were measured on.

use crate::product::{Product, RunCost};
use serde_json::Value;
use std::process::Command;

/// The head of the table that the rows of this case fill.
pub const TABLE_HEAD: &str = "| what | per second of processor time | processor time | \
                              peak memory | goal | |\n|---|---:|---:|---:|---|---|";

/// What a closed loop should reach.
struct Goal {
    case: &'static str,
    title: &'static str,
    per_second: Option<f64>,
}

const DISK_GOAL: Goal = Goal {
    case: "sas-10k-900gb",
    title: "one hard disk, 32 KiB, 60/40, 16 commands on board: disk requests",
    per_second: Some(3e6),
};

const ARRAY_GOALS: [Goal; 3] = [
    Goal {
        case: "raid6",
        title: "20 disks, two RAID 6 groups, 32 KiB, 60/40, closed loop: host requests",
        per_second: Some(5e5),
    },
    Goal {
        case: "tier",
        title: "32 KiB reads on an SSD tier, closed loop: host requests",
        per_second: Some(2e6),
    },
    Goal {
        case: "cache",
        title: "32 KiB reads that the data cache holds, closed loop: host requests",
        per_second: None,
    },
];

/// Host requests of a prediction of 24 hours that takes 6 minutes of CPU time, by simulated
/// second.
const DAY_PER_PROCESSOR_SECOND: f64 = 24.0 * 60.0 / 6.0;

/// Rows for one disk and for arrays in closed loops.
///
/// # Errors
/// A sentence when an example cannot be built or run.
pub fn closed_loops() -> Result<Vec<String>, String> {
    let mut rows = Vec::new();
    for figures in example("disk_speed", &["10", "1"])? {
        rows.push(closed_loop(&DISK_GOAL, &figures)?);
    }
    for goal in &ARRAY_GOALS {
        for figures in example("array_speed", &["2", goal.case])? {
            rows.push(closed_loop(goal, &figures)?);
        }
    }
    Ok(rows)
}

/// What an example of the array model prints: a JSON object to a line.
fn example(name: &str, arguments: &[&str]) -> Result<Vec<Value>, String> {
    let output = Command::new("cargo")
        .args(["run", "--release", "--locked", "-q", "-p", "array"])
        .args(["--example", name, "--", "--json"])
        .args(arguments)
        .output()
        .map_err(|error| format!("cannot start cargo: {error}"))?;
    if !output.status.success() {
        let diagnostic = String::from_utf8_lossy(&output.stderr);
        return Err(format!("{name} ended with {}: {diagnostic}", output.status));
    }
    String::from_utf8_lossy(&output.stdout)
        .lines()
        .map(|line| serde_json::from_str(line).map_err(|error| format!("{name}: {error}")))
        .collect()
}

fn closed_loop(goal: &Goal, figures: &Value) -> Result<String, String> {
    let figure = |key: &str| {
        let value = figures[key].as_f64();
        value.ok_or_else(|| format!("{} prints no {key}", goal.case))
    };
    let rate = figure("per_processor_second")?;
    let (wanted, met) = match goal.per_second {
        Some(wanted) => (format!(">= {wanted:.0}"), verdict(rate >= wanted)),
        None => (String::new(), ""),
    };
    Ok(format!(
        "| {} | {rate:.0} | {:.1} s | {:.0} MiB | {wanted} | {met} |",
        goal.title,
        figure("processor_seconds")?,
        figure("peak_mib")?
    ))
}

fn verdict(met: bool) -> &'static str {
    if met { "met" } else { "**missed**" }
}

/// A row for a prediction of the mail load on the array of a published study, disks only.
///
/// # Errors
/// A sentence when the prediction cannot be run.
pub fn prediction(product: &Product, hours: u64) -> Result<String, String> {
    let duration = format!("{hours}h");
    let arguments = [
        ["--array", "msa2050"],
        ["--databases", "6"],
        ["--threads", "40"],
        ["--target-size", "950GB"],
        ["--duration", &duration],
        // All of the threads are busy, as when the goal was set.
        ["--set", "mail.session_pause_factor=0"],
    ];
    let (result, spent) = product.predict(&format!("predict-{hours}h"), &arguments.concat())?;
    let figure = |key: &str| {
        let value = result[key].as_f64();
        value.ok_or_else(|| format!("the result has no {key}"))
    };
    let (requests, simulated_s) = (figure("host_requests")?, figure("simulated_seconds")?);
    let RunCost {
        processor_s,
        peak_mib,
    } = spent;
    Ok(format!(
        "| mail on 20 disks (msa2050), {hours} h measured, {simulated_s:.0} s simulated: host requests \
         ({requests:.0} in all) | {:.0} | {processor_s:.1} s | {peak_mib:.0} MiB | \
         <= {:.0} s, 1024 MiB | {} |",
        requests / processor_s,
        simulated_s / DAY_PER_PROCESSOR_SECOND,
        verdict(simulated_s / processor_s >= DAY_PER_PROCESSOR_SECOND && peak_mib <= 1024.0),
    ))
}
