//! Predicts a load with two, four and eight threads, and prints the latency of each.

use proofload::{Axis, Error, Scenario};

/// The program; public for the test that runs it.
pub fn main() -> Result<(), Error> {
    let scenario = Scenario::new("exchange-2013")
        .on_array("msa2050")
        .with("mail.databases", 2)
        .with("mail.mailbox_size", "8MiB")
        .with("run.warm_up.minimum", "5s")
        .with("run.warm_up.maximum", "10s")
        .with("run.duration", "10s")
        .with("run.sample_interval", "1s");
    let outcome = scenario.sweep(&[Axis::new("threads", [2, 4, 8])])?;
    for point in &outcome.grid.points {
        println!(
            "{}: {:.0} IOPS, reads {:.1} ms on average",
            point.name,
            point.achieved_iops.unwrap_or_default(),
            point.database_read_ms.unwrap_or_default(),
        );
    }
    println!("{}", outcome.grid.summary);
    Ok(())
}
