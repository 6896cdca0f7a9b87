//! The view of `--quiet`: warnings only.

use proofload::{Event, Observer};

use crate::notify;

/// Prints warnings on standard error, and nothing else.
pub struct QuietView;

impl Observer for QuietView {
    fn event(&mut self, event: Event<'_>) {
        if let Event::Warning(text) = event {
            notify(text);
        }
    }
}
