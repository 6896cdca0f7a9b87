//! Options of `doctor`.

use std::path::PathBuf;

/// Options of `doctor`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  proofload doctor /mnt/array
  proofload doctor /mnt/a /mnt/b /dev/sdc
  proofload doctor /mnt/array --json | jq '.places[].findings[]'

Exit status:
    0  every place is suitable for a run, whatever else was found
    3  a place is not suitable, or cannot be examined")]
pub struct DoctorOptions {
    /// Directories or block devices to examine, as a run is given them with --on.
    #[arg(required = true, value_name = "PLACE")]
    pub places: Vec<PathBuf>,
    /// How long to watch the devices for I/O of others, in seconds; 0 does not.
    #[arg(long, value_name = "SECONDS", default_value_t = 3)]
    #[arg(value_parser = clap::value_parser!(u32).range(0..=3600))]
    pub watch: u32,
    /// Print one JSON document instead of text.
    #[arg(long)]
    pub json: bool,
    /// Do not say what is being done.
    #[arg(long)]
    pub quiet: bool,
}
