//! The measurements, one per file. Each comparison alternates Proofload and the peer on the same file
//! system; the array model is measured alone.

pub mod array;
pub mod build;
pub mod checks;
pub mod checksum;
pub mod drivers;
pub mod earlier;
pub mod mixed;
pub mod outputs;
pub mod read_only;
pub mod serve;

use crate::fio;
use crate::product::{Product, remove_directory};
use measure::result::RunResult;
use std::path::PathBuf;

/// What every case needs.
#[derive(Clone)]
pub struct Bench {
    /// The product on its scratch storage.
    pub product: Product,
    /// Where fio's own files and job files go.
    pub scratch: PathBuf,
    /// How often each side runs.
    pub rounds: usize,
    /// Measured seconds of each run.
    pub seconds: u64,
    /// Size of the databases under test together in GiB.
    pub size_gib: u64,
    /// How many databases share that size and the cache.
    pub databases: u32,
}

/// Page cache of all databases under test together, MiB.
const CACHE_MIB: u32 = 256;

impl Bench {
    /// `--target-size` of the databases under test.
    pub fn target_size(&self) -> String {
        format!("{}GiB", self.size_gib)
    }

    /// Builds the databases under test on emptied storage and keeps it; returns the result document.
    ///
    /// # Errors
    /// A sentence when the storage cannot be emptied or the build does not end well.
    pub fn build_afresh(&self, name: &str, settings: &[&str]) -> Result<RunResult, String> {
        let storage = &self.product.storage;
        remove_directory(storage)?;
        std::fs::create_dir_all(storage)
            .map_err(|error| format!("cannot make {}: {error}", storage.display()))?;
        fio::settle(storage)?;
        let arguments = [
            "--databases",
            &self.databases.to_string(),
            "--target-size",
            &self.target_size(),
            "--build-only",
            "--keep",
        ];
        let mut arguments = arguments.map(str::to_owned).to_vec();
        push_settings(&mut arguments, settings);
        self.product.run(name, &arguments)
    }

    /// Arguments that the runs over the kept database share, before those of the case.
    pub fn load_arguments(&self, settings: &[&str]) -> Vec<String> {
        let mut arguments: Vec<String> = [
            "--databases",
            &self.databases.to_string(),
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
        let cache = CACHE_MIB / self.databases;
        let cache = format!("engine.cache_size_per_database={cache}MiB");
        let common = [
            cache.as_str(),
            "run.verify_after_run=false",
            "run.sample_interval=1s",
            "maintenance.enabled=false",
            // 32 sessions are 32 requests under way, as with fio.
            "mail.session_pause_factor=0",
        ];
        push_settings(&mut arguments, &common);
        push_settings(&mut arguments, settings);
        arguments
    }
}

fn push_settings(arguments: &mut Vec<String>, settings: &[&str]) {
    for setting in settings {
        arguments.extend(["--set".to_owned(), (*setting).to_owned()]);
    }
}
