//! The databases of a configuration and where they lie.

use execution::Error;

use super::Translation;
use super::test_design::BACKUP;
use crate::jetstress::command::{mounted, quoted};
use crate::jetstress::draft::number;
use crate::jetstress::elements::{Element, GROUP_MARK};
use crate::jetstress::scalar::{Scalar, shown};

const INSTANCE: &str = "ExchangeProfile/EseInstances/EseInstance";

/// One instance: since 2010 a database with its log, before a storage group.
#[derive(Default)]
struct Instance {
    databases: Vec<String>,
    log: Option<String>,
    weight: Option<f64>,
}

/// Takes the instances, which give the directories of the command; the number of databases.
///
/// # Errors
/// A bias that is no number.
pub(super) fn take(translation: &mut Translation) -> Result<Option<usize>, Error> {
    let mut instances: Vec<Instance> = Vec::new();
    let mut backup_paths = Vec::new();
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
                instance.weight = Some(bias);
            }
            "/DatabasePaths/Path" => instance.databases.push(element.value),
            "/LogPath" => instance.log = Some(element.value),
            "/DatabaseBackupPath" => backup_paths.push(element),
            _ => translation.refuse(&element, "not known"),
        }
    }
    backup(translation, backup_paths)?;
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
    weights(translation, &instances);
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

/// The part of the load that each database gets, where they differ.
fn weights(translation: &mut Translation, instances: &[Instance]) {
    if instances.iter().all(|one| one.weight.unwrap_or(1.0) == 1.0) {
        return;
    }
    let weights = instances.iter().flat_map(|one| {
        let weight = number(one.weight.unwrap_or(1.0));
        vec![weight; one.databases.len()]
    });
    let weights = format!("[{}]", weights.collect::<Vec<_>>().join(", "));
    let setting = "mail.load_weights";
    translation.draft.set(setting, &weights, "IopsBias");
    translation.notes.change(
        "IopsBias of the instances".to_owned(),
        format!(
            "{setting} = {weights}: parts of the transactions, as what Jetstress divides by it is not \
             published"
        ),
    );
}

/// Where a backup writes its copies, and whether it does.
fn backup(translation: &mut Translation, paths: Vec<Element>) -> Result<(), Error> {
    let to_disk = translation
        .elements
        .take_as::<bool>("TestDesignInfo/BackupToDisk")?;
    let writes = to_disk.as_ref().is_some_and(|(writes, _)| *writes);
    let is_backup = translation.command.test == Some(BACKUP);
    if let Some((_, element)) = &to_disk {
        let described = element.described();
        match (writes, is_backup, paths.is_empty()) {
            (false, ..) => translation.notes.keep(
                described,
                "a backup reads the databases and writes no copies",
            ),
            (true, false, _) => translation.refuse(element, "the test is no backup"),
            (true, true, true) => translation.refuse(
                element,
                "no path for the copies is given; name one with --backup-to DIR",
            ),
            (true, true, false) => translation.notes.keep(described, "--backup-to"),
        }
    }
    if !writes || !is_backup {
        for element in paths {
            translation.refuse(&element, "no copies are written");
        }
        return Ok(());
    }
    let values: Vec<&String> = paths.iter().map(|path| &path.value).collect();
    let found = directories(translation, &values, "--backup-to");
    let Some(first) = found.first() else {
        return Ok(());
    };
    if found.len() > 1 {
        translation.notes.change(
            format!("{} different DatabaseBackupPath", found.len()),
            format!("--backup-to {first}: one directory takes all copies"),
        );
    }
    let option = format!("--backup-to {}", quoted(first));
    translation.command.options.push(option);
    Ok(())
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
