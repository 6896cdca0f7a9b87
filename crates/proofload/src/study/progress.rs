//! How far the cases of a study are.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use workload::progress::Phase;

use execution::clock::Stopwatch;
use execution::events::{CaseProgress, Event, Observer};

/// All cases of a call.
pub struct Progress(Vec<Entry>);

/// How far one case is.
pub struct Entry {
    title: String,
    /// Simulated seconds of the shortest warm-up, and of that with the measured phase.
    warm_up_s: f64,
    simulated_s: f64,
    began: Option<Stopwatch>,
    took: Option<Duration>,
    phase: Option<Phase>,
    elapsed: Duration,
    iops: f64,
}

impl Progress {
    /// None of these cases has begun.
    pub fn new(cases: impl Iterator<Item = Entry>) -> Self {
        Self(cases.collect())
    }

    /// Notes the end of a task.
    pub fn end(&mut self, number: usize) {
        let entry = &mut self.0[number];
        let began = entry.began.unwrap_or_else(Stopwatch::start);
        entry.took = Some(began.elapsed());
    }

    /// The cases as an event shows them.
    pub fn cases(&self) -> Vec<CaseProgress> {
        let cases = self.0.iter().map(|entry| CaseProgress {
            title: entry.title.clone(),
            phase: entry.phase,
            simulated_s: entry.simulated_s,
            completed_fraction: entry.completed_fraction(),
            iops: entry.iops,
            spent: entry
                .took
                .or_else(|| entry.began.map(|began| began.elapsed())),
            is_done: entry.took.is_some(),
        });
        cases.collect()
    }
}

impl Entry {
    /// A case that has not begun; simulated seconds of the shortest warm-up, and of that with the
    /// measured phase.
    pub fn new(title: String, warm_up_s: f64, simulated_s: f64) -> Self {
        Self {
            title,
            warm_up_s,
            simulated_s,
            began: None,
            took: None,
            phase: None,
            elapsed: Duration::ZERO,
            iops: 0.0,
        }
    }

    /// How much of the simulated time has passed, as far as it is known beforehand.
    fn completed_fraction(&self) -> f64 {
        let elapsed_s = self.elapsed.as_secs_f64();
        let passed_s = match self.phase {
            Some(Phase::WarmingUp) => elapsed_s.min(self.warm_up_s),
            Some(Phase::Measuring) => self.warm_up_s + elapsed_s,
            Some(Phase::Closing | Phase::Verifying) => self.simulated_s,
            _ => 0.0,
        };
        (passed_s / self.simulated_s.max(1e-9)).min(1.0)
    }
}

/// Follows the events of one case, and notes how far it is.
pub struct Watch {
    progress: Arc<Mutex<Progress>>,
    number: usize,
}

impl Watch {
    /// Follows the task of that number.
    pub fn new(progress: Arc<Mutex<Progress>>, number: usize) -> Self {
        Self { progress, number }
    }
}

impl Observer for Watch {
    fn event(&mut self, event: Event<'_>) {
        let mut progress = lock(&self.progress);
        let entry = &mut progress.0[self.number];
        match event {
            Event::PhaseBegan { phase, .. } => {
                entry.began.get_or_insert_with(Stopwatch::start);
                entry.phase = Some(phase);
                entry.elapsed = Duration::ZERO;
            }
            Event::Live(figures) => {
                (entry.elapsed, entry.iops) = (figures.elapsed, figures.iops);
            }
            _ => {}
        }
    }
}

/// What a worker that panicked held is as good as ever: it is replaced as a whole.
pub fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
