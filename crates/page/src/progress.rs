//! How far a request has come.

use std::rc::Rc;

use measure::display::number::counted;
use proofload::events::{Event, Observer};
use serde::Serialize;
use workload::progress::Phase;

/// How far a request has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Progress {
    /// What is going on, in words.
    pub what: String,
    /// The part that is done, from 0 to 1; absent where it is not known.
    pub fraction: Option<f64>,
}

/// Takes note of progress.
pub type Report = Rc<dyn Fn(&Progress)>;

/// The observer of one prediction.
pub fn of_prediction(report: &Report, warm_up_s: f64, duration_s: f64) -> Box<dyn Observer> {
    let report = Rc::clone(report);
    let mut phase = Phase::Opening;
    let whole_s = (warm_up_s + duration_s).max(1e-9);
    Box::new(move |event: Event<'_>| {
        let elapsed_s = match event {
            Event::PhaseBegan { phase: began, .. } => {
                phase = began;
                0.0
            }
            Event::Live(figures) | Event::Sample { figures, .. } => figures.elapsed.as_secs_f64(),
            _ => return,
        };
        let (what, passed_s) = match phase {
            Phase::WarmingUp => ("Warm-up", elapsed_s.min(warm_up_s)),
            Phase::Tuning => ("Searching for the number of threads", 0.0),
            Phase::Measuring => ("Measured phase", warm_up_s + elapsed_s),
            _ => ("Preparation", 0.0),
        };
        report(&Progress {
            what: what.to_owned(),
            fraction: (passed_s > 0.0).then_some((passed_s / whole_s).min(1.0)),
        });
    })
}

/// The observer of many predictions.
pub fn of_grid(report: &Report, points: Option<usize>) -> Box<dyn Observer> {
    let report = Rc::clone(report);
    let mut done = 0_u64;
    Box::new(move |event: Event<'_>| {
        let what = match event {
            Event::PointDone { name, result, .. } => {
                done += 1;
                format!("{}, {name}: {}", counted(done, "point"), result.verdict)
            }
            Event::RoundBegan { done: 0 } => "the first point".to_owned(),
            _ => return,
        };
        report(&Progress {
            what,
            fraction: points.map(|points| done as f64 / points.max(1) as f64),
        });
    })
}
