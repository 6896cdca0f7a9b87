//! The commands: each from its options to its exit status.

mod attach;
mod audit;
mod calibrate;
mod certificate;
mod crashtest;
mod doctor;
mod edb;
mod import;
mod init;
mod launch;
mod list;
mod manual;
mod outcome;
mod page;
mod predict;
mod ranks;
mod report;
mod reports;
mod run;
mod serve;
mod show;
mod study;
mod sweep;
mod verify;
mod watched;
mod witness;

use clap::CommandFactory;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::CommandLine;
use crate::print::print;

pub use attach::attach;
pub use audit::audit;
pub use calibrate::calibrate;
pub use certificate::certificate;
pub use crashtest::crashtest;
pub use doctor::doctor;
pub use edb::edb;
pub use import::import;
pub use init::init;
pub use list::list;
pub use manual::manual;
pub use page::page;
pub use predict::predict;
pub use report::report;
pub use run::run;
pub use serve::{event, serve};
pub use show::show;
pub use study::study;
pub use verify::verify;
pub use witness::witness;

/// Prints the completion script of a shell.
pub fn completions(shell: clap_complete::Shell) -> Result<ExitStatus, CommandError> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut CommandLine::command(), "proofload", &mut script);
    print(&String::from_utf8_lossy(&script))
}
