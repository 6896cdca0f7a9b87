//! Where results go, and what is printed.

use std::path::PathBuf;

use clap::Args;
use proofload::Output;

/// Options of every command that writes a directory of results.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputOptions {
    /// Directory for the results [default: proofload-runs/<name>-<UTC time>, in the home directory where
    /// the current one is a target].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Print the result as JSON on standard output, and nothing else.
    #[arg(long)]
    pub json: bool,
    /// Print no progress and no tables; see the exit status.
    #[arg(long)]
    pub quiet: bool,
}

impl OutputOptions {
    /// The directory that was asked for, or a new one.
    pub fn place(&self) -> Output {
        match &self.out {
            Some(out) => Output::Directory(out.clone()),
            None => Output::NewDirectory,
        }
    }
}
