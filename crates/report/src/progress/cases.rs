//! How far the cases of studies are, and when they will be done.

use std::time::Duration;

use proofload::Event;
use proofload::events::CaseProgress;
use workload::progress::Phase;

use super::figures::left;
use super::status::{Due, Status, StatusSource};
use crate::number::figure;

/// Cases done, those under way and the time left.
pub struct CasesStatus {
    /// How many cases are predicted at once.
    jobs: usize,
    /// Cases that were done at the last event.
    done: usize,
}

impl CasesStatus {
    /// Of `jobs` cases at a time.
    #[must_use]
    pub fn new(jobs: usize) -> Self {
        Self {
            jobs: jobs.max(1),
            done: 0,
        }
    }
}

impl StatusSource for CasesStatus {
    fn after(&mut self, event: Event<'_>) -> Option<Status> {
        let cases = match event {
            Event::StudyProgress(cases) => cases,
            Event::Note(text) | Event::Warning(text) => {
                return Some(Status::Note(text.to_owned()));
            }
            _ => return None,
        };
        let done = done(cases);
        let due = match done > self.done {
            true => Due::Now,
            false => Due::Later,
        };
        self.done = done;
        let text = text(cases, self.jobs);
        Some(Status::Line { text, due })
    }
}

fn done(cases: &[CaseProgress]) -> usize {
    cases.iter().filter(|case| case.is_done).count()
}

/// One line: cases done, those under way, the time left.
fn text(cases: &[CaseProgress], jobs: usize) -> String {
    let mut text = format!("{} of {} cases done", done(cases), cases.len());
    for case in cases {
        let Some(phase) = case.phase.filter(|_| !case.is_done) else {
            continue;
        };
        let percent = case.completed_fraction * 100.0;
        let state = match phase {
            Phase::Measuring => format!("{percent:.0} %, {} IOPS", figure(case.iops)),
            Phase::WarmingUp => format!("{percent:.0} %, warming up"),
            phase => phase.title().to_lowercase(),
        };
        text.push_str(&format!("; {} {state}", case.title));
    }
    if let Some(time_left) = time_left(cases, jobs) {
        text.push_str(&format!("; about {} left", left(time_left)));
    }
    text
}

/// Time until everything is done, when something is known of it.
fn time_left(cases: &[CaseProgress], jobs: usize) -> Option<Duration> {
    let (mut spent_s, mut simulated_s) = (0.0, 0.0);
    for case in cases {
        let spent = case.spent.map_or(0.0, |spent| spent.as_secs_f64());
        match case.is_done {
            true if case.phase.is_some() => {
                spent_s += spent;
                simulated_s += case.simulated_s;
            }
            false if case.completed_fraction > 0.0 => {
                spent_s += spent;
                simulated_s += case.simulated_s * case.completed_fraction;
            }
            _ => {}
        }
    }
    if simulated_s <= 0.0 {
        return None;
    }
    let left = cases.iter().filter(|case| !case.is_done);
    let left = left.map(|case| case.simulated_s * (1.0 - case.completed_fraction));
    let (mut all, mut longest) = (0.0, 0.0_f64);
    for simulated in left {
        all += simulated;
        longest = longest.max(simulated);
    }
    let left_s = spent_s / simulated_s * longest.max(all / jobs as f64);
    Duration::try_from_secs_f64(left_s).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn case(title: &str, completed_fraction: f64) -> CaseProgress {
        CaseProgress {
            title: title.to_owned(),
            phase: Some(Phase::Measuring),
            simulated_s: 100.0,
            completed_fraction,
            iops: 1234.4,
            spent: Some(Duration::from_secs(10)),
            is_done: completed_fraction >= 1.0,
        }
    }

    #[test]
    fn what_is_left_is_computed_from_what_was_done_on_all_jobs() {
        let mut cases = vec![case("a", 1.0), case("b", 0.5), CaseProgress::default()];
        cases[2].simulated_s = 100.0;
        let mut status = CasesStatus::new(2);
        let first = status.after(Event::StudyProgress(&cases)).unwrap();
        let text = "1 of 3 cases done; b 50 %, 1,234 IOPS; about 13 s left".to_owned();
        assert_eq!(
            first,
            Status::Line {
                text,
                due: Due::Now
            }
        );
        let again = status.after(Event::StudyProgress(&cases)).unwrap();
        assert!(matches!(
            again,
            Status::Line {
                due: Due::Later,
                ..
            }
        ));
        assert_eq!(time_left(&[CaseProgress::default()], 1), None);
    }
}
