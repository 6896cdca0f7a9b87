//! The options of `calibrate`.

use std::path::PathBuf;

use proofload::calibration::PARAMETER_SETS;

/// Options of `calibrate`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  proofload calibrate --fio results/ --like ssd-sata-mlc-256gb --out my.toml
  proofload predict trace.csv --array my.toml

Exit status:
    0  the model was written
    2  usage: no results of fio, too few of them, an unknown class, or --out is there
    3  environment: a file cannot be read or written")]
pub struct CalibrateOptions {
    /// Results of 'fio --output-format=json': files, and directories of files that end in .json.
    ///
    /// Each test says more of the storage the less it has in common with the others: random reads of
    /// several sizes and queue depths, sequential reads and writes. A fifth of them is held out and
    /// judges the model.
    #[arg(long, value_name = "PATH", required = true, value_delimiter = ',')]
    pub fio: Vec<PathBuf>,
    /// The class of disk to begin with: one of 'proofload list disks', or a file that describes one.
    #[arg(long, value_name = "DISK")]
    pub like: String,
    /// Write the array to this file, which must be new.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// How many parameter sets are tried. Fewer are done sooner and fit less well.
    #[arg(long, value_name = "N", default_value_t = PARAMETER_SETS, value_parser = parameter_sets)]
    pub sets: usize,
    /// Seed of the search; the same seed gives the same model.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print what would be done, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// No plan and no progress.
    #[arg(long)]
    pub quiet: bool,
}

/// Fewer than the population and its first step leave nothing to choose from.
fn parameter_sets(text: &str) -> Result<usize, String> {
    let sets = text
        .parse()
        .ok()
        .filter(|sets| (48..=1_000_000).contains(sets));
    sets.ok_or_else(|| "a whole number from 48 to 1,000,000 is meant".to_owned())
}
