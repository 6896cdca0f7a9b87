//! The commands that need no storage of their own.

mod edb;
mod list;
mod report;
mod show;

use std::io::{self, Write};

use clap::CommandFactory;

use crate::cli::CommandLine;
use crate::exit::ExitStatus;
use crate::failure::Failure;

pub use edb::edb;
pub use list::list;
pub use report::report;
pub use show::show;

/// Prints `text` on standard output.
pub fn print(text: &str) -> Result<ExitStatus, Failure> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())
        .and_then(|()| out.flush())
        .map_err(|error| Failure::output(&error))?;
    Ok(ExitStatus::Pass)
}

/// Prints the completion script of a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitStatus, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "proofload", &mut script);
    print(&String::from_utf8_lossy(&script))
}

/// Prints the manual page, with the options of every command.
pub fn manual() -> Result<ExitStatus, Failure> {
    let mut page = Vec::new();
    let command = CommandLine::command();
    let rendered = clap_mangen::Man::new(command.clone()).render(&mut page);
    rendered.map_err(|error| Failure::output(&error))?;
    for inner in command.get_subcommands() {
        let inner = inner.clone().flatten_help(true);
        let rendered = clap_mangen::Man::new(inner).render(&mut page);
        rendered.map_err(|error| Failure::output(&error))?;
    }
    print(&String::from_utf8_lossy(&page))
}
