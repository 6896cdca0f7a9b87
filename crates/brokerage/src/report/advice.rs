//! Findings of a brokerage, on a database server or predicted.

use super::consistency;
use measure::display::number::{count, duration, quantity};
use measure::display::{Advice, AdviceId};
use measure::result::{CheckKind, ErrorKind, ErrorRecord, OutageCause, RunKind, RunResult};

const DOWNTIME: AdviceId = AdviceId("downtime");

/// All of them, the most important first.
pub(super) fn advice(result: &RunResult) -> Vec<Advice> {
    let error = result.errors.first();
    let of_error = error.and_then(|error| match error.kind {
        ErrorKind::Unavailable => Some(server_gone(error)),
        ErrorKind::Inconsistent => Some(consistency::failed(result)),
        ErrorKind::ServerSide => Some(server_side(error)),
        ErrorKind::OutOfSpace if result.kind == RunKind::Prediction => Some(data_files_full()),
        _ => None,
    });
    let found = [of_error, downtime(result), wrong_mix(result)];
    found.into_iter().flatten().collect()
}

/// The data of a prediction have the room that the profile gives them, whatever the array holds.
fn data_files_full() -> Advice {
    Advice::new(
        AdviceId::OUT_OF_SPACE,
        "Give the data more room to grow, then predict again",
        "The database needed more than its data files had room for. Set brokerage.growth_reserve_percent \
         higher, or predict a shorter time."
            .to_owned(),
    )
}

/// A server that is down says nothing yet about the storage, which may be why it went down.
fn server_gone(error: &ErrorRecord) -> Advice {
    Advice::new(
        AdviceId::SERVER_UNAVAILABLE,
        "Find out why the server went down, then run again",
        format!(
            "It did not come back while {}: {}. Its log says why it ended, the kernel's log whether \
             memory ran out or the storage failed. The figures until then are in the tables; the \
             consistency checks were not made.",
            error.operation,
            error.error.trim().trim_end_matches('.')
        ),
    )
}

/// The server, or another client of it, ended the run.
fn server_side(error: &ErrorRecord) -> Advice {
    Advice::new(
        AdviceId::SERVER_SIDE,
        "Remove the cause at the database server, then run again",
        format!(
            "The run ended while {}: {}. That is no error of the storage. Look at the server's log, \
             at limits of the server, the database and the role, and at which other programs use \
             this database.",
            error.operation,
            error.error.trim().trim_end_matches('.')
        ),
    )
}

/// The server was down for a while.
fn downtime(result: &RunResult) -> Option<Advice> {
    let server = result.server.as_ref()?;
    let first = server.outages.first()?;
    let times = match server.outages.len() {
        1 => "once".to_owned(),
        times => format!("{} times", count(times as u64)),
    };
    Some(Advice::new(
        DOWNTIME,
        "The database server was down for a while",
        format!(
            "It was down {times}, for {} of {} in all: {}. {}",
            duration(server.downtime_s),
            duration(result.duration_s),
            first.reason,
            if server.transactions.out_of_space > 0 {
                "Free space on its volume: tables, indexes and log grow during the run."
            } else if first.cause != OutageCause::Other {
                "Find out who stopped it, or which programs used its connections."
            } else {
                "Check the server's log for the reason, and 'dmesg' for errors of the storage or \
                 processes killed for lack of memory."
            }
        ),
    ))
}

/// The mix deviates: mostly because the run was short.
fn wrong_mix(result: &RunResult) -> Option<Advice> {
    let of_mix = result
        .failed_checks()
        .filter(|check| check.kind() == CheckKind::Mix);
    let failed = of_mix.max_by(|a, b| a.excess().total_cmp(&b.excess()))?;
    Some(Advice::new(
        AdviceId::WRONG_MIX,
        "The transaction mix is not the one asked for",
        format!(
            "{}: {}. Trade results follow their orders after a second, limit orders after up to one \
             price period, so a run that is short compared with brokerage.market.price_period has \
             too few of them. Run longer (--duration), with a longer warm-up, or shorten the period \
             with `--set brokerage.market.price_period=20s`.",
            failed.name,
            quantity(failed.value.unwrap_or(f64::NAN), failed.unit)
        ),
    ))
}
