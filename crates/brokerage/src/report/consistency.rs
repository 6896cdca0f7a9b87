//! Findings when the consistency checks of a database fail.

use crate::guarantees;
use measure::display::{Advice, AdviceId};
use measure::result::{RunResult, ServerResult};

/// What failed consistency checks mean, and what may have caused them.
pub(super) fn failed(result: &RunResult) -> Advice {
    let server = result.server.as_ref();
    let had_outage = server.is_some_and(|server| !server.outages.is_empty());
    let when = if had_outage {
        " The server was down for a while in this run, and may have come back without all \
         committed data."
    } else {
        " The server was not down in this run, so a crash of it is not an explanation."
    };
    Advice::new(
        AdviceId::INCONSISTENT,
        "Consistency checks failed: find the cause first; the figures are not valid",
        format!(
            "The database lost or duplicated committed work, or another program changed it \
             during the run: the verdict says what was found.{when} {} Check the server's log and the kernel's log of this time; \
             {}the write caches of controllers and disks, which must survive a power failure; and \
             which other programs write to this database. Then run again with a new database, \
             without --reuse: this one stays inconsistent.",
            server.map_or_else(String::new, risks),
            server.map_or_else(String::new, settings_to_check)
        ),
    )
}

/// The settings that decide what survives a crash, of those that the server has.
fn settings_to_check(server: &ServerResult) -> String {
    match guarantees::deciding(&server.settings).as_slice() {
        [] => String::new(),
        known => format!("the settings {}; ", known.join(", ")),
    }
}

/// The settings in force under which committed data may be lost.
fn risks(server: &ServerResult) -> String {
    match guarantees::missing(&server.settings).as_slice() {
        [] => "No setting that the server reported explains it.".to_owned(),
        found => format!("Of its settings, {}.", found.join(", ")),
    }
}
