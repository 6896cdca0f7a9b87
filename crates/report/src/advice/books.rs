//! What to look at next when the books of a brokerage do not balance.

use measure::result::{ErrorRecord, RunResult, ServerResult};

use super::Advice;

/// A setting of a server, and its values with which a crash may take or tear what was confirmed.
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

/// What broken books mean, and what may have broken them.
pub(super) fn do_not_balance(result: &RunResult, error: &ErrorRecord) -> Advice {
    let server = result.server.as_ref();
    let had_outage = server.is_some_and(|server| !server.outages.is_empty());
    let when = if had_outage {
        " The server was away for a while in this run, and may have come back with less than it \
         had confirmed."
    } else {
        " The server was never away in this run, so a crash of it is no explanation."
    };
    Advice::new(
        "Find out who broke the books before looking at any number",
        format!(
            "{} So the database lost or doubled work that it had confirmed, or somebody else \
             changed it during the run.{when} {} Look at the server's own log and the kernel's of \
             this time; {}at the write caches of controllers and disks, which must outlive a loss \
             of power; and at who else may write to this database. Then run again on a new house: \
             without --reuse, as these books stay broken.",
            error.error.trim(),
            server.map_or_else(String::new, risks),
            server.map_or("", settings_to_look_at)
        ),
    )
}

/// The settings that decide what outlives a crash, where a server has such.
fn settings_to_look_at(server: &ServerResult) -> &'static str {
    match server.name.as_str() {
        "PostgreSQL" => "at its settings fsync, full_page_writes and synchronous_commit; ",
        "MariaDB" | "MySQL" => {
            "at its settings innodb_flush_log_at_trx_commit and innodb_doublewrite; "
        }
        _ => "",
    }
}

/// The settings in force under which confirmed work may be lost.
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
        [] => "No setting of the server that was seen explains it.".to_owned(),
        found => format!("Of its settings, {}.", found.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::advice::advice;
    use measure::result::{ErrorKind, OutageResult};

    #[test]
    fn broken_books_name_the_law_the_settings_and_no_event_log() {
        let mut result = RunResult::default();
        result.errors.push(ErrorRecord {
            kind: ErrorKind::Books,
            error: "The books do not balance. The law \"a\" does not hold: b.".to_owned(),
            ..ErrorRecord::default()
        });
        let mut server = ServerResult::default();
        server.settings.insert("fsync".into(), "off".into());
        server
            .settings
            .insert("full_page_writes".into(), "on".into());
        result.server = Some(server);
        let told = advice(&result).remove(0).text;
        assert!(told.contains("The law \"a\" does not hold: b."), "{told}");
        assert!(
            told.contains("Of its settings, fsync is off (a crash may lose"),
            "{told}"
        );
        assert!(!told.contains("full_page_writes is on"), "{told}");
        assert!(told.contains("never away"), "{told}");
        assert!(!told.contains("event log of the storage"), "{told}");
        if let Some(server) = &mut result.server {
            server.settings.clear();
            server.outages.push(OutageResult::default());
        }
        let told = advice(&result).remove(0).text;
        assert!(told.contains("less than it had confirmed"), "{told}");
        assert!(told.contains("No setting of the server"), "{told}");
    }
}
