//! Options of `verify`.

use std::path::PathBuf;

/// Options of `verify`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload verify proofload-runs/exchange-2013-20260801T120000Z
  proofload verify runs/* --json

Exit status:
    0  everything was recomputed and agrees
    2  not the directory of a run
    4  something was changed: a file, a figure or the verdict
    5  nothing was found changed, but not everything could be compared")]
pub struct VerifyOptions {
    /// Run directories.
    #[arg(required = true, value_name = "DIR")]
    pub runs: Vec<PathBuf>,
    /// Print one JSON object for each run, on a line of its own.
    #[arg(long)]
    pub json: bool,
}
