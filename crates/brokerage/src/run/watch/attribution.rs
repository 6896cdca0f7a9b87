//! What held the load back, in words.

use super::waits::{Class, Waits};

/// What there is to go by.
#[derive(Debug, Clone, Copy)]
pub struct Facts<'a> {
    /// What sessions were found doing.
    pub waits: &'a Waits,
    /// Users, or for a held rate the most that may be at work at once.
    pub users: u32,
    /// Share of all processors of this machine that was busy, 0 to 100.
    pub processors_busy_percent: Option<f64>,
    /// Average latency of a read of the volume.
    pub average_read_ms: Option<f64>,
    /// Whether a rate was held, and reached.
    pub rate_reached: Option<bool>,
    /// Share of the measured time in which the server did not serve, 0 to 1.
    pub out_of_service: f64,
}

/// Sessions at work, as a share of the users, below which the database was not the limit.
const MOSTLY_IDLE: f64 = 0.5;
/// A share that counts as nearly all of a class.
const LEADING: f64 = 0.4;
/// A share of the time without service above which it was what held the load back.
const MUCH_OUTAGE: f64 = 0.05;
/// Processors that are this busy have nothing left to give.
const PROCESSORS_FULL_PERCENT: f64 = 90.0;

/// The word for `held_back_by`, and the sentences that explain it.
#[must_use]
pub fn attribute(facts: &Facts<'_>) -> (&'static str, String) {
    let waits = facts.waits;
    let Some(storage) = waits.share(Class::Storage) else {
        return (
            "unknown",
            "The server does not tell what its sessions wait for.".to_owned(),
        );
    };
    let share = |class| waits.share(class).unwrap_or(0.0);
    let (locks, running) = (share(Class::Locks), share(Class::Processor));
    let busy = waits.average_busy();
    let figures = format!(
        "Of {} users, {busy:.1} were at work in the database on average. They waited for storage \
         in {:.0} % of the looks, for each other in {:.0} %, and were running in {:.0} %.{}{}",
        facts.users,
        100.0 * storage,
        100.0 * locks,
        100.0 * running,
        facts
            .average_read_ms
            .map(|ms| format!(" A read of the volume took {ms:.2} ms on average."))
            .unwrap_or_default(),
        facts
            .processors_busy_percent
            .map(|percent| format!(" The processors of this machine were {percent:.0} % busy."))
            .unwrap_or_default(),
    );
    let full = |percent: f64| percent >= PROCESSORS_FULL_PERCENT;
    let is_idle = busy < MOSTLY_IDLE * f64::from(facts.users);
    let (word, verdict) = if facts.out_of_service > MUCH_OUTAGE {
        (
            "outage",
            "Times without service held the load back more than anything else.",
        )
    } else if facts.rate_reached == Some(true) {
        (
            "nothing",
            "Nothing held the load back: the rate that was asked for was reached.",
        )
    } else if facts.processors_busy_percent.is_some_and(full) && (storage < LEADING || is_idle) {
        ("processor", "The processors held the load back.")
    } else if is_idle {
        (
            "nothing",
            "The database did not hold the load back: most users were not in it, but rested or \
             waited for a processor of their own. More users would make more load.",
        )
    } else if storage >= locks && storage >= running {
        ("storage", "The storage held the load back.")
    } else if locks >= running {
        (
            "locks",
            "Transactions held each other back; faster storage would change little.",
        )
    } else {
        (
            "processor",
            "The processors held the load back, not the storage.",
        )
    };
    (word, format!("{verdict} {figures}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(storage: u64, locks: u64, running: u64, busy_percent: f64) -> &'static str {
        let mut waits = Waits::default();
        waits.begin_look();
        waits.found(Class::Storage, "IO: DataFileRead".to_owned(), storage);
        waits.found(Class::Locks, "Lock: tuple".to_owned(), locks);
        waits.found(Class::Processor, "running".to_owned(), running);
        let facts = Facts {
            waits: &waits,
            users: 30,
            processors_busy_percent: Some(busy_percent),
            average_read_ms: Some(4.5),
            rate_reached: None,
            out_of_service: 0.0,
        };
        let (word, text) = attribute(&facts);
        assert!(text.contains("4.50 ms"), "{text}");
        word
    }

    #[test]
    fn the_greatest_share_is_named() {
        assert_eq!(word(20, 4, 4, 30.0), "storage");
        assert_eq!(word(4, 20, 4, 30.0), "locks");
        assert_eq!(word(4, 4, 20, 80.0), "processor");
        assert_eq!(word(4, 2, 6, 97.0), "processor", "few at work, none left");
        assert_eq!(word(4, 2, 2, 20.0), "nothing", "the users rest");
        assert_eq!(word(8, 0, 2, 100.0), "processor", "more users find none");
    }

    #[test]
    fn a_rate_that_was_reached_was_held_back_by_nothing() {
        let mut waits = Waits::default();
        waits.begin_look();
        waits.found(Class::Storage, "IO: WALSync".to_owned(), 30);
        let facts = Facts {
            waits: &waits,
            users: 30,
            processors_busy_percent: None,
            average_read_ms: None,
            rate_reached: Some(true),
            out_of_service: 0.0,
        };
        assert_eq!(attribute(&facts).0, "nothing");
        let out = Facts {
            out_of_service: 0.3,
            ..facts
        };
        assert_eq!(attribute(&out).0, "outage");
        let nothing_known = Facts {
            waits: &Waits::default(),
            ..facts
        };
        assert_eq!(attribute(&nothing_known).0, "unknown");
    }
}
