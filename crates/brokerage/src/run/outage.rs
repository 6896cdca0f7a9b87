//! Times in which the server did not serve.

use measure::result::OutageResult;

/// Keeps the times without service: from the first session that was refused until all that were
/// refused are served again. One that is turned away while others are served is without service,
/// too.
#[derive(Debug, Default)]
pub struct Outages {
    ended: Vec<OutageResult>,
    /// When the present one began, and why.
    open: Option<(u64, String)>,
    /// Sessions that wait to be served again.
    waiting: usize,
}

impl Outages {
    /// A session that had been served is not any more. True when all others still are.
    pub fn down(&mut self, now_ns: u64, reason: &str) -> bool {
        self.waiting += 1;
        let begins = self.open.is_none();
        if begins {
            self.open = Some((now_ns, reason.to_owned()));
        }
        begins
    }

    /// A session that had been refused is served again, or has given up. Gives the time without
    /// service when it was the last of them.
    pub fn up(&mut self, now_ns: u64) -> Option<f64> {
        self.waiting = self.waiting.saturating_sub(1);
        if self.waiting > 0 {
            return None;
        }
        let (begun_ns, reason) = self.open.take()?;
        let outage = outage(begun_ns, now_ns, reason);
        let length_s = outage.length_s;
        self.ended.push(outage);
        Some(length_s)
    }

    /// Whether service is out.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.open.is_some()
    }

    /// All of them; one that goes on counts until now.
    #[must_use]
    pub fn all(&self, now_ns: u64) -> Vec<OutageResult> {
        let open = self.open.clone();
        let open = open.map(|(begun_ns, reason)| outage(begun_ns, now_ns, reason));
        self.ended.iter().cloned().chain(open).collect()
    }
}

fn outage(begun_ns: u64, ended_ns: u64, reason: String) -> OutageResult {
    OutageResult {
        begins_s: begun_ns as f64 / 1e9,
        length_s: ended_ns.saturating_sub(begun_ns) as f64 / 1e9,
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
        let seen: Vec<_> = all
            .iter()
            .map(|one| (one.begins_s, one.length_s, one.reason.as_str()))
            .collect();
        assert_eq!(seen, [(2.0, 3.0, "gone"), (6.0, 0.5, "again")]);
    }
}
