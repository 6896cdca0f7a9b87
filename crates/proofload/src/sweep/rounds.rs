//! The rounds of a search: points are computed until every question is answered, longer where their time was too
//! short for a verdict.

use std::collections::BTreeSet;

use measure::display::number::duration;
use measure::grid::{GridPoint, GridResult};
use measure::result::Verdict;
use workload::profile::TimeSpan;

use super::compute::Computation;
use super::find::Question;
use super::point::Point;
use super::search::Judged;
use crate::workers::Alone;
use execution::Error;
use execution::events::{Event, Observer};

/// A point without a verdict is predicted again over so many times its duration.
const LONGER: u64 = 4;

/// How often that is done at most.
const MOST_TIMES_LONGER: u32 = 2;

/// No point is predicted over more than this because it had no verdict before.
const LONGEST: TimeSpan = TimeSpan::seconds(24 * 3600);

/// A point with what is known of it.
struct Tried {
    number: usize,
    entry: GridPoint,
}

/// Computes points until every question is answered.
pub(super) fn search(
    questions: &mut [Question],
    computation: &Computation<'_>,
    observer: &mut dyn Observer,
    grid: &mut GridResult,
) -> Result<(), Error> {
    grid.complete = true;
    for question in questions {
        let mut tried: Vec<Tried> = Vec::new();
        loop {
            let at_once = computation.jobs + computation.helpers.slots();
            let probes = question.search.probes(at_once);
            if probes.is_empty() {
                break;
            }
            let done = grid.points.len() + tried.len();
            observer.event(Event::RoundBegan { done });
            let round = compute(&probes, question, computation, observer)?;
            let judged: Vec<(usize, Judged)> = round.iter().map(Tried::judged).collect();
            tried.extend(round);
            if computation.stop.is_stopped() {
                grid.complete = false;
                break;
            }
            question.search.take(&judged);
        }
        tried.sort_by_key(|one| one.number);
        grid.points.extend(tried.into_iter().map(|one| one.entry));
        if !grid.complete {
            break;
        }
        let answer = question.answer(&grid.points);
        observer.event(Event::Note(&answer.sentence));
        grid.answers.push(answer);
    }
    Ok(())
}

impl Tried {
    fn judged(&self) -> (usize, Judged) {
        let judged = match self.entry.verdict {
            Some(Verdict::Pass) => Judged::Passes,
            Some(Verdict::Inconclusive) => Judged::Undecided,
            _ => Judged::Fails,
        };
        (self.number, judged)
    }
}

/// Computes these points, and those that have no verdict again over a longer time.
fn compute(
    probes: &[usize],
    question: &Question,
    computation: &Computation<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<Tried>, Error> {
    // Other processes know the points of the search only as they were at first.
    let here = Computation {
        jobs: computation.jobs,
        helpers: &Alone,
        directory: computation.directory.clone(),
        stop: computation.stop,
    };
    let points = probes.iter().map(|probe| &question.points[*probe]);
    let mut tried = compute_once(probes, &points.collect::<Vec<_>>(), computation, observer)?;
    let mut given_up = BTreeSet::new();
    for time in 1..=MOST_TIMES_LONGER {
        let times = LONGER.pow(time);
        let open = tried.iter().filter(|one| {
            one.entry.verdict == Some(Verdict::Inconclusive)
                && !given_up.contains(&one.number)
                && !computation.stop.is_stopped()
        });
        let longer = open.filter_map(|one| {
            let longer = longer(&question.points[one.number], times)?;
            Some((one.number, longer, one.entry.verdict_reason.clone()))
        });
        let longer: Vec<(usize, Point, String)> = longer.collect();
        if longer.is_empty() {
            break;
        }
        for (number, point, why) in &longer {
            let name = &question.points[*number].name;
            let length = duration(point.plan.profile.run().duration.as_seconds());
            let note =
                format!("{name} could not be judged ({why}), and is predicted over {length}.");
            observer.event(Event::Note(&note));
        }
        let numbers: Vec<usize> = longer.iter().map(|(number, ..)| *number).collect();
        let points: Vec<&Point> = longer.iter().map(|(_, point, _)| point).collect();
        for mut again in compute_once(&numbers, &points, &here, observer)? {
            again
                .entry
                .name
                .clone_from(&question.points[again.number].name);
            if again.entry.verdict == Some(Verdict::Error) {
                // A volume may be too small for the longer time, which says nothing about the load.
                given_up.insert(again.number);
                continue;
            }
            if let Some(before) = tried.iter_mut().find(|one| one.number == again.number) {
                *before = again;
            }
        }
    }
    Ok(tried)
}

/// The same point over so many times its duration; `None` when it is long enough.
fn longer(point: &Point, times: u64) -> Option<Point> {
    let before = point.plan.profile.run().duration;
    let after = TimeSpan(before.0.saturating_mul(times).min(LONGEST.0));
    if after <= before {
        return None;
    }
    let mut plan = point.plan.clone();
    plan.profile.run_mut().duration = after;
    Some(Point {
        // Its results have a directory of their own.
        name: format!("{}, duration={after}", point.name),
        values: point.values.clone(),
        plan,
    })
}

fn compute_once(
    numbers: &[usize],
    points: &[&Point],
    computation: &Computation<'_>,
    observer: &mut dyn Observer,
) -> Result<Vec<Tried>, Error> {
    let results = computation.compute(points, observer)?;
    let both = numbers.iter().zip(points).zip(&results);
    let tried = both.filter_map(|((number, point), result)| {
        let mut entry = point.entry();
        entry.fill(result.as_ref()?);
        let number = *number;
        Some(Tried { number, entry })
    });
    Ok(tried.collect())
}
