//! Times in which the server did not serve.

use measure::result::OutageResult;

/// Keeps the times without service: from the first session that was refused to the first that was
/// served again.
#[derive(Debug, Default)]
pub struct Outages {
    ended: Vec<OutageResult>,
    /// When the present one began, and why.
    open: Option<(u64, String)>,
}

impl Outages {
    /// A session was not served. True when service had been there until now.
    pub fn down(&mut self, now_ns: u64, reason: &str) -> bool {
        let begins = self.open.is_none();
        if begins {
            self.open = Some((now_ns, reason.to_owned()));
        }
        begins
    }

    /// A session that had been refused is served. Gives the time without service when this ends
    /// one.
    pub fn up(&mut self, now_ns: u64) -> Option<f64> {
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
