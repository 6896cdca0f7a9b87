//! Wait events of busy sessions.

use measure::result::WaitShare;
use std::collections::BTreeMap;
use strum::IntoStaticStr;

/// Class of a wait event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Class {
    /// Reads and writes of data or log.
    Storage,
    /// Locks of other transactions, and latches.
    Locks,
    /// No wait: the session runs, or is runnable.
    Cpu,
    /// Waiting for the client program.
    Client,
    /// Any other wait event.
    Other,
}

impl Class {
    /// Its name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Class of a wait event of `pg_stat_activity`; running without one.
    #[must_use]
    pub fn of_postgresql(kind: Option<&str>, event: Option<&str>) -> Self {
        match (kind, event) {
            (None, _) => Self::Cpu,
            // Waiting for the WAL write lock is waiting for another session that flushes the WAL.
            (Some("IO"), _) | (Some("LWLock"), Some("WALWrite" | "WALWriteLock")) => Self::Storage,
            (Some("Lock" | "LWLock" | "BufferPin"), _) => Self::Locks,
            (Some("Client"), _) => Self::Client,
            (Some(_), _) => Self::Other,
        }
    }
}

/// Counts of sampled wait events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waits {
    samples: u64,
    found: BTreeMap<(Class, String), u64>,
}

impl Waits {
    /// Begins a sample of all sessions.
    pub fn begin_sample(&mut self) {
        self.samples += 1;
    }

    /// Counts busy sessions with this wait event.
    pub fn found(&mut self, class: Class, name: String, sessions: u64) {
        *self.found.entry((class, name)).or_default() += sessions;
    }

    /// Average number of busy sessions per sample.
    #[must_use]
    pub fn average_busy(&self) -> f64 {
        self.of_all() as f64 / self.samples.max(1) as f64
    }

    /// Share of a class of all busy sessions, from 0 to 1; `None` without any.
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

    /// All wait events with their shares, the largest first.
    #[must_use]
    pub fn shares(&self) -> Vec<WaitShare> {
        let all = self.of_all().max(1) as f64;
        let share = |((class, name), count): (&(Class, String), &u64)| WaitShare {
            name: name.clone(),
            class: class.name().to_owned(),
            share_percent: 100.0 * *count as f64 / all,
            average_sessions: *count as f64 / self.samples.max(1) as f64,
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
            waits.begin_sample();
            waits.found(Class::Storage, "IO: DataFileRead".to_owned(), 6);
            waits.found(Class::Cpu, "running".to_owned(), 2);
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
        assert_eq!(Class::of_postgresql(None, None), Class::Cpu);
    }
}
