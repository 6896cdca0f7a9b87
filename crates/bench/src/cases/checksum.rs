//! Verifying page checksums, beside summing the same bytes as 64-bit words: the example
//! `checksum_speed` of the engine, run in turn with itself as the other cases are with fio.

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
        let figure = |name: &str| {
            figures[name]
                .as_f64()
                .ok_or_else(|| format!("checksum_speed prints no '{name}'"))
        };
        rate.add(figure("verify_gb_per_s")?, figure("sum_gb_per_s")?);
    }
    Ok(vec![rate.row()])
}
