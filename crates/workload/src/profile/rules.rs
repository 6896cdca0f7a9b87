//! Rules between settings that are each right by themselves.

use super::run::COMMON_STEP;
use super::{Levels, Run};
use config::{ConfigError, Layers, Settings, TimeSpan};

/// A rule that a profile breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The settings it is about; the fault is shown at the one that was given last.
    pub paths: &'static [&'static str],
    /// What is wrong, in words.
    pub message: String,
    /// What would be right.
    pub help: String,
}

/// Reads the profile of a workload. What nobody has written is as in `defaults`; `broken` gives the
/// rules that the settings break, and `kinds` are the workloads that a profile can be for.
///
/// # Errors
/// Everything that is wrong, each fault with its place.
pub fn read<T: Settings>(
    layers: Layers,
    kinds: &[&str],
    defaults: &T,
    broken: impl Fn(&T) -> Vec<Rule>,
) -> Result<T, ConfigError> {
    let kind = layers.text("kind").map(str::to_owned);
    let document = layers.read(Some(defaults))?;
    let mut rules = broken(&document.settings);
    rules.extend(unknown_kind(kind.as_deref(), kinds));
    let broken = rules
        .into_iter()
        .map(|rule| document.broken_rule(rule.paths, rule.message, Some(rule.help)));
    let broken = broken.collect();
    Ok(document.accept(broken)?.settings)
}

fn unknown_kind(kind: Option<&str>, kinds: &[&str]) -> Option<Rule> {
    let kind = kind.filter(|kind| !kinds.contains(kind))?;
    let names: Vec<String> = kinds.iter().map(|kind| format!("\"{kind}\"")).collect();
    Some(Rule {
        paths: &["kind"],
        message: format!("\"{kind}\" is not a kind of workload"),
        help: format!("write {}", names.join(" or ")),
    })
}

/// The rules that profiles of all workloads have in common, as far as they are broken.
#[must_use]
pub fn common_rules(levels: &Levels, run: &Run) -> Vec<Rule> {
    let mut broken = Vec::new();
    limits(levels, &mut broken);
    times(run, &mut broken);
    broken
}

fn limits(levels: &Levels, broken: &mut Vec<Rule>) {
    let pairs: [(&'static [&'static str], bool); 2] = [
        (
            &[
                "service_levels.maximum_database_read_lenient",
                "service_levels.maximum_database_read_strict",
            ],
            levels.maximum_database_read_lenient_ms < levels.maximum_database_read_strict_ms,
        ),
        (
            &[
                "service_levels.maximum_log_write_lenient",
                "service_levels.maximum_log_write_strict",
            ],
            levels.maximum_log_write_lenient_ms < levels.maximum_log_write_strict_ms,
        ),
    ];
    for (paths, wrong) in pairs {
        if wrong {
            broken.push(Rule {
                paths,
                message: "the lenient limit is stricter than the strict one".to_owned(),
                help: format!("make {} at least as long as {}", paths[0], paths[1]),
            });
        }
    }
}

fn times(run: &Run, broken: &mut Vec<Rule>) {
    if run.sample_interval() > run.duration {
        broken.push(Rule {
            paths: &["run.sample_interval", "run.duration"],
            message: format!(
                "a run of {} is shorter than one sample of {}",
                run.duration,
                run.sample_interval()
            ),
            help: "make run.sample_interval shorter, or run longer with --duration".to_owned(),
        });
    }
    if let Some(second) = run.second_sample_interval {
        second_series(run, second, broken);
    }
    if matches!((run.warm_up.minimum, run.warm_up.maximum), (Some(least), Some(most)) if least > most)
    {
        broken.push(Rule {
            paths: &["run.warm_up.minimum", "run.warm_up.maximum"],
            message: "the shortest warm-up is longer than the longest".to_owned(),
            help: "make run.warm_up.maximum at least as long as run.warm_up.minimum".to_owned(),
        });
    }
}

fn second_series(run: &Run, second: TimeSpan, broken: &mut Vec<Rule>) {
    let first = run.sample_interval();
    let is_multiple = |interval: TimeSpan| interval.as_ns().is_multiple_of(COMMON_STEP.as_ns());
    if !is_multiple(first) || !is_multiple(second) {
        broken.push(Rule {
            paths: &["run.second_sample_interval", "run.sample_interval"],
            message: format!(
                "samples of {first} and of {second} are not both whole multiples of {COMMON_STEP}"
            ),
            help: format!("make both whole multiples of {COMMON_STEP}"),
        });
    }
}
