//! The transaction mix, kept exactly: a deck of cards has each kind in its share, and is dealt to
//! the end before it is shuffled again.

use crate::operation::{BY_USERS, Operation};
use crate::profile::Mix;
use workload::random::Dice;

/// Resolution of shares: a ten-thousandth of a percent.
const FINEST: u64 = 10_000;

/// A shuffled deck. The mix is exact over each deck: users who share one keep it more exactly than
/// users with a deck each.
#[derive(Debug, Clone)]
pub struct Deck<T> {
    cards: Vec<T>,
    dealt: usize,
    dice: Dice,
}

impl Deck<Operation> {
    /// The deck of transactions that users begin: 890 cards for the published mix.
    ///
    /// # Panics
    /// Every share is 0, which the profile does not allow.
    #[must_use]
    pub fn of_mix(mix: &Mix, dice: Dice) -> Self {
        let shares = mix.shares().map(|(_, share)| share);
        let counts = card_counts(&shares);
        let cards = BY_USERS.into_iter().zip(counts).collect::<Vec<_>>();
        Self::new(&cards, dice)
    }
}

impl Deck<bool> {
    /// A deck in which a card is drawn with an exact share, in percent: 101 cards for the published
    /// rollback of one in 101 orders.
    #[must_use]
    pub fn of_share(percent: f64, dice: Dice) -> Self {
        let one_in = 100.0 / percent.clamp(1e-9, 100.0);
        let is_whole = (one_in - one_in.round()).abs() < 1e-6 && one_in < 1e4;
        let (drawn, all) = if is_whole {
            (1, one_in.round() as usize)
        } else {
            ((percent.clamp(0.0, 100.0) * 10.0).round() as usize, 1_000)
        };
        Self::new(&[(true, drawn), (false, all - drawn)], dice)
    }
}

impl<T: Copy> Deck<T> {
    /// A deck with this many cards of each kind.
    ///
    /// # Panics
    /// There is no card.
    #[must_use]
    pub fn new(counts: &[(T, usize)], dice: Dice) -> Self {
        let cards: Vec<T> = counts
            .iter()
            .flat_map(|&(card, count)| std::iter::repeat_n(card, count))
            .collect();
        assert!(!cards.is_empty(), "a deck needs a card");
        Self {
            dealt: cards.len(),
            cards,
            dice,
        }
    }

    /// Deals the next card; shuffles after the last one.
    pub fn deal(&mut self) -> T {
        if self.dealt == self.cards.len() {
            self.dice.shuffle(&mut self.cards);
            self.dealt = 0;
        }
        self.dealt += 1;
        self.cards[self.dealt - 1]
    }

    /// Number of cards in the deck.
    #[must_use]
    pub fn cards(&self) -> usize {
        self.cards.len()
    }
}

/// The smallest numbers of cards with exactly these shares, given in percent.
fn card_counts(shares: &[f64]) -> Vec<usize> {
    let mut scale = 1;
    let is_exact = |scale: u64| {
        let mut counts = shares.iter().map(|share| share * scale as f64);
        counts.all(|count| (count - count.round()).abs() < 1e-6)
    };
    while scale < FINEST && !is_exact(scale) {
        scale *= 10;
    }
    let counts: Vec<u64> = shares
        .iter()
        .map(|share| (share * scale as f64).round() as u64)
        .collect();
    let divisor = counts.iter().copied().fold(0, common_divisor).max(1);
    let counts = counts.into_iter().map(|count| (count / divisor) as usize);
    counts.collect()
}

/// The greatest common divisor (Euclid).
fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_mix_is_dealt_exactly_by_each_deck() {
        let mut deck = Deck::of_mix(&Mix::default(), Dice::new(1, 0));
        assert_eq!(deck.cards(), 890);
        for _ in 0..20 {
            let dealt: Vec<Operation> = (0..890).map(|_| deck.deal()).collect();
            let count = |kind| dealt.iter().filter(|&&card| card == kind).count();
            assert_eq!(BY_USERS.map(count), [190, 180, 140, 130, 101, 80, 49, 20]);
        }
    }

    #[test]
    fn a_hundred_thousand_cards_keep_the_mix_within_a_tenth_of_a_point() {
        let mix = Mix::default();
        let mut deck = Deck::of_mix(&mix, Dice::new(2, 0));
        let mut counts = [0_u32; 8];
        (0..100_000).for_each(|_| counts[deck.deal() as usize] += 1);
        let total: f64 = mix.shares().iter().map(|(_, share)| share).sum();
        for (count, (name, share)) in counts.iter().zip(mix.shares()) {
            let dealt = f64::from(*count) / 1e3;
            assert!(
                (dealt - 100.0 * share / total).abs() < 0.1,
                "{name} {dealt}"
            );
        }
    }

    #[test]
    fn shares_with_decimals_and_single_kinds_make_decks_of_their_own() {
        assert_eq!(card_counts(&[50.0, 25.0, 25.0]), [2, 1, 1]);
        assert_eq!(card_counts(&[0.0, 3.0]), [0, 1]);
        assert_eq!(card_counts(&[12.25, 0.25]), [49, 1]);
    }

    #[test]
    fn one_order_in_101_is_rolled_back() {
        let mut deck = Deck::of_share(100.0 / 101.0, Dice::new(3, 0));
        assert_eq!(deck.cards(), 101);
        let drawn = (0..101 * 7).filter(|_| deck.deal()).count();
        assert_eq!(drawn, 7);
        for (percent, expected) in [(0.0, 0), (100.0, 1_000), (12.5, 125)] {
            let mut deck = Deck::of_share(percent, Dice::new(3, 0));
            assert_eq!((0..1_000).filter(|_| deck.deal()).count(), expected);
        }
    }
}
