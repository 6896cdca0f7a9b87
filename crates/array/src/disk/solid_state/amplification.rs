//! How many pages a solid-state disk programs for each page the host writes.
//!
//! Flash is erased in blocks; a block holds pages still valid when it is cleaned, and these are
//! copied. With uniform random writes over `U` pages and `T` pages of flash, let a block have the
//! share `v` still valid when its turn comes. Each cleaning makes room for `1 - v` of a block, so
//! a block's turn comes after `T (1 - v)` host writes, and a page survives them all with the
//! probability `(1 - 1/U)^(T (1 - v))`, hence
//!
//! ```text
//! v = exp(-(T / U) (1 - v))          amplification = 1 / (1 - v)
//! ```
//!
//! which holds for cleaning in the order of writing (Desnoyers, "Analytic Modeling of SSD Write
//! Performance", SYSTOR 2012) and is up to about a fifth above cleaning the emptiest block first.

/// Share still valid at cleaning, for `spread` = pages of flash per page holding data, above 1.
pub(super) fn valid_at_cleaning(spread: f64) -> f64 {
    // v = 1 always solves the equation; the solution below it is the one. What is left over is
    // convex in v, so Newton's steps from 0 approach that solution from below.
    let mut valid = 0.0_f64;
    for _ in 0..100 {
        let survivors = (-spread * (1.0 - valid)).exp();
        let step = (survivors - valid) / (1.0 - spread * survivors);
        if !(step.is_finite() && step > 1e-15) {
            break;
        }
        valid += step;
    }
    valid.clamp(0.0, 1.0 - 1e-6)
}

/// The spread under which random writes are amplified this much; none for 1, which would take
/// infinite flash.
pub(super) fn spread_for(amplification: f64) -> Option<f64> {
    let valid = 1.0 - 1.0 / amplification;
    (valid > 1e-9).then(|| -valid.ln() / (1.0 - valid))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// Random writes to a page map of real blocks; returns pages programmed per page written.
    fn page_map(spread: f64, emptiest_first: bool) -> f64 {
        const PAGES: usize = 64;
        let blocks = 600;
        let pages = ((blocks - 2) as f64 * PAGES as f64 / spread) as usize;
        let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
        let mut place: Vec<usize> = vec![usize::MAX; pages];
        let mut contents: Vec<Vec<usize>> = vec![Vec::new(); blocks];
        let mut valid = vec![0_usize; blocks];
        let mut free: Vec<usize> = (1..blocks).collect();
        let mut sealed: VecDeque<usize> = VecDeque::new();
        let mut open = 0;
        let (mut programmed, warm_up, counted) = (0_u64, 600_000, 400_000);
        for written in 0..warm_up + counted {
            if written == warm_up {
                programmed = 0;
            }
            let page = random.random_range(0..pages);
            let mut work = vec![page];
            while let Some(page) = work.pop() {
                if contents[open].len() == PAGES {
                    sealed.push_back(open);
                    open = free.pop().unwrap();
                }
                if place[page] != usize::MAX {
                    valid[place[page]] -= 1;
                }
                place[page] = open;
                valid[open] += 1;
                contents[open].push(page);
                programmed += 1;
                if free.is_empty() && work.is_empty() {
                    let at = if emptiest_first {
                        (0..sealed.len())
                            .min_by_key(|&at| valid[sealed[at]])
                            .unwrap()
                    } else {
                        0
                    };
                    let victim = sealed.remove(at).unwrap();
                    work.extend(contents[victim].drain(..).filter(|&p| place[p] == victim));
                    work.sort_unstable();
                    work.dedup();
                    free.push(victim);
                }
            }
        }
        programmed as f64 / f64::from(counted)
    }

    #[test]
    fn the_formula_is_what_a_page_map_does() {
        for spread in [1.08, 1.2, 1.5, 2.0] {
            let formula = 1.0 / (1.0 - valid_at_cleaning(spread));
            let in_order = page_map(spread, false);
            assert!(
                (in_order / formula - 1.0).abs() < 0.03,
                "{spread}: {in_order} against {formula}"
            );
            let greedy = page_map(spread, true);
            let ratio = greedy / formula;
            assert!(
                (0.78..1.0).contains(&ratio),
                "{spread}: {greedy}, {formula}"
            );
        }
    }

    #[test]
    fn spread_and_amplification_are_inverse() {
        for amplification in [1.01, 1.5, 2.0, 5.0, 9.5, 20.0] {
            let spread = spread_for(amplification).unwrap();
            let back = 1.0 / (1.0 - valid_at_cleaning(spread));
            assert!(
                (back / amplification - 1.0).abs() < 1e-6,
                "{amplification}: {back}"
            );
        }
        assert_eq!(spread_for(1.0), None);
    }
}
