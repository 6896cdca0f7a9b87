//! The comparisons, one per file. Each alternates Proofload and the peer on the same file system.

pub mod build;
pub mod checksum;
pub mod mixed;
pub mod read_only;

use crate::product::Product;
use std::path::PathBuf;

/// What every case needs.
pub struct Bench {
    /// The product on its scratch storage.
    pub product: Product,
    /// Where fio's own files and job files go.
    pub scratch: PathBuf,
    /// How often each side runs.
    pub rounds: usize,
    /// Measured seconds of each run.
    pub seconds: u64,
    /// Size of the database under test in GiB.
    pub size_gib: u64,
}

impl Bench {
    /// `--target-size` of the database under test.
    pub fn target_size(&self) -> String {
        format!("{}GiB", self.size_gib)
    }

    /// Arguments that the runs over the kept database share, before those of the case.
    pub fn load_arguments(&self, settings: &[&str]) -> Vec<String> {
        let mut arguments: Vec<String> = [
            "--databases",
            "1",
            "--keep",
            "--reuse",
            "--threads",
            "32",
            "--target-size",
            &self.target_size(),
            "--duration",
            &format!("{}s", self.seconds),
        ]
        .iter()
        .map(ToString::to_string)
        .collect();
        let common = [
            "engine.cache_size_per_database=256MiB",
            "run.verify_after_run=false",
            "run.sample_interval=1s",
            "maintenance.enabled=false",
        ];
        for setting in common.iter().chain(settings) {
            arguments.extend(["--set".to_owned(), (*setting).to_owned()]);
        }
        arguments
    }
}
