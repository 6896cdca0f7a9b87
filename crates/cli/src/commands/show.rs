//! `proofload show`: a profile as it is written, or as it comes out.

use array::description::bundled_array;
use array::disk::bundled_disk;
use config::Source;

use crate::error::CommandError;
use crate::exit::ExitStatus;
use crate::options::ShowOptions;
use crate::print::print;
use proofload::study::bundled_study;
use proofload::workloads;
use proofload::{Scenario, WORKLOADS};

/// Prints the commented TOML of a bundled profile, or the settings that a file comes to.
pub fn show(options: &ShowOptions) -> Result<ExitStatus, CommandError> {
    let as_written = options.set.is_empty() && !options.resolved;
    if let Some(text) = of_a_study(options) {
        return match as_written {
            true => print(text),
            false => Err(CommandError::usage(
                format!(
                    "{} is a study; only profiles can be resolved.",
                    options.workload
                ),
                "Try 'proofload study NAME' with the same --set.",
            )),
        };
    }
    if let Some(profile) = WORKLOADS.bundled(&options.workload).filter(|_| as_written) {
        return print(profile.toml);
    }
    if let Some(text) = of_an_array(&options.workload) {
        if !as_written {
            return Err(CommandError::usage(
                format!(
                    "{} is not a profile; only profiles can be resolved.",
                    options.workload
                ),
                "Try 'proofload predict WORKLOAD --array NAME --dry-run' with the same --set.",
            ));
        }
        return print(text);
    }
    let mut sources = vec![workloads::find(&Scenario::new(&options.workload))?];
    let set = options.set.iter();
    sources.extend(set.map(|text| Source::assignment("--set", text)));
    print(&WORKLOADS.read(&sources)?.to_toml())
}

/// The text of a bundled study: when it is asked for, or when nothing else has the name.
fn of_a_study(options: &ShowOptions) -> Option<&'static str> {
    let name = &options.workload;
    let taken = WORKLOADS.bundled(name).is_some() || of_an_array(name).is_some();
    let study = bundled_study(name).filter(|_| options.study || !taken);
    study.map(|study| study.toml)
}

/// The text of a bundled array or disk.
fn of_an_array(name: &str) -> Option<&'static str> {
    let array = bundled_array(name).map(|array| array.toml);
    array.or_else(|| bundled_disk(name).map(|disk| disk.toml))
}
