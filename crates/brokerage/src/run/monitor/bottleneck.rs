//! Names the bottleneck of a run.

use measure::display::number::{count, figure, latency, percent};

use super::waits::Waits;
use measure::result::{Bottleneck, WaitClass};

/// What the decision is based on.
#[derive(Debug, Clone, Copy)]
pub struct Observations<'a> {
    /// Wait events sampled during the measurement.
    pub waits: &'a Waits,
    /// Users; at a target rate the most that may be busy at once.
    pub users: u32,
    /// CPU utilization of this machine, 0 to 100.
    pub processors_busy_percent: Option<f64>,
    /// What Proofload itself has of it.
    pub own_percent: Option<f64>,
    /// What the database server has of it; `None` when it runs elsewhere or within Proofload.
    pub server_percent: Option<f64>,
    /// Average read latency of the volume.
    pub average_read_ms: Option<f64>,
    /// Whether the target rate was reached; `None` without one.
    pub rate_reached: Option<bool>,
    /// Share of the measured time in which the server was down, 0 to 1.
    pub downtime_share: f64,
}

/// Busy sessions as a share of the users, below which the database was not the bottleneck.
const IDLE_LIMIT: f64 = 0.5;
/// Share of samples from which on a class dominates.
const LEADING: f64 = 0.4;
/// Share of downtime above which it was the bottleneck.
const OUTAGE_LIMIT: f64 = 0.05;
/// CPU utilization from which on the CPUs are saturated.
const PROCESSORS_FULL_PERCENT: f64 = 90.0;

/// What limited the load, and its explanation.
#[must_use]
pub fn find_bottleneck(observations: &Observations<'_>) -> (Bottleneck, String) {
    let waits = observations.waits;
    let Some(storage) = waits.share(WaitClass::Storage) else {
        return (
            Bottleneck::Unknown,
            "The server does not report wait events.".to_owned(),
        );
    };
    let share = |class| waits.share(class).unwrap_or(0.0);
    let (locks, running) = (share(WaitClass::Locks), share(WaitClass::Cpu));
    let busy = waits.average_busy();
    let figures = format!(
        "Of the sessions of {} users, the market and maintenance, {} were active in the database on average. \
         Of samples of them, \
         {} % waited for storage, {} % for locks, and {} % were running.{}{}",
        count(u64::from(observations.users)),
        figure(busy),
        percent(storage),
        percent(locks),
        percent(running),
        observations
            .average_read_ms
            .map(|ms| format!(
                " The average read latency of the volume was {}.",
                latency(ms)
            ))
            .unwrap_or_default(),
        processors(observations),
    );
    let full = |percent: f64| percent >= PROCESSORS_FULL_PERCENT;
    let is_idle = busy < IDLE_LIMIT * f64::from(observations.users);
    let (bottleneck, verdict) = if observations.downtime_share > OUTAGE_LIMIT {
        (Bottleneck::Outage, "Downtime limited the load most.")
    } else if observations.rate_reached == Some(true) {
        (
            Bottleneck::Nothing,
            "There was no bottleneck: the target rate was reached.",
        )
    } else if observations.processors_busy_percent.is_some_and(full)
        && (storage < LEADING || is_idle)
    {
        let verdict = match storage >= locks && storage >= running {
            true => {
                "The CPUs of this machine were full while most users were outside of the database, so \
                 the CPUs limited the load; the sessions in the database waited for storage more than for \
                 locks, and more than they computed."
            }
            false => "The CPUs of this machine were the bottleneck.",
        };
        (Bottleneck::Cpu, verdict)
    } else if is_idle {
        (
            Bottleneck::Nothing,
            "The database was not the bottleneck: most users were idle or waiting for a CPU. More \
             users would make more load.",
        )
    } else if storage >= locks && storage >= running {
        (Bottleneck::Storage, "Storage was the bottleneck.")
    } else if locks >= running {
        (
            Bottleneck::Locks,
            "Lock contention was the bottleneck; faster storage would change little.",
        )
    } else {
        (
            Bottleneck::Cpu,
            "CPU was the bottleneck: more sessions computed than waited for storage or for locks.",
        )
    };
    (bottleneck, format!("{verdict} {figures}"))
}

/// How busy the CPUs were, and with what, as a sentence; empty when that is not known.
fn processors(observations: &Observations<'_>) -> String {
    let Some(busy_percent) = observations.processors_busy_percent else {
        return String::new();
    };
    let (own, server) = (observations.own_percent, observations.server_percent);
    let known: f64 = own.iter().chain(&server).sum();
    let rest = match server {
        Some(_) => "with other programs and the kernel",
        None => "with other programs, among them the database server if it runs here",
    };
    let mut parts: Vec<String> = Vec::new();
    let named = [
        (server, "with the database server"),
        (own, "with Proofload"),
    ];
    for (percent, whose) in named {
        parts.extend(percent.map(|percent| format!("{} % {whose}", figure(percent))));
    }
    if !parts.is_empty() {
        let rest_percent = (busy_percent - known).max(0.0);
        parts.push(format!("{} % {rest}", figure(rest_percent)));
    }
    let whose = match parts.is_empty() {
        true => String::new(),
        false => format!(": {}", parts.join(", ")),
    };
    format!(
        " The CPUs of this machine were {} % busy{whose}.",
        figure(busy_percent)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(storage: u64, locks: u64, running: u64, busy_percent: f64) -> Bottleneck {
        found(storage, locks, running, busy_percent).0
    }

    fn found(storage: u64, locks: u64, running: u64, busy_percent: f64) -> (Bottleneck, String) {
        let mut waits = Waits::default();
        waits.begin_sample();
        waits.found(WaitClass::Storage, "IO: DataFileRead".to_owned(), storage);
        waits.found(WaitClass::Locks, "Lock: tuple".to_owned(), locks);
        waits.found(WaitClass::Cpu, "running".to_owned(), running);
        let observations = Observations {
            waits: &waits,
            users: 30,
            processors_busy_percent: Some(busy_percent),
            own_percent: None,
            server_percent: None,
            average_read_ms: Some(4.5),
            rate_reached: None,
            downtime_share: 0.0,
        };
        let (word, text) = find_bottleneck(&observations);
        assert!(text.contains("4.50 ms"), "{text}");
        (word, text)
    }

    #[test]
    fn full_cpus_do_not_hide_that_most_sessions_waited_for_storage() {
        let (word, text) = found(9, 1, 1, 96.0);
        assert_eq!(word, Bottleneck::Cpu);
        assert!(
            text.contains("in the database waited for storage more than for locks"),
            "{text}"
        );
        assert!(text.contains("81.8 % waited for storage"), "{text}");
        assert!(
            !text.contains("The CPUs of this machine were the bottleneck"),
            "{text}"
        );
        // Where they did not, it says nothing of them.
        let (word, text) = found(1, 1, 9, 96.0);
        assert_eq!(word, Bottleneck::Cpu);
        assert!(
            text.starts_with("The CPUs of this machine were the bottleneck. Of the"),
            "{text}"
        );
    }

    #[test]
    fn the_greatest_share_is_named() {
        assert_eq!(word(20, 4, 4, 30.0), Bottleneck::Storage);
        assert_eq!(word(4, 20, 4, 30.0), Bottleneck::Locks);
        assert_eq!(word(4, 4, 20, 80.0), Bottleneck::Cpu);
        assert_eq!(
            word(4, 2, 6, 97.0),
            Bottleneck::Cpu,
            "few at work, none left"
        );
        assert_eq!(word(4, 2, 2, 20.0), Bottleneck::Nothing, "the users rest");
        assert_eq!(
            word(8, 0, 2, 100.0),
            Bottleneck::Cpu,
            "more users find none"
        );
    }

    #[test]
    fn busy_processors_are_divided_among_who_used_them() {
        let waits = Waits::default();
        let text = |own_percent, server_percent| {
            processors(&Observations {
                waits: &waits,
                users: 3,
                processors_busy_percent: Some(99.0),
                own_percent,
                server_percent,
                average_read_ms: None,
                rate_reached: None,
                downtime_share: 0.0,
            })
        };
        assert_eq!(
            text(Some(9.0), Some(20.0)),
            " The CPUs of this machine were 99.0 % busy: 20.0 % with the database server, 9.00 % with \
             Proofload, 70.0 % with other programs and the kernel."
        );
        assert!(text(Some(9.0), None).contains("90.0 % with other programs, among them"));
        assert_eq!(
            text(None, None),
            " The CPUs of this machine were 99.0 % busy."
        );
    }

    #[test]
    fn a_rate_that_was_reached_was_held_back_by_nothing() {
        let mut waits = Waits::default();
        waits.begin_sample();
        waits.found(WaitClass::Storage, "IO: WALSync".to_owned(), 30);
        let observations = Observations {
            waits: &waits,
            users: 30,
            processors_busy_percent: None,
            own_percent: None,
            server_percent: None,
            average_read_ms: None,
            rate_reached: Some(true),
            downtime_share: 0.0,
        };
        assert_eq!(find_bottleneck(&observations).0, Bottleneck::Nothing);
        let out = Observations {
            downtime_share: 0.3,
            ..observations
        };
        assert_eq!(find_bottleneck(&out).0, Bottleneck::Outage);
        let nothing_known = Observations {
            waits: &Waits::default(),
            ..observations
        };
        assert_eq!(find_bottleneck(&nothing_known).0, Bottleneck::Unknown);
    }
}
