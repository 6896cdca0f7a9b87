//! What busy sessions were found doing.

use measure::result::WaitShare;
use std::collections::BTreeMap;

/// What a wait belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Class {
    /// Data or log on their way to or from the storage.
    Storage,
    /// Another transaction.
    Locks,
    /// Nothing: the session computes, or waits for a processor.
    Processor,
    /// The program that asks.
    Client,
    /// Anything else.
    Other,
}

impl Class {
    /// The word in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Locks => "locks",
            Self::Processor => "processor",
            Self::Client => "client",
            Self::Other => "other",
        }
    }

    /// The class of a wait by PostgreSQL's names for it; no names stand for running.
    #[must_use]
    pub fn of_postgresql(kind: Option<&str>, event: Option<&str>) -> Self {
        match (kind, event) {
            (None, _) => Self::Processor,
            // Whoever waits for the log's lock waits for another session that makes it durable.
            (Some("IO"), _) | (Some("LWLock"), Some("WALWrite" | "WALWriteLock")) => Self::Storage,
            (Some("Lock" | "LWLock" | "BufferPin"), _) => Self::Locks,
            (Some("Client"), _) => Self::Client,
            (Some(_), _) => Self::Other,
        }
    }
}

/// Counts of what sessions were found doing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waits {
    looks: u64,
    found: BTreeMap<(Class, String), u64>,
}

impl Waits {
    /// Begins a look at all sessions.
    pub fn begin_look(&mut self) {
        self.looks += 1;
    }

    /// Notes that so many busy sessions were found doing this.
    pub fn found(&mut self, class: Class, name: String, sessions: u64) {
        *self.found.entry((class, name)).or_default() += sessions;
    }

    /// Sessions found busy at a look, on average.
    #[must_use]
    pub fn average_busy(&self) -> f64 {
        self.of_all() as f64 / self.looks.max(1) as f64
    }

    /// Share of a class among all that was found, from 0 to 1; `None` when nothing was.
    #[must_use]
    pub fn share(&self, class: Class) -> Option<f64> {
        let all = self.of_all();
        let of_class = self.found.iter().filter(|((of, _), _)| *of == class);
        let of_class: u64 = of_class.map(|(_, count)| count).sum();
        (all > 0).then(|| of_class as f64 / all as f64)
    }

    fn of_all(&self) -> u64 {
        self.found.values().sum()
    }

    /// Everything that was found, the most frequent first.
    #[must_use]
    pub fn shares(&self) -> Vec<WaitShare> {
        let all = self.of_all().max(1) as f64;
        let share = |((class, name), count): (&(Class, String), &u64)| WaitShare {
            name: name.clone(),
            class: class.name().to_owned(),
            share_percent: 100.0 * *count as f64 / all,
            average_sessions: *count as f64 / self.looks.max(1) as f64,
        };
        let mut shares: Vec<WaitShare> = self.found.iter().map(share).collect();
        shares.sort_by(|a, b| b.share_percent.total_cmp(&a.share_percent));
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_add_up_and_the_most_frequent_comes_first() {
        let mut waits = Waits::default();
        for _ in 0..10 {
            waits.begin_look();
            waits.found(Class::Storage, "IO: DataFileRead".to_owned(), 6);
            waits.found(Class::Processor, "running".to_owned(), 2);
        }
        let shares = waits.shares();
        assert_eq!(shares[0].name, "IO: DataFileRead");
        assert_eq!(shares[0].average_sessions, 6.0);
        let all: f64 = shares.iter().map(|share| share.share_percent).sum();
        assert!((all - 100.0).abs() < 1e-9);
        assert_eq!(waits.share(Class::Storage), Some(0.75));
        assert_eq!(waits.average_busy(), 8.0);
        assert_eq!(Waits::default().share(Class::Locks), None);
    }

    #[test]
    fn waiting_for_somebody_who_writes_the_log_is_waiting_for_storage() {
        let class = |kind, event| Class::of_postgresql(Some(kind), Some(event));
        assert_eq!(class("LWLock", "WALWrite"), Class::Storage);
        assert_eq!(class("LWLock", "BufferMapping"), Class::Locks);
        assert_eq!(class("IO", "WALSync"), Class::Storage);
        assert_eq!(class("Lock", "transactionid"), Class::Locks);
        assert_eq!(Class::of_postgresql(None, None), Class::Processor);
    }
}
