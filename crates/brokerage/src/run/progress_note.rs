//! Progress of work that reads the whole database, with the time that is left.

use super::shard_link::ShardLink;
use measure::display::number::duration;
use std::time::{Duration, Instant};
use workload::controller::link::ShardMessage;

/// Work that ends within this time reports no progress, and others report it this often.
const REPORT_EVERY: Duration = Duration::from_secs(2);

/// Reports the progress of one piece of work.
pub(super) struct ProgressNote<'a> {
    link: &'a ShardLink,
    what: String,
    started: Instant,
    reported: Instant,
}

impl<'a> ProgressNote<'a> {
    /// Begins work with this name.
    pub fn new(link: &'a ShardLink, what: &str) -> Self {
        link.report(ShardMessage::OnStep(what.to_owned()));
        Self {
            link,
            what: what.to_owned(),
            started: Instant::now(),
            reported: Instant::now(),
        }
    }

    /// This share of the work is done, between 0 and 1.
    pub fn done(&mut self, share: f64) {
        if self.reported.elapsed() >= REPORT_EVERY {
            self.reported = Instant::now();
            let text = text(&self.what, self.started.elapsed(), share);
            self.link.report(ShardMessage::OnStep(text));
        }
    }
}

fn text(what: &str, elapsed: Duration, share: f64) -> String {
    if share <= 0.0 {
        return what.to_owned();
    }
    let left_s = elapsed.as_secs_f64() * (1.0 - share) / share;
    let left = duration(left_s.max(0.0).round());
    format!("{what}, {:.0} % done, about {left} left", share * 100.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_what_is_done() {
        let shown = text("reading", Duration::from_secs(30), 0.25);
        assert_eq!(shown, "reading, 25 % done, about 1 min 30 s left");
        assert_eq!(text("reading", Duration::from_secs(30), 0.0), "reading");
    }
}
