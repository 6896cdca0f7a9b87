//! `proofload list`: what is built in.

use workload::profile::BUNDLED;

use super::print;
use crate::cli::{ListOptions, Listed};
use crate::exit::ExitStatus;
use crate::failure::Failure;

/// Prints the names with their descriptions.
pub fn list(options: &ListOptions) -> Result<ExitStatus, Failure> {
    match options.what {
        Listed::Workloads => workloads(),
    }
}

fn workloads() -> Result<ExitStatus, Failure> {
    let mut text = String::new();
    for profile in BUNDLED {
        let loaded = profile.load()?;
        text.push_str(&format!("{:<16}{}\n", profile.name, loaded.description));
    }
    print(&text)
}
