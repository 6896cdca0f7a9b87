//! Whether the database serves, as far as whoever watches a run is to know.

use std::time::Duration;

/// What is known of the service of a database.
#[derive(Debug, Clone, Copy, Default)]
pub struct Service {
    out_since_ns: Option<u64>,
    was_out: bool,
}

impl Service {
    /// Takes in since when there is no service; nothing when there is.
    pub fn note(&mut self, out_since_ns: Option<u64>) {
        self.out_since_ns = out_since_ns;
        self.was_out |= out_since_ns.is_some();
    }

    /// Whether there was a time without service.
    pub fn was_out(&self) -> bool {
        self.was_out
    }

    /// For how long there has been no service at this time; `None` while there is.
    pub fn out_for(&self, now_ns: u64) -> Option<Duration> {
        let since_ns = self.out_since_ns?;
        Some(Duration::from_nanos(now_ns.saturating_sub(since_ns)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn service_that_returned_was_out_all_the_same() {
        let mut service = Service::default();
        assert_eq!((service.was_out(), service.out_for(5)), (false, None));
        service.note(Some(3_000_000_000));
        let out_for = service.out_for(5_000_000_000);
        assert_eq!(out_for, Some(Duration::from_secs(2)));
        service.note(None);
        assert_eq!((service.was_out(), service.out_for(9)), (true, None));
    }
}
