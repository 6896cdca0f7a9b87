//! A rate that may be exceeded for a while: credits earned at the base rate, spent at the burst rate.

/// What may pass per time. Amounts are requests or bytes.
#[derive(Debug, Clone)]
pub(super) struct Budget {
    base_per_ns: f64,
    /// At which rate credits are spent; without them the base rate.
    burst_per_ns: f64,
    credits: Option<Credits>,
    /// When the next amount may pass at the earliest.
    free_ns: f64,
}

#[derive(Debug, Clone)]
struct Credits {
    limit: f64,
    left: f64,
    as_of_ns: f64,
}

/// Bursts of a budget.
#[derive(Debug, Clone, Copy)]
pub(super) struct Burst {
    pub(super) per_s: f64,
    /// Most credits that are kept.
    pub(super) credits: f64,
    /// Credits at the start, as a share of the most.
    pub(super) share_at_start: f64,
}

impl Budget {
    pub(super) fn new(base_per_s: f64, burst: Option<Burst>) -> Self {
        let base_per_ns = base_per_s / 1e9;
        Self {
            base_per_ns,
            burst_per_ns: burst.map_or(base_per_ns, |burst| burst.per_s / 1e9),
            credits: burst.map(|burst| Credits {
                limit: burst.credits,
                left: burst.credits * burst.share_at_start,
                as_of_ns: 0.0,
            }),
            free_ns: 0.0,
        }
    }

    /// Has no credits left at `now_ns`.
    pub(super) fn spend(&mut self, now_ns: f64) {
        if let Some(credits) = &mut self.credits {
            credits.left = 0.0;
            // What was taken before may pass later than now; until then nothing is earned twice.
            credits.as_of_ns = credits.as_of_ns.max(now_ns);
        }
    }

    /// Takes an amount out; when it may pass, at `now_ns` or later. What was taken before passes before.
    pub(super) fn take(&mut self, now_ns: f64, amount: f64) -> f64 {
        let mut allowed_ns = self.free_ns.max(now_ns);
        if let Some(credits) = &mut self.credits {
            let earned = (allowed_ns - credits.as_of_ns) * self.base_per_ns;
            credits.left = (credits.left + earned).min(credits.limit) - amount;
            if credits.left < 0.0 {
                allowed_ns -= credits.left / self.base_per_ns;
                credits.left = 0.0;
            }
            credits.as_of_ns = allowed_ns;
        }
        self.free_ns = allowed_ns + amount / self.burst_per_ns;
        allowed_ns
    }
}
