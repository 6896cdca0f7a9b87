//! `proofload show`: a profile as it is written, or as it comes out.

use array::description::bundled_array;
use array::disk::BUNDLED_DISKS;
use workload::profile::{Layer, bundled, load};

use super::print;
use crate::cli::ShowOptions;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::study::bundled_study;
use crate::workloads;

/// Prints the commented TOML of a bundled profile, or the settings that a file comes to.
pub fn show(options: &ShowOptions) -> Result<ExitStatus, Failure> {
    let as_written = options.set.is_empty() && !options.resolved;
    if let Some(text) = of_a_study(options) {
        return match as_written {
            true => print(text),
            false => Err(Failure::usage(
                format!(
                    "{} is a study; only profiles can be resolved.",
                    options.workload
                ),
                "Try 'proofload study NAME' with the same --set.",
            )),
        };
    }
    if let Some(profile) = bundled(&options.workload).filter(|_| as_written) {
        return print(profile.toml);
    }
    if let Some(text) = of_an_array(&options.workload) {
        if !as_written {
            return Err(Failure::usage(
                format!(
                    "{} is not a profile; only profiles can be resolved.",
                    options.workload
                ),
                "Try 'proofload predict WORKLOAD --array NAME --dry-run' with the same --set.",
            ));
        }
        return print(text);
    }
    let mut layers = vec![workloads::find(&options.workload)?];
    layers.extend(options.set.iter().map(|text| Layer::assignment(text)));
    print(&load(layers)?.to_toml())
}

/// The text of a bundled study: when it is asked for, or when nothing else has the name.
fn of_a_study(options: &ShowOptions) -> Option<&'static str> {
    let name = &options.workload;
    let taken = bundled(name).is_some() || of_an_array(name).is_some();
    let study = bundled_study(name).filter(|_| options.study || !taken);
    study.map(|study| study.toml)
}

/// The text of a bundled array or disk.
fn of_an_array(name: &str) -> Option<&'static str> {
    let disk = BUNDLED_DISKS.iter().find(|disk| disk.name == name);
    bundled_array(name)
        .map(|array| array.toml)
        .or_else(|| disk.map(|disk| disk.toml))
}
