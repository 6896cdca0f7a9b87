//! `proofload crashtest`: crash tests of the storage engine.

use proofload::crashtest::{CrashtestOutcome, FaultKind, Seeds, run, trace};

use crate::answer::print_answer;
use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::interrupt::stop_on_signals;
use crate::live;
use crate::options::CrashtestOptions;
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
    let view = Box::new(live::of_seeds(options.quiet));
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
        false => print_answer(&describe(seeds, &outcome), status),
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

/// What was gone through, as a table.
fn describe(seeds: Seeds, outcome: &CrashtestOutcome) -> String {
    let (totals, simulated) = (&outcome.totals, outcome.simulated);
    let seconds = outcome.elapsed.as_secs_f64();
    let end = if outcome.is_interrupted {
        format!("interrupted after {}", units::count(simulated, "seed"))
    } else {
        "none failed".to_owned()
    };
    let count = units::count_of;
    let mut text = format!(
        "{} from {}: {end}, in {seconds:.1} s ({} a second)\n  {} acknowledged, {} ({} of them during \
         recovery), {}, {} repeated, {} taken back, {} restored from images\n\n",
        units::count(seeds.count, "seed"),
        seeds.from,
        count((simulated as f64 / seconds.max(0.001)).round() as u64),
        units::count(totals.acknowledged, "commit"),
        units::count(totals.power_cuts, "power cut"),
        count(totals.cut_recoveries),
        units::count(totals.checked, "full check"),
        units::count(totals.redone, "page operation"),
        units::count(totals.undone, "transaction"),
        units::count(totals.restored_pages, "page"),
    );
    let mut line = |name: &str, cells: [&str; 6]| {
        text.push_str(&format!("  {name:<24}"));
        for cell in cells {
            text.push_str(&format!("{cell:>11}"));
        }
        text.push('\n');
    };
    line(
        "fault",
        [
            "seeds",
            "injected",
            "reported",
            "at the end",
            "cut before",
            "not shown",
        ],
    );
    let kinds = FaultKind::ALL.iter().map(|kind| {
        let of_kind = totals.kinds.get(kind).copied().unwrap_or_default();
        (kind.to_string(), of_kind)
    });
    let torn = ("torn page, detect only".to_owned(), totals.torn_pages);
    for (name, of_kind) in kinds.chain([torn]) {
        let cells = [
            of_kind.seeds,
            of_kind.injected,
            of_kind.reported,
            of_kind.found_at_the_end,
            of_kind.cut_before,
            of_kind.not_shown,
        ];
        let cells = cells.map(count);
        line(&name, cells.each_ref().map(String::as_str));
    }
    text.push_str(
        "\nreported: the engine said what was wrong. at the end: of those, when the closed database was\n\
         read back, and not before. cut before: a power cut ended the process that knew the versions of\n\
         the pages before it read the wrong ones again, and no row was wrong afterwards. not shown: rows\n\
         were wrong afterwards, and nothing in the files shows the fault. All others did no harm.\n",
    );
    text
}
