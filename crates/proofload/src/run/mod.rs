//! `proofload run`: from the command line to the verdict.
//!
//! Everything that can be refused is refused before anything is written: the profile, the targets,
//! the kernel, the directory of the results. Then the targets are claimed, the workload runs, and
//! the targets are given back.

mod drive;
mod dry;
mod kept;
mod listener;
pub mod results;
mod storage;

pub use dry::caution;
pub use listener::Recorder;

use std::fs;
use std::path::Path;

use jiff::Timestamp;
use measure::result::{RunResult, Verdict};
use report::{Run, Style};
use runtime::Runtime;
use workload::profile::Kind;

use crate::brokerage;
use crate::cli::RunOptions;
use crate::commands::print;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::target::{self, Claim, Layout, Request};
use crate::workloads;

/// Runs a workload and says how it ended.
pub fn run(options: &RunOptions) -> Result<ExitStatus, Failure> {
    let profile = workloads::resolve(options)?;
    if profile.kind == Kind::Brokerage {
        refuse_events(options)?;
        return brokerage::run(options, &profile);
    }
    refuse_events(options)?;
    let layout = target::survey(&Request {
        on: &options.on,
        log_on: &options.log_on,
        profile: &profile,
        reuse: options.reuse,
        erase_device: options.erase_device,
    })?;
    results::refuse_on_target(options, &layout)?;
    results::check(options)?;
    let caution = dry::caution(&profile).filter(|_| !options.build_only);
    if options.reuse || !options.dry_run {
        check_kernel()?;
    }
    let plan = drive::plan(options, &profile, &layout)?;
    if options.dry_run {
        let plan = dry::describe(options, &profile, &layout)?;
        return print(&format!("{plan}{}", caution.unwrap_or_default()));
    }
    if let Some(caution) = caution.filter(|_| !options.quiet) {
        tell!("{}", caution.to_string().trim_end());
    }
    let started = Timestamp::now();
    let directory = results::open(options, &profile, started)?;
    let base = results::base(options, &profile, &layout, started);
    results::begin(&directory, &base)?;
    let claim = if options.reuse {
        Claim::reuse(layout)
    } else {
        Claim::make(layout, &base.workload.name, &profile, options.erase_device)?
    };
    let path = directory.path().to_owned();
    let driven = drive::drive(options, plan, claim.layout(), base, directory);
    let fate = settle(options, claim, driven.as_ref().ok())?;
    let result = driven?;
    tell(options, &result, &path, &fate)?;
    Ok(ExitStatus::from(result.verdict))
}

fn refuse_events(options: &RunOptions) -> Result<(), Failure> {
    if workloads::events(&options.workload).is_none() {
        return Ok(());
    }
    Err(Failure::usage(
        format!(
            "{} has [[event]] tables, and real storage does not break on command.",
            options.workload
        ),
        "Take them out, or predict the workload on a modelled array.",
    ))
}

/// The kernel must let us use io_uring; better said now than from every thread.
fn check_kernel() -> Result<(), Failure> {
    Runtime::wall_clock(&runtime::UringOptions::default())
        .map(drop)
        .map_err(|error| Failure::environment(format!("The run cannot begin: {error}."), ""))
}

/// Gives the targets back, and says in a sentence what became of the databases. They stay when they
/// were to be kept, when an earlier run kept them, and when something went wrong with them.
fn settle(
    options: &RunOptions,
    claim: Claim,
    result: Option<&RunResult>,
) -> Result<String, Failure> {
    let went_wrong = result.is_none_or(|result| result.verdict == Verdict::Error);
    let interrupted = result.is_some_and(|result| result.verdict == Verdict::Interrupted);
    let built = options.build_only && !interrupted;
    let places = places(claim.layout());
    if options.keep || options.reuse || built || went_wrong {
        let next = match (went_wrong, interrupted && !options.reuse) {
            (true, _) => {
                "--reuse recovers them when the cause is mended, 'proofload edb check' looks at \
                 closed ones"
            }
            (false, true) => "--reuse builds what is unfinished, and runs on them",
            (false, false) => "run on them again with --reuse",
        };
        return Ok(format!("Databases kept in {places}: {next}."));
    }
    let left = claim.release()?;
    for path in left {
        tell!(
            "Left in place, because it was not made by Proofload: {}",
            path.display()
        );
    }
    Ok(format!(
        "Databases removed from {places}; --keep keeps them for the next run."
    ))
}

/// The targets that hold databases or logs, as they were given.
fn places(layout: &Layout) -> String {
    let given: Vec<String> = layout
        .sites
        .iter()
        .map(|site| site.given.display().to_string())
        .collect();
    given.join(", ")
}

/// The result document on standard output, and nothing else.
fn print_json(result: &RunResult) -> Result<(), Failure> {
    let text = serde_json::to_string_pretty(result)
        .map_err(|error| Failure::environment(format!("The result: {error}."), ""))?;
    print(&format!("{text}\n")).map(drop)
}

/// Writes the report, and prints the verdict or the result.
pub fn tell(
    options: &RunOptions,
    result: &RunResult,
    directory: &Path,
    fate: &str,
) -> Result<(), Failure> {
    let run = Run::load(directory).map_err(|error| {
        Failure::environment(format!("The results are unreadable: {error}."), "")
    })?;
    let page = directory.join(measure::run_directory::REPORT_FILE);
    fs::write(&page, report::html(&run)).map_err(|error| {
        Failure::environment(
            format!("The report {} cannot be written: {error}.", page.display()),
            "The results beside it are complete; make the report with 'proofload report'.",
        )
    })?;
    if options.json {
        if !options.quiet {
            tell!("{fate}");
        }
        print_json(result)?;
    } else if !options.quiet {
        let tables = report::terminal(&run, &Style::of_standard_output());
        let page = page.display();
        print(&format!("{tables}\n{fate}\nReport: {page}\n"))?;
    }
    Ok(())
}
