//! The commands: each from its options to its exit status.

mod crashtest;
mod edb;
mod list;
mod predict;
mod report;
mod reports;
mod run;
mod show;
mod study;
mod sweep;

use clap::CommandFactory;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::CommandLine;
use crate::print::print;

pub use crashtest::crashtest;
pub use edb::edb;
pub use list::list;
pub use predict::predict;
pub use report::report;
pub use run::run;
pub use show::show;
pub use study::study;

/// Prints the completion script of a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitStatus, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "proofload", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Prints the manual page, with the options of every command.
pub fn manual() -> Result<ExitStatus, CommandError> {
    let mut page = Vec::new();
    let command = CommandLine::command();
    let rendered = clap_mangen::Man::new(command.clone()).render(&mut page);
    rendered.map_err(|error| CommandError::output(&error))?;
    for inner in command.get_subcommands() {
        let inner = inner.clone().flatten_help(true);
        let rendered = clap_mangen::Man::new(inner).render(&mut page);
        rendered.map_err(|error| CommandError::output(&error))?;
    }
    print(&String::from_utf8_lossy(&page))
}
