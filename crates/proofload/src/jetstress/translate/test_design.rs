//! Which test it is, and how long it takes.

use config::TimeSpan;
use execution::Error;

use super::Translation;
use crate::jetstress::draft::quoted;
use crate::jetstress::scalar::shown;

/// The interval of samples that Jetstress ships, and that "auto" is in runs of five minutes and more.
const USUAL_INTERVAL_MS: u32 = 15_000;

/// The test that a run makes unless another one is named.
const PERFORMANCE: &str = "performance";

/// The same, judged by the lenient limits.
const STRESS: &str = "stress";

/// The test that copies databases.
pub(super) const BACKUP: &str = "backup";

/// Types of tests, and the test of a run that each of them is.
const TESTS: [(&str, &str); 4] = [
    ("Performance", PERFORMANCE),
    ("Stress", STRESS),
    ("DatabaseBackup", BACKUP),
    ("SoftRecovery", "recovery"),
];

pub(super) fn translate(translation: &mut Translation) -> Result<(), Error> {
    description(translation)?;
    let duration = translation
        .elements
        .take_as::<TimeSpan>("TestDesignInfo/Duration")?;
    test_type(translation)?;
    if let Some((duration, element)) = duration {
        if duration.as_ns() == 0 {
            translation.command.options.push("--build-only".to_owned());
            translation.notes.keep(
                element.described(),
                "--build-only: databases are built, and no test is run",
            );
        } else {
            if translation.command.test.is_none_or(|test| test == STRESS) {
                translation
                    .command
                    .options
                    .push(format!("--duration {duration}"));
            }
            translation.set("run.duration", &quoted(&duration.to_string()), &element);
        }
    }
    intervals(translation)?;
    batches(translation)?;
    read_ahead(translation)
}

fn description(translation: &mut Translation) -> Result<(), Error> {
    let element = translation.elements.take("TestDesignInfo/Description")?;
    let file = shown(&translation.elements.file);
    translation.draft.description = format!("Imported from {file}");
    if let Some(element) = element {
        translation.draft.description = shown(&element.value);
        translation.notes.keep(element.described(), "description");
    }
    Ok(())
}

fn test_type(translation: &mut Translation) -> Result<(), Error> {
    let Some(element) = translation.elements.take("TestDesignInfo/Type")? else {
        return Ok(());
    };
    let known = TESTS
        .iter()
        .find(|known| known.0.eq_ignore_ascii_case(&element.value));
    let Some((_, test)) = known else {
        let reason = "no type of test (Performance, Stress, DatabaseBackup, SoftRecovery); the command runs a \
                      performance test";
        translation.refuse(&element, reason);
        return Ok(());
    };
    if *test != PERFORMANCE {
        translation.command.test = Some(test);
    }
    translation
        .notes
        .keep(element.described(), format!("--test {test}"));
    Ok(())
}

fn intervals(translation: &mut Translation) -> Result<(), Error> {
    interval(translation, "LogInterval", "run.sample_interval", |ms| {
        (ms == USUAL_INTERVAL_MS).then_some("auto")
    })?;
    let setting = "run.second_sample_interval";
    interval(translation, "LogInterval2", setting, |ms| {
        (ms == 0).then_some("none")
    })
}

/// Length of the samples of a series; `word` is what the setting calls a certain length.
fn interval(
    translation: &mut Translation,
    name: &str,
    setting: &str,
    word: impl Fn(u32) -> Option<&'static str>,
) -> Result<(), Error> {
    let path = format!("TestDesignInfo/{name}");
    let Some((interval_ms, element)) = translation.elements.take_as::<u32>(&path)? else {
        return Ok(());
    };
    let value = match word(interval_ms) {
        Some(word) => word.to_owned(),
        None => TimeSpan::millis(u64::from(interval_ms)).to_string(),
    };
    translation.set(setting, &quoted(&value), &element);
    Ok(())
}

/// Reading ahead has an effect on the reads of one transaction after the first, and there are none: see
/// [`batches`].
fn read_ahead(translation: &mut Translation) -> Result<(), Error> {
    let setting = "mail.mix.read_ahead";
    let path = "TestDesignInfo/PrereadOnRead";
    let Some((is_wanted, element)) = translation.elements.take_as::<bool>(path)? else {
        return Ok(());
    };
    if is_wanted {
        let reason = "wanted, but without effect while a transaction has one operation";
        translation.change(setting, "true", &element, reason);
    } else {
        translation.set(setting, "false", &element);
    }
    Ok(())
}

/// How many operations a transaction has. What the elements mean exactly is not published.
fn batches(translation: &mut Translation) -> Result<(), Error> {
    for name in ["BatchRecords", "BatchUpdates"] {
        let path = format!("TestDesignInfo/{name}");
        let Some((_, element)) = translation.elements.take_as::<u32>(&path)? else {
            continue;
        };
        let reason = "it is not published what this number counts; one operation in a transaction fits the \
                      published ratio of database to log I/O";
        translation.change("mail.mix.operations_per_transaction", "1", &element, reason);
    }
    Ok(())
}
