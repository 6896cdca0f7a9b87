//! A population of parameter sets that looks for what fits, and then stays where it fits.
//!
//! Differential evolution Markov chain (ter Braak 2006): a member moves by the difference of two others
//! and keeps the new place by Metropolis' rule. Cooled down it is a search; at temperature 1 its members
//! are drawn from the posterior distribution over the prior, which is uniform in places from 0 to 1. The
//! halves of the population move in turn, each by the differences of the other, so that all members of a
//! half can be tried at the same time: the result does not depend on how many threads do it.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// How long the search is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SearchSettings {
    /// Members, an even number.
    pub population: usize,
    /// Moves of every member while it is cooled down.
    pub cooling: usize,
    /// Moves of every member at temperature 1.
    pub sampling: usize,
    /// Threads that try members.
    pub threads: usize,
    /// Seed of all that is random.
    pub seed: u64,
}

/// Temperature at the start.
const HOT: f64 = 100.0;

/// First and last step of going downhill, as a share of what a parameter can be.
const COARSE: f64 = 0.1;
const FINE: f64 = 0.003;

/// A place, and its loss.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// From 0 to 1 for each parameter.
    pub place: Vec<f64>,
    /// What the objective makes of it; infinite where there is no model.
    pub loss: f64,
}

/// The population and how it moves.
pub struct Search {
    settings: SearchSettings,
    random: Xoshiro256PlusPlus,
    /// Its members; their order means nothing.
    pub members: Vec<Member>,
}

impl Search {
    /// Members all over the space, and around `usual`, which is one of them.
    pub fn new(
        settings: SearchSettings,
        usual: &[f64],
        objective: &(dyn Fn(&[f64]) -> f64 + Sync),
    ) -> Self {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
        let places = (0..settings.population).map(|number| {
            let near = usual.iter().map(|usual| match number {
                0 => *usual,
                _ if number % 2 == 0 => random.random(),
                _ => reflected(usual + 0.3 * (random.random::<f64>() - 0.5)),
            });
            near.collect()
        });
        let places: Vec<Vec<f64>> = places.collect();
        let losses = all(&places, settings.threads, objective);
        let members = places.into_iter().zip(losses);
        Self {
            settings,
            random,
            members: members
                .map(|(place, loss)| Member { place, loss })
                .collect(),
        }
    }

    /// The best member.
    ///
    /// # Panics
    /// Never: there are members.
    #[must_use]
    pub fn best(&self) -> &Member {
        let members = self.members.iter();
        members
            .min_by(|one, other| one.loss.total_cmp(&other.loss))
            .unwrap_or(&self.members[0])
    }

    /// Temperature of a move of the search.
    #[must_use]
    pub fn temperature(&self, number: usize) -> f64 {
        let share = (number as f64 / self.settings.cooling.max(1) as f64).min(1.0);
        HOT.powf(1.0 - share)
    }

    /// Moves every member once.
    pub fn step(&mut self, temperature: f64, objective: &(dyn Fn(&[f64]) -> f64 + Sync)) {
        let half = self.members.len() / 2;
        for (from, to, other) in [(0, half, half), (half, self.members.len(), 0)] {
            let places: Vec<Vec<f64>> =
                (from..to).map(|member| self.moved(member, other)).collect();
            let losses = all(&places, self.settings.threads, objective);
            for (member, (place, loss)) in (from..to).zip(places.into_iter().zip(losses)) {
                let gain = (self.members[member].loss - loss) / temperature;
                // Of two places without a model either will do.
                let is_kept = gain.is_nan() || self.random.random::<f64>().ln() < gain;
                if is_kept {
                    self.members[member] = Member { place, loss };
                }
            }
        }
    }

    /// Goes downhill from the best member, one parameter at a time, with steps that become smaller; where it
    /// ends, the worse half of the population continues.
    pub fn refine(&mut self, objective: &(dyn Fn(&[f64]) -> f64 + Sync)) {
        let mut best = self.best().clone();
        let mut step = COARSE;
        while step > FINE {
            let neighbours: Vec<Vec<f64>> = (0..best.place.len())
                .flat_map(|dimension| {
                    [-step, step].map(|step| {
                        let mut place = best.place.clone();
                        place[dimension] = (place[dimension] + step).clamp(0.0, 1.0);
                        place
                    })
                })
                .collect();
            let losses = all(&neighbours, self.settings.threads, objective);
            let members = neighbours.into_iter().zip(losses);
            let nearest = members.min_by(|(_, one), (_, other)| one.total_cmp(other));
            match nearest {
                Some((place, loss)) if loss < best.loss => best = Member { place, loss },
                _ => step /= 2.0,
            }
        }
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by(|&one, &other| {
            let loss = |number: usize| self.members[number].loss;
            loss(other).total_cmp(&loss(one))
        });
        for number in order.into_iter().take(self.members.len() / 2) {
            self.members[number] = best.clone();
        }
    }

    /// A new place for a member, by the difference of two of the other half, which begins at `other`.
    fn moved(&mut self, member: usize, other: usize) -> Vec<f64> {
        let half = self.members.len() / 2;
        let one = other + self.random.random_range(0..half);
        let another = other + self.random.random_range(0..half);
        let dimensions = self.members[member].place.len();
        // As many dimensions as chance has it move together, one at least.
        let share = [0.3, 0.6, 1.0][self.random.random_range(0..3)];
        let always = self.random.random_range(0..dimensions);
        let moving: Vec<bool> = (0..dimensions)
            .map(|dimension| dimension == always || self.random.random::<f64>() < share)
            .collect();
        let count = moving.iter().filter(|moves| **moves).count();
        // Now and then a whole difference, which leads from one hill to another.
        let factor = match self.random.random_range(0..10) {
            0 => 1.0,
            _ => 2.38 / (2.0 * count as f64).sqrt(),
        };
        let (one, another) = (
            self.members[one].place.clone(),
            self.members[another].place.clone(),
        );
        let from = self.members[member].place.clone();
        (0..dimensions)
            .map(|dimension| match moving[dimension] {
                false => from[dimension],
                true => {
                    let jitter = 0.01 * (self.random.random::<f64>() - 0.5);
                    let difference = one[dimension] - another[dimension];
                    reflected(from[dimension] + factor * difference + jitter)
                }
            })
            .collect()
    }
}

/// A place from 0 to 1: what lies outside is reflected at the border.
fn reflected(place: f64) -> f64 {
    let turned = place.rem_euclid(2.0);
    if turned > 1.0 { 2.0 - turned } else { turned }
}

/// The losses of places, in their order.
fn all(
    places: &[Vec<f64>],
    threads: usize,
    objective: &(dyn Fn(&[f64]) -> f64 + Sync),
) -> Vec<f64> {
    let share = places.len().div_ceil(threads.max(1)).max(1);
    if share >= places.len() {
        return places.iter().map(|place| objective(place)).collect();
    }
    std::thread::scope(|scope| {
        let workers: Vec<_> = places
            .chunks(share)
            .map(|part| scope.spawn(|| part.iter().map(|place| objective(place)).collect()))
            .collect();
        let results = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        let losses: Vec<Vec<f64>> = results
            .map(|result| match result {
                Ok(losses) => losses,
                Err(panic) => std::panic::resume_unwind(panic),
            })
            .collect();
        losses.concat()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A valley: two parameters of which only the sum is known well, and one that matters nothing.
    fn valley(place: &[f64]) -> f64 {
        let sum = (place[0] + place[1] - 0.9) / 0.02;
        let first = (place[0] - 0.4) / 0.1;
        0.5 * (sum * sum + first * first)
    }

    fn settled(threads: usize) -> (Search, Vec<Vec<f64>>) {
        let settings = SearchSettings {
            population: 24,
            cooling: 60,
            sampling: 400,
            threads,
            seed: 3,
        };
        let mut search = Search::new(settings, &[0.9, 0.9, 0.5], &valley);
        for number in 0..settings.cooling {
            search.step(search.temperature(number), &valley);
        }
        let mut drawn = Vec::new();
        for _ in 0..settings.sampling {
            search.step(1.0, &valley);
            drawn.extend(search.members.iter().map(|member| member.place.clone()));
        }
        (search, drawn)
    }

    fn mean_and_deviation(values: &[f64]) -> (f64, f64) {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean) * (value - mean));
        (mean, (squares.sum::<f64>() / count).sqrt())
    }

    #[test]
    fn members_lie_as_the_posterior_does() {
        let (_, drawn) = settled(2);
        let of = |number: usize| -> Vec<f64> { drawn.iter().map(|place| place[number]).collect() };
        let (mean, deviation) = mean_and_deviation(&of(0));
        assert!(
            (mean - 0.4).abs() < 0.02 && (deviation - 0.1).abs() < 0.02,
            "{mean} {deviation}"
        );
        let sums: Vec<f64> = drawn.iter().map(|place| place[0] + place[1]).collect();
        let (mean, deviation) = mean_and_deviation(&sums);
        assert!(
            (mean - 0.9).abs() < 0.005 && (deviation - 0.02).abs() < 0.005,
            "{mean} {deviation}"
        );
        // What matters nothing is as wide as it can be.
        let (_, deviation) = mean_and_deviation(&of(2));
        assert!(
            (deviation - 1.0 / 12.0_f64.sqrt()).abs() < 0.03,
            "{deviation}"
        );
    }

    #[test]
    fn threads_change_nothing() {
        assert_eq!(settled(1).0.members, settled(3).0.members);
    }

    #[test]
    fn places_without_a_model_are_left() {
        let holed = |place: &[f64]| match place[0] < 0.5 {
            true => f64::INFINITY,
            false => valley(place),
        };
        let settings = SearchSettings {
            population: 12,
            cooling: 40,
            sampling: 0,
            threads: 1,
            seed: 3,
        };
        let mut search = Search::new(settings, &[0.1, 0.1, 0.1], &holed);
        for number in 0..40 {
            search.step(search.temperature(number), &holed);
        }
        assert!(search.members.iter().all(|member| member.loss.is_finite()));
    }
}
