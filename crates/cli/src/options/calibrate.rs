//! The options of `calibrate`.

use std::path::{Path, PathBuf};

use config::{ByteSize, TimeSpan};
use proofload::calibration::{PARAMETER_SETS, ProbeAccess, TEST_TIME, TargetRequest};

use crate::error::CommandError;

/// Options of `calibrate`.
#[derive(clap::Args, Clone, Debug)]
#[command(after_help = "Examples:
  A file is made in the directory, tested for ten minutes, and removed:
    proofload calibrate /mnt/disk/new --like ssd-sata-mlc-256gb --out my.toml
  A block device is only read:
    proofload calibrate /dev/sdc --read-only --like sata-7k2-3tb --out my.toml --time 30m
  A block device is overwritten, and what was measured is kept for other classes:
    proofload calibrate /dev/sdc --erase-device --like sata-7k2-3tb --out my.toml --save tests.json
    proofload calibrate --fio tests.json --like nl-sas-7k2-1tb --out other.toml
  Tests of fio:
    proofload calibrate --fio results/ --like ssd-sata-mlc-256gb --out my.toml
  A prediction with the model:
    proofload predict trace.csv --array my.toml

Exit status:
    0  the model was written
    2  usage: nothing to calibrate from, no results of fio, too few of them, an unknown class, too
       little time, a block device without --read-only or --erase-device, or --out is there
    3  environment: a target that is in use, not empty, in memory or too small; a file cannot be read
       or written
    4  an I/O error of the storage
  130  interrupted; what was made on the target is removed, and no model is written")]
pub struct CalibrateOptions {
    /// Test this storage: an empty directory on it, or a block device.
    ///
    /// In a directory a file of random bytes is made, and removed at the end. The tests are random and
    /// sequential reads of several sizes and queue depths, then writes.
    #[arg(value_name = "TARGET")]
    pub target: Option<PathBuf>,
    /// In place of TARGET, results of 'fio --output-format=json': files, and directories of files that end
    /// in .json.
    ///
    /// Each test says more of the storage the less it has in common with the others: random reads of
    /// several sizes and queue depths, sequential reads and writes. A fifth of them is held out and
    /// judges the model.
    #[arg(long, value_name = "PATH", value_delimiter = ',')]
    pub fio: Vec<PathBuf>,
    /// The class of disk to begin with: one of 'proofload list disks', or a file that describes one.
    #[arg(long, value_name = "DISK")]
    pub like: String,
    /// Write the array to this file, which must be new.
    #[arg(long, value_name = "FILE")]
    pub out: PathBuf,
    /// How long all tests take together, such as 30m. Laying out the file and the search come on top.
    #[arg(long, value_name = "TIME", value_parser = TimeSpan::parse, default_value_t = TEST_TIME)]
    #[arg(conflicts_with = "fio")]
    pub time: TimeSpan,
    /// Make no tests that write. A block device is not written at all.
    #[arg(long, conflicts_with_all = ["fio", "erase_device"])]
    pub read_only: bool,
    /// Overwrite a block device. Never touches one that is in use.
    #[arg(long, conflicts_with = "fio")]
    pub erase_device: bool,
    /// How much of the storage is tested, such as 20GB. Without it an eighth of the room, from 1 to 64 GiB;
    /// with --read-only all of a block device where the class is a hard disk.
    #[arg(long, value_name = "SIZE", value_parser = ByteSize::parse, conflicts_with = "fio")]
    pub target_size: Option<ByteSize>,
    /// Write what was measured to this new file, which --fio reads.
    #[arg(long, value_name = "FILE", conflicts_with = "fio")]
    pub save: Option<PathBuf>,
    /// How many parameter sets are tried. Fewer are done sooner and fit less well.
    #[arg(long, value_name = "N", default_value_t = PARAMETER_SETS, value_parser = parameter_sets)]
    pub sets: usize,
    /// Seed of the tests and of the search; the same seed gives the same model of the same tests.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Print what would be done, and do nothing.
    #[arg(long)]
    pub dry_run: bool,
    /// No plan and no progress.
    #[arg(long)]
    pub quiet: bool,
}

impl CalibrateOptions {
    /// The storage to be tested; `None` where there are tests of fio.
    ///
    /// # Errors
    /// Neither was given, or both.
    pub fn target(&self) -> Result<Option<&Path>, CommandError> {
        match (&self.target, self.fio.is_empty()) {
            (Some(target), true) => Ok(Some(target)),
            (None, false) => Ok(None),
            (None, true) => Err(CommandError::usage(
                "There is nothing to calibrate from.",
                "Name a directory or a block device to test, or results of fio with --fio.",
            )),
            (Some(target), false) => Err(CommandError::usage(
                format!(
                    "Either {} is tested, or tests of fio are read, not both.",
                    target.display()
                ),
                "Leave out one of them; several results of fio are separated by commas.",
            )),
        }
    }

    /// Where tests are made, and how.
    pub fn target_request(&self, target: &Path) -> TargetRequest {
        TargetRequest {
            target: target.to_owned(),
            access: match (self.read_only, self.erase_device) {
                (true, _) => ProbeAccess::ReadOnly,
                (false, true) => ProbeAccess::Erase,
                (false, false) => ProbeAccess::Unstated,
            },
            with_writes: !self.read_only,
            time: self.time,
            size_bytes: self.target_size.map(ByteSize::bytes),
            seed: self.seed,
        }
    }
}

/// Fewer than the population and its first step leave nothing to choose from.
fn parameter_sets(text: &str) -> Result<usize, String> {
    let sets = text
        .parse()
        .ok()
        .filter(|sets| (48..=1_000_000).contains(sets));
    sets.ok_or_else(|| "a whole number from 48 to 1,000,000 is meant".to_owned())
}
