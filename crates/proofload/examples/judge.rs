//! Follows a prediction by its events, and judges it by limits of its own.

use proofload::{Error, Event, Scenario, StopRequest, predict};

/// The program; public for the test that runs it.
pub fn main() -> Result<(), Error> {
    let scenario = Scenario::new("exchange-2013")
        .on_array("msa2050")
        .with("mail.databases", 2)
        .with("mail.mailbox_size", "8MiB")
        .with("mail.threads", 8)
        .with("run.warm_up.minimum", "10s")
        .with("run.warm_up.maximum", "20s")
        .with("run.duration", "30s")
        .with("run.sample_interval", "1s")
        .with("service_levels.average_database_read", "12ms");
    let observer = |event: Event<'_>| match event {
        Event::PhaseBegan { phase, .. } => println!("{}", phase.title()),
        Event::Note(text) => println!("{text}"),
        _ => {}
    };
    let prediction = predict::Prepared::new(&scenario)?;
    let outcome = prediction.run(Box::new(observer), &StopRequest::new())?;
    for check in &outcome.result.checks {
        println!("{}: {:?}", check.name, check.passed);
    }
    println!("{}", outcome.result.verdict);
    Ok(())
}
