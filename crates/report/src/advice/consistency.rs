//! Findings when the consistency checks of a database fail.

use measure::result::{ErrorRecord, RunResult, ServerResult};

use super::{Advice, AdviceId};

/// A setting of a server, and its values with which a crash may lose or tear committed data.
struct Risk {
    setting: &'static str,
    is_risky: fn(&str) -> bool,
    loses: &'static str,
}

const RISKS: [Risk; 6] = [
    Risk {
        setting: "fsync",
        is_risky: is_off,
        loses: "a crash may lose or tear anything",
    },
    Risk {
        setting: "full_page_writes",
        is_risky: is_off,
        loses: "a crash may leave torn pages",
    },
    Risk {
        setting: "synchronous_commit",
        is_risky: is_off,
        loses: "a crash loses the last commits",
    },
    Risk {
        setting: "innodb_flush_log_at_trx_commit",
        is_risky: |value| value == "0" || value == "2",
        loses: "a crash loses the last commits",
    },
    Risk {
        setting: "innodb_flush_method",
        is_risky: |value| value.eq_ignore_ascii_case("nosync"),
        loses: "a crash may lose or tear anything",
    },
    Risk {
        setting: "innodb_doublewrite",
        is_risky: is_off,
        loses: "a crash may leave torn pages",
    },
];

fn is_off(value: &str) -> bool {
    ["off", "0", "no", "false"]
        .iter()
        .any(|off| value.eq_ignore_ascii_case(off))
}

/// What failed consistency checks mean, and what may have caused them.
pub(super) fn failed(result: &RunResult, error: &ErrorRecord) -> Advice {
    let server = result.server.as_ref();
    let had_outage = server.is_some_and(|server| !server.outages.is_empty());
    let when = if had_outage {
        " The server was down for a while in this run, and may have come back without all \
         committed data."
    } else {
        " The server was not down in this run, so a crash of it is no explanation."
    };
    Advice::new(
        AdviceId::Inconsistent,
        "Consistency checks failed: find the cause first; the figures are not valid",
        format!(
            "{} So the database lost or duplicated committed work, or another program changed it \
             during the run.{when} {} Check the server's log and the kernel's log of this time; \
             {}the write caches of controllers and disks, which must survive a power failure; and \
             which other programs write to this database. Then run again with a new database, \
             without --reuse: this one stays inconsistent.",
            error.error.trim(),
            server.map_or_else(String::new, risks),
            server.map_or_else(String::new, settings_to_check)
        ),
    )
}

/// The settings that decide what survives a crash, of those that the server has.
fn settings_to_check(server: &ServerResult) -> String {
    let known = RISKS.iter().map(|risk| risk.setting);
    let known: Vec<&str> = known
        .filter(|setting| server.settings.contains_key(*setting))
        .collect();
    match known.as_slice() {
        [] => String::new(),
        known => format!("the settings {}; ", known.join(", ")),
    }
}

/// The settings in force under which committed data may be lost.
fn risks(server: &ServerResult) -> String {
    let found: Vec<String> = RISKS
        .iter()
        .filter_map(|risk| {
            let value = server.settings.get(risk.setting)?;
            let is_risky = (risk.is_risky)(value.trim());
            is_risky.then(|| format!("{} is {value} ({})", risk.setting, risk.loses))
        })
        .collect();
    match found.as_slice() {
        [] => "No setting that the server reported explains it.".to_owned(),
        found => format!("Of its settings, {}.", found.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::advice;
    use measure::result::{ErrorKind, OutageResult};

    #[test]
    fn failed_consistency_checks_name_the_check_and_the_settings() {
        let mut result = RunResult::default();
        result.errors.push(ErrorRecord {
            kind: ErrorKind::Inconsistent,
            error: "Consistency check \"a\" failed: b.".to_owned(),
            ..ErrorRecord::default()
        });
        let mut server = ServerResult::default();
        server.settings.insert("fsync".into(), "off".into());
        server
            .settings
            .insert("full_page_writes".into(), "on".into());
        result.server = Some(server);
        let text = advice(&result).remove(0).text;
        assert!(
            text.contains("Consistency check \"a\" failed: b."),
            "{text}"
        );
        assert!(
            text.contains("Of its settings, fsync is off (a crash may lose"),
            "{text}"
        );
        assert!(!text.contains("full_page_writes is on"), "{text}");
        assert!(text.contains("not down in this run"), "{text}");
        assert!(!text.contains("event log of the storage"), "{text}");
        if let Some(server) = &mut result.server {
            server.settings.clear();
            server.outages.push(OutageResult::default());
        }
        let text = advice(&result).remove(0).text;
        assert!(text.contains("without all committed data"), "{text}");
        assert!(text.contains("No setting that the server"), "{text}");
    }
}
