//! Checks of answers: as `run` makes them before it begins.

use std::path::{Path, PathBuf};

use config::ByteSize;
use execution::{Error, Output, RunOptions};
use workload::{LoadOption, Workload};

use crate::jetstress::Draft;
use crate::run::Prepared;
use crate::scenario::Scenario;
use crate::setting::{Key, Value};

/// The name of the profile in memory, and of its file unless another one is named.
pub(super) const PROFILE: &str = "profile.toml";

/// Where volumes are mounted.
const MOUNTS: &str = "/mnt";

/// Steps by which the largest size that fits is approached.
const STEPS: u32 = 12;

/// Part of the largest size that fits which is proposed at most, in percent: a file system that is filled wholly
/// behaves unlike any in use, and whatever else writes there would end the run.
pub(super) const PROPOSED_PERCENT: u64 = 90;

/// What is checked: a profile, and where its databases and logs shall lie.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    pub draft: Draft,
    pub on: Vec<PathBuf>,
    pub log_on: Vec<PathBuf>,
    pub workload: &'static dyn Workload,
}

/// Reads the profile, with all its rules; the first thing that is wrong, in a sentence.
pub(super) fn profile(plan: &Plan) -> Result<(), Error> {
    plan.draft.read().map(drop).map_err(|error| {
        let first = error.diagnostics.first();
        let text = |text: &str| measure::units::sentence(&format!("{text}."));
        Error::usage(
            first.map_or(String::new(), |one| text(&one.message)),
            first
                .and_then(|one| one.help.as_deref())
                .map_or(String::new(), text),
        )
    })
}

/// Checks directories and devices with little data: whether they can be used at all.
pub(super) fn targets(plan: &Plan) -> Result<(), Error> {
    let mut scenario = scenario(plan);
    let mut count = 1;
    if plan.workload.setting_of(LoadOption::Databases).is_some() {
        // No directory is left without a database or a log.
        count = plan.on.len().max(plan.log_on.len());
        scenario.set(&Key::Databases, &Value::from(count.to_string().as_str()));
    }
    let size = ByteSize(plan.workload.small_database_bytes() * count as u64);
    scenario.set(&Key::TargetSize, &Value::from(size.to_string().as_str()));
    Prepared::new(&scenario, &options(plan)).map(drop)
}

/// The first directory below /mnt that a run could take; the current one where there is none.
pub(super) fn usual_target(plan: &Plan) -> PathBuf {
    let entries = std::fs::read_dir(MOUNTS).into_iter().flatten().flatten();
    let mut directories: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    directories.sort();
    let usable = |path: &PathBuf| {
        let on = vec![path.clone()];
        let plan = plan.clone();
        targets(&Plan { on, ..plan }).is_ok()
    };
    let found = directories.into_iter().find(usable);
    found.unwrap_or_else(|| whole(Path::new(".")))
}

/// A path that is the same place whatever directory a command is given in. One that has none stays as it is.
pub(super) fn whole(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

/// Where the profile is written unless another file is named: on none of these targets.
pub(super) fn usual_file(targets: &[PathBuf]) -> PathBuf {
    let here = PathBuf::from(".");
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let elsewhere = home.into_iter().chain([std::env::temp_dir()]);
    let apart = |place: &PathBuf| !crate::results_place::lies_in(place, targets);
    if apart(&here) {
        return PathBuf::from(PROFILE);
    }
    let place = elsewhere.into_iter().find(apart);
    place.unwrap_or_default().join(PROFILE)
}

/// Checks that everything fits; what goes where and how long it takes.
pub(super) fn storage(plan: &Plan) -> Result<Vec<String>, Error> {
    profile(plan)?;
    let prepared = Prepared::new(&scenario(plan), &options(plan))?;
    let described = prepared.describe()?;
    Ok(described.lines().map(str::to_owned).collect())
}

/// `usual`, or where it is more than [`PROPOSED_PERCENT`] of the largest size that fits, this part of that, in whole
/// MiB; `usual` where no size fits, so that the answer says why.
pub(super) fn fitting(usual: ByteSize, plan: impl Fn(ByteSize) -> Plan) -> ByteSize {
    let fits = |size: ByteSize| {
        let plan = plan(size);
        profile(&plan).is_ok() && Prepared::new(&scenario(&plan), &options(&plan)).is_ok()
    };
    proposal(usual, fits)
}

fn proposal(usual: ByteSize, fits: impl Fn(ByteSize) -> bool) -> ByteSize {
    let with_reserve = |bytes: u64| ByteSize((bytes / PROPOSED_PERCENT).saturating_mul(100));
    if fits(with_reserve(usual.bytes())) {
        return usual;
    }
    let (mut least, mut most) = (0, usual.bytes() >> 20);
    for _ in 0..STEPS {
        let middle = least + (most - least) / 2;
        if middle == least {
            break;
        }
        if fits(with_reserve(middle << 20)) {
            least = middle;
        } else {
            most = middle;
        }
    }
    if least == 0 {
        usual
    } else {
        ByteSize::mib(three_digits(least))
    }
}

/// A number with its first three digits, the others zero.
fn three_digits(number: u64) -> u64 {
    let digits = number.checked_ilog10().unwrap_or(0);
    let unit = 10_u64.pow(digits.saturating_sub(2));
    number / unit * unit
}

fn scenario(plan: &Plan) -> Scenario {
    let mut scenario = Scenario::new(PROFILE).with_file(PROFILE, plan.draft.to_toml());
    scenario.output = Output::Memory;
    scenario
}

fn options(plan: &Plan) -> RunOptions {
    RunOptions {
        on: plan.on.clone(),
        log_on: plan.log_on.clone(),
        ..RunOptions::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_of_what_fits_stays_free() {
        let proposed = |usual, most| {
            let fits = |size: ByteSize| size <= ByteSize::mib(most);
            proposal(ByteSize::mib(usual), fits)
        };
        assert_eq!(proposed(500, 1_000), ByteSize::mib(500));
        // It would fit, and fill everything.
        assert_eq!(proposed(500, 500), ByteSize::mib(450));
        assert_eq!(proposed(500, 100), ByteSize::mib(90));
        // Nothing fits: checking the answer says why.
        assert_eq!(proposed(500, 0), ByteSize::mib(500));
    }

    #[test]
    fn sizes_are_as_people_write_them() {
        assert_eq!(
            [7, 266, 12_345, 999_999].map(three_digits),
            [7, 266, 12_300, 999_000]
        );
    }
}
