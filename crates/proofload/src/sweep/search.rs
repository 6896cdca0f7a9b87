//! Finds the last of a row of points that passes, where each asks more of the array than the one
//! before.

use std::collections::BTreeSet;

/// Points without a verdict after which the search goes on no more.
const MOST_UNDECIDED: usize = 12;

/// What is known of a row of points so far: which is the last to pass, and which the first that
/// does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    good: Option<usize>,
    bad: usize,
    count: usize,
    /// Points that could not be judged. They are no bound: what is on both sides of them is tried.
    undecided: BTreeSet<usize>,
}

/// What became of a point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Judged {
    /// It passes.
    Passes,
    /// It does not.
    Fails,
    /// It could not be judged.
    Undecided,
}

impl Search {
    /// Nothing is known of `count` points.
    pub fn new(count: usize) -> Self {
        Self {
            good: None,
            bad: count,
            count,
            undecided: BTreeSet::new(),
        }
    }

    /// The points to try next, `most` at a time, evenly spread over those that are open; none when
    /// the search is over.
    pub fn probes(&self, most: usize) -> Vec<usize> {
        if self.undecided.len() >= MOST_UNDECIDED {
            return Vec::new();
        }
        let first = self.good.map_or(0, |good| good + 1);
        let open = (first..self.bad).filter(|number| !self.undecided.contains(number));
        let open: Vec<usize> = open.collect();
        let tried = open.len().min(most.max(1));
        let place = |number: usize| open[(number + 1) * (open.len() + 1) / (tried + 1) - 1];
        (0..tried).map(place).collect()
    }

    /// Takes in what became of points. Should one pass beyond another that fails, the earlier one
    /// counts: nothing up to the answer fails.
    pub fn take(&mut self, judged: &[(usize, Judged)]) {
        let of = |wanted| {
            let those = judged.iter().filter(move |(_, judged)| *judged == wanted);
            those.map(|(number, _)| *number)
        };
        self.bad = of(Judged::Fails)
            .min()
            .map_or(self.bad, |bad| bad.min(self.bad));
        let last_good = of(Judged::Passes).filter(|number| *number < self.bad).max();
        self.good = self.good.max(last_good);
        self.undecided.extend(of(Judged::Undecided));
    }

    /// The last point that passes.
    pub fn answer(&self) -> Option<usize> {
        self.good
    }

    /// The first point beyond the answer that was tried and does not pass, or could not be judged; `None`
    /// when all pass.
    pub fn next(&self) -> Option<usize> {
        let failed = (self.bad < self.count).then_some(self.bad);
        self.undecided().or(failed)
    }

    /// The first point between the answer and the first that fails that could not be judged: the answer
    /// depends on it.
    pub fn undecided(&self) -> Option<usize> {
        let first = self.good.map_or(0, |good| good + 1);
        let mut between = self.undecided.range(first..self.bad.max(first));
        between.next().copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_boundary_is_found_with_few_trials() {
        for count in 0..60 {
            for passing in 0..=count {
                for most in 1..5 {
                    let mut search = Search::new(count);
                    let mut rounds = 0;
                    loop {
                        let probes = search.probes(most);
                        assert!(probes.is_sorted() && probes.len() <= most, "{probes:?}");
                        if probes.is_empty() {
                            break;
                        }
                        let judge = |number: &usize| match *number < passing {
                            true => (*number, Judged::Passes),
                            false => (*number, Judged::Fails),
                        };
                        search.take(&probes.iter().map(judge).collect::<Vec<_>>());
                        rounds += 1;
                        assert!(rounds <= 7, "{count} points, {most} at a time");
                    }
                    assert_eq!(search.answer(), passing.checked_sub(1));
                    assert_eq!(search.next(), (passing < count).then_some(passing));
                }
            }
        }
    }

    #[test]
    fn a_point_that_passes_beyond_one_that_fails_does_not_count() {
        let mut search = Search::new(9);
        search.take(&[(3, Judged::Fails), (6, Judged::Passes)]);
        assert_eq!((search.answer(), search.next()), (None, Some(3)));
        search.take(&[(1, Judged::Passes), (2, Judged::Passes)]);
        assert_eq!((search.answer(), search.probes(2)), (Some(2), Vec::new()));
    }

    #[test]
    fn a_point_without_a_verdict_is_no_bound() {
        // 20 points of which the first 15 pass; every third cannot be judged.
        for most in 1..4 {
            let mut search = Search::new(20);
            loop {
                let probes = search.probes(most);
                if probes.is_empty() {
                    break;
                }
                let judge = |number: &usize| match *number {
                    number if number % 3 == 1 => (number, Judged::Undecided),
                    number if number < 15 => (number, Judged::Passes),
                    number => (number, Judged::Fails),
                };
                search.take(&probes.iter().map(judge).collect::<Vec<_>>());
            }
            assert_eq!((search.answer(), search.next()), (Some(14), Some(15)));
            assert_eq!(search.undecided(), None, "13 passes what 14 passes");
        }
        let mut search = Search::new(3);
        search.take(&[
            (0, Judged::Passes),
            (1, Judged::Undecided),
            (2, Judged::Fails),
        ]);
        assert_eq!((search.answer(), search.undecided()), (Some(0), Some(1)));
        assert_eq!((search.probes(1), search.next()), (Vec::new(), Some(1)));
    }

    #[test]
    fn a_search_without_any_verdict_ends() {
        let mut search = Search::new(200);
        let mut tried = 0;
        while let [probe, ..] = search.probes(1)[..] {
            search.take(&[(probe, Judged::Undecided)]);
            tried += 1;
        }
        assert_eq!((tried, search.answer()), (MOST_UNDECIDED, None));
        assert!(search.undecided().is_some());
    }
}
