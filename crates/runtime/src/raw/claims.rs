//! Which part of a file was ever written.
//!
//! Space given to a file still holds bytes of its former owners, and new bytes must read as zero.
//! Instead of writing zeroes first, a file remembers how far it was written: what lies behind reads
//! as zero without asking the device. A write that goes further *claims* everything up to its end;
//! claims may be worked on side by side. The table learns of the part below the first unfinished
//! claim, once it is durable.

/// The written part of one file.
#[derive(Debug)]
pub(super) struct Claims {
    /// End of the part that was claimed so far, in bytes.
    claimed_bytes: u64,
    /// Claims being written, as start and end.
    in_progress: Vec<(u64, u64)>,
    /// End of the part that the table knows to be written.
    pub(super) recorded_bytes: u64,
    /// Whether a claim was written without being made durable since the last flush began.
    pub(super) needs_flush: bool,
    /// Whether a claim failed, so that bytes of former owners may lie inside.
    pub(super) failed: bool,
}

impl Claims {
    pub(super) fn new(initialised_bytes: u64) -> Self {
        Self {
            claimed_bytes: initialised_bytes,
            in_progress: Vec::new(),
            recorded_bytes: initialised_bytes,
            needs_flush: false,
            failed: false,
        }
    }

    pub(super) fn claimed_bytes(&self) -> u64 {
        self.claimed_bytes
    }

    /// Whether a range must wait for claims on it to finish.
    pub(super) fn overlaps(&self, start_bytes: u64, end_bytes: u64) -> bool {
        let overlaps = |claim: &(u64, u64)| claim.0 < end_bytes && start_bytes < claim.1;
        self.in_progress.iter().any(overlaps)
    }

    /// Claims everything up to `end_bytes`. Returns the claim, `None` if that was claimed before.
    pub(super) fn claim(&mut self, end_bytes: u64) -> Option<(u64, u64)> {
        if end_bytes <= self.claimed_bytes {
            return None;
        }
        let claim = (self.claimed_bytes, end_bytes);
        self.in_progress.push(claim);
        self.claimed_bytes = end_bytes;
        Some(claim)
    }

    pub(super) fn finish(&mut self, claim: (u64, u64)) {
        self.in_progress.retain(|other| *other != claim);
    }

    /// End of the part in which nothing is unfinished.
    pub(super) fn finished_bytes(&self) -> u64 {
        let first = self.in_progress.iter().map(|claim| claim.0).min();
        first.unwrap_or(self.claimed_bytes)
    }

    /// Forgets what lies behind the new end of the file.
    pub(super) fn cut(&mut self, size_bytes: u64) {
        assert!(self.in_progress.is_empty());
        self.claimed_bytes = self.claimed_bytes.min(size_bytes);
        self.recorded_bytes = self.recorded_bytes.min(size_bytes);
    }
}
