//! What a grid comes to: a summary, and the verdict.

use measure::grid::{GridPoint, GridResult};
use measure::result::Verdict;

/// So many points are named in a summary; the table has them all.
const NAMED: usize = 3;

/// Writes the summary and the verdict into the grid. `stopped` says that somebody asked for an
/// early end.
pub fn conclude(grid: &mut GridResult, stopped: bool) -> Verdict {
    let count = |verdict| of(grid, verdict).count();
    let (passed, failed) = (count(Verdict::Pass), count(Verdict::Fail));
    let verdict = if stopped && (!grid.complete || count(Verdict::Interrupted) > 0) {
        grid.complete = false;
        Verdict::Interrupted
    } else {
        verdict_of(grid)
    };
    let verb = if passed == 1 { "passes" } else { "pass" };
    let mut parts = vec![format!("{passed} of {} points {verb}", grid.points.len())];
    if failed > 0 {
        let verb = if failed == 1 { "fails" } else { "fail" };
        parts.push(format!("{failed} {verb}"));
    }
    for (verdict, words) in [
        (Verdict::Inconclusive, "could not be judged"),
        (Verdict::Error, "met errors"),
    ] {
        let names: Vec<&str> = of(grid, verdict).map(|point| point.name.as_str()).collect();
        if !names.is_empty() {
            parts.push(format!("{} {words} ({})", names.len(), listed(&names)));
        }
    }
    grid.summary = match verdict {
        Verdict::Interrupted => format!("Stopped before the end; {}.", parts.join(", ")),
        _ => format!("{}.", parts.join(", ")),
    };
    grid.exit_status = verdict.exit_status();
    verdict
}

/// The verdict on a grid that went to its end.
fn verdict_of(grid: &GridResult) -> Verdict {
    let any = |verdict| of(grid, verdict).next().is_some();
    let answers = &grid.answers;
    if any(Verdict::Error) {
        Verdict::Error
    } else if answers.iter().any(|answer| answer.unjudged.is_some()) {
        // One answer that hangs in the air makes the whole no basis for a decision.
        Verdict::Inconclusive
    } else if !answers.is_empty() {
        match answers.iter().all(|answer| answer.point.is_some()) {
            true => Verdict::Pass,
            false => Verdict::Fail,
        }
    } else if any(Verdict::Pass) {
        Verdict::Pass
    } else if any(Verdict::Inconclusive) {
        Verdict::Inconclusive
    } else {
        Verdict::Fail
    }
}

fn of(grid: &GridResult, verdict: Verdict) -> impl Iterator<Item = &GridPoint> {
    let points = grid.points.iter();
    points.filter(move |point| point.verdict == Some(verdict))
}

/// The first few names.
fn listed(names: &[&str]) -> String {
    let first = names[..names.len().min(NAMED)].join("; ");
    match names.len().saturating_sub(NAMED) {
        0 => first,
        more => format!("{first}; and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use measure::grid::GridAnswer;

    use super::*;

    fn grid(verdicts: &[Verdict], answers: &[(Option<&str>, Option<&str>)]) -> GridResult {
        let points = verdicts.iter().enumerate().map(|(number, verdict)| {
            let name = format!("rate={number}");
            GridPoint {
                name,
                verdict: Some(*verdict),
                ..GridPoint::default()
            }
        });
        let answers = answers.iter().map(|(point, unjudged)| GridAnswer {
            point: point.map(str::to_owned),
            unjudged: unjudged.map(str::to_owned),
            ..GridAnswer::default()
        });
        GridResult {
            complete: true,
            points: points.collect(),
            answers: answers.collect(),
            ..GridResult::default()
        }
    }

    fn code(verdicts: &[Verdict], answers: &[(Option<&str>, Option<&str>)]) -> u8 {
        conclude(&mut grid(verdicts, answers), false).exit_status()
    }

    use Verdict::{Error, Fail, Inconclusive, Pass};

    #[test]
    fn a_sweep_passes_with_any_of_its_points() {
        assert_eq!(code(&[Pass, Fail, Inconclusive], &[]), 0);
        assert_eq!(code(&[Fail, Fail], &[]), 1);
        assert_eq!(code(&[Fail, Inconclusive], &[]), 5);
        assert_eq!(code(&[Pass, Error], &[]), 4);
    }

    #[test]
    fn an_answer_that_hangs_on_a_point_without_a_verdict_is_no_answer() {
        let found = (Some("rate=0"), None);
        let hangs = (Some("rate=0"), Some("rate=1"));
        let nothing = (None, None);
        assert_eq!(code(&[Pass, Fail], &[found]), 0);
        assert_eq!(code(&[Pass, Inconclusive], &[hangs]), 5);
        assert_eq!(code(&[Inconclusive], &[(None, Some("rate=0"))]), 5);
        assert_eq!(code(&[Fail], &[nothing]), 1);
        assert_eq!(code(&[Pass, Fail], &[found, nothing]), 1);
        assert_eq!(code(&[Pass, Inconclusive], &[nothing, hangs]), 5);
        // What could not be judged, and on which nothing hangs, does no harm.
        assert_eq!(code(&[Pass, Inconclusive, Pass, Fail], &[found]), 0);
    }

    #[test]
    fn points_without_a_verdict_are_named() {
        let mut grid = grid(&[Pass, Inconclusive, Inconclusive], &[]);
        conclude(&mut grid, false);
        assert_eq!(
            grid.summary,
            "1 of 3 points passes, 2 could not be judged (rate=1; rate=2)."
        );
        assert_eq!(listed(&["a", "b", "c", "d", "e"]), "a; b; c; and 2 more");
    }

    #[test]
    fn an_early_end_comes_before_everything() {
        let mut grid = grid(&[Pass], &[]);
        grid.complete = false;
        assert_eq!(conclude(&mut grid, true).exit_status(), 130);
        assert_eq!(grid.exit_status, 130);
    }
}
