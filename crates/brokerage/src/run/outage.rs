//! Downtime of the server.

use measure::result::OutageResult;

/// Outages: from the first session that was refused until all that were refused are served again. A
/// session that is refused while others are served is an outage, too.
#[derive(Debug, Default)]
pub struct Outages {
    ended: Vec<OutageResult>,
    /// Start and reason of the current one.
    open: Option<(u64, String)>,
    /// Sessions that wait to be served again.
    waiting: usize,
}

impl Outages {
    /// A session was refused or lost. True if it is the first: an outage begins.
    pub fn down(&mut self, now_ns: u64, reason: &str) -> bool {
        self.waiting += 1;
        let begins = self.open.is_none();
        if begins {
            self.open = Some((now_ns, reason.to_owned()));
        }
        begins
    }

    /// A session is served again, or stopped waiting. Returns the length of the outage if it was
    /// the last of them.
    pub fn up(&mut self, now_ns: u64) -> Option<f64> {
        self.waiting = self.waiting.saturating_sub(1);
        if self.waiting > 0 {
            return None;
        }
        let (started_ns, reason) = self.open.take()?;
        let outage = outage(started_ns, now_ns, reason);
        let length_s = outage.length_s;
        self.ended.push(outage);
        Some(length_s)
    }

    /// Whether there is an outage now.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.open.is_some()
    }

    /// All outages; the current one up to now.
    #[must_use]
    pub fn all(&self, now_ns: u64) -> Vec<OutageResult> {
        let open = self.open.clone();
        let open = open.map(|(started_ns, reason)| outage(started_ns, now_ns, reason));
        self.ended.iter().cloned().chain(open).collect()
    }
}

fn outage(started_ns: u64, ended_ns: u64, reason: String) -> OutageResult {
    OutageResult {
        begins_s: started_ns as f64 / 1e9,
        length_s: ended_ns.saturating_sub(started_ns) as f64 / 1e9,
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_sessions_see_one_outage() {
        let mut outages = Outages::default();
        assert_eq!(outages.up(1), None, "it was never down");
        assert!(outages.down(2_000_000_000, "gone"));
        assert!(!outages.down(2_500_000_000, "refused"));
        assert!(outages.is_down());
        assert_eq!(outages.up(4_900_000_000), None, "one still waits");
        assert!(outages.is_down());
        assert_eq!(outages.up(5_000_000_000), Some(3.0));
        assert_eq!(outages.up(5_100_000_000), None);
        assert!(outages.down(6_000_000_000, "again"));
        let all = outages.all(6_500_000_000);
        let with_source: Vec<_> = all
            .iter()
            .map(|one| (one.begins_s, one.length_s, one.reason.as_str()))
            .collect();
        assert_eq!(with_source, [(2.0, 3.0, "gone"), (6.0, 0.5, "again")]);
    }
}
