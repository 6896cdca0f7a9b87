//! Verifying page checksums, beside summing the same bytes as 64-bit words: the example
//! `checksum_speed` of the engine. It measures the two in turn, in many short rounds; the median of
//! the rounds' ratios counts, over all calls.

use crate::ratio::{Goal, Pairs};
use serde_json::Value;
use std::process::Command;

/// One row: bytes verified per second.
///
/// # Errors
/// A sentence when the example cannot be built or run.
pub fn rows(rounds: usize) -> Result<Vec<String>, String> {
    let mut rate = Pairs::new(
        "verifying page checksums, beside summing 64-bit words",
        "GB/s",
        Goal::AtLeast(0.5),
    );
    for _ in 0..rounds {
        let output = Command::new("cargo")
            .args([
                "run",
                "--release",
                "--locked",
                "-q",
                "-p",
                "edb",
                "--example",
            ])
            .arg("checksum_speed")
            .output()
            .map_err(|error| format!("cannot start cargo: {error}"))?;
        let figures: Value = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("checksum_speed: {error}"))?;
        let measured = figures["rounds"].as_array();
        for round in measured.ok_or("checksum_speed prints no rounds")? {
            match (round[0].as_f64(), round[1].as_f64()) {
                (Some(verify), Some(sum)) => rate.add(verify, sum),
                _ => return Err(format!("checksum_speed prints a round {round}")),
            }
        }
    }
    Ok(vec![rate.row()])
}
