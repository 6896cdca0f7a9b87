//! The words and figures of progress.

use std::time::Duration;

use jiff::Timestamp;
use measure::display::number::{duration, figure, latency_or_absent, limit, quantity};
use measure::metric::Unit;
use measure::units;
use workload::progress::{ByteProgress, LiveSample, PhaseEstimate, Remaining};

/// The figures of a sample on one line.
#[must_use]
pub fn sample(sample: &LiveSample) -> String {
    let mut parts = vec![match sample.target_iops {
        Some(target) => format!("{} of {} IOPS", figure(sample.iops), limit(target)),
        None => quantity(sample.iops, Unit::Iops),
    }];
    parts.push(format!(
        "read {}",
        latency_or_absent(sample.database_read_ms)
    ));
    parts.push(format!(
        "log write {}",
        latency_or_absent(sample.log_write_ms)
    ));
    let sessions = sample.sessions;
    if let Some(operations) = sessions.clients.operations {
        let per_second = figure(sessions.operations_per_second);
        parts.insert(0, format!("{per_second} {operations}/s"));
    }
    let count = u64::from(sessions.count);
    parts.push(units::count(count, sessions.clients.noun));
    parts.join(", ")
}

/// What a phase waits for, and how long. Where time is simulated, so is that.
#[must_use]
pub fn estimate(estimate: &PhaseEstimate, simulated: bool) -> String {
    let (bound, span) = match estimate.remaining {
        Remaining::About(span) => ("about", span),
        Remaining::AtMost(span) => ("at most", span),
    };
    let of = if simulated { " of simulated time" } else { "" };
    format!("{}; {bound} {}{of} left", estimate.text, left(span))
}

/// Time that something takes yet, to the second: `45 s`, `2 min 5 s`.
#[must_use]
pub fn left(span: Duration) -> String {
    duration(span.as_secs() as f64)
}

/// In words, how long the rest takes, behind other words; nothing while that is not known.
#[must_use]
pub fn about_left(span: Option<Duration>) -> String {
    span.map_or(String::new(), |span| format!(", about {} left", left(span)))
}

/// That the database is down, and since when.
#[must_use]
pub fn without_service(length: Duration, now: Timestamp) -> String {
    let since = now.checked_sub(length).unwrap_or(now);
    format!(
        "database down since {}, for {}",
        since.strftime("%H:%M:%SZ"),
        clock(length)
    )
}

/// The requests that hang, if there are any.
#[must_use]
pub fn hung(sample: &LiveSample) -> Option<String> {
    let hung = sample.hung?;
    let count = units::count(hung.count as u64, "request");
    let longest = clock(hung.longest);
    Some(format!("{count} not answered for up to {longest}"))
}

/// The service levels that would fail the run now, or that all are met.
#[must_use]
pub fn standing(sample: &LiveSample) -> String {
    match sample.failing.as_slice() {
        [] => "all service levels met so far".to_owned(),
        [one] => format!("would fail: {one}"),
        [one, rest @ ..] => format!("would fail: {one} and {} more", rest.len()),
    }
}

/// Before this share is done, the time that something took says more about its beginning than about the rest.
const LEAST_DONE: f64 = 0.001;

/// How much longer a phase takes that has come so far in this time; `None` before it has got anywhere.
#[must_use]
pub fn time_left(progress: ByteProgress, spent: Duration) -> Option<Duration> {
    if (progress.done_bytes as f64) < progress.total_bytes as f64 * LEAST_DONE {
        return None;
    }
    let left_bytes = progress.total_bytes.saturating_sub(progress.done_bytes);
    let each = left_bytes as f64 / progress.done_bytes as f64;
    Duration::try_from_secs_f64(spent.as_secs_f64() * each).ok()
}

/// `h:mm:ss`, or `m:ss` below an hour.
#[must_use]
pub fn clock(span: Duration) -> String {
    let seconds = span.as_secs();
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    if hours > 0 {
        return format!("{hours}:{minutes:02}:{seconds:02}");
    }
    format!("{minutes}:{seconds:02}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use workload::progress::{Clients, Sessions};

    #[test]
    fn a_sample_reads_as_one_line() {
        let mut given = LiveSample {
            elapsed: Duration::from_secs(15),
            iops: 1234.4,
            target_iops: Some(1200.0),
            database_read_ms: Some(3.214),
            log_write_ms: None,
            sessions: Sessions {
                clients: Clients::THREADS,
                count: 1,
                operations_per_second: 0.0,
            },
            failing: Vec::new(),
            estimate: None,
            without_service: None,
            hung: None,
        };
        assert_eq!(
            sample(&given),
            "1,234 of 1,200 IOPS, read 3.21 ms, log write -, 1 thread"
        );
        let users = Sessions {
            clients: Clients {
                noun: "user",
                operations: Some("transactions"),
            },
            count: 30,
            operations_per_second: 767.6,
        };
        let of_users = LiveSample {
            sessions: users,
            target_iops: None,
            ..given.clone()
        };
        assert_eq!(
            sample(&of_users),
            "768 transactions/s, 1,234 IOPS, read 3.21 ms, log write -, 30 users"
        );
        assert_eq!(standing(&given), "all service levels met so far");
        given.failing = vec!["average log write latency".to_owned(), "b".to_owned()];
        assert_eq!(
            standing(&given),
            "would fail: average log write latency and 1 more"
        );
    }

    #[test]
    fn a_database_that_is_away_is_shown_with_the_time() {
        let now = "2024-03-01T00:00:05Z".parse().unwrap();
        assert_eq!(
            without_service(Duration::from_secs(65), now),
            "database down since 23:59:00Z, for 1:05"
        );
    }

    #[test]
    fn what_is_left_takes_as_long_as_what_was_done() {
        let minute = Duration::from_secs(60);
        let left = |done_bytes| {
            let total_bytes = 100_000;
            let progress = ByteProgress {
                done_bytes,
                total_bytes,
            };
            time_left(progress, minute)
        };
        assert_eq!(left(25_000), Some(minute * 3));
        assert_eq!(left(100_000), Some(Duration::ZERO));
        assert_eq!((left(0), left(99)), (None, None));
        assert!(left(100).is_some());
    }

    #[test]
    fn an_estimate_says_what_is_waited_for_and_how_long() {
        let mut given = PhaseEstimate {
            text: "caches 43 % full, target 95 %".to_owned(),
            remaining: Remaining::About(Duration::from_secs(130)),
        };
        assert_eq!(
            estimate(&given, false),
            "caches 43 % full, target 95 %; about 2 min 10 s left"
        );
        given.remaining = Remaining::AtMost(Duration::from_secs(9));
        assert!(estimate(&given, true).ends_with("; at most 9 s of simulated time left"));
    }

    #[test]
    fn times_are_short() {
        assert_eq!(clock(Duration::from_secs(59)), "0:59");
        assert_eq!(clock(Duration::from_secs(3600)), "1:00:00");
    }
}
