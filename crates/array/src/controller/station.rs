//! A serial station: serves one thing after the other in the order they come.

/// What a station has done since the model started.
///
/// `number_integral_ns` is the time integral of the number of things inside, waiting or served. It
/// equals `response_sum_ns` whenever the station is empty: Little's law without a remainder.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct SerialCounters {
    /// Things that have entered since the model started.
    pub arrivals: u64,
    /// Things that were served to their end.
    pub departures: u64,
    /// Things thrown out by a failure.
    pub aborted: u64,
    /// Things inside now, waiting or being served.
    pub inside: u64,
    /// Time spent serving, ns. What is being served counts as served.
    pub busy_ns: u64,
    /// Time integral of the number inside, ns.
    pub number_integral_ns: u64,
    /// Sum of the times inside of all that left or were thrown out, ns.
    pub response_sum_ns: u64,
}

/// One server with a queue without limit, first come first served.
///
/// The end of a service is known when a thing enters, so the caller schedules an event: it calls
/// [`SerialStation::leave`] at the time [`SerialStation::enter`] gave it.
#[derive(Debug, Default)]
pub(crate) struct SerialStation {
    free_at_ns: u64,
    counted_until_ns: u64,
    entered_sum_ns: u128,
    counters: SerialCounters,
}

impl SerialStation {
    /// Takes a thing in; says when its service ends.
    #[inline]
    pub fn enter(&mut self, now_ns: u64, service_ns: u64) -> u64 {
        self.count_until(now_ns);
        self.counters.arrivals += 1;
        self.counters.inside += 1;
        self.counters.busy_ns += service_ns;
        self.entered_sum_ns += u128::from(now_ns);
        self.free_at_ns = self.free_at_ns.max(now_ns) + service_ns;
        self.free_at_ns
    }

    /// Lets the thing out that entered at `entered_ns`.
    #[inline]
    pub fn leave(&mut self, now_ns: u64, entered_ns: u64) {
        self.count_until(now_ns);
        assert!(
            self.counters.inside > 0,
            "nothing can leave an empty station"
        );
        self.counters.inside -= 1;
        self.counters.departures += 1;
        self.counters.response_sum_ns += now_ns - entered_ns;
        self.entered_sum_ns -= u128::from(entered_ns);
    }

    /// Throws out everything inside: the station has failed.
    pub fn abort_all(&mut self, now_ns: u64) {
        self.count_until(now_ns);
        let inside = self.counters.inside;
        let spent_ns = u128::from(inside) * u128::from(now_ns) - self.entered_sum_ns;
        self.counters.response_sum_ns += spent_ns as u64;
        self.counters.busy_ns -= self.free_at_ns.saturating_sub(now_ns);
        self.counters.aborted += inside;
        self.counters.inside = 0;
        self.entered_sum_ns = 0;
        self.free_at_ns = now_ns;
    }

    #[inline]
    fn count_until(&mut self, now_ns: u64) {
        debug_assert!(now_ns >= self.counted_until_ns, "time runs backwards");
        let passed_ns = now_ns - self.counted_until_ns;
        self.counters.number_integral_ns += passed_ns * self.counters.inside;
        self.counted_until_ns = now_ns;
    }

    /// The counters, brought forward to `now_ns`.
    pub fn counters(&self, now_ns: u64) -> SerialCounters {
        let mut counters = self.counters;
        let passed_ns = now_ns.saturating_sub(self.counted_until_ns);
        counters.number_integral_ns += passed_ns * counters.inside;
        counters
    }

    /// The counters, after a check of the invariants that must hold at any time.
    ///
    /// # Panics
    ///
    /// If things were made or lost inside, or Little's law does not hold.
    pub fn check_invariants(&self, now_ns: u64) {
        let counters = self.counters(now_ns);
        assert_eq!(
            counters.arrivals,
            counters.departures + counters.aborted + counters.inside,
            "what entered the station has left it or is inside"
        );
        let until_now_ns = u128::from(counters.inside) * u128::from(now_ns) - self.entered_sum_ns;
        assert_eq!(
            u128::from(counters.number_integral_ns),
            u128::from(counters.response_sum_ns) + until_now_ns,
            "Little's law: the integral of the number inside is the sum of the times inside"
        );
    }
}
