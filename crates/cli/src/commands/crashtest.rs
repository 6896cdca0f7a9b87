//! `proofload crashtest`: crash tests of the storage engine.

use monitor::progress;
use proofload::crashtest::{Seeds, run, trace};

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::options::CrashtestOptions;

/// Simulates the seeds and prints what came of them.
pub fn crashtest(options: &CrashtestOptions) -> Result<ExitStatus, CommandError> {
    if let (Some(seed), true) = (options.seed, options.trace) {
        return print_trace(seed);
    }
    let seeds = Seeds {
        from: options.seed.unwrap_or(options.from),
        count: options.seed.map_or(options.seeds, |_| 1),
    };
    let stop = stop_on_signals()?;
    let jobs = options.jobs.map(|jobs| jobs as usize);
    let view = Box::new(progress::of_seeds(options.quiet));
    let outcome = run(seeds, jobs, view, &stop)?;
    if let Some(failure) = &outcome.failure {
        let seed = failure.seed;
        let text =
            format!("{failure}\nEvery step of it: proofload crashtest --seed {seed} --trace\n");
        return print_answer(&text, ExitStatus::Integrity);
    }
    let status = match outcome.is_interrupted {
        true => ExitStatus::Interrupted,
        false => ExitStatus::Pass,
    };
    match options.quiet {
        true => Ok(status),
        false => print_answer(&outcome.to_string(), status),
    }
}

fn print_trace(seed: u64) -> Result<ExitStatus, CommandError> {
    let outcome = trace(seed);
    let mut text = outcome.trace.join("\n");
    text.push('\n');
    if outcome.failure.is_none() {
        text.push_str(&format!("Seed {seed} did not fail.\n"));
    }
    let status = match outcome.failure {
        Some(_) => ExitStatus::Integrity,
        None => ExitStatus::Pass,
    };
    print_answer(&text, status)
}
