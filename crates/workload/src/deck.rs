//! The mix of operations, kept exactly: each deck of cards holds every kind in its exact share and
//! is dealt to the end before it is shuffled again. Users who share a deck keep the mix more exactly
//! than users with a deck each.

use crate::random::SeededRng;

/// Cards in a deck: shares are kept to a tenth of a percent.
const CARDS: usize = 1_000;

/// A shuffled deck that is shuffled again when it has been dealt.
#[derive(Debug, Clone)]
pub struct Deck<T> {
    cards: Vec<T>,
    dealt: usize,
    rng: SeededRng,
}

impl<T: Copy> Deck<T> {
    /// A deck of 1,000 cards that come in proportion to their weights, by largest remainders.
    #[must_use]
    pub fn new(weights: &[(T, f64)], rng: SeededRng) -> Self {
        let total: f64 = weights.iter().map(|(_, weight)| weight).sum();
        assert!(total > 0.0, "a deck needs a card");
        let exact: Vec<f64> = weights
            .iter()
            .map(|(_, weight)| weight / total * CARDS as f64)
            .collect();
        let mut counts: Vec<usize> = exact.iter().map(|count| count.floor() as usize).collect();
        let mut by_remainder: Vec<usize> = (0..exact.len()).collect();
        by_remainder.sort_by(|&a, &b| exact[b].fract().total_cmp(&exact[a].fract()));
        let missing = CARDS - counts.iter().sum::<usize>();
        for &index in by_remainder.iter().cycle().take(missing) {
            counts[index] += 1;
        }
        let cards = weights.iter().map(|&(card, _)| card);
        Self::from_counts(cards.zip(counts), rng)
    }

    /// A deck with this many cards of each kind.
    ///
    /// # Panics
    /// There is no card.
    #[must_use]
    pub fn from_counts(counts: impl IntoIterator<Item = (T, usize)>, rng: SeededRng) -> Self {
        let counts = counts.into_iter();
        let cards: Vec<T> = counts
            .flat_map(|(card, count)| std::iter::repeat_n(card, count))
            .collect();
        assert!(!cards.is_empty(), "a deck needs a card");
        Self {
            dealt: cards.len(),
            cards,
            rng,
        }
    }

    /// Number of cards in the deck.
    #[must_use]
    pub fn cards(&self) -> usize {
        self.cards.len()
    }

    /// The next card; after the last one the deck is shuffled.
    pub fn deal(&mut self) -> T {
        if self.dealt == self.cards.len() {
            self.rng.shuffle(&mut self.cards);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.cards[self.dealt - 1]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_deck_holds_the_exact_mix_in_another_order() {
        let weights = [
            ('i', 40.0),
            ('d', 20.0),
            ('u', 5.0),
            ('r', 34.9),
            ('s', 0.1),
        ];
        let mut deck = Deck::new(&weights, SeededRng::new(3, 0));
        let mut orders = Vec::new();
        for _ in 0..5 {
            let dealt: Vec<char> = (0..CARDS).map(|_| deck.deal()).collect();
            let count = |kind| dealt.iter().filter(|&&card| card == kind).count();
            assert_eq!(['i', 'd', 'u', 'r', 's'].map(count), [400, 200, 50, 349, 1]);
            orders.push(dealt);
        }
        orders.dedup();
        assert_eq!(orders.len(), 5);
    }

    #[test]
    fn thirds_are_rounded_to_a_full_deck() {
        let mut deck = Deck::new(&[(0, 1.0), (1, 1.0), (2, 1.0)], SeededRng::new(3, 0));
        let dealt: Vec<usize> = (0..CARDS).map(|_| deck.deal()).collect();
        let mut counts = [0; 3];
        dealt.into_iter().for_each(|card| counts[card] += 1);
        assert_eq!(counts, [334, 333, 333]);
    }
}
