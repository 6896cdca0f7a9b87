//! Wait events of busy sessions.

use measure::result::{WaitClass, WaitShare};
use std::collections::BTreeMap;

/// Class of a wait event of `pg_stat_activity`; running without one.
#[must_use]
pub fn class_of_postgresql(kind: Option<&str>, event: Option<&str>) -> WaitClass {
    match (kind, event) {
        (None, _) => WaitClass::Cpu,
        // Waiting for the WAL write lock is waiting for another session that flushes the WAL.
        (Some("IO"), _) | (Some("LWLock"), Some("WALWrite" | "WALWriteLock")) => WaitClass::Storage,
        (Some("Lock" | "LWLock" | "BufferPin"), _) => WaitClass::Locks,
        (Some("Client"), _) => WaitClass::Client,
        (Some(_), _) => WaitClass::Other,
    }
}

/// Counts of sampled wait events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Waits {
    samples: u64,
    found: BTreeMap<(WaitClass, String), u64>,
}

impl Waits {
    /// Begins a sample of all sessions.
    pub fn begin_sample(&mut self) {
        self.samples += 1;
    }

    /// Counts busy sessions with this wait event.
    pub fn found(&mut self, class: WaitClass, name: String, sessions: u64) {
        *self.found.entry((class, name)).or_default() += sessions;
    }

    /// Average number of busy sessions per sample.
    #[must_use]
    pub fn average_busy(&self) -> f64 {
        self.of_all() as f64 / self.samples.max(1) as f64
    }

    /// Share of a class of all busy sessions, from 0 to 1; `None` without any.
    #[must_use]
    pub fn share(&self, class: WaitClass) -> Option<f64> {
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
        let share = |((class, name), count): (&(WaitClass, String), &u64)| WaitShare {
            name: name.clone(),
            class: *class,
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
            waits.found(WaitClass::Storage, "IO: DataFileRead".to_owned(), 6);
            waits.found(WaitClass::Cpu, "running".to_owned(), 2);
        }
        let shares = waits.shares();
        assert_eq!(shares[0].name, "IO: DataFileRead");
        assert_eq!(shares[0].average_sessions, 6.0);
        let all: f64 = shares.iter().map(|share| share.share_percent).sum();
        assert!((all - 100.0).abs() < 1e-9);
        assert_eq!(waits.share(WaitClass::Storage), Some(0.75));
        assert_eq!(waits.average_busy(), 8.0);
        assert_eq!(Waits::default().share(WaitClass::Locks), None);
    }

    #[test]
    fn waiting_for_somebody_who_writes_the_log_is_waiting_for_storage() {
        let class = |kind, event| class_of_postgresql(Some(kind), Some(event));
        assert_eq!(class("LWLock", "WALWrite"), WaitClass::Storage);
        assert_eq!(class("LWLock", "BufferMapping"), WaitClass::Locks);
        assert_eq!(class("IO", "WALSync"), WaitClass::Storage);
        assert_eq!(class("Lock", "transactionid"), WaitClass::Locks);
        assert_eq!(class_of_postgresql(None, None), WaitClass::Cpu);
    }
}
