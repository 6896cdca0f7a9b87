//! Predicts how a mail server would run on a bundled array, and prints the verdict.

use proofload::{Error, Scenario};

/// The program; public for the test that runs it.
pub fn main() -> Result<(), Error> {
    let outcome = Scenario::new("exchange-2013")
        .on_array("msa2050")
        .with("mail.databases", 2)
        .with("mail.threads", 8)
        .with("run.duration", "2m")
        .predict()?;
    let result = &outcome.result;
    println!("{}: {}", result.verdict, result.verdict_reason);
    println!(
        "{:.0} IOPS, {:.0} s simulated in {:.1} s",
        result.throughput.achieved_iops,
        result.simulated_seconds.unwrap_or_default(),
        result.wall_seconds.unwrap_or_default(),
    );
    Ok(())
}
