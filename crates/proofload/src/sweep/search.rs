//! Finds the last of a row of points that passes, where each asks more of the array than the one
//! before.

/// What is known of a row of points so far: which is the last to pass, and which the first that
/// does not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    good: Option<usize>,
    bad: usize,
    count: usize,
}

impl Search {
    /// Nothing is known of `count` points.
    pub fn new(count: usize) -> Self {
        Self {
            good: None,
            bad: count,
            count,
        }
    }

    /// The points to try next, `most` at a time, evenly spread over those that are open; none when
    /// the search is over.
    pub fn probes(&self, most: usize) -> Vec<usize> {
        let first = self.good.map_or(0, |good| good + 1);
        let open = self.bad.saturating_sub(first);
        let tried = open.min(most.max(1));
        let place = |number: usize| first + (number + 1) * (open + 1) / (tried + 1) - 1;
        (0..tried).map(place).collect()
    }

    /// Takes in whether points pass. Should one pass beyond another that does not, the earlier one
    /// counts: everything up to the answer passes.
    pub fn take(&mut self, judged: &[(usize, bool)]) {
        let failed = judged.iter().filter(|(_, passes)| !passes);
        let first_bad = failed.map(|(number, _)| *number).min();
        self.bad = first_bad.map_or(self.bad, |bad| bad.min(self.bad));
        let passed = judged
            .iter()
            .filter(|(number, passes)| *passes && *number < self.bad);
        let last_good = passed.map(|(number, _)| *number).max();
        self.good = self.good.max(last_good);
    }

    /// The last point that passes.
    pub fn answer(&self) -> Option<usize> {
        self.good
    }

    /// The first point that does not; `None` when all pass.
    pub fn next(&self) -> Option<usize> {
        (self.bad < self.count).then_some(self.bad)
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
                        let judge = |number: &usize| (*number, *number < passing);
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
        search.take(&[(3, false), (6, true)]);
        assert_eq!((search.answer(), search.next()), (None, Some(3)));
        search.take(&[(1, true), (2, true)]);
        assert_eq!((search.answer(), search.probes(2)), (Some(2), Vec::new()));
    }
}
