//! How many mailboxes and threads there are.

use config::{ByteSize, Source};
use execution::Error;
use mail::profile::MailProfile;

use super::direct::TRANSACTION_RATE;
use super::{Translation, instances};
use crate::jetstress::draft::{quoted, size};
use crate::registry::WORKLOADS;

const NOT_ATTACHED: &str = "databases of Jetstress cannot be attached: the first run builds its own; with --keep they stay, and \
     --reuse runs on them again";

pub(super) fn translate(translation: &mut Translation) -> Result<(), Error> {
    let count = instances::take(translation)?;
    if let Some(count) = count {
        let why = format!(
            "EseInstances: {}",
            measure::units::count(count as u64, "database")
        );
        translation
            .draft
            .set("mail.databases", count.to_string(), why.clone());
        translation
            .notes
            .keep(why, format!("mail.databases = {count}"));
    }
    let databases = match count {
        Some(count) => count as u64,
        None => databases_of_base(translation)?,
    };
    mailboxes(translation, databases)?;
    threads(translation, databases)?;
    sources(translation)
}

/// The number of databases of the profile that is extended.
fn databases_of_base(translation: &Translation) -> Result<u64, Error> {
    let base = WORKLOADS.bundled(translation.draft.base());
    let text = base.map_or("", |base| base.toml);
    let base = WORKLOADS.read(&[Source::file(translation.draft.base(), text)])?;
    let base = base.downcast::<MailProfile>();
    Ok(base.map_or(1, |base| u64::from(base.mail.databases)))
}

fn mailboxes(translation: &mut Translation, databases: u64) -> Result<(), Error> {
    if let Some((count, element)) = translation
        .elements
        .take_as::<u32>("ExchangeProfile/MailboxCount")?
    {
        let count = u64::from(count);
        let each = count.div_ceil(databases.max(1));
        let setting = "mail.mailboxes_per_database";
        if each * databases == count {
            translation.set(setting, &each.to_string(), &element);
        } else {
            let reason = format!(
                "databases are alike: {databases} of them have {} mailboxes",
                each * databases
            );
            translation.change(setting, &each.to_string(), &element, &reason);
        }
    }
    translation.keep::<f64>(
        "ExchangeProfile/MailboxQuota",
        "mail.mailbox_size",
        |megabytes| size((megabytes * ByteSize::mib(1).bytes() as f64) as u64),
    )
}

fn threads(translation: &mut Translation, databases: u64) -> Result<(), Error> {
    let suppress = translation
        .elements
        .take_as::<bool>("TestDesignInfo/SuppressTuning")?;
    let is_fixed = suppress.as_ref().is_some_and(|(is_fixed, _)| *is_fixed);
    let count = translation
        .elements
        .take_as::<u32>("ExchangeProfile/ThreadCount")?;
    if let Some((_, element)) = &suppress {
        let outcome = match (is_fixed, &count) {
            (true, Some(_)) => "mail.threads is a number",
            (true, None) => "no number of threads is given, so they are tuned",
            (false, _) => "mail.threads = \"auto\"",
        };
        let described = element.described();
        if is_fixed && count.is_none() {
            translation.notes.change(described, outcome);
        } else {
            translation.notes.keep(described, outcome);
        }
    }
    let auto = quoted("auto");
    let Some((count, element)) = count else {
        translation
            .draft
            .set("mail.threads", auto, "no ThreadCount");
        return Ok(());
    };
    if count == 0 {
        translation
            .draft
            .set("mail.threads", auto, element.described());
        translation.refuse(&element, "a run needs threads, so they are tuned");
        return Ok(());
    }
    let setting = if is_fixed {
        "mail.threads"
    } else {
        "tuning.start_threads"
    };
    if translation.version.counts_threads_per_database() && databases > 1 {
        let all = u64::from(count) * databases;
        let reason = format!(
            "{} counts threads for each database, and there are {databases}",
            translation.version.name()
        );
        translation.change(setting, &all.to_string(), &element, &reason);
    } else {
        translation.set(setting, &count.to_string(), &element);
    }
    if !is_fixed {
        translation
            .draft
            .set("mail.threads", auto, "tuning is not suppressed");
    }
    Ok(())
}

fn sources(translation: &mut Translation) -> Result<(), Error> {
    let mut is_throughput = false;
    if let Some(element) = translation
        .elements
        .take("ExchangeProfile/DatabaseSource")?
    {
        match element.value.to_ascii_lowercase().as_str() {
            "new" => translation
                .notes
                .keep(element.described(), "a run builds its databases"),
            _ => translation.refuse(&element, NOT_ATTACHED),
        }
    }
    if let Some(element) = translation
        .elements
        .take("ExchangeProfile/DatabaseSizing")?
    {
        match element.value.to_ascii_lowercase().as_str() {
            "profile" => {
                let outcome = "mailboxes times their size is the size of the data";
                translation.notes.keep(element.described(), outcome);
            }
            _ => {
                translation.notes.change(
                    element.described(),
                    "--scenario throughput: databases fill a part of the volumes",
                );
                is_throughput = true;
            }
        }
    }
    percentages(translation, is_throughput)
}

/// The parts of the capacity and of the maximum that a throughput test takes.
fn percentages(translation: &mut Translation, is_throughput: bool) -> Result<(), Error> {
    if is_throughput {
        let option = "--scenario throughput".to_owned();
        translation.command.options.push(option);
        let rate = translation.elements.take_as::<f64>(TRANSACTION_RATE)?;
        if let Some((_, element)) = rate.filter(|(rate, _)| *rate != 0.0) {
            translation.refuse(&element, "a throughput test finds the rate that it holds");
        }
    }
    for (name, option) in [
        ("CapacityPercentage", "--capacity-percent"),
        ("ThroughputPercentage", "--throughput-percent"),
    ] {
        let path = format!("ExchangeProfile/{name}");
        let Some((percent, element)) = translation.elements.take_as::<u32>(&path)? else {
            continue;
        };
        let described = element.described();
        if is_throughput {
            let option = format!("{option} {percent}");
            translation.notes.keep(described, option.clone());
            translation.command.options.push(option);
        } else if percent == 100 {
            translation
                .notes
                .keep(described, "the same without a setting");
        } else {
            let reason = format!(
                "mailboxes give the size and the rate; --scenario throughput {option} N takes such a part"
            );
            translation.refuse(&element, &reason);
        }
    }
    Ok(())
}
