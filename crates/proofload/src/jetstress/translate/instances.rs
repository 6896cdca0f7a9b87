//! The databases of a configuration and where they lie.

use execution::Error;

use super::Translation;
use crate::jetstress::command::mounted;
use crate::jetstress::elements::GROUP_MARK;
use crate::jetstress::scalar::{Scalar, shown};

const INSTANCE: &str = "ExchangeProfile/EseInstances/EseInstance";

/// One instance: since 2010 a database with its log, before a storage group.
#[derive(Default)]
struct Instance {
    databases: Vec<String>,
    log: Option<String>,
}

/// Takes the instances, which give the directories of the command; the number of databases.
///
/// # Errors
/// A bias that is no number.
pub(super) fn take(translation: &mut Translation) -> Result<Option<usize>, Error> {
    let mut instances: Vec<Instance> = Vec::new();
    for element in translation.elements.take_all(INSTANCE) {
        let rest = element.path.strip_prefix(INSTANCE).unwrap_or_default();
        if rest == GROUP_MARK {
            instances.push(Instance::default());
            continue;
        }
        let Some(instance) = instances.last_mut() else {
            continue;
        };
        match rest {
            _ if element.value.is_empty() => {}
            "@IopsBias" => {
                let bias = f64::parse(&element.value);
                let bias = bias.map_err(|right| translation.elements.wrong(&element, &right))?;
                if bias != 1.0 {
                    translation.refuse(
                        &element,
                        "the load is the same on each database unless mail.load_weights divides it",
                    );
                }
            }
            "/DatabasePaths/Path" => instance.databases.push(element.value),
            "/LogPath" => instance.log = Some(element.value),
            "/DatabaseBackupPath" => {
                let reason = "one directory takes all copies: --backup-to DIR, with --test backup";
                translation.refuse(&element, reason);
            }
            _ => translation.refuse(&element, "not known"),
        }
    }
    instances.retain(|one| !one.databases.is_empty());
    if instances.is_empty() {
        return Ok(None);
    }
    if instances.iter().any(|one| one.databases.len() > 1) {
        translation.notes.change(
            "EseInstance with several paths".to_owned(),
            "each database has a log of its own, where those of a storage group share one",
        );
    }
    let databases: Vec<&String> = instances.iter().flat_map(|one| &one.databases).collect();
    let count = databases.len();
    let logs: Vec<&String> = instances
        .iter()
        .flat_map(|one| {
            one.databases
                .iter()
                .map(|path| one.log.as_ref().unwrap_or(path))
        })
        .collect();
    let on = directories(translation, &databases, "--on");
    let log_on = directories(translation, &logs, "--log-on");
    translation.command.on = on;
    translation.command.log_on = log_on;
    Ok(Some(count))
}

/// Directories as options take them, each once, in the order of their first database.
fn directories(translation: &mut Translation, paths: &[&String], option: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    for path in paths {
        let is_here = path.starts_with('/') && !path.contains(',');
        let directory = if is_here {
            Some((*path).clone())
        } else {
            mounted(path)
        };
        let directory =
            directory.filter(|path| !path.contains(',') && !path.chars().any(char::is_control));
        let Some(directory) = directory else {
            let reason = format!("no path that {option} can have; name the directory yourself");
            translation
                .notes
                .refuse(format!("path {}", shown(path)), reason);
            continue;
        };
        if found.contains(&directory) {
            continue;
        }
        if !is_here {
            let outcome = format!(
                "{option} {directory}, where that volume may be mounted; name its directory here"
            );
            translation
                .notes
                .change(format!("path {}", shown(path)), outcome);
        }
        found.push(directory);
    }
    found
}
