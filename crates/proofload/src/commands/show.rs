//! `proofload show`: a profile as it is written, or as it comes out.

use workload::profile::{Layer, bundled, load};

use super::print;
use crate::cli::ShowOptions;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::workloads;

/// Prints the commented TOML of a bundled profile, or the settings that a file comes to.
pub fn show(options: &ShowOptions) -> Result<ExitStatus, Failure> {
    let as_written = options.set.is_empty() && !options.resolved;
    if let Some(profile) = bundled(&options.workload).filter(|_| as_written) {
        return print(profile.toml);
    }
    let mut layers = vec![workloads::find(&options.workload)?];
    layers.extend(options.set.iter().map(|text| Layer::assignment(text)));
    print(&load(layers)?.to_toml())
}
