//! The transaction mix and the rollbacks, as decks with exact shares.

use crate::operation::{BY_USERS, Operation};
use crate::profile::Mix;
use workload::deck::Deck;
use workload::random::SeededRng;

/// Resolution of shares: a ten-thousandth of a percent.
const FINEST: u64 = 10_000;

/// The deck of transactions that users begin: 890 cards for the published mix.
///
/// # Panics
/// Every share is 0, which the profile does not allow.
#[must_use]
pub fn mix_deck(mix: &Mix, rng: SeededRng) -> Deck<Operation> {
    let shares = mix.shares().map(|(_, share)| share);
    Deck::from_counts(BY_USERS.into_iter().zip(card_counts(&shares)), rng)
}

/// A deck in which a card is drawn with an exact share, in percent: 101 cards for the published
/// rollback of one in 101 orders.
pub(super) fn share_deck(percent: f64, rng: SeededRng) -> Deck<bool> {
    let one_in = 100.0 / percent.clamp(1e-9, 100.0);
    let is_whole = (one_in - one_in.round()).abs() < 1e-6 && one_in < 1e4;
    let (drawn, all) = if is_whole {
        (1, one_in.round() as usize)
    } else {
        ((percent.clamp(0.0, 100.0) * 10.0).round() as usize, 1_000)
    };
    Deck::from_counts([(true, drawn), (false, all - drawn)], rng)
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
        let mut deck = mix_deck(&Mix::default(), SeededRng::new(1, 0));
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
        let mut deck = mix_deck(&mix, SeededRng::new(2, 0));
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
        let mut deck = share_deck(100.0 / 101.0, SeededRng::new(3, 0));
        assert_eq!(deck.cards(), 101);
        let drawn = (0..101 * 7).filter(|_| deck.deal()).count();
        assert_eq!(drawn, 7);
        for (percent, expected) in [(0.0, 0), (100.0, 1_000), (12.5, 125)] {
            let mut deck = share_deck(percent, SeededRng::new(3, 0));
            assert_eq!((0..1_000).filter(|_| deck.deal()).count(), expected);
        }
    }
}
