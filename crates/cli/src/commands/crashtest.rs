//! `proofload crashtest`: crash tests of the storage engine.

use proofload::crashtest::{CrashtestOutcome, FaultKind, Seeds, run, trace};

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::live::SeedsView;
use crate::options::CrashtestOptions;
use crate::print::print;
use measure::units;

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
    let view = Box::new(SeedsView::new(options.quiet));
    let outcome = run(seeds, jobs, view, &stop)?;
    if let Some(failure) = &outcome.failure {
        let seed = failure.seed;
        print(&format!(
            "{failure}\nEvery step of it: proofload crashtest --seed {seed} --trace\n"
        ))?;
        return Ok(ExitStatus::Integrity);
    }
    if !options.quiet {
        print(&describe(seeds, &outcome))?;
    }
    if outcome.is_interrupted {
        return Ok(ExitStatus::Interrupted);
    }
    Ok(ExitStatus::Pass)
}

fn print_trace(seed: u64) -> Result<ExitStatus, CommandError> {
    let outcome = trace(seed);
    let mut text = outcome.trace.join("\n");
    text.push('\n');
    if outcome.failure.is_none() {
        text.push_str(&format!("Seed {seed} did not fail.\n"));
    }
    print(&text)?;
    Ok(match outcome.failure {
        Some(_) => ExitStatus::Integrity,
        None => ExitStatus::Pass,
    })
}

/// What was gone through, as a table.
fn describe(seeds: Seeds, outcome: &CrashtestOutcome) -> String {
    let (tally, simulated) = (&outcome.tally, outcome.simulated);
    let seconds = outcome.elapsed.as_secs_f64();
    let end = if outcome.is_interrupted {
        format!("interrupted after {}", units::count(simulated, "seed"))
    } else {
        "none failed".to_owned()
    };
    let count = units::count_of;
    let mut text = format!(
        "{} from {}: {end}, in {seconds:.1} s ({} a second)\n  {} acknowledged, {} ({} of them during \
         recovery), {}, {} repeated, {} taken back, {} restored from images\n\n  {:<24}{:>10}{:>10}{:>10}{:>12}\n",
        units::count(seeds.count, "seed"),
        seeds.from,
        count((simulated as f64 / seconds.max(0.001)).round() as u64),
        units::count(tally.acknowledged, "commit"),
        units::count(tally.power_cuts, "power cut"),
        count(tally.cut_recoveries),
        units::count(tally.checked, "full check"),
        units::count(tally.redone, "page operation"),
        units::count(tally.undone, "transaction"),
        units::count(tally.restored_pages, "page"),
        "fault",
        "seeds",
        "struck",
        "reported",
        "not shown",
    );
    for kind in FaultKind::ALL {
        let of_kind = tally.kinds.get(&kind).copied().unwrap_or_default();
        text.push_str(&format!(
            "  {:<24}{:>10}{:>10}{:>10}{:>12}\n",
            kind.to_string(),
            count(of_kind.seeds),
            count(of_kind.struck),
            count(of_kind.reported),
            count(of_kind.not_shown)
        ));
    }
    text.push_str(
        "\nreported: the engine refused to go on, as it must or may. not shown: nothing in the files\n\
         shows the fault, such as a lost write of a page that the log does not mention again.\n",
    );
    text
}
