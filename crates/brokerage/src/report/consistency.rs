//! Findings when the consistency checks of a database fail.

use measure::display::{Advice, AdviceId};
use measure::result::{ErrorRecord, RunResult, ServerResult};

/// A setting of a server, whether a crash may lose or tear committed data under a value of it, and
/// what it then loses.
struct Risk(&'static str, fn(&str) -> bool, &'static str);

const RISKS: [Risk; 6] = [
    Risk("fsync", is_off, ANYTHING),
    Risk("full_page_writes", is_off, PAGES),
    Risk("synchronous_commit", is_off, COMMITS),
    Risk("innodb_flush_log_at_trx_commit", is_0_or_2, COMMITS),
    Risk("innodb_flush_method", is_nosync, ANYTHING),
    Risk("innodb_doublewrite", is_off, PAGES),
];

const ANYTHING: &str = "a crash may lose or tear anything";
const PAGES: &str = "a crash may leave torn pages";
const COMMITS: &str = "a crash loses the last commits";

fn is_0_or_2(value: &str) -> bool {
    matches!(value, "0" | "2")
}

fn is_nosync(value: &str) -> bool {
    value.eq_ignore_ascii_case("nosync")
}

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
        AdviceId::INCONSISTENT,
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
    let known = RISKS.iter().map(|Risk(setting, ..)| *setting);
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
        .filter_map(|Risk(setting, is_risky, loses)| {
            let value = server.settings.get(*setting)?;
            is_risky(value.trim()).then(|| format!("{setting} is {value} ({loses})"))
        })
        .collect();
    match found.as_slice() {
        [] => "No setting that the server reported explains it.".to_owned(),
        found => format!("Of its settings, {}.", found.join(", ")),
    }
}
