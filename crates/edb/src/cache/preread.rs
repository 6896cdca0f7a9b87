//! Reading ahead of need: many pages, few requests.

use super::Inner;
use super::fetch::{Reading, Reservation};
use super::traits::{PageStore, Payload, note_damage};
use crate::position::PageNumber;
use runtime::IoCause;
use std::collections::VecDeque;
use std::rc::Rc;

impl<P: Payload, S: PageStore<P>> Inner<P, S> {
    pub(super) fn preread(self: &Rc<Self>, mut pages: Vec<PageNumber>) {
        pages.sort_unstable();
        pages.dedup();
        if self.core.failure().is_err() {
            return;
        }
        {
            let state = self.core.state.borrow();
            pages.retain(|page| {
                !state.pages.contains_key(page) && !state.reading.contains_key(page)
            });
        }
        let limits = &self.core.limits;
        let (run_pages, gap_pages) = (limits.read_pages, limits.gap_pages);
        for run in runs(&pages, run_pages, gap_pages) {
            if !self.find_frames(run.len()) {
                self.core.state.borrow_mut().counters.preread_refused += run.len() as u64;
                continue;
            }
            let frames = Reservation::new(self, run.len());
            let readings = run
                .iter()
                .map(|&page| (page, Reading::begin(self, page)))
                .collect();
            let inner = Rc::clone(self);
            let handle = &self.core.handle;
            handle.spawn_alone(inner.read_run(readings, frames));
        }
    }

    /// Makes sure that `wanted` frames are free without dipping below the low mark.
    fn find_frames(self: &Rc<Self>, wanted: usize) -> bool {
        let reserve = self.core.limits.low();
        if self.core.state.borrow().available(&self.core.limits) < wanted + reserve {
            self.scavenge(wanted + reserve, wanted + reserve);
            self.core.scavenger.raise();
        }
        self.core.state.borrow().available(&self.core.limits) >= wanted + reserve
    }

    async fn read_run(
        self: Rc<Self>,
        mut readings: VecDeque<(PageNumber, Reading<P, S>)>,
        mut frames: Reservation<P, S>,
    ) {
        let _permit = self.prereads.acquire().await;
        let (Some(first), Some(last)) = (readings.front(), readings.back()) else {
            return;
        };
        let (first, last) = (first.0, last.0);
        let count = last.0 - first.0 + 1;
        {
            let counters = &mut self.core.state.borrow_mut().counters;
            counters.preread_requests += 1;
            counters.preread_gap_pages += u64::from(count) - readings.len() as u64;
        }
        let results = self.store.read(first, count, IoCause::Database).await;
        assert_eq!(
            results.len(),
            count as usize,
            "a read answers for each page"
        );
        for (page, result) in (first.0..).map(PageNumber).zip(results) {
            let wanted = readings.front().is_some_and(|(next, _)| *next == page);
            if !wanted {
                // A gap: the bytes are thrown away, but not what they show of the storage.
                let damage = result
                    .err()
                    .filter(|error| error.finding().is_some() && !error.is_never_written());
                self.preread_damage.borrow_mut().extend(damage);
                continue;
            }
            let Some((_, reading)) = readings.pop_front() else {
                return;
            };
            if reading.is_superseded() {
                continue;
            }
            match result {
                Ok(payload) => {
                    frames.release_one();
                    self.core.insert(page, payload, true);
                    self.core.state.borrow_mut().counters.preread_pages += 1;
                    reading.finish(Ok(()));
                }
                Err(error) => {
                    // Perhaps nobody waits for this page, so its damage is reported here as well.
                    note_damage(&mut self.preread_damage.borrow_mut(), &error);
                    reading.finish(Err(error));
                }
            }
        }
    }
}

/// Cuts sorted pages into runs, each one request: at most `run_pages` long, no hole longer than
/// `gap_pages`.
fn runs(pages: &[PageNumber], run_pages: usize, gap_pages: usize) -> Vec<Vec<PageNumber>> {
    let mut runs: Vec<Vec<PageNumber>> = Vec::new();
    for &page in pages {
        let joins = runs.last().is_some_and(|run| {
            let (first, last) = (run[0], run[run.len() - 1]);
            ((page.0 - first.0) as usize) < run_pages && (page.0 - last.0) as usize - 1 <= gap_pages
        });
        match runs.last_mut() {
            Some(run) if joins => run.push(page),
            _ => runs.push(vec![page]),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(pages: &[u32], run_pages: usize, gap_pages: usize) -> Vec<Vec<u32>> {
        let pages: Vec<_> = pages.iter().copied().map(PageNumber).collect();
        runs(&pages, run_pages, gap_pages)
            .into_iter()
            .map(|run| run.into_iter().map(|page| page.0).collect())
            .collect()
    }

    #[test]
    fn runs_join_neighbours_and_go_over_small_holes() {
        assert_eq!(cut(&[1, 2, 3, 4, 5], 4, 0), [vec![1, 2, 3, 4], vec![5]]);
        assert_eq!(cut(&[1, 3, 6], 8, 1), [vec![1, 3], vec![6]]);
        assert_eq!(cut(&[1, 3, 6], 8, 2), [vec![1, 3, 6]]);
        assert_eq!(cut(&[1, 8, 9], 8, 8), [vec![1, 8], vec![9]]);
        assert!(cut(&[], 8, 8).is_empty());
    }
}
