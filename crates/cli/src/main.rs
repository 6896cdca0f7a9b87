//! The command `proofload`: options, what is printed, and exit statuses.

mod answer;
mod commands;
mod error;
mod exit;
mod interrupt;
mod options;
mod password;
mod print;
mod ranks;

use std::process::ExitCode;

use error::CommandError;
use exit::ExitStatus;
use options::{Command, CommandLine};

/// Models look things up in tables of many megabytes.
#[global_allocator]
static ALLOCATOR: runtime::LargePages = runtime::LargePages;

fn main() -> ExitCode {
    interrupt::outlive_file_size_limit();
    let done = password::hide().and_then(|()| execute(CommandLine::of_process()));
    let status = match done {
        Ok(status) => status,
        Err(error) => {
            print::error(&error);
            ExitStatus::from(&error)
        }
    };
    status.into()
}

fn execute(line: CommandLine) -> Result<ExitStatus, CommandError> {
    match line.command {
        Command::Run(options) => commands::run(&options),
        Command::Predict(options) => commands::predict(&options),
        Command::Page(options) => commands::page(&options),
        Command::Study(options) => commands::study(&options),
        Command::Attach(options) => commands::attach(&options),
        Command::Serve(options) => commands::serve(&options),
        Command::Event(options) => commands::event(&options),
        Command::Report(options) => commands::report(&options),
        Command::Witness(options) => commands::witness(&options),
        Command::Audit(options) => commands::audit(&options),
        Command::Verify(options) => commands::verify(&options),
        Command::Calibrate(options) => commands::calibrate(&options),
        Command::Certificate(options) => commands::certificate(&options),
        Command::List(options) => commands::list(&options),
        Command::Show(options) => commands::show(&options),
        Command::Doctor(options) => commands::doctor(&options),
        Command::Init => commands::init(),
        Command::Import(options) => commands::import(&options),
        Command::Crashtest(options) => commands::crashtest(&options),
        Command::Edb { command } => commands::edb(&command),
        Command::Completions { shell } => commands::completions(shell),
        Command::Manual(options) => commands::manual(&options),
    }
}
