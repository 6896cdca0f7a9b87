//! Elements that one setting stands for, and those that Proofload has no counterpart of.

use execution::Error;

use super::Translation;
use crate::jetstress::draft::{log_buffer_bytes, number, quoted, size};

/// How an element's value becomes that of a setting.
#[derive(Clone, Copy)]
enum Form {
    /// True or false.
    Switch,
    /// A number.
    Number,
    /// A number, of which 0 is no limit.
    Limit,
    /// A fraction of 1, which becomes a percentage.
    Percent,
    /// Milliseconds.
    Milliseconds,
    /// So many bytes.
    Bytes(u64),
    /// Log buffers: sectors of 512 bytes.
    Sectors,
}

/// An element, its form, and the setting that it becomes.
type Direct = (&'static str, Form, &'static str);

/// Transactions per second that are held; 0 holds none.
pub(super) const TRANSACTION_RATE: &str = "ExchangeProfile/TransPerSec";

const DIRECT: [Direct; 27] = [
    (
        "TestDesignInfo/LogFilesToReplay",
        Form::Number,
        "recovery.log_files",
    ),
    (
        "TestDesignInfo/RunDatabaseMaintenanceSoftRecovery",
        Form::Switch,
        "recovery.background_maintenance",
    ),
    (
        "TestDesignInfo/VerifyChecksum",
        Form::Switch,
        "run.verify_after_run",
    ),
    (
        "TestDesignInfo/RunDatabaseMaintenancePerformance",
        Form::Switch,
        "maintenance.enabled",
    ),
    (
        "TestDesignInfo/PreloadJetCache",
        Form::Percent,
        "run.warm_up.cache_fill_percent",
    ),
    (
        "TestDesignInfo/OperationMix@InsertOps",
        Form::Number,
        "mail.mix.insert_percent",
    ),
    (
        "TestDesignInfo/OperationMix@DeleteOps",
        Form::Number,
        "mail.mix.delete_percent",
    ),
    (
        "TestDesignInfo/OperationMix@ReplaceOps",
        Form::Number,
        "mail.mix.replace_percent",
    ),
    (
        "TestDesignInfo/OperationMix@LazyCommits",
        Form::Number,
        "mail.mix.lazy_commit_percent",
    ),
    (
        "TestDesignInfo/RetrieveLVOnRead",
        Form::Switch,
        "mail.item.read_long",
    ),
    (
        "TestDesignInfo/RetrieveLVOnScan",
        Form::Switch,
        "mail.item.scan_long",
    ),
    (
        "TestDesignInfo/PrereadOnScan",
        Form::Switch,
        "mail.mix.scan_read_ahead",
    ),
    (
        "TestDesignInfo/UpdateLV",
        Form::Switch,
        "mail.item.replace_long",
    ),
    (
        "TestDesignInfo/ScanPercentage",
        Form::Number,
        "mail.mix.scan_percent",
    ),
    (
        "TestDesignInfo/SluggishSessions",
        Form::Number,
        "mail.session_pause_factor",
    ),
    (
        "ExchangeProfile/MailboxIops",
        Form::Number,
        "mail.iops_per_mailbox",
    ),
    (
        TRANSACTION_RATE,
        Form::Limit,
        "mail.held_transactions_per_second",
    ),
    (
        "ExchangeProfile/LongPadLength",
        Form::Number,
        "mail.item.long_bytes",
    ),
    (
        "ExchangeProfile/ShortPadLength",
        Form::Number,
        "mail.item.short_bytes",
    ),
    (
        "ExchangeProfile/DatabaseSpaceReserved",
        Form::Number,
        "mail.growth_reserve_percent",
    ),
    (
        "ExchangeProfile/DatabaseCopyCount",
        Form::Number,
        "mail.copies_per_database",
    ),
    (
        "JetSystemParams/DatabasePageSize",
        Form::Bytes(1),
        "engine.page_size",
    ),
    (
        "JetSystemParams/CircularLog",
        Form::Switch,
        "engine.circular_logging",
    ),
    (
        "JetSystemParams/LogFileSize",
        Form::Bytes(1 << 10),
        "engine.log_file_size",
    ),
    // Buckets of 32 KiB in ESE.
    (
        "JetSystemParams/MaxVerPages",
        Form::Bytes(32 << 10),
        "engine.version_store",
    ),
    (
        "JetSystemParams/LogBuffers",
        Form::Sectors,
        "engine.log_buffer",
    ),
    (
        "JetSystemParams/DBMThrottling",
        Form::Milliseconds,
        "maintenance.pause",
    ),
];

/// An element, the value at which Proofload does the same without a setting, and why another one has no
/// effect. An element without such a value never has one.
type WithoutSetting = (&'static str, Option<&'static str>, &'static str);

const WITHOUT_SETTING: [WithoutSetting; 10] = [
    (
        "TestDesignInfo/BinaryPerfLog",
        None,
        "samples are written to samples.csv and as histograms, never as a .blg file",
    ),
    (
        "TestDesignInfo/UseEseCounters",
        Some("true"),
        "latencies are always those that the engine measures; those of the devices are beside them",
    ),
    (
        "TestDesignInfo/OperationMix@LockOps",
        Some("true"),
        "tuning never changes the mix",
    ),
    (
        "TestDesignInfo/OutputPath",
        Some("."),
        "name a directory for the results with --out",
    ),
    (
        "TestDesignInfo/MaximumChecksumBuffers",
        None,
        "the verification reads each database with buffers of its own",
    ),
    (
        "TestDesignInfo/MaximumChecksumThreads",
        None,
        "the verification reads all databases at the same time, each on its thread",
    ),
    (
        "TestDesignInfo/Bulky1Percentage",
        None,
        "what it does is not published",
    ),
    (
        "TestDesignInfo/MultiHostBreak",
        Some("false"),
        "several hosts begin together when 'mpirun' starts them, and no break is needed",
    ),
    (
        "TestDesignInfo/RestoreBackupPath",
        None,
        "databases of Jetstress cannot be attached; --restore DIR restores copies that --backup-to DIR made",
    ),
    (
        "TestDesignInfo/LogFilesToChecksum",
        None,
        "every log file that is needed is read and verified",
    ),
];

/// Takes the elements of both tables.
pub(super) fn translate(translation: &mut Translation) -> Result<(), Error> {
    for (path, form, setting) in DIRECT {
        direct(translation, path, form, setting)?;
    }
    for (path, same, reason) in WITHOUT_SETTING {
        let Some(element) = translation.elements.take(path)? else {
            continue;
        };
        if same.is_some_and(|same| same.eq_ignore_ascii_case(&element.value)) {
            let outcome = format!("the same without a setting: {reason}");
            translation.notes.keep(element.described(), outcome);
        } else {
            translation.refuse(&element, reason);
        }
    }
    Ok(())
}

fn direct(
    translation: &mut Translation,
    path: &str,
    form: Form,
    setting: &str,
) -> Result<(), Error> {
    match form {
        Form::Switch => translation.keep::<bool>(path, setting, |on| on.to_string()),
        Form::Number => translation.keep::<f64>(path, setting, number),
        Form::Limit => translation.keep::<f64>(path, setting, |limit| {
            if limit == 0.0 {
                quoted("none")
            } else {
                number(limit)
            }
        }),
        Form::Percent => translation.keep::<f64>(path, setting, |part| number(part * 100.0)),
        Form::Milliseconds => {
            translation.keep::<u32>(path, setting, |ms| quoted(&format!("{ms}ms")))
        }
        Form::Bytes(unit) => {
            translation.keep::<u32>(path, setting, |count| size(u64::from(count) * unit))
        }
        Form::Sectors => {
            translation.keep::<u32>(path, setting, |count| size(log_buffer_bytes(count)))
        }
    }
}
