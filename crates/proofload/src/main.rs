//! The command line of Proofload.

/// Tells people something on standard error. Where that cannot be written (a full disk, a reader that
/// left) nobody is told, and the work goes on: the standard library's own macro would end it.
macro_rules! tell {
    ($($words:tt)*) => {{
        use std::io::Write as _;
        let _ = writeln!(std::io::stderr(), $($words)*);
    }};
}

mod brokerage;
mod cli;
mod commands;
mod exit;
mod failure;
mod human;
mod interrupt;
mod live;
mod predict;
mod replay;
mod run;
mod study;
mod sweep;
mod target;
#[cfg(test)]
mod testing;
mod workloads;

use std::process::ExitCode;

use cli::{Command, CommandLine};
use exit::ExitStatus;
use failure::Failure;

/// Models look things up in tables of many megabytes.
#[global_allocator]
static ALLOCATOR: runtime::LargePages = runtime::LargePages;

fn main() -> ExitCode {
    let obeyed = brokerage::password::hide().and_then(|()| obey(CommandLine::of_process()));
    let status = match obeyed {
        Ok(status) => status,
        Err(failure) => {
            failure.tell();
            failure.status()
        }
    };
    status.into()
}

fn obey(line: CommandLine) -> Result<ExitStatus, Failure> {
    match line.command {
        Command::Run(options) => run::run(&options),
        Command::Predict(options) => predict::predict(&options),
        Command::Study(options) => study::study(&options),
        Command::Report(options) => commands::report(&options),
        Command::List(options) => commands::list(&options),
        Command::Show(options) => commands::show(&options),
        Command::Edb { command } => commands::edb(&command),
        Command::Completions { shell } => commands::completions(shell),
        Command::Manual => commands::manual(),
    }
}
